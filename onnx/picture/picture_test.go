package picture_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/picture"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	b := onnx.NewBuilder("sum")
	x := b.Input("x", dtype.Float32, 2)
	b.Output(b.Rename(b.Node("Add", []string{x, x}), "y"), dtype.Float32, 2)
	m, err := b.Model(16)
	if err != nil {
		panic(err)
	}
	g := picture.Of("sum", m, map[int]string{0: "3 µs"}) // g.WriteSVG draws it
	for _, n := range g.Nodes {
		fmt.Println(n.Label, n.Detail)
	}
	// Output:
	// x float32[2]
	// Add 3 µs
	// y float32[2]
}

// The picture has a box for each node but constants, and an arrow for each value that one box gives another, also for one
// that only a branch reads.
func TestModelPicture(t *testing.T) {
	b := onnx.NewBuilder("branches")
	x := b.Input("x", dtype.Float32, 2)
	yes := b.Input("yes", dtype.Bool)
	twice := b.Node("Add", []string{x, x})
	then, other := b.Body("then"), b.Body("else")
	then.Output(then.Node("Neg", []string{twice}), dtype.Float32, 2)
	other.Output(other.Node("Relu", []string{other.Node("Abs", []string{x})}), dtype.Float32, 2)
	out := b.Rename(b.Node("If", []string{yes}, onnx.GraphAttr("then_branch", then), onnx.GraphAttr("else_branch", other)), "y")
	b.Output(out, dtype.Float32, 2)
	m, err := b.Model(16)
	if err != nil {
		t.Fatal(err)
	}
	g := picture.Of("branches.onnx", m, nil)
	want := draw.Graph{
		Title: "branches.onnx",
		Nodes: []draw.Node{{Label: "x", Detail: "float32[2]", Group: -1}, {Label: "yes", Detail: "bool[]", Group: -1}, {Label: "Add"},
			{Label: "If", Detail: "3 nodes inside", Group: 1}, {Label: "y", Detail: "float32[2]", Group: -1}},
		Edges: []draw.Edge{{From: 0, To: 2}, {From: 0, To: 2}, {From: 1, To: 3}, {From: 2, To: 3, Label: "float32[2]"}, {From: 0, To: 3}, {From: 3, To: 4, Label: "float32[2]"}},
	}
	if g.Title != want.Title || !slices.Equal(g.Nodes, want.Nodes) || !slices.Equal(g.Edges, want.Edges) {
		t.Errorf("got  %+v\nwant %+v", *g, want)
	}
}

// The picture of steps has a box for each step but constants, also for those in branches, and an arrow for each box that another reads.
func TestStepsPicture(t *testing.T) {
	b := onnx.NewBuilder("steps")
	x, yes := b.Input("x", dtype.Float32, "n", 4, 6), b.Input("yes", dtype.Bool)
	w := b.Node("Neg", []string{b.Weight("w", tensor.New[float32](4, 4, 1).Any())})
	y := b.Node("Sqrt", []string{b.Node("Relu", []string{b.Node("Add", []string{b.Node("Conv", []string{x, w}), x})})})
	for range 4 {
		y = b.Node("Abs", []string{y})
	}
	parts := b.Nodes("Split", 6, []string{b.Rename(y, "a/"+strings.Repeat("very/", 40)+"long/name")}, onnx.IntAttr("axis", 2), onnx.IntAttr("num_outputs", 6))
	then, other := b.Body("then"), b.Body("else")
	then.OutputOf(then.Node("Exp", []string{then.Node("Neg", []string{parts[0]})}), onnx.Type{})
	other.OutputOf(other.Node("Identity", []string{parts[5]}), onnx.Type{})
	chosen := b.Node("If", []string{yes}, onnx.GraphAttr("then_branch", then), onnx.GraphAttr("else_branch", other))
	all := b.Node("Concat", []string{parts[4], chosen, parts[1], parts[2], parts[3]}, onnx.IntAttr("axis", 2))
	b.OutputOf(b.Rename(b.Node("NonZero", []string{all}), "places"), onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemInt64})
	m, err := b.Model(18)
	if err != nil {
		t.Fatal(err)
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := tensor.NewSpec(dtype.Float32, 1, 4, 6)
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]tensor.Any{"x": spec.Any()}
	steps, err := s.Steps(inputs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range steps {
		steps[i].Kernel = "" // which depends on the processor
	}
	steps[1].Kernel = "avx2"
	g := picture.OfSteps("steps", m, inputs, steps)
	var got strings.Builder
	for i, n := range g.Nodes {
		fmt.Fprintf(&got, "%d %s: %s\n", i, n.Label, strings.ReplaceAll(n.Detail, "\n", " | "))
	}
	for _, e := range g.Edges {
		fmt.Fprintln(&got, e.From, e.To, e.Label)
	}
	const want = `0 x: float32[1,4,6]
1 yes: bool[]
2 Conv+Add+Relu+Sqrt+4 Abs: planned, avx2 | …ery/very/very/very/very/very/very/long/name | float32[1,4,6] | 96 bytes, at 0
3 Split: view | 1: split1 float32[1,4,1] | 16 bytes, | in …ery/very/very/very/very/very/very/long/name | 2: split1_11 float32[1,4,1] | 16 bytes, | in …ery/very/very/very/very/very/very/long/name | 3: split1_21 float32[1,4,1] | 16 bytes, | in …ery/very/very/very/very/very/very/long/name | 4: split1_31 float32[1,4,1] | 16 bytes, | in …ery/very/very/very/very/very/very/long/name | and 2 more
4 If: branch | if1 float32[1,4,1] | 16 bytes, at 128
5 Neg: planned, in then_branch | neg2 float32[1,4,1] | 16 bytes, at 192
6 Exp: planned, in then_branch | exp1 float32[1,4,1] | 16 bytes, in if1
7 Identity: view, in else_branch | identity1 float32[1,4,1] | 16 bytes, in split1_51
8 Concat: planned | concat1 float32[1,4,5] | 80 bytes, at 192
9 NonZero: plain | places | known in a run
10 places: int64[...]
0 2 
2 3 
1 4 
6 4 
7 4 
3 5 1
5 6 
3 7 6
3 8 5, 2, 3, 4
4 8 
8 9 
9 10 
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
	for _, m := range []*onnx.Model{nil, {}} {
		if g := picture.OfSteps("nothing", m, nil, nil); g.Title != "nothing" || g.Nodes != nil {
			t.Errorf("%+v", g)
		}
	}
}
