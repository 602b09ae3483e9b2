package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CumSum returns the sums of the elements of each line along axis up to and with
// each one; with exclusive up to but without it, so that the first is 0; with
// reverse from the end of the line on. Floats are added one after the other in
// float64, and each result is rounded, so the last need not equal ReduceSum.
// Integers wrap. NaN and ∞ − ∞ make all that follow NaN. ONNX CumSum,
// numpy.cumsum.
func CumSum[T num.Native | num.Narrow](a tensor.Tensor[T], axis int, exclusive, reverse bool, opts ...Option) tensor.Tensor[T] {
	return moved[T](cumulated("CumSum", a, axisOf("CumSum", axis, a.Rank()), exclusive, reverse, addUp), opts)
}

// A cumulation is how a line is combined: none is what a result without elements is.
type cumulation struct {
	none, start float64
	float       func(acc, v float64) float64
	word        func(acc, v uint64) uint64 // of integers of any size and sign: the low bits depend on low bits alone
}

var addUp = cumulation{none: 0, start: math.Copysign(0, -1), // −0 + v is v for either zero
	float: func(acc, v float64) float64 { return acc + v }, word: func(acc, v uint64) uint64 { return acc + v }}

func cumulated(name string, a tensor.Any, axis int, exclusive, reverse bool, by cumulation) *transfer {
	shape := tensor.Shape(a)
	d := a.DType()
	return &transfer{name: name, d: d, shape: shape, in: []tensor.Any{a}, fill: func(ctx context.Context, dst words, in []words) {
		before, n, after := around(shape, axis)
		src, out := numeric{in[0], d}, numeric{dst, d}
		if n == 0 {
			return
		}
		split(name, ctx, before*after, 4*n, func(from, to int) {
			for l := from; l < to; l++ {
				at, step := l/after*n*after+l%after, after
				if reverse {
					at, step = at+(n-1)*after, -after
				}
				if d.IsFloat() {
					by.floats(out, src, at, step, n, exclusive)
				} else {
					by.words(out, src, at, step, n, exclusive)
				}
			}
		})
	}}
}

func (by *cumulation) floats(dst, src numeric, at, step, n int, exclusive bool) {
	acc := by.start
	for i := range n {
		v := src.float(at + i*step)
		switch {
		case !exclusive:
			acc = by.float(acc, v)
			dst.setFloat(at+i*step, acc)
		case i == 0:
			dst.setFloat(at, by.none)
			acc = by.float(acc, v)
		default:
			dst.setFloat(at+i*step, acc)
			acc = by.float(acc, v)
		}
	}
}

func (by *cumulation) words(dst, src numeric, at, step, n int, exclusive bool) {
	acc := uint64(by.none)
	for i := range n {
		next := by.word(acc, src.bits(at+i*step))
		if exclusive {
			dst.setBits(at+i*step, acc)
		} else {
			dst.setBits(at+i*step, next)
		}
		acc = next
	}
}

// cumulatedCall reads a node.
func cumulatedCall(name string, c *Call, by cumulation) *transfer {
	v, _ := ints(name, c, 1)
	if len(v) != 1 {
		panic(fail(name, tensor.ErrShape, "the axis has %d elements; want one", len(v)))
	}
	return cumulated(name, c.in(0), axisOf(name, v[0], c.in(0).Rank()), c.Attrs.Int("exclusive", 0) != 0, c.Attrs.Int("reverse", 0) != 0, by)
}

var cumSum = opN{about: about{name: "CumSum", onnx: []int{11, 14}, attrs: []string{"exclusive", "reverse"}}, least: 2, takes: isReal,
	move: func(c *Call) *transfer { return cumulatedCall("CumSum", c, addUp) }}
