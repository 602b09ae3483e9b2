package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/internal/classes"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// Diff with -i compares the results of models, node by node.

// results are the results of a run by name, computed or in a file.
type results struct {
	side
	outputs []string // the outputs of a model's graph
	has     map[string]bool
}

// runs compares the results of two models for the same inputs, or of a model with those in a file.
func (d *difference) runs(ctx context.Context, a, b string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	first, err := d.p.open(a)
	if err != nil {
		return err
	}
	second, err := d.p.open(b)
	if err != nil {
		return err
	}
	model, other := first, second
	switch isModel := []bool{first.isModel(), second.isModel()}; {
	case !isModel[0] && !isModel[1]:
		return d.p.usagef("-i is for models, and neither file is one")
	case !isModel[0]:
		model, other, d.swapped = second, first, true
	}
	var known results
	if other.isModel() {
		known, err = d.computed(ctx, other)
	} else {
		known.side, err = d.sideOf(other, other.arg)
	}
	if err != nil {
		return err
	}
	return d.against(ctx, model, known)
}

// start prepares a run of a model on the inputs of -i.
func (d *difference) start(s *source) (*onnx.Session, *onnx.Model, map[string]onnx.Value, error) {
	m, err := d.p.model(s)
	if err != nil {
		return nil, nil, nil, err
	}
	session, err := onnx.NewSession(m)
	if err != nil {
		return nil, nil, nil, s.in(err)
	}
	var files, named []string
	in := &inputs{p: d.p, m: m}
	for _, arg := range d.inputs {
		if _, _, err := in.named(arg); err != nil && (!strings.Contains(arg, "=") || isFile(arg)) {
			files = append(files, arg)
		} else {
			named = append(named, arg)
		}
	}
	given, err := d.p.gather(m, s.name, files, named, &d.pics)
	if err != nil {
		return nil, nil, nil, err
	}
	return session, m, given.given(), nil
}

func isFile(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// runModel runs a model.
func (d *difference) runModel(ctx context.Context, s *source, session *onnx.Session, given map[string]onnx.Value, observe func(*onnx.NodeRun)) (map[string]onnx.Value, error) {
	bar, done := d.p.progress()
	defer done()
	out, err := session.RunValues(ctx, given, &onnx.Options{MaxMemory: int64(d.p.limit), Progress: bar, Observe: observe})
	if errors.Is(err, context.Canceled) {
		return nil, fmt.Errorf("interrupted: %w", s.in(err))
	}
	return out, s.in(err)
}

// computed runs a model and keeps the results of all its nodes.
func (d *difference) computed(ctx context.Context, s *source) (r results, err error) {
	session, m, given, err := d.start(s)
	if err != nil {
		return r, err
	}
	all := &profile{nodes: make(map[*onnx.Node]*nodeTime), keep: true}
	outputs, err := d.runModel(ctx, s, session, given, all.observe)
	if err == nil {
		err = all.err
	}
	if err != nil {
		return r, err
	}
	values := make(map[string]tensor.Any, len(all.names))
	for i, name := range all.names {
		values[name] = all.values[i]
	}
	for i := range m.Graph.Outputs {
		name := m.Graph.Outputs[i].Name
		v := outputs[name]
		if !isNumbers(v) {
			continue
		}
		if r.outputs = append(r.outputs, name); values[name].IsZero() {
			values[name] = v.Tensor()
			all.names = append(all.names, name)
		}
	}
	r.side = side{file: s.name, names: all.names, owned: true, read: func(name string) (tensor.Any, error) { return values[name], nil }}
	return r, nil
}

// against runs a model and compares each result, as it comes, with the known one.
func (d *difference) against(ctx context.Context, s *source, known results) error {
	session, m, given, err := d.start(s)
	if err != nil {
		return err
	}
	if known.names == nil { // a tensor without a name
		if n := len(m.Graph.Outputs); n != 1 {
			return fmt.Errorf("%s: it holds one tensor, and %s has %d outputs; results by name are in npz and safetensors files", known.file, s.name, n)
		}
		known.names = []string{m.Graph.Outputs[0].Name}
	}
	known.has = set(known.names)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	firstDiffers := ""
	own, met := 0, make(map[string]bool)
	look := func(name, of string, v onnx.Value) {
		if failed != nil || name == "" || !isNumbers(v) {
			return
		}
		if !known.has[name] {
			own++
			return
		}
		met[name] = true
		before := d.differ
		if failed = d.result(name, of, v.Tensor(), known.side); failed != nil {
			cancel()
		}
		if firstDiffers == "" && d.differ > before {
			firstDiffers = label(name) + of
		}
	}
	outputs, err := d.runModel(ctx, s, session, given, func(r *onnx.NodeRun) {
		for i, name := range r.Names {
			if r.Depth == 0 {
				look(name, " of "+label(nameOf(r.Node, r.Index))+" ("+label(r.Node.Op)+")", r.Values[i])
			}
		}
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	var names, others []string
	for i := range m.Graph.Outputs {
		name := m.Graph.Outputs[i].Name
		if !isNumbers(outputs[name]) {
			others = append(others, name)
			continue
		}
		if names = append(names, name); known.has[name] && !met[name] {
			look(name, "", outputs[name])
		}
	}
	if failed != nil {
		return failed
	}
	if len(met) == 0 {
		return fmt.Errorf("no result of %s has a name that %s has, so there is nothing to compare", s.name, known.file)
	}
	for _, name := range names { // names of other results may differ, as optimizers make them
		if !known.has[name] {
			d.only(name, s.name)
		}
	}
	for _, name := range known.outputs {
		if !met[name] {
			d.only(name, known.file)
		}
	}
	if firstDiffers != "" {
		fmt.Fprintf(d.p.out, "the first that differs, in the order of the graph: %s\n", firstDiffers)
	}
	rest := 0
	for _, name := range known.names {
		if !met[name] {
			rest++
		}
	}
	if own+rest > 0 {
		fmt.Fprintf(d.p.out, "results that only one has, and weren't compared: %d of %s, %d of %s\n", own, label(s.name), rest, label(known.file))
	}
	if len(others) > 0 {
		fmt.Fprintf(d.p.out, "outputs that are no tensors of numbers, and weren't compared%s\n", listed(others))
	}
	return d.verdict()
}

// result compares a result with the known one of its name.
func (d *difference) result(name, of string, got tensor.Any, known side) error {
	want, err := known.read(name)
	if err != nil {
		return err
	}
	if known.owned {
		defer want.Close()
	}
	a, b := got, want
	if d.swapped {
		a, b = want, got
	}
	if a.DType() != b.DType() && slices.Equal(a.Shape(), b.Shape()) {
		x, okX := classes.Floats(a)
		y, okY := classes.Floats(b)
		if okX && okY { // models in other precisions
			a, b = tensor.FromSlice(x, a.Shape()...).Any(), tensor.FromSlice(y, b.Shape()...).Any()
		}
	}
	return d.compare(label(name)+of+": ", a, b)
}
