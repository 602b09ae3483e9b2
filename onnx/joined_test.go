package onnx

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
)

// Concat copies nothing that lies in one run of its result and that a step of the graph made, whatever else reads it: a
// dense block, an input twice, results that are outputs, a second axis, branches.
func TestStreamJoined(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	parts := make(map[string]int)
	for _, batch := range []int{1, 2} {
		for trial := range 60 {
			var outs []string
			s := session(t, func(b *Builder) {
				x := b.Input("x", dtype.Float32, batch, 3, 4)
				values := []string{x}
				pick := func() string { return values[r.IntN(len(values))] }
				for range 3 + r.IntN(8) {
					v := pick()
					switch r.IntN(5) {
					case 0:
						v = b.Node("Tanh", []string{v})
					case 1:
						v = b.Node("Relu", []string{b.Node("Neg", []string{v})})
					case 2:
						a := v
						yes := b.Node("Greater", []string{b.Node("ReduceSum", []string{pick()}, IntAttr("keepdims", 0)), b.Weight(b.fresh("0"), vec(0).Reshape())})
						v = choose(b, yes, func(b *Builder) string { return b.Node("Exp", []string{a}) }, func(b *Builder) string { return b.Node("Neg", []string{a}) })
					default:
						list := []string{v, pick()}
						if v = b.Node("Concat", list, IntAttr("axis", int64([]int{1, -2}[r.IntN(2)]))); r.IntN(3) == 0 {
							v = b.Node("Concat", []string{v, v, b.Node("Abs", []string{v})}, IntAttr("axis", 1))
						}
					}
					if values = append(values, v); r.IntN(4) == 0 {
						outs = append(outs, b.Rename(b.Node("Identity", []string{v}), fmt.Sprint("y", len(outs))))
					}
				}
				for _, v := range outs {
					b.OutputOf(v, Type{})
				}
				last := values[len(values)-1]
				b.OutputOf(last, Type{})
			})
			var runs []vals
			for range 3 {
				runs = append(runs, vals{"x": noise(r, batch, 3, 4)})
			}
			st := follows(t, fmt.Sprint("joined ", batch, trial), s, nil, runs)
			if st.ready == nil {
				t.Fatal("the run isn't prepared")
			}
			for _, slot := range st.ready.root.slots {
				if slot != nil && slot.part != nil {
					parts[fmt.Sprint(batch)]++
				}
			}
		}
	}
	if parts["1"] < 40 || parts["2"] > 0 {
		t.Errorf("%v values have their place in the result of a Concat, by batch; want some with 1, none with 2", parts)
	}
}
