package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// A target is a file that outputs are written to.
type target struct {
	names []string // of the outputs
	file  string   // - is standard output
	zip   bool
}

// targetsOf reads the values of -o, and refuses before the run the targets that would fail after it.
func (p *program) targetsOf(m *onnx.Model, model string, args []string) (list []target, err error) {
	var names []string
	if m.Graph != nil {
		for i := range m.Graph.Outputs {
			names = append(names, m.Graph.Outputs[i].Name)
		}
	}
	seen := make(map[string]bool)
	for _, arg := range args {
		t := target{names, arg, false}
		if i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(arg, n+"=") }); i >= 0 {
			t.names, t.file = names[i:i+1], arg[len(names[i])+1:]
		} else if name, _, ok := strings.Cut(arg, "="); ok {
			return nil, fmt.Errorf("%s: there is no output %q; it has %d%s", model, name, len(names), listed(names))
		}
		switch ext := strings.ToLower(filepath.Ext(t.file)); {
		case t.file == "-":
			t.zip = len(t.names) > 1
		case ext == ".npz":
			t.zip = true
		case ext != ".npy":
			return nil, p.usagef("-o %s: the file must end in .npy or .npz, or be -", arg)
		case len(t.names) > 1:
			return nil, fmt.Errorf("%s: an npy file holds one tensor, %s has %d outputs%s: write -o name=%[1]s, or all to a file that ends in .npz",
				t.file, model, len(names), listed(names))
		}
		if seen[filepath.Clean(t.file)] {
			return nil, p.usagef("-o %s: the file is written twice", arg)
		}
		seen[filepath.Clean(t.file)] = true
		for _, name := range t.names {
			out := outputOf(m, name).Type
			for out.Of != nil && (out.Kind == onnx.KindSequence || out.Kind == onnx.KindOptional) {
				out = *out.Of
			}
			if out.Kind == onnx.KindMap || out.Elem == onnx.ElemString {
				return nil, fmt.Errorf("%s: the output %s is of strings or maps, which the file can't hold: --json prints them", t.file, label(name))
			}
			if !t.zip && outputOf(m, name).Type.Kind == onnx.KindSequence {
				return nil, fmt.Errorf("%s: the output %s is a sequence: write it to a file that ends in .npz", t.file, label(name))
			}
		}
		if err := folderOf(t.file); err != nil {
			return nil, err
		}
		if t.zip { // whether the names can stand in an npz
			if err := namesInZip(t.names); err != nil {
				return nil, fmt.Errorf("%s: %w; write single outputs, as -o name=file.npy", t.file, err)
			}
		}
		list = append(list, t)
	}
	return list, nil
}

// namesInZip fails where an npz can't have arrays of these names.
func namesInZip(names []string) error {
	nothing := slices.Repeat([]tensor.Any{tensor.New[uint8](0).Any()}, len(names))
	return npy.WriteZip(io.Discard, names, nothing, nil)
}

// writeAll writes the results of all nodes to an npz file.
func (p *program) writeAll(file string, f *profile) error {
	var names, left []string
	var values []tensor.Any
	for i, name := range f.names {
		if namesInZip(f.names[i:i+1]) != nil {
			left = append(left, name)
			continue
		}
		names, values = append(names, name), append(values, f.values[i])
	}
	if left != nil {
		fmt.Fprintf(p.stderr, "ashlar: warning: %s: left out, as an npz can't hold their names%s\n", file, listed(left))
	}
	return p.writeTo(file, func(w io.Writer) error { return npy.WriteZip(w, names, values, nil) })
}

func targetsStdout(list []target) bool {
	return slices.ContainsFunc(list, func(t target) bool { return t.file == "-" })
}

// outputOf returns the graph's declaration of an output.
func outputOf(m *onnx.Model, name string) *onnx.ValueInfo {
	i := slices.IndexFunc(m.Graph.Outputs, func(v onnx.ValueInfo) bool { return v.Name == name })
	return &m.Graph.Outputs[i]
}

// write writes the outputs of a target.
func (p *program) write(t target, r *result) error {
	var names []string
	for _, name := range t.names {
		names = append(names, r.parts[name]...)
	}
	put := func(w io.Writer) error {
		if !t.zip {
			if len(names) != 1 {
				return fmt.Errorf("the output %s has %d tensors; a file that ends in .npz holds them", label(t.names[0]), len(names))
			}
			return npy.Write(w, r.outputs[names[0]], nil)
		}
		ts := make([]tensor.Any, len(names))
		for i, name := range names {
			ts[i] = r.outputs[name]
		}
		return npy.WriteZip(w, names, ts, nil)
	}
	return p.writeTo(t.file, put)
}
