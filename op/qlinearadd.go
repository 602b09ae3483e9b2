package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearAdd returns the sum of quantized a and b, quantized as qy says. Shapes
// broadcast. With each step rounded to float64, and round to nearest, even on a tie:
//
//	y = saturate(round(((a − Zero)·Scale + (b − Zero)·Scale) / scale of y) + zero point of y)
//
// Every scale and zero point is one number. It panics if the shapes don't broadcast.
// ONNX Runtime's QLinearAdd, of the domain com.microsoft.
func QLinearAdd[S num.Float | num.Narrow, Q int8 | uint8](a tensor.Tensor[Q], qa Quantization[S, Q], b tensor.Tensor[Q], qb Quantization[S, Q], qy Quantization[S, Q], opts ...Option) (r tensor.Tensor[Q]) {
	quantizedPair("QLinearAdd", []tensor.Any{a.Any(), qa.Scale.Any(), qa.Zero.Any(), b.Any(), qb.Scale.Any(), qb.Zero.Any(), qy.Scale.Any(), qy.Zero.Any()}, sumOf2).Into(exec.Ref(&r), opts)
	return r
}

func sumOf2(a, b float64) float64     { return a + b }
func productOf2(a, b float64) float64 { return a * b }

// quantizedPair is a function of two quantized operands of one type.
func quantizedPair(name string, in []tensor.Any, f func(a, b float64) float64) *move.Transfer {
	a, b := in[0], in[3]
	plan.Present(name, &a, nil, nil, &b)
	plan.OneType(name, a, b)
	plan.Must(name, plan.Bytes8.Has(a.DType()), a.DType())
	for i, k := range []int{1, 4, 6} {
		checkQuantum(name, k, in[k], in[k+1], in[[]int{0, 3, 0}[i]].DType())
	}
	shape := plan.Stretch(name, a, b)
	return &move.Transfer{Name: name, D: a.DType(), Shape: shape, In: move.OperandsOf(in...), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		qa, qb, qy := quantumOf(in[1], in[2]), quantumOf(in[4], in[5]), quantumOf(in[6], in[7])
		x, y := in[0].Stretched(shape), in[3].Stretched(shape)
		ta, tb := qa.reals(x.Of.DType()), qb.reals(y.Of.DType())
		exec.Split(name, ctx, dst.Len(), 4, func(from, till int) {
			qy.quantize(dst, from, till-from, 1, func(v []float64, at int) {
				as, bs := x.Mem[from+at:], y.Mem[from+at:]
				for i := range v {
					v[i] = f(ta[as[i]], tb[bs[i]])
				}
			})
		})
	}}
}

var qLinearAdd = plan.Operator{About: plan.About{Name: "QLinearAdd", TakesUp: plan.InDoubles, Domain: "com.microsoft", Versions: []int{1}, Why: "of integers of 8 bits alone"}, Least: 2, Most: 8, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover { return pairOf("QLinearAdd", c, sumOf2) }}

// pairOf reads a node: a, its scale and zero point, b and its, and those of the result.
func pairOf(name string, c *plan.Use, f func(a, b float64) float64) *move.Transfer {
	c.Must(name, 0, 1, 3, 4, 6)
	return quantizedPair(name, []tensor.Any{c.In(0), c.In(1), c.In(2), c.In(3), c.In(4), c.In(5), c.In(6), c.In(7)}, f)
}
