package onnx

import (
	"context"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// renamed is Neg of another domain.
type renamed struct{ op.Op }

func (renamed) Domain() string  { return "org.example" }
func (renamed) Name() string    { return "Minus" }
func (renamed) Versions() []int { return []int{1} }

// A model finds the operators of its program, by domain and name.
func TestModelOperators(t *testing.T) {
	v := Type{Kind: KindTensor, Elem: ElemOf(dtype.Float32), HasShape: true, Shape: []Dim{{Value: 2}}}
	m := &Model{IR: 8, Opsets: []Opset{{Version: 17}, {Domain: "org.example", Version: 1}}, Graph: &Graph{Name: "g",
		Inputs: []ValueInfo{{Name: "x", Type: v}}, Outputs: []ValueInfo{{Name: "y", Type: v}},
		Nodes: []Node{{Op: "Minus", Domain: "org.example", Inputs: []string{"x"}, Outputs: []string{"y"}}}}}
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "isn't implemented") {
		t.Errorf("without the operator: %v", err)
	}
	neg, _ := op.Lookup("Neg")
	m.Operators = []op.Op{renamed{neg}}
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(context.Background(), map[string]tensor.Any{"x": tensor.FromSlice([]float32{1, -2}).Any()}, Options{})
	if y, _ := tensor.As[float32](out["y"]); err != nil || y.At(0) != -1 || y.At(1) != 2 {
		t.Errorf("%v, %v", out, err)
	}
	m.Graph.Nodes[0].Op, m.Graph.Nodes[0].Domain = "org.example.Minus", "" // another operator, of ONNX's own domain
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "isn't implemented") {
		t.Errorf("a name with a domain in it: %v", err)
	}
	m.Operators = []op.Op{nil}
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "operator 0") {
		t.Errorf("nil: %v", err)
	}
}

// Nodes without a seed have numbers of their own, the same in all sessions; those of one seed have the same numbers.
func TestSeeds(t *testing.T) {
	run := func() map[string]tensor.Any {
		b := NewBuilder("numbers")
		for _, name := range []string{"a", "b"} {
			b.Output(b.Rename(b.Node("RandomUniform", nil, Ints("shape", 20)), name), dtype.Float32, 20)
			b.Output(b.Rename(b.Node("RandomNormal", nil, Ints("shape", 20), Float("seed", 3)), name+"seeded"), dtype.Float32, 20)
		}
		m, err := b.Model(17)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(context.Background(), nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first, second := run(), run()
	for name, a := range first {
		if a.String() != second[name].String() {
			t.Errorf("%s differs between sessions", name)
		}
	}
	if first["a"].String() == first["b"].String() || first["aseeded"].String() != first["bseeded"].String() {
		t.Error("seeds don't tell nodes apart")
	}
}
