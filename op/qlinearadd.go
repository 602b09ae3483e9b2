package op

import (
	"context"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
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
func QLinearAdd[S num.Floating, Q int8 | uint8](a tensor.Tensor[Q], qa Quantization[S, Q], b tensor.Tensor[Q], qb Quantization[S, Q], qy Quantization[S, Q], opts ...Option) (r tensor.Tensor[Q]) {
	quantizedPair("QLinearAdd", []tensor.Any{a.Any(), qa.Scale.Any(), qa.Zero.Any(), b.Any(), qb.Scale.Any(), qb.Zero.Any(), qy.Scale.Any(), qy.Zero.Any()}, sumOf2, true).Into(exec.Ref(&r), opts)
	return r
}

// A pairRow sets y to a function of the numbers that a and b stand for, which have steps of 0 or 1.
type pairRow func(y []float64, a []byte, aStep int, ofA *[256]float64, b []byte, bStep int, ofB *[256]float64)

func sumOf2(y []float64, a []byte, aStep int, ofA *[256]float64, b []byte, bStep int, ofB *[256]float64) {
	for i := range y {
		y[i] = ofA[a[i*aStep]] + ofB[b[i*bStep]]
	}
}

func productOf2(y []float64, a []byte, aStep int, ofA *[256]float64, b []byte, bStep int, ofB *[256]float64) {
	for i := range y {
		y[i] = float64(ofA[a[i*aStep]] * ofB[b[i*bStep]])
	}
}

// quantizedPair is a function of two quantized operands of one type.
func quantizedPair(name string, in []tensor.Any, f pairRow, sum bool) *move.Transfer {
	a, b := in[0], in[3]
	plan.Present(name, &a, nil, nil, &b)
	plan.OneType(name, a, b)
	plan.Must(name, plan.Bytes8.Has(a.DType()), a.DType())
	for i, k := range []int{1, 4, 6} {
		checkQuantum(name, k, in[k], in[k+1], in[[]int{0, 3, 0}[i]].DType())
	}
	shape := plan.Stretch(name, a, b)
	reals := func(in []move.Words) *[256]float64 {
		q := quantumIn(in)
		t := q.reals(a.DType())
		return &t
	}
	realsA, realsB, result := steady(reals, in[1], in[2]), steady(reals, in[4], in[5]), steady(quantumIn, in[6], in[7])
	lies := lieAlike(shape, a, b)
	placesA, placesB := placesIn(shape, a.Shape()), placesIn(shape, b.Shape())
	return &move.Transfer{Name: name, D: a.DType(), Shape: shape, Lies: lies, In: move.OperandsOf(in...), Price: plan.Copying(8, 2, 1), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		ofA, ofB, qy := realsA(in[1], in[2]), realsB(in[4], in[5]), result(in[6], in[7])
		x, y := in[0], in[3]
		if placesA.n == 0 {
			x = x.Stretched(shape)
		}
		if placesB.n == 0 {
			y = y.Stretched(shape)
		}
		exact := func(from, till int) {
			qy.quantize(dst, from, till-from, 1, func(v []float64, at int) {
				for at += from; len(v) > 0; {
					i, aStep, n := placesA.from(at)
					j, bStep, m := placesB.from(at)
					n = min(n, m, len(v))
					f(v[:n], x.Mem[i:], aStep, ofA, y.Mem[j:], bStep, ofB)
					v, at = v[n:], at+n
				}
			})
		}
		if !sum || dst.Orion || lies == move.RowMajor {
			exec.Split(name, ctx, dst.Len(), 4, exact)
			return
		}
		qa, qb := quantumOf(in[1], in[2]), quantumOf(in[4], in[5])
		exec.Split(name, ctx, dst.Len(), 1, func(from, till int) {
			some := func(i, j int) { exact(from+i, from+j) }
			if a.DType() == dtype.Int8 {
				cast.SumCodes(move.ElemsOf[int8](dst.Of)[from:till], move.ElemsOf[int8](x.Of)[from:], move.ElemsOf[int8](y.Of)[from:], qa.pair(), qb.pair(), qy.pair(), some)
			} else {
				cast.SumCodes(dst.Mem[from:till], x.Mem[from:], y.Mem[from:], qa.pair(), qb.pair(), qy.pair(), some)
			}
		})
	}}
}

// lieAlike says that operands may lie channels last where all have one shape.
func lieAlike(shape []int, of ...tensor.Any) move.Lies {
	for _, a := range of {
		if !slices.Equal(a.Shape(), shape) {
			return move.RowMajor
		}
	}
	return move.AlikeLast
}

// places says which element of an operand stretches to one of a result: element i/after%n, or element i itself where n is 0.
type places struct{ n, after int }

// placesIn returns the places of an operand that stretches to a shape, if it stretches along its first and last axes alone; else n is 0, as
// for one that has the shape.
func placesIn(shape, of []int) places {
	p := places{1, 1}
	i, skip := len(of)-1, len(shape)-len(of)
	for ; i >= 0 && of[i] == 1; i-- {
		p.after *= shape[i+skip]
	}
	for ; i >= 0 && of[i] == shape[i+skip]; i-- {
		p.n *= of[i]
	}
	for ; i >= 0; i-- {
		if of[i] != 1 {
			return places{}
		}
	}
	return p
}

// from maps element i of the result to an element of the operand. It and the next n - 1 elements follow with a step of 0 or 1.
func (p places) from(i int) (at, step, n int) {
	switch {
	case p.n == 0:
		return i, 1, math.MaxInt
	case p.n == 1:
		return 0, 0, math.MaxInt
	case p.after == 1:
		return i % p.n, 1, p.n - i%p.n
	}
	return i / p.after % p.n, 0, p.after - i%p.after
}

var qLinearAdd = plan.Operator{About: plan.About{Name: "QLinearAdd", Domain: "com.microsoft", Versions: []int{1}, Why: "of integers of 8 bits alone"}, Least: 2, Most: 8, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover { return pairOf("QLinearAdd", c, sumOf2, true) }}

// pairOf reads a node: a, its scale and zero point, b and its, and the scale and zero point of the result.
func pairOf(name string, c *plan.Use, f pairRow, sum bool) *move.Transfer {
	c.Must(name, 0, 1, 3, 4, 6)
	return quantizedPair(name, []tensor.Any{c.In(0), c.In(1), c.In(2), c.In(3), c.In(4), c.In(5), c.In(6), c.In(7)}, f, sum)
}
