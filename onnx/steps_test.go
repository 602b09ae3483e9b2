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
		z := b.Node("Concat", []string{y, b.Node("Relu", []string{b.Node("Neg", []string{y})})}, Int("axis", 1))
		z = b.Node("Squeeze", []string{b.Node("Neg", []string{z})})
		b.OutputOf(b.Rename(b.Node("Exp", []string{z}), "y"), Type{})
	})
	steps, err := s.Steps(nil)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, st := range steps {
		var ops []string
		for _, n := range st.Nodes {
			ops = append(ops, n.Op)
		}
		v := st.Results[0]
		text = append(text, fmt.Sprintf("%s %s %v %d %q", strings.Join(ops, "+"), st.How, v.Value.Shape(), v.At, v.In))
		if (st.Kernel == "") != (st.How != "planned" || ops[0] == "Concat" || cpu.Current() == cpu.Generic) {
			t.Errorf("%s: kernel %q", ops, st.Kernel)
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
