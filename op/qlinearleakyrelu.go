package op

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
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
func QLinearLeakyRelu[S num.Floating, Q int8 | uint8](x tensor.Tensor[Q], qx Quantization[S, Q], qy Quantization[S, Q], alpha float64, opts ...Option) (r tensor.Tensor[Q]) {
	quantizedLeaky([]tensor.Any{x.Any(), qx.Scale.Any(), qx.Zero.Any(), qy.Scale.Any(), qy.Zero.Any()}, alpha).Into(exec.Ref(&r), opts)
	return r
}

func quantizedLeaky(in []tensor.Any, alpha float64) *move.Transfer {
	return quantizedMap("QLinearLeakyRelu", in, func(v float64) float64 {
		if v < 0 {
			v *= alpha
		}
		return v
	})
}

// quantizedMap is a function of one quantized operand, element by element: in has it, its scale
// and zero point, and the scale and zero point of the result.
func quantizedMap(name string, in []tensor.Any, f func(v float64) float64) *move.Transfer {
	plan.Present(name, &in[0])
	d := in[0].DType()
	checkQuantum(name, 1, in[1], in[2], d)
	checkQuantum(name, 3, in[3], in[4], d)
	return &move.Transfer{Name: name, D: d, Shape: in[0].Shape(), Lies: move.AlikeLast, In: move.OperandsOf(in...), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		qx, qy := quantumOf(in[1], in[2]), quantumOf(in[3], in[4])
		t := qx.table(dst, d, qy, f)
		exec.Split(name, ctx, dst.Len(), 1, func(from, till int) { looked(dst.Mem[from:till], in[0].Mem[from:till], &t) })
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
func quantizedBy(name string, in []tensor.Any, shape []int, how requantizing, f func(y, x *tensor.Any, opts []Option)) *move.Transfer {
	d := in[0].DType()
	checkQuantum(name, 1, in[1], in[2], d)
	checkQuantum(name, 3, in[3], in[4], d)
	return &move.Transfer{Name: name, D: d, Shape: shape, In: move.OperandsOf(in...), Price: plan.Copying(8, 2, 1), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		qx, qy := quantumOf(in[1], in[2]), quantumOf(in[3], in[4])
		wide := tensor.EmptyOf(dtype.Float64, in[0].Of.Shape()...)
		x, scale, added := move.ElemsOf[float64](&wide), 1.0, 0.0
		if how != byReals {
			scale, qx.scale = qx.scale, 1
		}
		if how == zeroFirst {
			added, qy.zero = qy.zero, 0
		}
		t := qx.reals(d)
		for i, v := range in[0].Mem {
			x[i] = t[v]
		}
		of := scale
		var y tensor.Any
		f(&y, &wide, []Option{plan.Under(ctx)})
		y = y.Contiguous()
		r, by := move.ElemsOf[float64](&y), qy
		if how == zeroFirst {
			by, scale = quantum{1, 0}, 1
		}
		exec.Split(name, ctx, dst.Len(), 2, func(from, till int) {
			by.quantize(dst, from, till-from, scale, func(v []float64, at int) {
				if copy(v, r[from+at:]); how == zeroFirst {
					for i := range v {
						v[i] = float64(v[i]*of)/qy.scale + added
					}
				}
			})
		})
		runtime.KeepAlive(&wide)
		runtime.KeepAlive(&y)
	}}
}

// unaryQuantized reads the inputs of a node of one quantized operand.
func unaryQuantized(name string, c *plan.Use) []tensor.Any {
	c.Must(name, 0, 1, 3)
	return []tensor.Any{c.In(0), c.In(1), c.In(2), c.In(3), c.In(4)}
}

var qLinearLeakyRelu = plan.Operator{About: plan.About{Name: "QLinearLeakyRelu", Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"alpha"}, Why: "of integers of 8 bits alone"}, Least: 2, Most: 5, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		return quantizedLeaky(unaryQuantized("QLinearLeakyRelu", c), float64(c.Attrs.Float("alpha", 0.01)))
	}}
