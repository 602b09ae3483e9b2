package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/weights"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/spf13/cobra"
)

// modelFlags are the flags of a conversion that writes a model.
type modelFlags struct {
	into            string
	inputs, outputs []string
}

func (f *modelFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.into, "into", "", "write this `model` with the tensors of IN in place of its weights of the same names")
	flags.StringSliceVar(&f.inputs, "inputs", nil, "write the part of a model that begins at the values of these `names`")
	flags.StringSliceVar(&f.outputs, "outputs", nil, "write the part of a model that ends at the values of these `names`")
}

// given reports whether the conversion writes a model.
func (f *modelFlags) given(to, out string) bool {
	return f.into != "" || f.inputs != nil || f.outputs != nil || to == "onnx" || to == "" && strings.ToLower(filepath.Ext(out)) == ".onnx"
}

// model writes a model: a part of one, or one with other weights.
func (v *conversion) model(c *cobra.Command, to, in string, f *modelFlags) error {
	if to != "onnx" && (to != "" || format.ByEnd(v.out) != nil) {
		return usagef(c, "--into, --inputs and --outputs write a model: OUT must end in .onnx, or give --to onnx")
	}
	for _, name := range []string{"order", "layout", "scales", "from", "dtype", "shape", "header", "delimiter", "name", "slice"} {
		if c.Flags().Changed(name) && (f.into == "" || slices.Contains([]string{"order", "layout", "scales"}, name)) {
			return usagef(c, "--%s says nothing about a model that is written", name)
		}
	}
	if f.into != "" {
		if f.inputs != nil || f.outputs != nil {
			return usagef(c, "--into writes a whole model, --inputs and --outputs a part of one")
		}
		return v.putInto(c, in, f.into)
	}
	s, err := v.p.open(in)
	if err != nil {
		return err
	}
	if !s.isModel() {
		return usagef(c, "%s holds no model: say with --into which model takes its tensors as weights", in)
	}
	m, err := v.p.model(s)
	if err != nil {
		return err
	}
	if f.inputs != nil || f.outputs != nil {
		if m, err = onnx.Extract(m, f.inputs, f.outputs); err != nil {
			return s.in(err)
		}
	}
	return v.writeModel(m, inFiles(m))
}

// inFiles reports whether weights of a model are in other files.
func inFiles(m *onnx.Model) bool {
	w := weights.Of(m)
	for _, name := range w.Names() {
		if w.Proto(name).External != nil {
			return true
		}
	}
	return false
}

// putInto writes the model of the file at into with other weights.
func (v *conversion) putInto(c *cobra.Command, in, into string) (err error) {
	if err = v.p.reading.parse(c); err != nil {
		return err
	}
	if v.slice, err = layout.ParseSlice(v.sliceText); err != nil {
		return usagef(c, "--slice: %v", err)
	}
	v.to = format.Named("onnx")
	s, err := v.p.open(in)
	if err != nil {
		return err
	}
	items, err := v.items(s)
	if err != nil {
		return badSlice(in, v.sliceText, err)
	}
	reading := v.p.reading.format // --from is about IN alone
	v.p.reading.format = nil
	_, m, err := v.p.openModel(into)
	v.p.reading.format = reading
	if err != nil {
		return err
	}
	const most = 20
	w, outside := weights.Of(m), inFiles(m)
	var wrong []string
	for i := range items {
		x := &items[i]
		t := w.Proto(x.Name)
		if t == nil {
			wrong = append(wrong, fmt.Sprintf("%s: the model has no weight of this name", label(x.Name)))
			continue
		}
		if err := v.change(x); err != nil {
			return fmt.Errorf("%s: %w", in, err)
		}
		shape, err := t.Shape()
		if err != nil {
			return fmt.Errorf("%s: %s: %w", into, label(x.Name), err)
		}
		if d, _ := t.Type.DType(); d != x.Tensor.DType() || !slices.Equal(shape, x.Tensor.Shape()) {
			wrong = append(wrong, fmt.Sprintf("%s: %s, the model's weight is %s", label(x.Name), tensor.Describe(x.Tensor), t))
			continue
		}
		stored, err := onnx.NewTensorProto(t.Name, x.Tensor)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", in, label(x.Name), err)
		}
		stored.Doc, stored.Metadata = t.Doc, t.Metadata
		*t = stored
	}
	if len(wrong) > 0 {
		n := len(wrong)
		if n > most {
			wrong = append(wrong[:most], fmt.Sprintf("and %d more", n-most))
		}
		return fmt.Errorf("%s: %d of its %d tensors don't fit into %s:\n  %s", in, n, len(items), into, strings.Join(wrong, "\n  "))
	}
	if len(items) == 0 {
		return fmt.Errorf("%s: it has no tensors", in)
	}
	return v.writeModel(m, outside)
}

// writeModel writes a model to one file, or with its large weights in another one beside it.
func (v *conversion) writeModel(m *onnx.Model, outside bool) error {
	if outside {
		if v.out == "-" {
			return fmt.Errorf("the model has weights in other files, which standard output has no place for: write it to a file")
		}
		if info, err := os.Stat(v.out); err == nil && !v.p.force && disk.Protected(v.out, info.Mode().Perm()) {
			return fmt.Errorf("%s: %w", v.out, format.ErrProtected)
		}
		const least = 1024 // bytes of a weight that goes into the file beside
		return m.WriteExternal(v.out, least)
	}
	file, err := onnx.Encode(m)
	if err != nil {
		return fmt.Errorf("%s: %w", v.out, err)
	}
	return v.p.writeTo(v.out, func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	})
}
