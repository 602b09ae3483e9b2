package onnx

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// Cut behind any node, and run one part after the other, a model gives the same bits.
func TestExtractAnywhere(t *testing.T) {
	m, err := Open(filepath.FromSlash("../testdata/digits.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	run := func(m *Model, in map[string]tensor.Any) map[string]tensor.Any {
		t.Helper()
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		return mustRun(t, s, in)
	}
	image := map[string]tensor.Any{"image": tensor.Arange[float32](-64, 64, 1).Reshape(2, 1, 8, 8).Any()}
	want := run(m, image)["probability"]
	for i := range m.Graph.Nodes[:len(m.Graph.Nodes)-1] {
		name := m.Graph.Nodes[i].Outputs[0]
		head, err := Extract(m, nil, []string{name})
		if err != nil {
			t.Fatal(err)
		}
		tail, err := Extract(m, []string{name}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(head.Graph.Nodes) + len(tail.Graph.Nodes); n != len(m.Graph.Nodes) {
			t.Errorf("cut at %s: %d nodes of %d", name, n, len(m.Graph.Nodes))
		}
		if n := len(head.Graph.Initializers) + len(tail.Graph.Initializers); n != len(m.Graph.Initializers) {
			t.Errorf("cut at %s: %d weights of %d", name, n, len(m.Graph.Initializers))
		}
		file, err := Encode(tail)
		if err != nil {
			t.Fatal(err)
		}
		if tail, err = Decode(file); err != nil {
			t.Fatal(err)
		}
		got := run(tail, map[string]tensor.Any{name: run(head, image)[name]})["probability"]
		tensortest.Equal(t, got, want)
	}
}

// A part takes along the values that a branch reads, the function that a node calls, and the sizes that follow from fixed inputs.
func TestExtractTakesWhatItNeeds(t *testing.T) {
	f32 := dtype.Float32
	b := NewBuilder("g")
	x, cond := b.Input("x", f32, 2, 3), b.Input("cond", dtype.Bool)
	w := b.Weight("w", tensor.FromSlice([]float32{1, 2, 3}, 3).Any())
	b.Weight("spare", tensor.FromSlice([]float32{1}, 1).Any())
	halves := b.Nodes("Split", 2, []string{x}, IntAttr("axis", 0), IntAttr("num_outputs", 2))
	low := b.Node("Abs", []string{halves[0]})
	high := b.Node("test.Twice", []string{halves[1]})
	then, other := b.Body("then"), b.Body("else")
	then.OutputOf(then.Node("Add", []string{low, w}), Type{Kind: KindTensor, Elem: ElemFloat32})
	other.OutputOf(other.Node("Identity", []string{high}), Type{Kind: KindTensor, Elem: ElemFloat32})
	y := b.Rename(b.Node("If", []string{cond}, GraphAttr("then_branch", then), GraphAttr("else_branch", other)), "y")
	b.OutputOf(y, Type{})
	b.Import("test", 1)
	m, err := b.Model(22)
	if err != nil {
		t.Fatal(err)
	}
	m.Functions = []Function{
		{Domain: "test", Name: "Twice", Inputs: []string{"a"}, Outputs: []string{"b"}, Opsets: m.Opsets,
			Nodes: []Node{{Op: "Sum", Domain: "test", Inputs: []string{"a", "a"}, Outputs: []string{"b"}}}},
		{Domain: "test", Name: "Sum", Inputs: []string{"a", "c"}, Outputs: []string{"b"}, Opsets: m.Opsets,
			Nodes: []Node{{Op: "Add", Inputs: []string{"a", "c"}, Outputs: []string{"b"}}}},
		{Domain: "test", Name: "Spare", Inputs: []string{"a"}, Outputs: []string{"b"}, Opsets: m.Opsets,
			Nodes: []Node{{Op: "Neg", Inputs: []string{"a"}, Outputs: []string{"b"}}}},
	}
	// One of the halves is an input; the other still comes from the Split.
	part, err := Extract(m, []string{"x", "cond", halves[1]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if g := part.Graph; len(g.Initializers) != 1 || g.Initializers[0].Name != "w" || len(g.Nodes) != 4 || len(part.Functions) != 2 {
		t.Errorf("%d weights, %d nodes, %d functions", len(g.Initializers), len(g.Nodes), len(part.Functions))
	}
	if got := part.Graph.Inputs[2].String(); got != halves[1]+" float32[1,3]" {
		t.Errorf("the new input is %s", got)
	}
	s, err := NewSession(part)
	if err != nil {
		t.Fatal(err)
	}
	xs := tensor.FromSlice([]float32{-1, -2, -3, 4, 5, 6}, 2, 3).Any()
	for yes, want := range map[bool][]float32{true: {2, 4, 6}, false: {20, 20, 20}} {
		out := mustRun(t, s, map[string]tensor.Any{"x": xs, "cond": tensor.Scalar(yes).Any(), halves[1]: tensor.FromSlice([]float32{10, 10, 10}, 1, 3).Any()})
		checkVec(t, out["y"], want...)
	}
	weight, err := Extract(m, []string{low, "w", "cond", high}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	if g := weight.Graph; len(g.Nodes) != 1 || len(g.Initializers) != 0 || g.Inputs[1].String() != "w float32[3]" || len(weight.Functions) != 0 {
		t.Errorf("a part whose input is a weight: %+v", g)
	}

	for _, c := range []struct {
		in, out []string
		says    string
	}{
		{nil, []string{"Y"}, `output "Y": there is no value of this name; there is "y"`},
		{[]string{"nothing"}, nil, `input "nothing": there is no value of this name`},
		{[]string{"x", "x"}, nil, `input "x" stands twice`},
		{[]string{"x"}, nil, `the outputs also depend on "cond"; add them to the inputs, or cut behind them`},
		{[]string{low}, []string{"y"}, `the outputs also depend on "x", "cond"`},
		{[]string{"x", "cond"}, []string{low}, `input "cond": no output depends on it`},
	} {
		if _, err := Extract(m, c.in, c.out); err == nil || !strings.Contains(err.Error(), c.says) || !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%v to %v: %v, want %q", c.in, c.out, err, c.says)
		}
	}
	for _, m := range []*Model{nil, {}} {
		if _, err := Extract(m, nil, nil); err == nil {
			t.Error("it extracts from nothing")
		}
	}
}

// Where sizes are open, a new input has its element type; where an operator is missing, the type that the file declares.
func TestExtractTypes(t *testing.T) {
	b := NewBuilder("g")
	x := b.Input("x", dtype.Float32, "n", nil)
	odd := b.Node("Frobnicate", []string{b.Node("Relu", []string{x})})
	b.OutputOf(b.Node("Neg", []string{odd}), Type{})
	m, err := b.Model(22)
	if err != nil {
		t.Fatal(err)
	}
	part, err := Extract(m, []string{"relu1"}, []string{odd})
	if err != nil || part.Graph.Inputs[0].Type.Kind != KindNone {
		t.Errorf("%v, %v", part, err)
	}
	m.Graph.Nodes[1].Op = "Abs"
	if part, err = Extract(m, []string{"relu1"}, []string{odd}); err != nil || part.Graph.Inputs[0].String() != "relu1 float32[...]" {
		t.Errorf("%v, %v", part.Graph.Inputs, err)
	}
	s, err := NewSession(part)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(context.Background(), map[string]tensor.Any{"relu1": vec(-1, 2)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkVec(t, out[odd], 1, 2)
	if !slices.Equal(part.Opsets, m.Opsets) {
		t.Error(part.Opsets)
	}
}

// The cost of a random model has the plan of its session, and each of its outputs alone has the value that it has among the others.
func TestPartsOfRandomModels(t *testing.T) {
	ops := all.Operators()
	ran := 0
	for i := range 20 * len(ops) {
		file, err := Encode(randomModel(uint64(i), ops[i%len(ops)]))
		if err != nil {
			t.Fatal(err)
		}
		m, err := Decode(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(m)
		inputs := make(map[string]tensor.Any)
		for _, v := range m.Inputs() {
			shape := make([]int, len(v.Type.Shape))
			for axis, d := range v.Type.Shape {
				shape[axis] = int(d.Value)
			}
			if d, ok := v.Type.Elem.DType(); ok && err == nil {
				inputs[v.Name], err = tensor.Make(d, shape...)
			}
		}
		if err != nil {
			continue
		}
		p, err := s.Plan(inputs)
		c, cerr := m.Cost(inputs)
		if err == nil && cerr != nil { // a plan may know more: large constants
			t.Errorf("model %d: plan %v, cost %v", i, err, cerr)
		}
		if err != nil || cerr != nil {
			continue
		}
		folded := slices.ContainsFunc(s.c.steps, func(s step) bool { return s.folded }) // its results are weights then
		if !folded && (c.Plan.Live != p.Live || c.Plan.Weights != p.Weights) || c.Plan.Exact != p.Exact || c.FLOPs < 0 {
			t.Errorf("model %d: the cost has %+v, the session %+v", i, c.Plan, *p)
		}
		o := Options{MaxMemory: 8 << 20, MaxIterations: 100}
		want, err := s.RunValues(context.Background(), valuesOf(inputs), &o)
		if err != nil {
			continue
		}
		ran++
		for _, v := range m.Graph.Outputs {
			part, err := Extract(m, nil, []string{v.Name})
			if err != nil {
				t.Errorf("model %d, %s: %v", i, v.Name, err)
				continue
			}
			own := make(map[string]Value)
			for _, in := range part.Inputs() {
				own[in.Name] = Value{a: inputs[in.Name]}
			}
			s, err := NewSession(part)
			if err != nil {
				t.Errorf("model %d, %s: %v", i, v.Name, err)
				continue
			}
			got, err := s.RunValues(context.Background(), own, &o)
			if err != nil {
				t.Errorf("model %d, %s: %v", i, v.Name, err)
			} else if a, b := got[v.Name], want[v.Name]; a.String() != b.String() {
				t.Errorf("model %d, %s: %v, among the others %v", i, v.Name, a, b)
			} else if a.Kind() == KindTensor && a.text == nil {
				tensortest.Equal(t, a.Tensor(), b.Tensor())
			}
		}
	}
	if ran < 40 {
		t.Errorf("%d models ran", ran)
	}
}
