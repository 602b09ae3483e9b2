package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// inputs are the arguments of a run, collected from the command line before anything large is read.
type inputs struct {
	p      *program
	m      *onnx.Model
	model  string        // its name, for errors
	pics   *pictureFlags // how pictures become tensors
	order  []string      // the inputs that arguments without a name go to
	values map[string]*value
}

// A value is the argument of one input: a tensor, pictures that become one, a list of tensors for a sequence, or strings or
// maps, one or the elements of a sequence.
type value struct {
	files    []string
	tensor   tensor.Any
	pictures []*source
	list     []tensor.Any
	text     []onnx.Value
}

// gather reads the inputs of a run: named ones given as name=file, and others in the order of the graph's inputs.
func (p *program) gather(m *onnx.Model, model string, files, named []string, pics *pictureFlags) (*inputs, error) {
	in := &inputs{p: p, m: m, model: model, pics: pics, values: make(map[string]*value)}
	for _, arg := range named {
		name, file, err := in.named(arg)
		if err != nil {
			return nil, err
		}
		s, err := p.open(file)
		if err == nil {
			err = in.give(name, s, file)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, v := range m.Inputs() {
		if in.values[v.Name] == nil {
			in.order = append(in.order, v.Name)
		}
	}
	for i, file := range files {
		if err := in.positional(i, file); err != nil {
			return nil, err
		}
	}
	pictures := false
	for _, name := range in.names() {
		v := in.values[name]
		if v == nil || v.pictures == nil {
			continue
		}
		pictures = true
		var err error
		if v.tensor, err = in.pics.batch(p, model, in.info(name), v.pictures); err != nil {
			return nil, err
		}
	}
	for _, v := range m.Inputs() {
		if in.values[v.Name] == nil && v.Type.Kind != onnx.KindOptional {
			return nil, fmt.Errorf("%s: no value for the input %s: give a file for it, as an argument or with -i %s=FILE", model, label(v.String()), label(v.Name))
		}
	}
	if flag := pics.given(); flag != "" && !pictures {
		return nil, p.usagef("%s is for pictures, and no input is one", flag)
	}
	return in, nil
}

// named splits name=file; names may contain = themselves.
func (in *inputs) named(arg string) (input, file string, err error) {
	names := in.names()
	for _, name := range names {
		if file, ok := strings.CutPrefix(arg, name+"="); ok {
			return name, file, nil
		}
	}
	name, _, ok := strings.Cut(arg, "=")
	if !ok {
		return "", "", in.p.usagef("-i %s: want name=file", arg)
	}
	return "", "", fmt.Errorf("%s: there is no input %q; it has %d%s", in.model, name, len(names), listed(names))
}

// positional gives the argument at position i to the inputs that its names, or its place, say.
func (in *inputs) positional(i int, file string) error {
	s, err := in.p.open(file)
	if err != nil {
		return err
	}
	if k, err := in.place(i, s); err == nil && in.textType(in.order[k]) != nil {
		return in.give(in.order[k], s, file)
	}
	if s.array == "" && s.several() {
		f, err := in.p.file(s)
		if err != nil {
			return err
		}
		names := f.Names()
		known := make(map[string]bool)
		for _, name := range in.names() {
			known[name] = true
		}
		if slices.ContainsFunc(names, func(name string) bool { return known[name] }) {
			if err := in.p.within(s, f, names, nil); err != nil {
				return err
			}
			for _, name := range names {
				if !known[name] {
					return fmt.Errorf("%s: the array %q is no input of %s, others are: name those to be used, as in -i name=%s#name", s.name, name, in.model, file)
				}
				t, err := s.values(f, name)
				if err == nil {
					err = in.set(name, t, file+"#"+name)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
		if len(names) != 1 {
			return fmt.Errorf("%s: it has %d arrays%s; none has the name of an input: give one as -i name=%s#array", s.name, len(names), listed(names), file)
		}
		if i, err = in.place(i, s); err != nil {
			return err
		}
		t, err := s.values(f, names[0])
		if err != nil {
			return err
		}
		return in.set(in.order[i], t, file)
	}
	if i, err = in.place(i, s); err != nil {
		return err
	}
	return in.give(in.order[i], s, file)
}

// place is the input that argument i goes to: with one input all pictures are its batch, all tensors its sequence.
func (in *inputs) place(i int, s *source) (int, error) {
	if len(in.order) == 1 && (s.isPicture() || in.isSequence(in.order[0])) {
		i = 0
	}
	if i >= len(in.order) {
		return 0, fmt.Errorf("%s: no input of %s is left for it; without -i the inputs are %d%s", s.name, in.model, len(in.order), listed(in.order))
	}
	return i, nil
}

// give makes s the value of an input, or a picture more of it.
func (in *inputs) give(name string, s *source, file string) error {
	if t := in.textType(name); t != nil {
		return in.giveText(name, t, s, file)
	}
	if s.isPicture() && s.array == "" && !in.isSequence(name) {
		v := in.values[name]
		if v == nil {
			v = &value{}
			in.values[name] = v
		}
		if !v.tensor.IsZero() {
			return in.twice(name, file)
		}
		v.files = append(v.files, file)
		v.pictures = append(v.pictures, s)
		return nil
	}
	var t tensor.Any
	var err error
	if s.is("wav") && in.info(name) != nil {
		t, err = in.recording(name, s)
	} else {
		t, err = in.p.tensor(s)
	}
	if err != nil {
		return err
	}
	return in.set(name, t, file)
}

func (in *inputs) set(name string, t tensor.Any, file string) error {
	v := in.values[name]
	if in.isSequence(name) {
		if v == nil {
			v = &value{}
			in.values[name] = v
		}
		v.files, v.list = append(v.files, file), append(v.list, t)
		return nil
	}
	if v != nil {
		return in.twice(name, file)
	}
	in.values[name] = &value{files: []string{file}, tensor: t}
	return nil
}

func (in *inputs) twice(name, file string) error {
	return fmt.Errorf("%s: input %q has a value from %s already; only pictures make a batch", file, name, in.values[name].files[0])
}

// names lists the names of all inputs of the graph, in its order.
func (in *inputs) names() (list []string) {
	if in.m.Graph != nil {
		for i := range in.m.Graph.Inputs {
			list = append(list, in.m.Graph.Inputs[i].Name)
		}
	}
	return list
}

// info returns the graph's declaration of an input, nil if there is none of this name.
func (in *inputs) info(name string) *onnx.ValueInfo {
	i := slices.Index(in.names(), name)
	if i < 0 {
		return nil
	}
	return &in.m.Graph.Inputs[i]
}

// isSequence reports whether an input is a sequence: each file for it is an element.
func (in *inputs) isSequence(name string) bool {
	v := in.info(name)
	return v != nil && (v.Type.Kind == onnx.KindSequence || v.Type.Kind == onnx.KindOptional && v.Type.Of != nil && v.Type.Of.Kind == onnx.KindSequence)
}

// given are the inputs by name, as a session takes them.
func (in *inputs) given() map[string]onnx.Value {
	out := make(map[string]onnx.Value, len(in.values))
	for name, v := range in.values {
		switch {
		case v.text != nil && in.isSequence(name):
			out[name] = onnx.SequenceOf(v.text...)
		case v.text != nil:
			out[name] = v.text[0]
		case v.list != nil:
			out[name] = onnx.SequenceValue(v.list[0].DType(), v.list...)
		default:
			out[name] = onnx.TensorValue(v.tensor)
		}
	}
	return out
}

// textType returns the type of the strings or maps that an input takes, or its elements do; nil if it takes tensors of
// numbers.
func (in *inputs) textType(name string) *onnx.Type {
	v := in.info(name)
	if v == nil {
		return nil
	}
	t := &v.Type
	for t.Of != nil && (t.Kind == onnx.KindSequence || t.Kind == onnx.KindOptional) {
		t = t.Of
	}
	if t.Kind == onnx.KindMap || t.Kind == onnx.KindTensor && t.Elem == onnx.ElemString {
		return t
	}
	return nil
}

// giveText makes the JSON of s the value of an input, or an element more of it.
func (in *inputs) giveText(name string, t *onnx.Type, s *source, file string) error {
	text, err := textFrom(t, s)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, disk.Bare(err))
	}
	v := in.values[name]
	if v != nil && !in.isSequence(name) {
		return in.twice(name, file)
	}
	if v == nil {
		v = &value{}
		in.values[name] = v
	}
	v.files, v.text = append(v.files, file), append(v.text, text)
	return nil
}
