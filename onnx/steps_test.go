package onnx

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/tensor"
)

// The steps of a model name all nodes, how they run, and where the results are.
func TestSteps(t *testing.T) {
	s := session(t, func(b *Builder) {
		r := rand.New(rand.NewPCG(1, 1))
		x := b.Input("x", dtype.Float32, 1, 4, 6, 6)
		w := b.Node("Neg", []string{b.Weight("w", noise(r, 4, 4, 1, 1))})
		y := b.Node("Conv", []string{x, w})
		y = b.Node("Add", []string{b.Node("Mul", []string{b.Node("Sigmoid", []string{y}), y}), x})
		z := b.Node("Concat", []string{y, b.Node("Relu", []string{b.Node("Neg", []string{y})})}, IntAttr("axis", 1))
		z = b.Node("Squeeze", []string{b.Node("Neg", []string{z})})
		b.OutputOf(b.Rename(b.Node("Exp", []string{z}), "y"), Type{})
	})
	steps, err := s.Steps(nil)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, st := range steps {
		v := st.Results[0]
		text = append(text, fmt.Sprintf("%v %s %v %d %q", &st, st.How, v.Value.Shape(), v.At, v.In))
		if (st.Kernel == "") != (st.How != "planned" || st.Nodes[0].Op == "Concat" || cpu.Current() == cpu.Generic) {
			t.Errorf("%v: kernel %q", &st, st.Kernel)
		}
	}
	const want = `Neg constant [4 4 1 1] -1 ""
Conv+Mul+Sigmoid+Add planned [1 4 6 6] -1 "concat"
Neg planned [1 4 6 6] 1152 ""
Relu planned [1 4 6 6] -1 "concat"
Concat planned [1 8 6 6] 0 ""
Neg planned [1 8 6 6] 1152 ""
Squeeze view [8 6 6] -1 "neg3"
Exp planned [8 6 6] -1 ""`
	got := strings.Join(text, "\n")
	got = strings.ReplaceAll(got, `"concat1"`, `"concat"`)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := s.Steps(vals{"x": tensor.New[float32](1, 5, 6, 6).Any()}); err == nil || !strings.Contains(err.Error(), `input "x"`) {
		t.Error(err)
	}
	if _, err := s.Steps(vals{"z": tensor.Scalar[float32](1).Any()}); err == nil || !strings.Contains(err.Error(), `there is no input "z"`) {
		t.Error(err)
	}
}

// Steps say which values they read. Steps of branches read captured values. The step that chooses reads the results of its branches, and says where its own result lies.
func TestStepsInBranches(t *testing.T) {
	s := session(t, func(b *Builder) {
		x, yes := b.Input("x", dtype.Float32, 2, 3), b.Input("yes", dtype.Bool)
		y := b.Node("Exp", []string{x})
		z := choose(b, yes, func(b *Builder) string { return b.Node("Neg", []string{b.Node("Abs", []string{y})}) },
			func(b *Builder) string { return b.Node("Transpose", []string{b.Node("Transpose", []string{x})}) })
		z = choose(b, b.Node("Not", []string{b.Weight("no", truthOf(false))}), func(b *Builder) string { return b.Node("Squeeze", []string{z}) },
			func(b *Builder) string { return x })
		b.OutputOf(b.Node("Mul", []string{z, x}), Type{})
	})
	steps, err := s.Steps(nil)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for i := range steps {
		st, v := &steps[i], &steps[i].Results[0]
		text = append(text, fmt.Sprintf("%d %d %q %s %s %s %v", i, st.Depth, st.Branch, st, v.Name, v.Place(), st.Reads))
	}
	const want = `0 0 "" Exp exp1 at 0 [{x -1}]
1 0 "" If if1 at 64 [{yes -1} {neg1 3} {transpose2 5}]
2 1 "then_branch" Abs abs1 at 128 [{exp1 0}]
3 1 "then_branch" Neg neg1 in if1 [{abs1 2}]
4 1 "else_branch" Transpose transpose1 in x [{x -1}]
5 1 "else_branch" Transpose transpose2 in transpose1 [{transpose1 4}]
6 0 "" Not not1 its own []
7 0 "" If if2 in if1 [{squeeze1 8}]
8 1 "then_branch" Squeeze squeeze1 in if1 [{if1 1}]
9 0 "" Mul mul1 its own [{if2 7} {x -1}]`
	if got := strings.Join(text, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Inputs that are strings have a plan where the model declares their shape. A value that a run alone describes has no place.
func TestStepsOfStrings(t *testing.T) {
	s := sessionAt(t, 20, func(b *Builder) {
		x := b.InputOf("x", Type{Kind: KindTensor, Elem: ElemString, HasShape: true, Shape: []Dim{{Value: 3}}})
		b.OutputOf(b.Node("StringConcat", []string{x, x}), Type{Kind: KindTensor, Elem: ElemString})
		b.OutputOf(b.Node("NonZero", []string{b.Input("n", dtype.Float32, 3)}), Type{})
	})
	steps, err := s.Steps(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range steps {
		if v := st.Results[0]; st.How != "plain" || !v.Value.IsZero() || v.In != "" || v.Place() != "known in a run" || len(st.Reads) != 1 || st.Reads[0].Step != -1 {
			t.Errorf("%v: %+v", &st, st)
		}
	}
}
