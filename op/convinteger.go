package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// Byte is the element types of ConvInteger and MatMulInteger.
type Byte interface{ int8 | uint8 }

// ConvInteger returns the convolution of x less xZero with w less wZero, as Conv
// computes it, in int32, which wraps: x [N, C, D1, …], w [M, C/group, k1, …], the
// result [N, M, out1, …]. xZero is one number, wZero one or one for each of M; the
// zero Tensor is 0. Padding is xZero. It panics when extents don't fit. ONNX
// ConvInteger. It computes in int64, and much slower than Conv does with floats.
func ConvInteger[X, W Byte](x tensor.Tensor[X], w tensor.Tensor[W], xZero tensor.Tensor[X], wZero tensor.Tensor[W], win Window, group int, opts ...Option) (r tensor.Tensor[int32]) {
	integerConv(x.Any(), w.Any(), xZero.Any(), wZero.Any(), win, group).into(exec.Ref(&r), opts)
	return r
}

func integerConv(x, w, xZero, wZero tensor.Any, win Window, group int) *transfer {
	const name = "ConvInteger"
	present(name, &x, &w)
	must(name, bytes8.has(w.DType()), w.DType())
	g := convOf(name, &x, &w, nil, win, group)
	checkZero(name, 2, xZero, x, -1)
	checkZero(name, 3, wZero, w, 0)
	return &transfer{name: name, d: dtype.Int32, shape: g.shape, in: operandsOf(x, w, xZero, wZero), fill: func(ctx context.Context, dst words, in []words) {
		wrapped(dst, g.wholeSums(exec.Job{Name: name, Ctx: ctx}, aboveZero(in[0], in[2], 0), aboveZero(in[1], in[3], 0)))
	}}
}

// wholeSums is a convolution of int64. It gives x and w back.
func (g *convolution) wholeSums(j exec.Job, x, w tensor.Any) tensor.Any {
	sums := tensor.EmptyOf(dtype.Int64, g.shape...)
	if sums.Len() > 0 {
		g.convolve(j, &x, &w, nil, &sums, false, nil)
	}
	x.Close()
	w.Close()
	return sums
}

var convInteger = opN{about: about{name: "ConvInteger", takesUp: inBlocks | inWhole, flops: flops{rule: convIntegerFLOPs}, onnx: []int{10}, why: "of integers of 8 bits alone",
	attrs: []string{"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}}, least: 2, most: 4, takes: bytes8,
	move: func(c *Call) *transfer {
		return integerConv(c.in(0), c.in(1), c.in(2), c.in(3), windowOf(c), attrInt(c, "group", 1))
	}}

func convIntegerFLOPs(c *Call, out []tensor.Any) int64 {
	return productOfAll(2, lengthOf(nth(out, 0)), filterOf(c.in(1)))
}
