package onnx

import (
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// costOf is the cost of a model that build puts together.
func costOf(t *testing.T, build func(b *Builder), inputs map[string]tensor.Any) *Cost {
	t.Helper()
	b := NewBuilder("g")
	build(b)
	m, err := b.Model(22)
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.Cost(inputs)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each rule, counted by hand.
func TestCostByHand(t *testing.T) {
	f32 := dtype.Float32
	weight := func(b *Builder, name string, shape ...int) string {
		return b.Weight(name, tensor.New[float32](shape...).Any())
	}
	for _, c := range []struct {
		name  string
		build func(b *Builder) string
		want  int64
	}{
		{"Conv of 2 groups with a bias: 2·(8·4·4)·(2·3·3)+8·4·4", func(b *Builder) string {
			x := b.Input("x", f32, 1, 4, 4, 4)
			return b.Node("Conv", []string{x, weight(b, "w", 8, 2, 3, 3), weight(b, "b", 8)}, IntAttr("group", 2), IntsAttr("pads", 1, 1, 1, 1))
		}, 2*(8*4*4)*(2*3*3) + 8*4*4},
		{"ConvTranspose: 2·(4·5·5)·(6·2·2)", func(b *Builder) string {
			return b.Node("ConvTranspose", []string{b.Input("x", f32, 1, 4, 5, 5), weight(b, "w", 4, 6, 2, 2)}, IntsAttr("strides", 2, 2))
		}, 2 * (4 * 5 * 5) * (6 * 2 * 2)},
		{"MatMul with a batch", func(b *Builder) string {
			return b.Node("MatMul", []string{b.Input("x", f32, 3, 5, 7), weight(b, "w", 7, 2)})
		}, 2 * 3 * 5 * 2 * 7},
		{"Gemm, transposed, with a bias", func(b *Builder) string {
			return b.Node("Gemm", []string{b.Input("x", f32, 7, 5), weight(b, "w", 2, 7), weight(b, "c", 2)}, IntAttr("transA", 1), IntAttr("transB", 1))
		}, 2*5*7*2 + 5*2},
		{"Einsum of two", func(b *Builder) string {
			return b.Node("Einsum", []string{b.Input("x", f32, 2, 3, 4), weight(b, "w", 4, 5)}, StringAttr("equation", "bij,jk->bik"))
		}, 2 * 2 * 3 * 4 * 5},
		{"LSTM of 4 gates in both directions", func(b *Builder) string {
			return b.Node("LSTM", []string{b.Input("x", f32, 6, 2, 3), weight(b, "w", 2, 20, 3), weight(b, "r", 2, 20, 5)},
				IntAttr("hidden_size", 5), StringAttr("direction", "bidirectional"))
		}, 2 * 6 * 2 * 2 * 4 * 5 * (3 + 5)},
		{"Add broadcasts", func(b *Builder) string {
			return b.Node("Add", []string{b.Input("x", f32, 2, 1), weight(b, "w", 3)})
		}, 6},
		{"Max of three", func(b *Builder) string {
			x := b.Input("x", f32, 5)
			return b.Node("Max", []string{x, x, x})
		}, 10},
		{"MaxPool", func(b *Builder) string {
			return b.Node("MaxPool", []string{b.Input("x", f32, 1, 2, 4, 4)}, IntsAttr("kernel_shape", 2, 3))
		}, 2 * 3 * 2 * 6},
		{"GlobalAveragePool", func(b *Builder) string {
			return b.Node("GlobalAveragePool", []string{b.Input("x", f32, 1, 2, 4, 4)})
		}, 32},
		{"Softmax", func(b *Builder) string { return b.Node("Softmax", []string{b.Input("x", f32, 2, 4)}) }, 40},
		{"LRN", func(b *Builder) string {
			return b.Node("LRN", []string{b.Input("x", f32, 1, 4, 2, 2)}, IntAttr("size", 5))
		}, 9 * 16},
		{"Transpose", func(b *Builder) string { return b.Node("Transpose", []string{b.Input("x", f32, 2, 4)}) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := costOf(t, func(b *Builder) { b.OutputOf(c.build(b), Type{}) }, nil)
			if got.FLOPs != c.want || !got.Exact {
				t.Errorf("%d FLOPs, exact %v; want %d", got.FLOPs, got.Exact, c.want)
			}
		})
	}
}

// A Relu that a session makes part of the Conv before it still counts; the plan is the session's.
func TestCostAndPlan(t *testing.T) {
	b := NewBuilder("g")
	x := b.Input("x", dtype.Float32, "n", 1, 8, 8)
	x = b.Node("Conv", []string{x, b.Weight("w", tensor.New[float32](4, 1, 3, 3).Any())})
	b.OutputOf(b.Node("Relu", []string{x}), Type{})
	m, err := b.Model(22)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]tensor.Any{"x": spec(t, dtype.Float32, 2, 1, 8, 8)}
	c, err := m.Cost(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(2*(2*4*6*6)*9 + 2*4*6*6); c.FLOPs != want || !c.Exact || len(c.Nodes) != 2 {
		t.Errorf("%d FLOPs of %d nodes, want %d of 2", c.FLOPs, len(c.Nodes), want)
	}
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Plan(in)
	if err != nil {
		t.Fatal(err)
	}
	if c.Plan.Live != p.Live || c.Plan.Weights != p.Weights || c.Plan.Node != p.Node || c.Plan.Exact != p.Exact {
		t.Errorf("plan %+v, the session's %+v", c.Plan, p)
	}
	if got := c.Nodes[1].Types[0].String(); got != "float32[2,4,6,6]" {
		t.Errorf("Relu gives %s", got)
	}
	open, err := m.Cost(nil)
	if err != nil {
		t.Fatal(err)
	}
	if open.Exact || open.FLOPs != 0 || open.Nodes[0].FLOPs != -1 || open.Nodes[0].Bytes != -1 {
		t.Errorf("with an open shape: %+v", open)
	}
	for _, bad := range []map[string]tensor.Any{{"y": vec(1)}, {"x": vec(1)}, {"x": {}}} {
		if _, err := m.Cost(bad); err == nil {
			t.Errorf("Cost accepts %v", bad)
		}
	}
}

// Branches count where it is known which one runs; loops never do.
func TestCostOfBranches(t *testing.T) {
	f32 := dtype.Float32
	branches := func(b *Builder, cond, x string) {
		yes, no := b.Body("yes"), b.Body("no")
		yes.OutputOf(yes.Node("Relu", []string{x}), Type{Kind: KindTensor, Elem: ElemFloat32})
		no.OutputOf(no.Node("Softmax", []string{x}), Type{Kind: KindTensor, Elem: ElemFloat32})
		b.OutputOf(b.Node("If", []string{cond}, GraphAttr("then_branch", yes), GraphAttr("else_branch", no)), Type{})
	}
	known := costOf(t, func(b *Builder) {
		branches(b, b.Weight("c", tensor.Scalar(true).Any()), b.Input("x", f32, 10))
	}, nil)
	if known.FLOPs != 10 || !known.Exact || len(known.Nodes) != 2 || known.Nodes[1].Depth != 1 || !known.Nodes[1].Once {
		t.Errorf("a branch that is known: %+v", known)
	}
	for _, c := range []struct {
		yes   bool
		flops int64
		nodes int
	}{{true, 10, 2}, {false, 0, 1}} { // the other branch has no nodes
		pass := costOf(t, func(b *Builder) {
			x := b.Input("x", f32, 10)
			yes, no := b.Body("yes"), b.Body("no")
			yes.OutputOf(yes.Node("Relu", []string{x}), Type{Kind: KindTensor, Elem: ElemFloat32})
			no.OutputOf(x, Type{Kind: KindTensor, Elem: ElemFloat32})
			b.OutputOf(b.Node("If", []string{b.Weight("c", tensor.Scalar(c.yes).Any())}, GraphAttr("then_branch", yes), GraphAttr("else_branch", no)), Type{})
		}, nil)
		if pass.FLOPs != c.flops || !pass.Exact || len(pass.Nodes) != c.nodes {
			t.Errorf("a branch beside one without nodes, %v: %+v", c.yes, pass)
		}
	}
	open := costOf(t, func(b *Builder) { branches(b, b.Input("c", dtype.Bool), b.Input("x", f32, 10)) }, nil)
	if open.FLOPs != 0 || open.Exact || len(open.Nodes) != 3 || open.Nodes[2].FLOPs != 50 || open.Nodes[2].Once {
		t.Errorf("branches that aren't: %+v", open)
	}
	loop := costOf(t, func(b *Builder) {
		body := b.Body("body")
		body.Input("i", dtype.Int64)
		cond := body.Input("go", dtype.Bool)
		x := body.Input("carried", f32, 10)
		body.OutputOf(body.Node("Identity", []string{cond}), Type{Kind: KindTensor, Elem: ElemBool})
		body.OutputOf(body.Node("Relu", []string{x}), Type{Kind: KindTensor, Elem: ElemFloat32})
		b.OutputOf(b.Node("Loop", []string{b.Weight("m", tensor.Scalar[int64](3).Any()), "", b.Input("x", f32, 10)}, GraphAttr("body", body)), Type{})
	}, nil)
	if loop.FLOPs != 0 || loop.Exact || len(loop.Nodes) != 3 || loop.Nodes[2].FLOPs != 10 || loop.Nodes[2].Once {
		t.Errorf("a loop: %+v", loop)
	}
}
