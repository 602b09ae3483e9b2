package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Swish returns x·Sigmoid(alpha·x). Each of the three steps is rounded to T. SiLU is Swish with an alpha of 1. −∞ becomes NaN, as −∞·0 is. ONNX
// Swish, and QuickGelu of the domain com.microsoft, whose alpha is 1.702 unless the attribute says otherwise. Source of the latter:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
func Swish[T num.Float | num.Narrow](x tensor.Tensor[T], alpha float64, opts ...Option) (r tensor.Tensor[T]) {
	swished(exec.Ref(&r), "Swish", exec.Ref(&x), alpha, opts)
	return r
}

// swished is Swish for a run-time element type.
func swished(r *tensor.Any, name string, x *tensor.Any, alpha float64, opts []Option) {
	present(name, x)
	d, s := x.DType(), read(opts)
	must(name, d != dtype.Invalid && floats.has(d), d)
	var shape []int
	aimShape(r, name, &s, d, appendShape(shape, x.LayoutRef()))
	out, quiet, f := beside(r, false, x), s.quiet(), numberOf(d, alpha)
	mul.call(out, x, &f, onto(out, quiet))
	sigmoid.call(out, out, onto(out, quiet))
	mul.call(out, x, out, onto(out, quiet))
	put(r, out)
}

func swishCall(name string, alpha float32, c *Call) []tensor.Any {
	var r tensor.Any
	swished(&r, name, c.with(name, 0), float64(c.Attrs.Float("alpha", alpha)), options(c))
	return one(r)
}

var swish = opN{about: about{name: "Swish", flops: flops{each: 1}, onnx: []int{24}, attrs: []string{"alpha"}}, least: 1, takes: floats,
	infer: func(c *Call) []tensor.Any { return one(spec("Swish", c.in(0).DType(), c.in(0).Shape()...)) },
	run:   func(c *Call) []tensor.Any { return swishCall("Swish", 1, c) }}

var quickGelu = opN{about: about{name: "QuickGelu", flops: flops{each: 1}, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"alpha"}}, least: 1, takes: floats,
	infer: func(c *Call) []tensor.Any { return one(spec("QuickGelu", c.in(0).DType(), c.in(0).Shape()...)) },
	run:   func(c *Call) []tensor.Any { return swishCall("QuickGelu", 1.702, c) }}
