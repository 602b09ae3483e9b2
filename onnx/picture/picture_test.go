package picture_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/picture"
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
