package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearConv is the convolution of quantized x [N, C, D1, …] with quantized w [M,
// C/group, k1, …], quantized as qy says. The sum of products of x − Zero and w − Zero, to
// which bias [M] is added unless it is the zero Tensor, is exact: the bias is in units
// of scale of x · scale of w. Then it is as in QLinearMatMul. Padding is the zero point
// of x. The scale and the zero point of w may be one for each of M; the others are one.
// It panics when extents don't fit. ONNX QLinearConv.
func QLinearConv[S num.Float | num.Narrow, X, W, Y int8 | uint8](x tensor.Tensor[X], qx Quantization[S, X], w tensor.Tensor[W], qw Quantization[S, W], qy Quantization[S, Y], bias tensor.Tensor[int32], win Window, group int, opts ...Option) (r tensor.Tensor[Y]) {
	quantizedConv([]tensor.Any{x.Any(), qx.Scale.Any(), qx.Zero.Any(), w.Any(), qw.Scale.Any(), qw.Zero.Any(), qy.Scale.Any(), qy.Zero.Any(), bias.Any()}, dtype.Of[Y](), win, group).into(exec.Ref(&r), opts)
	return r
}

func quantizedConv(in []tensor.Any, d dtype.DType, win Window, group int) *transfer {
	const name = "QLinearConv"
	x, w, bias := in[0], in[3], in[8]
	present(name, &x, nil, nil, &w)
	must(name, bytes8.has(w.DType()), w.DType())
	must(name, bytes8.has(d), d)
	g := convOf(name, &x, &w, &bias, win, group)
	if !bias.IsZero() && bias.DType() != dtype.Int32 {
		panic(fail(name, tensor.ErrDType, "the bias holds %v, want int32", bias.DType()))
	}
	checkScales(name, 1, in[1], in[2], x, -1)
	checkScales(name, 4, in[4], in[5], w, 0)
	checkQuantum(name, 6, in[6], in[7], d)
	return &transfer{name: name, d: d, shape: g.shape, in: operandsOf(in...), fill: func(ctx context.Context, dst words, in []words) {
		sums := g.wholeSums(exec.Job{Name: name, Ctx: ctx}, aboveZero(in[0], in[2], 0), aboveZero(in[3], in[5], 0))
		defer sums.Close()
		if b := numericOf(in[8]); !in[8].absent() {
			v := elemsOf[int64](&sums)
			for i := range v {
				v[i] += b.whole(i / g.patch % g.m)
			}
		}
		requantize(dst, sums, scales{numericOf(in[1]), 1}, scales{numericOf(in[4]), g.patch}, quantumOf(in[6], in[7]))
	}}
}

var qLinearConv = opN{about: about{name: "QLinearConv", takesUp: inBlocks | inWhole, flops: flops{rule: qLinearConvFLOPs}, onnx: []int{10}, why: "of integers of 8 bits alone",
	attrs: []string{"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}}, least: 8, most: 9, takes: bytes8,
	move: func(c *Call) *transfer {
		return quantizedConv(append(append([]tensor.Any{}, c.Inputs[:8]...), c.in(8)), c.in(7).DType(), windowOf(c), attrInt(c, "group", 1))
	}}
