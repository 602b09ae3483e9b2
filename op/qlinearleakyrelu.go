package op

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearLeakyRelu is LeakyRelu of quantized x, quantized as qy says. With v = (x −
// Zero)·Scale, each step rounded to float64, and round to nearest, even on a tie:
//
//	y = saturate(round((v < 0 ? alpha·v : v) / scale of y) + zero point of y)
//
// Every scale and zero point is one number. ONNX Runtime's QLinearLeakyRelu, of the
// domain com.microsoft, whose alpha is 0.01 by default.
func QLinearLeakyRelu[S num.Float | num.Narrow, Q int8 | uint8](x tensor.Tensor[Q], qx Quantization[S, Q], qy Quantization[S, Q], alpha float64, opts ...Option) (r tensor.Tensor[Q]) {
	quantizedLeaky([]tensor.Any{x.Any(), qx.Scale.Any(), qx.Zero.Any(), qy.Scale.Any(), qy.Zero.Any()}, alpha).into(exec.Ref(&r), opts)
	return r
}

func quantizedLeaky(in []tensor.Any, alpha float64) *transfer {
	return quantizedMap("QLinearLeakyRelu", in, func(v float64) float64 {
		if v < 0 {
			v *= alpha
		}
		return v
	})
}

// quantizedMap is a function of one quantized operand, element by element: in has it, its scale
// and zero point, and those of the result.
func quantizedMap(name string, in []tensor.Any, f func(v float64) float64) *transfer {
	present(name, &in[0])
	d := in[0].DType()
	checkQuantum(name, 1, in[1], in[2], d)
	checkQuantum(name, 3, in[3], in[4], d)
	return &transfer{name: name, d: d, shape: in[0].Shape(), in: operandsOf(in...), fill: func(ctx context.Context, dst words, in []words) {
		qx, qy := quantumOf(in[1], in[2]), quantumOf(in[3], in[4])
		x, to := numericOf(in[0]), numericOf(dst)
		exec.Split(name, ctx, dst.len(), 20, func(from, till int) {
			for i := from; i < till; i++ {
				to.setQuantized(i, f(qx.real(x, i))/qy.scale, qy.zero, true)
			}
		})
	}}
}

// requantizing says how quantizedBy goes from integers to integers.
type requantizing uint8

const (
	byReals   requantizing = iota
	byMeans                // f is linear: the scale comes after it, so that a mean between two integers stays there
	zeroFirst              // the same, and the zero point comes before the rounding
)

// quantizedBy has a transfer from one quantized operand to another by real numbers: f computes y
// from x, both of float64. in is as for quantizedMap.
func quantizedBy(name string, in []tensor.Any, shape []int, how requantizing, f func(y, x *tensor.Any, opts []Option)) *transfer {
	d := in[0].DType()
	checkQuantum(name, 1, in[1], in[2], d)
	checkQuantum(name, 3, in[3], in[4], d)
	return &transfer{name: name, d: d, shape: shape, in: operandsOf(in...), fill: func(ctx context.Context, dst words, in []words) {
		qx, qy := quantumOf(in[1], in[2]), quantumOf(in[3], in[4])
		wide, src := tensor.EmptyOf(dtype.Float64, in[0].of.Shape()...), numericOf(in[0])
		x, scale, added := elemsOf[float64](&wide), 1.0, 0.0
		if how != byReals {
			scale, qx.scale = qx.scale, 1
		}
		if how == zeroFirst {
			added, qy.zero = qy.zero, 0
		}
		for i := range x {
			x[i] = qx.real(src, i)
		}
		var y tensor.Any
		f(&y, &wide, []Option{Context(ctx)})
		y = y.Contiguous()
		to := numericOf(dst)
		for i, v := range elemsOf[float64](&y) {
			to.setQuantized(i, float64(v*scale)/qy.scale+added, qy.zero, true)
		}
		runtime.KeepAlive(&wide)
		runtime.KeepAlive(&y)
	}}
}

// unaryQuantized reads the inputs of a node of one quantized operand.
func unaryQuantized(name string, c *Call) []tensor.Any {
	c.must(name, 0, 1, 3)
	return []tensor.Any{c.in(0), c.in(1), c.in(2), c.in(3), c.in(4)}
}

var qLinearLeakyRelu = opN{about: about{name: "QLinearLeakyRelu", takesUp: inDoubles, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"alpha"}, why: "of integers of 8 bits alone"}, least: 2, most: 5, takes: bytes8,
	move: func(c *Call) *transfer {
		return quantizedLeaky(unaryQuantized("QLinearLeakyRelu", c), float64(c.Attrs.Float("alpha", 0.01)))
	}}
