package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// SkipLayerNormalization of the domain com.microsoft is LayerNormalization over the last axis of
// the sum of its inputs 0, 1 and, if it is there, 4, a bias; inputs 2 and 3 are the scale and the
// bias of the normalization, of which the latter may be absent. Its outputs are the result, the
// mean and the factor of each line in float32, and the sum. SkipSimplifiedLayerNormalization is
// RMSNormalization of such a sum, and its bias is input 3; it has no statistics. The sums are rounded as Add rounds
// them. Typed programs call Add and LayerNormalization or RMSNormalization. Source:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var skipLayerNormalization = opN{about: about{name: "SkipLayerNormalization", takesUp: inLastLine, flops: flops{each: 8}, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"epsilon"}}, least: 3, most: 5, takes: floats,
	infer: func(c *Call) []tensor.Any { return skipped("SkipLayerNormalization", c, 4) },
	run: func(c *Call) []tensor.Any {
		const name = "SkipLayerNormalization"
		outs, sum := skipped(name, c, 4), skipSum(name, c, 4)
		in := Call{Inputs: []tensor.Any{sum, c.in(2), c.in(3)}, Attrs: AttrMap{"epsilon": c.Attrs.Float("epsilon", 1e-12)}, Outputs: min(len(outs), 3), Opset: 17, Context: c.Context}
		copy(outs, layerNormalization.run(&in))
		if len(outs) > 3 {
			outs[3] = sum
		}
		return outs
	}}

var skipSimplifiedLayerNormalization = opN{about: about{name: "SkipSimplifiedLayerNormalization", takesUp: inLastLine, flops: flops{each: 5}, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"epsilon"}}, least: 3, most: 4, takes: floats,
	infer: func(c *Call) []tensor.Any { return withoutStats(skipped("SkipSimplifiedLayerNormalization", c, 3)) },
	run: func(c *Call) []tensor.Any {
		const name = "SkipSimplifiedLayerNormalization"
		outs, sum := skipped(name, c, 3), skipSum(name, c, 3)
		var y tensor.Any
		rmsNormal(&y, &sum, c.with(name, 2), -1, float64(c.Attrs.Float("epsilon", 1e-12)), options(c))
		if outs[0] = y; len(outs) > 3 {
			outs[3] = sum
		}
		return withoutStats(outs)
	}}

// withoutStats leaves the outputs 1 and 2 absent, which training alone reads.
func withoutStats(outs []tensor.Any) []tensor.Any {
	for i := 1; i < min(len(outs), 3); i++ {
		outs[i] = tensor.Any{}
	}
	return outs
}

// skipped checks the inputs, of which the bias of the sum is one, and describes the outputs.
func skipped(name string, c *Call, bias int) []tensor.Any {
	x := c.in(0)
	oneType(name, c.Inputs...)
	if x.Rank() == 0 {
		panic(fail(name, tensor.ErrShape, "the input is a single number; want an axis to normalize"))
	}
	shape := x.Shape()
	for i := 1; i <= bias; i++ {
		if a := c.in(i); !a.IsZero() && !stretches(a.LayoutRef(), shape) {
			panic(fail(name, tensor.ErrShape, "input %d has shape %s, which doesn't stretch to %s", i, shapeText(a.Shape()), shapeText(shape)))
		}
	}
	lines := append([]int{}, shape...)
	lines[len(lines)-1] = 1
	stat := spec(name, dtype.Float32, lines...)
	return []tensor.Any{spec(name, x.DType(), shape...), stat, stat, spec(name, x.DType(), shape...)}[:min(max(c.Outputs, 1), 4)]
}

// skipSum adds up the inputs.
func skipSum(name string, c *Call, bias int) (sum tensor.Any) {
	add.call(&sum, c.with(name, 0), c.with(name, 1), options(c))
	if !c.in(bias).IsZero() {
		add.call(&sum, &sum, c.with(name, bias), []Option{{into: &sum}})
	}
	return sum
}
