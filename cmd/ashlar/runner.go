package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/classes"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// runFlags are the flags of run.
type runFlags struct {
	inputs, outputs []string
	pics            pictureFlags
	top             int
	topGiven        bool
	labels          string
	json            bool
	threads         int
	fixed           string
	fixedGiven      bool
	integers        bool
	certificate     string
	repeat          int
	profile         bool
	trace, all      string // files
	receipt         string // file
	receiptNodes    bool
}

// A runner is a model that is ready to run.
type runner struct {
	*program
	f      *runFlags
	src    *source
	m      *onnx.Model
	s      *onnx.Session
	labels *labels
	load   time.Duration
}

// result is the outputs of a run, and its inputs, plan and time.
type result struct {
	*runner
	inputs  *inputs
	outputs map[string]tensor.Any       // of a sequence each element
	parts   map[string][]string         // the names under which outputs has a graph's output
	empty   map[string]string           // the text for an output without tensors
	text    map[string]onnx.Value       // the outputs that are strings or maps, or sequences of them
	ranks   map[string]*classes.Ranking // of the outputs that score classes
	plan    *onnx.Plan
	receipt *receipt.Receipt
	profile *profile // nil unless it is asked for
	read    time.Duration
	spent   []time.Duration // by each run
}

// session loads a model as --fixed and --integers say.
func (p *program) session(m *onnx.Model, f *runFlags) (*onnx.Session, error) {
	switch {
	case f.integers:
		s, err := onnx.NewIntegerSession(m)
		if err == nil {
			if n, why := s.Integers(); n == 0 {
				fmt.Fprintf(p.stderr, "ashlar: warning: --integers: no step runs on integers: %s\n", why)
			}
		}
		return s, err
	case !f.fixedGiven:
		return onnx.NewSession(m)
	}
	d, err := dtype.Parse(f.fixed)
	if err != nil || !d.IsFixed() {
		return nil, p.usagef("--fixed %s: want FP8x23, FP16x16, FP32x32 or FP64x64", cmp.Or(f.fixed, `""`))
	}
	return onnx.NewFixedSession(m, d)
}

// once reads inputs and runs the model on them, as often as --repeat says.
func (u *runner) once(ctx context.Context, files, named []string, progress func() (func(done, total int, n *onnx.Node), func())) (r *result, err error) {
	r = &result{runner: u}
	start := time.Now()
	if r.inputs, err = u.gather(u.m, u.src.name, files, named, &u.f.pics); err != nil {
		return nil, err
	}
	r.read = time.Since(start)
	given := r.inputs.given()
	if r.plan, err = u.s.PlanValues(given); err != nil {
		return nil, u.sized(u.src.in(err))
	}

	// Until here an interrupt ends the program at once; now it ends the run, and a second one the program.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	f := r.f
	o := onnx.Options{MaxMemory: int64(r.limit), Threads: f.threads, ReceiptNodes: f.receiptNodes}
	if f.receipt != "" {
		r.receipt = new(receipt.Receipt)
		o.Receipt = r.receipt
	}
	if f.profile || f.trace != "" || f.all != "" {
		r.profile = &profile{nodes: make(map[*onnx.Node]*nodeTime), trace: f.trace != ""}
		o.Observe = r.profile.observe
	}
	var outputs map[string]onnx.Value
	for i := range f.repeat {
		if r.profile != nil {
			r.profile.begin()
			r.profile.keep = f.all != "" && i == f.repeat-1
		}
		for _, v := range outputs {
			v.Close()
		}
		start := time.Now()
		bar, done := progress()
		o.Progress = bar
		outputs, err = r.s.RunValues(ctx, given, &o)
		done()
		if err == nil && r.profile != nil {
			err = r.profile.err
		}
		if errors.Is(err, context.Canceled) {
			return nil, fmt.Errorf("interrupted: %w", u.src.in(err))
		}
		if err != nil {
			return nil, u.sized(u.src.in(err))
		}
		r.spent = append(r.spent, time.Since(start))
	}
	r.take(outputs)
	r.ranks, err = r.rank(u.f)
	return r, err
}

// sized adds to an error about shapes that the size of a picture may be its cause.
func (u *runner) sized(err error) error {
	if open := u.f.pics.open; open != "" && errors.Is(err, tensor.ErrShape) {
		return fmt.Errorf("%w; the input %s takes pictures of any size, --size 640x640 resizes them", err, label(open))
	}
	return err
}

// take names the tensors of the outputs.
func (r *result) take(outputs map[string]onnx.Value) {
	r.outputs, r.parts, r.empty = make(map[string]tensor.Any), make(map[string][]string), make(map[string]string)
	r.text = make(map[string]onnx.Value)
	for name, v := range outputs {
		r.empty[name] = v.String()
		if holdsText(v) {
			r.text[name] = v
			continue
		}
		if v.Kind() == onnx.KindTensor {
			r.outputs[name], r.parts[name] = v.Tensor(), []string{name}
		}
		for i, t := range v.List() {
			part := fmt.Sprintf("%s.%d", name, i)
			r.outputs[part], r.parts[name] = t, append(r.parts[name], part)
		}
	}
}

// rank reads the outputs that score classes, by name. One row of a matrix does; a vector or many rows only if something
// says so: they are probabilities, pictures were given, or a flag about classes is there.
func (r *result) rank(f *runFlags) (map[string]*classes.Ranking, error) {
	ranks := make(map[string]*classes.Ranking)
	fits := r.labels == nil || !r.labels.asked
	for name, t := range r.outputs {
		k := classes.Rank(t)
		if k == nil || (len(k.Rows) > 1 || t.Rank() == 1) && !k.Probabilities && r.rowNames(k) == nil && !f.topGiven && f.labels == "" {
			continue
		}
		ranks[name] = k
		fits = fits || len(k.Rows[0]) == len(r.labels.names)
	}
	if !fits {
		return nil, fmt.Errorf("%s: it has %d lines, and no output of %s has as many classes", r.labels.file, len(r.labels.names), r.src.name)
	}
	return ranks, nil
}

// rowNames returns the files of the pictures that the rows are about, nil if that isn't known.
func (r *result) rowNames(k *classes.Ranking) []string {
	for _, name := range r.inputs.names() {
		if v := r.inputs.values[name]; v != nil && len(v.pictures) == len(k.Rows) {
			return v.files
		}
	}
	return nil
}
