package op

import "github.com/ashlar-go/ashlar/tensor"

// FastGelu of the domain com.microsoft is GeluTanh of the sum of its first input and its
// second, a bias that stretches to it and may be absent. BiasGelu is Gelu of such a sum. The
// sum is rounded as Add rounds it. Typed programs call Add, and Gelu or GeluTanh. Source:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var fastGelu = opN{about: about{name: "FastGelu", flops: flops{each: 1}, domain: "com.microsoft", onnx: []int{1}}, least: 1, most: 2, takes: floats, fast: geluFast,
	planned: func(c *Call, p *Plan) { planGelu(p, c, &geluTanh) }}

var biasGelu = opN{about: about{name: "BiasGelu", flops: flops{each: 2}, domain: "com.microsoft", onnx: []int{1}}, least: 2, takes: floats, fast: geluFast,
	planned: func(c *Call, p *Plan) { planGelu(p, c, &gelu) }}

// planGelu plans a function of the first input and the second, if there is one, which stretches to it.
func planGelu(p *Plan, c *Call, by *pointwise) {
	name := p.op.name
	oneType(name, c.Inputs...)
	x, bias := c.with(name, 0), c.or(1)
	if !bias.IsZero() && !stretches(bias.LayoutRef(), x.Shape()) {
		panic(fail(name, tensor.ErrShape, "the bias, input 1, has shape %s, which doesn't stretch to %s", shapeText(bias.Shape()), shapeText(x.Shape())))
	}
	p.stretched(x.DType(), c, 1)
	p.by(c, 0, func(r *tensor.Any, opts []Option) {
		if bias.IsZero() {
			by.call(r, opts, x)
			return
		}
		add.call(r, opts, x, bias)
		by.call(r, []Option{{into: r}}, r)
	})
}
