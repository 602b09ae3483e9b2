package onnx

import (
	"context"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// Nodes that read weights alone are computed when the session is made, also in branches; with an observer they run.
func TestFold(t *testing.T) {
	s := session(t, func(b *Builder) {
		x, yes := b.Input("x", dtype.Float32, 4), b.Input("yes", dtype.Bool)
		w := b.Weight("w", vec(1, 2))
		both := b.Node("Concat", []string{w, b.Node("Neg", []string{w})}, IntAttr("axis", 0))
		noise := b.Node("RandomNormal", nil, IntsAttr("shape", 4))
		b.Output(b.Rename(b.Node("Add", []string{noise, x}), "n"), dtype.Float32, 4)
		then, other := b.Body("then"), b.Body("else")
		twice := then.Node("Add", []string{both, both})
		then.Output(then.Node("Add", []string{twice, x}), dtype.Float32, 4)
		other.Output(other.Node("Neg", []string{x}), dtype.Float32, 4)
		b.Output(b.Rename(b.Node("If", []string{yes}, GraphAttr("then_branch", then), GraphAttr("else_branch", other)), "y"), dtype.Float32, 4)
	})
	folded := 0
	s.c.all(func(b *compiled) bool {
		for i := range b.steps {
			if b.steps[i].folded {
				folded++
			}
		}
		return true
	})
	if folded != 3 {
		t.Errorf("%d nodes were computed once, want 3: Neg, Concat and an Add", folded)
	}
	if s.weights != 8+8+16+16 {
		t.Errorf("weights of %d bytes, want 48: a weight of 8 and results of 8, 16 and 16", s.weights)
	}
	in := vals{"x": vec(1, 1, 1, 1), "yes": tensor.Scalar(true).Any()}
	var seen, total int
	for _, o := range []Options{
		{Progress: func(_, n int, _ *Node) { total = n }},
		{Observe: func(*NodeRun) { seen++ }},
	} {
		out, err := s.Run(context.Background(), in, &o)
		if err != nil {
			t.Fatal(err)
		}
		checkVec(t, out["y"], 3, 5, -1, -3)
	}
	if total != 3 || seen != 7 {
		t.Errorf("%d nodes of the model's graph run, %d are observed; want 3 and 7", total, seen)
	}
}

// A weight that is an input, too, may change; results that are much larger than their operands stay in the run.
func TestFoldLeaves(t *testing.T) {
	s := session(t, func(b *Builder) {
		w := b.Weight(b.Input("w", dtype.Float32, 2), vec(1, 2))
		b.Output(b.Rename(b.Node("Neg", []string{w}), "y"), dtype.Float32, 2)
		shape := b.Weight("shape", tensor.FromSlice([]int64{1 << 20}, 1).Any())
		b.Output(b.Rename(b.Node("ConstantOfShape", []string{shape}), "z"), dtype.Float32, nil)
	})
	for i := range s.c.steps {
		if s.c.steps[i].folded {
			t.Errorf("step %d was computed once", i)
		}
	}
	out, err := s.Run(context.Background(), vals{"w": vec(3, 4)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkVec(t, out["y"], -3, -4)
}
