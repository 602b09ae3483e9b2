package quantize

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

var cases = flag.Int("cases", 60, "random graphs")

// randomGraph is a graph of convolutions, sums, moves and functions over values of one shape, with outputs and a branch that read some of them, and a product at the end.
func randomGraph(r *rand.Rand) (*onnx.Model, error) {
	b := onnx.NewBuilder("random")
	weights := 0
	weight := func(most float32, shape ...int) string {
		t := noise(r, shape...)
		for i := range t.Elems() {
			t.Elems()[i] *= most
		}
		weights++
		return b.Weight(fmt.Sprint("w", weights), t.Any())
	}
	values := []string{b.Input("x", dtype.Float32, "n", 4, 6, 6)}
	any := func() string { return values[r.IntN(len(values))] }
	shared := weight(0.3, 4, 4, 3, 3)
	half := b.Weight("half", tensor.Scalar[float32](0.5).Any())
	for range 3 + r.IntN(12) {
		var y string
		switch r.IntN(10) {
		case 0, 1, 2:
			in := []string{any(), shared}
			group := 1
			if r.IntN(3) > 0 {
				group = 1 << r.IntN(3)
				in[1] = weight(0.4, 4, 4/group, 3, 3)
			}
			if r.IntN(2) == 0 {
				in = append(in, weight(0.5, 4))
			}
			y = b.Node("Conv", in, onnx.IntsAttr("pads", 1, 1, 1, 1), onnx.IntAttr("group", int64(group)))
		case 3:
			y = b.Node("Relu", []string{any()})
		case 4:
			y = b.Node("Clip", []string{any(), b.Weight(fmt.Sprint("lo", len(values)), tensor.Scalar(float32(r.IntN(2)-1)).Any()), b.Weight(fmt.Sprint("hi", len(values)), tensor.Scalar[float32](2).Any())})
		case 5:
			y = b.Node("Add", []string{any(), any()})
		case 6:
			y = b.Node("MaxPool", []string{any()}, onnx.IntsAttr("kernel_shape", 3, 3), onnx.IntsAttr("pads", 1, 1, 1, 1))
		case 7:
			y = b.Node("Transpose", []string{any()}, onnx.IntsAttr("perm", 0, 1, 3, 2))
		case 8:
			y = b.Node([]string{"Add", "Mul", "Sub", "Div"}[r.IntN(4)], []string{any(), b.Node("Add", []string{b.Node("Abs", []string{weight(1, 4, 1, 1)}), half})})
		case 9:
			y = b.Node("MatMul", []string{b.Node("Tanh", []string{any()}), b.Node("Tanh", []string{any()})})
		}
		values = append(values, y)
		if r.IntN(6) == 0 {
			b.OutputOf(y, onnx.Type{})
		}
	}
	last := values[len(values)-1]
	then, other := b.Body("then"), b.Body("else")
	then.OutputOf(then.Node("Neg", []string{any()}), onnx.Type{})
	other.OutputOf(other.Node("Abs", []string{last}), onnx.Type{})
	last = b.Node("If", []string{b.Weight("yes", tensor.Scalar(r.IntN(2) == 0).Any())}, onnx.GraphAttr("then_branch", then), onnx.GraphAttr("else_branch", other))
	last = b.Node("Gemm", []string{b.Node("Flatten", []string{last}), weight(0.1, 144, 3), weight(1, 3)})
	b.OutputOf(b.Rename(last, "y"), onnx.Type{})
	return b.Model([]int64{11, 13, 15, 18, 21}[r.IntN(5)])
}

// Random graphs stay near their floats, in nodes and on integers, whatever stays in floats. Of each the layers have errors.
func TestRandomGraphs(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	for k := range *cases {
		m, err := randomGraph(r)
		if err != nil {
			t.Fatal(k, err)
		}
		in := one(map[string]tensor.Any{"x": noise(r, 2, 4, 6, 6).Any()}, map[string]tensor.Any{"x": noise(r, 1, 4, 6, 6).Any()})
		o := Options{Range: Range(r.IntN(3)), Layers: r.IntN(2) == 0, Activations: []dtype.DType{dtype.Uint8, dtype.Int8}[r.IntN(2)]}
		if r.IntN(3) == 0 {
			o.KeepError = 0.02
		}
		if r.IntN(3) == 0 {
			o.Keep = []string{m.Graph.Nodes[r.IntN(len(m.Graph.Nodes)-1)].Outputs[0]}
		}
		q, rep, err := Static(t.Context(), m, in, &o)
		if err != nil {
			t.Errorf("graph %d, %+v: %v", k, o, err)
			continue
		}
		list, err := Compare(t.Context(), m, q, in, nil)
		if err != nil || o.Layers && len(rep.Layers) == 0 {
			t.Errorf("graph %d, %+v: %v %v", k, o, list, err)
		}
		for _, d := range list {
			if !(d.Error < 0.35) {
				t.Errorf("graph %d, %+v: %+v", k, o, d)
			}
		}
		near, err := onnx.NewSession(q)
		if err != nil {
			t.Fatal(k, err)
		}
		if err := in(func(_ string, given map[string]onnx.Value) error {
			_, err := near.RunValues(t.Context(), given, nil)
			return err
		}); err != nil {
			t.Errorf("graph %d: %v", k, err)
		}
	}
}
