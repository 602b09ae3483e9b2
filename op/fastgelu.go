package op

import "github.com/ashlar-go/ashlar/tensor"

// FastGelu of the domain com.microsoft is GeluTanh of the sum of its first input and its
// second, a bias that stretches to it and may be absent. BiasGelu is Gelu of such a sum. The
// sum is rounded as Add rounds it. Typed programs call Add, and Gelu or GeluTanh. Source:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var fastGelu = opN{about: about{name: "FastGelu", flops: flops{each: 1}, domain: "com.microsoft", onnx: []int{1}}, least: 1, most: 2, takes: floats, fast: geluFast,
	infer: func(c *Call) []tensor.Any { return biased("FastGelu", c) },
	run:   func(c *Call) []tensor.Any { return geluOfSum("FastGelu", c, &geluTanh) }}

var biasGelu = opN{about: about{name: "BiasGelu", flops: flops{each: 2}, domain: "com.microsoft", onnx: []int{1}}, least: 2, takes: floats, fast: geluFast,
	infer: func(c *Call) []tensor.Any { return biased("BiasGelu", c) },
	run:   func(c *Call) []tensor.Any { return geluOfSum("BiasGelu", c, &gelu) }}

// biased describes the result: of the first input.
func biased(name string, c *Call) []tensor.Any {
	a, bias := c.in(0), c.in(1)
	oneType(name, a, bias)
	if !bias.IsZero() && !stretches(bias.LayoutRef(), a.Shape()) {
		panic(fail(name, tensor.ErrShape, "the bias, input 1, has shape %s, which doesn't stretch to %s", shapeText(bias.Shape()), shapeText(a.Shape())))
	}
	return one(spec(name, a.DType(), a.Shape()...))
}

func geluOfSum(name string, c *Call, by *op1) []tensor.Any {
	biased(name, c)
	x := c.with(name, 0)
	var r tensor.Any
	if c.in(1).IsZero() {
		by.call(&r, x, options(c))
		return one(r)
	}
	add.call(&r, x, c.with(name, 1), options(c))
	by.call(&r, &r, []Option{{into: &r}})
	return one(r)
}
