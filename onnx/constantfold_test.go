package onnx

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
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

// Amounts of a Pad and bounds of a Clip that nodes compute of constants, or of extents that an input fixes, are known to the passes: both
// nodes are part of the Conv between them. Those that follow from the default of an input aren't, and change with it.
func TestFoldBeforePasses(t *testing.T) {
	ints := func(b *Builder, v ...int64) string { return b.Weight(b.fresh("n"), tensor.FromSlice(v, len(v)).Any()) }
	ways := map[string]func(b *Builder, x string) string{
		"Concat": func(b *Builder, _ string) string {
			return b.Node("Concat", []string{ints(b, 0, 0, 1, 2), ints(b, 0, 0, 2, 1)}, IntAttr("axis", 0))
		},
		"Constant and Cast": func(b *Builder, _ string) string {
			amounts := b.Node("Constant", nil, FloatsAttr("value_floats", 0, 0, 1, 2, 0, 0, 2, 1))
			return b.Node("Cast", []string{amounts}, IntAttr("to", int64(ElemInt64)))
		},
		"pairs of axes, the last first": func(b *Builder, _ string) string { // as PyTorch writes them
			none := b.Node("Cast", []string{b.Node("ConstantOfShape", []string{ints(b, 4)})}, IntAttr("to", int64(ElemInt64)))
			all := b.Node("Concat", []string{ints(b, 2, 1, 1, 2), none}, IntAttr("axis", 0))
			all = b.Node("Reshape", []string{all, ints(b, -1, 2)})
			all = b.Node("Slice", []string{all, ints(b, -1), ints(b, -1<<62), ints(b, 0), ints(b, -1)})
			all = b.Node("Transpose", []string{all}, IntsAttr("perm", 1, 0))
			return b.Node("Reshape", []string{all, ints(b, -1)})
		},
		"Shape": func(b *Builder, x string) string {
			extents := b.Node("Shape", []string{b.Node("Relu", []string{x})}) // 1, 2, 5, 4
			one := b.Node("Gather", []string{extents, b.Weight(b.fresh("i"), tensor.Scalar[int64](0).Any())})
			one = b.Node("Unsqueeze", []string{one, ints(b, 0)})
			two := b.Node("Slice", []string{extents, ints(b, 1), ints(b, 2)})
			zero := b.Node("Sub", []string{two, ints(b, 2)})
			return b.Node("Concat", []string{zero, zero, one, two, zero, zero, two, b.Node("Div", []string{two, ints(b, 2)})}, IntAttr("axis", 0))
		},
		"input": func(b *Builder, _ string) string {
			return b.Weight(b.Input("amounts", dtype.Int64, 8), tensor.FromSlice([]int64{0, 0, 1, 2, 0, 0, 2, 1}, 8).Any())
		},
	}
	in := vals{"x": noise(rand.New(rand.NewPCG(1, 2)), 1, 2, 5, 4)}
	other := vals{"x": in["x"], "amounts": tensor.FromSlice([]int64{0, 0, 0, 1, 0, 0, 1, 0}, 8).Any()}
	for name, amounts := range ways {
		build := func(b *Builder) {
			x := b.Input("x", dtype.Float32, 1, 2, 5, 4)
			w := b.Weight("w", noise(rand.New(rand.NewPCG(3, 4)), 3, 2, 2, 3))
			six := b.Node("Mul", []string{b.Weight("two", tensor.Scalar[float32](0.5).Any()), b.Weight("three", tensor.Scalar[float32](3).Any())})
			y := b.Node("Conv", []string{b.Node("Pad", []string{x, amounts(b, x)}), w})
			b.OutputOf(b.Rename(b.Node("Clip", []string{y, b.Node("Neg", []string{six}), six}), "y"), Type{})
		}
		t.Setenv("ASHLAR_PASSES", "none")
		plain := session(t, build)
		t.Setenv("ASHLAR_PASSES", "")
		s := session(t, build)
		runs, nodes := 0, 0
		for i := range s.c.steps {
			if p := &s.c.steps[i]; s.c.runs(i) && !p.folded && p.node.Op != "Relu" {
				runs++
				nodes += 1 + len(p.also)
			}
		}
		want := [2]int{1, 3}
		sets := []vals{in, in, in}
		if name == "input" {
			want, sets = [2]int{2, 3}, []vals{in, other, in, other, other}
		}
		if got := [2]int{runs, nodes}; got != want {
			t.Errorf("%s: %d steps of %d nodes, want %v", name, runs, nodes, want)
		}
		for k, v := range sets {
			a, err := s.Run(context.Background(), v, nil)
			if err != nil {
				t.Fatal(name, k, err)
			}
			b, err := plain.Run(context.Background(), v, nil)
			if err != nil {
				t.Fatal(name, k, err)
			}
			if tensor.Describe(a["y"]) != tensor.Describe(b["y"]) || !slices.Equal(bitsOf(a["y"]), bitsOf(b["y"])) {
				t.Errorf("%s, run %d: got %v, want %v", name, k, a["y"], b["y"])
			}
		}
	}
}

// A constant node that fails says so in the run, by its name, whichever pass would read its result.
func TestFoldFailsInTheRun(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, 1, 1, 4, 4)
		amounts := b.Weight("amounts", tensor.FromSlice([]int64{0, 0, 1, 1, 0, 0, 1, 1}, 8).Any())
		zero := b.Weight("zero", tensor.FromSlice([]int64{0}, 1).Any())
		x = b.Node("Pad", []string{x, b.Node("Div", []string{amounts, zero})})
		b.OutputOf(b.Rename(b.Node("Conv", []string{x, b.Weight("w", noise(rand.New(rand.NewPCG(1, 1)), 1, 1, 2, 2))}), "y"), Type{})
	})
	for range 2 {
		_, err := s.Run(context.Background(), vals{"x": noise(rand.New(rand.NewPCG(1, 1)), 1, 1, 4, 4)}, nil)
		if err == nil || !strings.Contains(err.Error(), "Div") || !strings.Contains(err.Error(), "division by zero") {
			t.Errorf("got %v, want that Div divides by zero", err)
		}
	}
}

// A value goes after the last node that computes with it, also where a node after that only asks for its shape, which is known.
func TestFoldLetsGo(t *testing.T) {
	build := func(shape bool) *Session {
		return session(t, func(b *Builder) {
			x := b.Node("Exp", []string{b.Input("x", dtype.Float32, 100, 1000)})
			y := b.Node("Sin", []string{x})
			extents := b.Weight("extents", tensor.FromSlice([]int64{100, 1000}, 2).Any())
			if shape {
				extents = b.Node("Shape", []string{x})
			}
			for range 3 {
				y = b.Node("Cos", []string{b.Node("Sin", []string{y})})
			}
			b.OutputOf(b.Rename(b.Node("Reshape", []string{y, extents}), "y"), Type{})
		})
	}
	in := vals{"x": tensor.New[float32](100, 1000).Any()}
	var plans [2]*Plan
	for i := range plans {
		s := build(i == 1)
		var err error
		if plans[i], err = s.Plan(in); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(context.Background(), in, &Options{MaxMemory: s.weights + plans[i].Live + 1<<10}); err != nil {
			t.Error(err)
		}
	}
	if plans[0].Live != plans[1].Live {
		t.Errorf("the run needs %d bytes, and %d with a Shape", plans[0].Live, plans[1].Live)
	}
}
