package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LpPool returns (Σ|x|ᵖ)^(1/p) of the elements under a window that moves over the
// spatial axes of x [N, C, D1, …]; padding counts as 0. The powers are computed in
// float64 and added in the fixed order of this package, and the result is rounded once.
// It panics unless p is 1 or more. ONNX LpPool, whose p is 2 by default.
func LpPool[T num.Float | num.Narrow](x tensor.Tensor[T], win Window, p int, opts ...Option) (r tensor.Tensor[T]) {
	lpPooled(x.Any(), win, p).into(exec.Ref(&r), opts)
	return r
}

func lpPooled(x tensor.Any, win Window, power int) *transfer {
	const name = "LpPool"
	present(name, &x)
	p := poolOf(exec.Job{Name: name, Cost: 8}, &x, win)
	if power < 1 {
		panic(fail(name, tensor.ErrValue, "p is %d; it must be 1 or more", power))
	}
	return &transfer{name: name, d: x.DType(), shape: p.shape, in: operandsOf(x), fill: func(ctx context.Context, dst words, in []words) {
		p.Ctx = ctx
		to, src := numericOf(dst), roomFor[float64](name, in[0].len())
		numericOf(in[0]).floats(src, 0)
		pooled(p, src, false, func(o int, window []float64, _ []int, _ int) {
			to.setFloat(o, lpNorm(window, float64(power)))
		})
	}}
}

var lpPool = opN{about: about{name: "LpPool", takesUp: inDoubles, flops: flops{rule: lpPoolFLOPs}, onnx: []int{2, 11, 18, 22},
	attrs: []string{"auto_pad", "ceil_mode", "dilations", "kernel_shape", "p", "pads", "strides"}}, least: 1, takes: floats,
	move: func(c *Call) *transfer { return lpPooled(c.in(0), windowOf(c), attrInt(c, "p", 2)) }}

func lpPoolFLOPs(c *Call, out []tensor.Any) int64 { return productOfAll(2, poolFLOPs(c, out)) }
