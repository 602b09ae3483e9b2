package onnx

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A model finds the operators of its program, by domain and name.
func TestModelOperators(t *testing.T) {
	v := Type{Kind: KindTensor, Elem: ElemOf(dtype.Float32), HasShape: true, Shape: []Dim{{Value: 2}}}
	m := &Model{IR: 8, Opsets: []Opset{{Version: 17}, {Domain: "org.example", Version: 1}}, Graph: &Graph{Name: "g",
		Inputs: []ValueInfo{{Name: "x", Type: v}}, Outputs: []ValueInfo{{Name: "y", Type: v}},
		Nodes: []Node{{Op: "Minus", Domain: "org.example", Inputs: []string{"x"}, Outputs: []string{"y"}}}}}
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "no operator of this library or the program") {
		t.Errorf("without the operator: %v", err)
	}
	neg, _ := op.Lookup("Neg")
	m.Operators = []*op.Op{neg.As("org.example", "Minus", 1)}
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(context.Background(), map[string]tensor.Any{"x": tensor.FromSlice([]float32{1, -2}).Any()}, nil)
	if y, _ := tensor.As[float32](out["y"]); err != nil || y.At(0) != -1 || y.At(1) != 2 {
		t.Errorf("%v, %v", out, err)
	}
	m.Graph.Nodes[0].Op, m.Graph.Nodes[0].Domain = "org.example.Minus", "" // another operator, of ONNX's own domain
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "ONNX has no operator of this name") {
		t.Errorf("a name with a domain in it: %v", err)
	}
	m.Operators = []*op.Op{nil}
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "operator 0") {
		t.Errorf("nil: %v", err)
	}
}

// A program's own operator is no operator of the library, whatever its name: it isn't part of the Conv before it, and runs in
// no plan.
func TestOwnName(t *testing.T) {
	calls := 0
	for _, domain := range []string{"org.example", ""} {
		for _, name := range []string{"Relu", "Range"} {
			b := NewBuilder("g")
			x := b.Input("x", dtype.Float32, 1, 1, 2)
			y := b.Node(name, []string{b.Node("Conv", []string{x, b.Weight("w", tensor.Full[float32](1, 1, 1, 1).Any())})})
			b.Output(b.Rename(b.Node("Add", []string{y, b.Node(name, []string{b.Weight("v", vec(-1))})}), "y"), dtype.Float32, 1, 1, 2)
			m, err := b.Model(17)
			if err != nil {
				t.Fatal(err)
			}
			m.Graph.Nodes[1].Domain, m.Graph.Nodes[2].Domain = domain, domain
			m.Opsets = append(m.Opsets, Opset{"org.example", 1})
			neg, _ := op.Lookup("Neg")
			m.Operators = []*op.Op{called(neg, domain, name, &calls)}
			s, err := NewSession(m)
			if err != nil {
				t.Fatal(err)
			}
			in := vals{"x": tensor.FromSlice([]float32{1, -2}, 1, 1, 2).Any()}
			if _, err := s.Plan(in); err != nil || calls != 0 {
				t.Errorf("%q %s: %d calls before the run, %v", domain, name, calls, err)
			}
			out, err := s.Run(context.Background(), in, nil)
			if err != nil || calls != 2 {
				t.Fatalf("%q %s: %d calls, want 2; %v", domain, name, calls, err)
			}
			checkVec(t, out["y"], 0, 3)
			calls = 0
		}
	}
}

// called returns an operator of another name, which counts its calls.
func called(o *op.Op, domain, name string, n *int) *op.Op {
	return op.New(op.Info{Domain: domain, Name: name, Versions: []int{1}}, o.Infer, func(c *op.Call) ([]tensor.Any, error) {
		*n++
		return o.Run(c)
	})
}

// An error tells an operator that nothing runs from one that ONNX doesn't have, and both from one that a program may give.
func TestWithout(t *testing.T) {
	for _, c := range []struct{ domain, name, want string }{
		{"", "Crop", "node 0 (Crop, opset 17): the operator isn't implemented: it was an experiment, which opset 10 took back"},
		{"", "ImageDecoder", "add imagedecoder.Operator to Model.Operators"},
		{"ai.onnx.preview.training", "Gradient", "(ai.onnx.preview.training.Gradient, opset 1): the operator isn't implemented: it would differentiate"},
		{"com.microsoft", "QMoE", "(com.microsoft.QMoE, opset 1): the operator isn't implemented: it is ONNX Runtime's own"},
		{"com.microsoft", "Inverse", "(com.microsoft.Inverse, opset 1): the operator isn't implemented: it is ONNX Runtime's own"},
		{"com.microsoft", "BeamSearch", "it is ONNX Runtime's own"},
		{"com.microsoft", "SoftmaxGrad", "has this name; the domain is ONNX Runtime's"},
		{"com.microsoft.nchwc", "ReorderInput", "let it save the model at the optimization level extended, not all"},
		{"", "Log2", "node 0 (Log2, opset 17): ONNX has no operator of this name up to opset 28"}, // op has it, for programs
		{"", "ReLU", "ONNX has no operator of this name up to opset 28; Relu is the nearest"},
		{"", "scan", "Scan is the nearest"},
		{"", "swiglu", "SwiGLU is the nearest"},
		{"ai.onnx.ml", "Forest", "ONNX has no operator of this name"},
		{"", "SwiGLU", "its meaning at opset 17 isn't available, only that of opsets [28]"},
		{"local", "F", "no operator of this library or the program, and no function of the model, has this name; a program adds its own to Model.Operators"},
	} {
		m := &Model{IR: 8, Opsets: []Opset{{Version: 17}, {Domain: "ai.onnx.ml", Version: 3}, {Domain: "ai.onnx.preview.training", Version: 1}, {Domain: "com.microsoft", Version: 1}, {Domain: "com.microsoft.nchwc", Version: 1}, {Domain: "local", Version: 1}},
			Graph: &Graph{Name: "g", Inputs: []ValueInfo{{Name: "x", Type: Type{Kind: KindTensor, Elem: ElemFloat32}}}, Outputs: []ValueInfo{{Name: "y"}},
				Nodes: []Node{{Op: c.name, Domain: c.domain, Inputs: []string{"x"}, Outputs: []string{"y"}}}}}
		if err := m.Check(); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v; want %s", c.domain, c.name, err, c.want)
		}
	}
	for key := range absent {
		if operators()[key] != nil || valueOps[key] != nil || composites[key] != nil {
			t.Errorf("%v is there", key)
		}
	}
}

// Nodes without a seed have numbers of their own, the same in all sessions; nodes of one seed have the same numbers.
func TestSeeds(t *testing.T) {
	run := func() map[string]tensor.Any {
		b := NewBuilder("numbers")
		for _, name := range []string{"a", "b"} {
			b.Output(b.Rename(b.Node("RandomUniform", nil, IntsAttr("shape", 20)), name), dtype.Float32, 20)
			b.Output(b.Rename(b.Node("RandomNormal", nil, IntsAttr("shape", 20), FloatAttr("seed", 3)), name+"seeded"), dtype.Float32, 20)
		}
		m, err := b.Model(17)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(context.Background(), nil, nil)
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
