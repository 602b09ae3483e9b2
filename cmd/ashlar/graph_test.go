package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
)

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
	g := pictureOf("dir/branches.onnx", m)
	want := draw.Graph{
		Title: "branches.onnx",
		Nodes: []draw.Node{{Label: "x", Detail: "float32[2]", Group: -1}, {Label: "yes", Detail: "bool[]", Group: -1}, {Label: "Add"},
			{Label: "If", Detail: "3 nodes inside", Group: 1}, {Label: "y", Detail: "float32[2]", Group: -1}},
		Edges: []draw.Edge{{From: 0, To: 2}, {From: 0, To: 2}, {From: 1, To: 3}, {From: 2, To: 3}, {From: 0, To: 3}, {From: 3, To: 4}},
	}
	if g.Title != want.Title || !slices.Equal(g.Nodes, want.Nodes) || !slices.Equal(g.Edges, want.Edges) {
		t.Errorf("got  %+v\nwant %+v", *g, want)
	}
}

func TestInfoPicture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "digits.svg")
	c := newCall(nil).with("info", "../../testdata/digits.onnx", "--svg", file)
	b, err := os.ReadFile(file)
	if c.code != 0 || err != nil || !strings.Contains(string(b), ">MaxPool<") || !strings.Contains(c.out.String(), "10 nodes") {
		t.Errorf("exit %d, %v: %s%s", c.code, err, c.out.String(), c.err.String())
	}
	if c = newCall(nil).with("info", "../../testdata/digits.onnx", "--svg", "-"); c.code != 0 || c.out.String() != string(b) {
		t.Errorf("exit %d: %s", c.code, c.err.String())
	}
	for _, args := range [][]string{{"info", "../../testdata/digits.onnx", "../../testdata/digits.onnx", "--svg", file}, {"info", "graph_test.go", "--svg", file}} {
		if c := newCall(nil).with(args...); c.code == 0 || c.err.Len() == 0 {
			t.Errorf("%v: exit %d", args, c.code)
		}
	}
}
