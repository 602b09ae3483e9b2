package op

import "github.com/ashlar-go/ashlar/tensor"

// QuickGelu of the domain com.microsoft is x·Sigmoid(alpha·x), alpha being 1.702 unless the
// attribute says otherwise. Each of the three steps is rounded to the type of x. Typed programs
// call Sigmoid and Mul. Source: docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var quickGelu = opN{about: about{name: "QuickGelu", domain: "com.microsoft", onnx: []int{1}, attrs: []string{"alpha"}}, least: 1, takes: floats,
	infer: func(c *Call) []tensor.Any { return one(spec("QuickGelu", c.in(0).DType(), c.in(0).Shape()...)) },
	run: func(c *Call) []tensor.Any {
		x, alpha := c.with("QuickGelu", 0), tensor.EmptyOf(c.in(0).DType())
		numericOf(wordsOf(alpha)).setFloat(0, float64(c.Attrs.Float("alpha", 1.702)))
		var r tensor.Any
		mul.call(&r, x, &alpha, options(c))
		sigmoid.call(&r, &r, []Option{{into: &r}})
		mul.call(&r, x, &r, []Option{{into: &r}})
		return one(r)
	}}
