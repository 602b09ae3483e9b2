package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
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
	quantizedPair("QLinearAdd", []tensor.Any{a.Any(), qa.Scale.Any(), qa.Zero.Any(), b.Any(), qb.Scale.Any(), qb.Zero.Any(), qy.Scale.Any(), qy.Zero.Any()}, sumOf2).into(exec.Ref(&r), opts)
	return r
}

func sumOf2(a, b float64) float64     { return a + b }
func productOf2(a, b float64) float64 { return a * b }

// quantizedPair is a function of two quantized operands of one type.
func quantizedPair(name string, in []tensor.Any, f func(a, b float64) float64) *transfer {
	a, b := in[0], in[3]
	present(name, &a, nil, nil, &b)
	oneType(name, a, b)
	must(name, bytes8.has(a.DType()), a.DType())
	for i, k := range []int{1, 4, 6} {
		checkQuantum(name, k, in[k], in[k+1], in[[]int{0, 3, 0}[i]].DType())
	}
	shape := stretch(name, a, b)
	return &transfer{name: name, d: a.DType(), shape: shape, in: operandsOf(in...), fill: func(ctx context.Context, dst words, in []words) {
		qa, qb, qy := quantumOf(in[1], in[2]), quantumOf(in[4], in[5]), quantumOf(in[6], in[7])
		x, y, to := numericOf(in[0].stretched(shape)), numericOf(in[3].stretched(shape)), numericOf(dst)
		exec.Split(name, ctx, dst.len(), 20, func(from, till int) {
			for i := from; i < till; i++ {
				to.setQuantized(i, f(qa.real(x, i), qb.real(y, i))/qy.scale, qy.zero, true)
			}
		})
	}}
}

// stretched returns the elements of w's tensor stretched to a shape.
func (w words) stretched(shape []int) words {
	a, err := tensor.BroadcastTo(*w.of, shape...)
	if err != nil {
		panic(err)
	}
	return wordsOf(a)
}

var qLinearAdd = opN{about: about{name: "QLinearAdd", takesUp: inDoubles, domain: "com.microsoft", onnx: []int{1}, why: "of integers of 8 bits alone"}, least: 2, most: 8, takes: bytes8,
	move: func(c *Call) *transfer { return pairOf("QLinearAdd", c, sumOf2) }}

// pairOf reads a node: a, its scale and zero point, b and its, and those of the result.
func pairOf(name string, c *Call, f func(a, b float64) float64) *transfer {
	c.must(name, 0, 1, 3, 4, 6)
	return quantizedPair(name, []tensor.Any{c.in(0), c.in(1), c.in(2), c.in(3), c.in(4), c.in(5), c.in(6), c.in(7)}, f)
}
