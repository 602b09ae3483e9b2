// Package weights reads ONNX models as files of arrays, which are their weights, and the TensorProto of a pb file as one array. A
// program imports it for package format. Its callers are the command ashlar and the page of module web.
package weights

import (
	"fmt"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

func init() {
	format.Register(&format.Format{Name: "onnx", Ends: []string{".onnx"}, Open: openModel, Sign: func(head []byte, named bool) format.Sign {
		switch {
		case named:
			return format.End
		case len(head) > 0 && head[0] == 8: // the field that models begin with: ir_version
			return format.Maybe
		}
		return format.No
	}})
	format.Register(&format.Format{Name: "pb", Ends: []string{".pb"}, Open: openProto, Sign: func(_ []byte, named bool) format.Sign {
		if named {
			return format.End
		}
		return format.No
	}})
}

// Weights are the initializers of a model, the initializers of graphs inside nodes included. Where several have one name, the weights after
// the first have .2, .3 and so on behind it.
type Weights struct {
	*onnx.Model
	names  []string
	protos map[string]*onnx.TensorProto
}

// Of returns the weights of a model.
func Of(m *onnx.Model) Weights {
	w := Weights{Model: m, protos: make(map[string]*onnx.TensorProto)}
	for g := range m.Graph.All() {
		for i := range g.Initializers {
			t := &g.Initializers[i]
			name := t.Name
			for k := 2; w.protos[name] != nil; k++ {
				name = fmt.Sprintf("%s.%d", t.Name, k)
			}
			w.names, w.protos[name] = append(w.names, name), t
		}
	}
	return w
}

// About is "ONNX".
func (w Weights) About() string { return "ONNX" }

// Names returns the names of the weights, in the order of the graphs.
func (w Weights) Names() []string { return w.names }

// Proto returns a weight as the model stores it, nil if there is none of the name.
func (w Weights) Proto(name string) *onnx.TensorProto { return w.protos[name] }

// Info describes a weight.
func (w Weights) Info(name string) (i format.Info, err error) {
	t := w.protos[name]
	if t == nil {
		return i, fmt.Errorf("the model has no weight %q", name)
	}
	if i.Shape, err = t.Shape(); err != nil {
		return i, err
	}
	i.Type, i.Bytes = t.Type.String(), int64(len(t.Raw))
	var ok bool
	if i.DType, ok = t.Type.DType(); ok {
		i.Bytes = formats.Bytes(i.DType, i.Shape...)
	}
	i.Layout, err = layout.RowMajor(i.Shape...)
	return i, err
}

// Tensor reads a weight, or the part of it that idx selects.
func (w Weights) Tensor(name string, idx ...layout.Index) (tensor.Any, error) {
	t := w.protos[name]
	if t == nil {
		return tensor.Any{}, fmt.Errorf("the model has no weight %q", name)
	}
	a, err := w.Model.Tensor(t)
	if err != nil || len(idx) == 0 {
		return a, err
	}
	return tensor.Slice(a, idx...)
}

func openModel(s *format.Source) (format.File, error) {
	if s.Path != "" {
		m, err := onnx.Open(s.Path)
		if err != nil {
			return nil, err
		}
		return Of(m), nil
	}
	b, err := formats.All(s)
	if err != nil {
		return nil, err
	}
	m, err := onnx.Decode(b)
	if err != nil {
		return nil, err
	}
	return Of(m), nil
}

func openProto(s *format.Source) (format.File, error) {
	read := func() (tensor.Any, error) {
		b, err := formats.All(s)
		if err != nil {
			return tensor.Any{}, err
		}
		t, err := onnx.DecodeTensor(b)
		return t, disk.In(s.Path, err)
	}
	return &formats.One{Read: read, Header: func() (string, format.Info, error) {
		t, err := read()
		if err != nil {
			return "", format.Info{}, err
		}
		return "a tensor of ONNX", format.Info{Type: t.DType().String(), DType: t.DType(), Shape: t.Shape(), Bytes: int64(t.Len() * t.DType().Size())}, nil
	}}, nil
}
