package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// CumSum returns the sums of the elements of each line along axis up to and with
// each one; with Exclusive up to but without it, so that the first is 0; with
// Reverse from the end of the line on. Floats are added one after the other in
// float64, and each result is rounded, so the last need not equal ReduceSum.
// Integers wrap. Each sum of fixed point is exact, or beyond the format an error. NaN and ∞ − ∞ make all that follow NaN. ONNX CumSum,
// numpy.cumsum.
func CumSum[T num.Real](a tensor.Tensor[T], axis int, o CumOptions, opts ...Option) (r tensor.Tensor[T]) {
	accumulated(exec.Ref(&r), "CumSum", exec.Ref(&a), axis, o, &addUp, opts)
	return r
}

// CumOptions says how CumSum and CumProd go along a line. Its fields are the attributes of ONNX.
type CumOptions struct {
	Exclusive bool // each element is left out of its own result
	Reverse   bool // from the end of the line to its beginning
}

// A cumulation is how a line is combined: none is the value of a result of no elements.
type cumulation struct {
	none, start float64
	times       bool
	word        func(acc, v uint64) uint64 // of integers of any size and sign: the low bits depend on low bits alone
}

var addUp = cumulation{none: 0, start: math.Copysign(0, -1), // −0 + v is v for either zero
	word: func(acc, v uint64) uint64 { return acc + v }}

// accumulated is CumSum, or CumProd, for a run-time element type.
func accumulated(r *tensor.Any, name string, a *tensor.Any, axis int, o CumOptions, by *cumulation, opts []Option) {
	plan.Present(name, a)
	axis = plan.AxisOf(name, axis, a.Rank())
	if a.DType().IsFixed() {
		accumulateFixed(r, name, a, axis, o, by.times, opts)
		return
	}
	cumulated(name, *a, axis, o, *by).Into(r, opts)
}

// accumulateFixed is accumulated for fixed point: sums are exact, products rounded one after
// the other. An error names the first of a line, in its own direction.
func accumulateFixed(r *tensor.Any, name string, a *tensor.Any, axis int, o CumOptions, times bool, opts []Option) {
	s, d, shape := plan.Read(name, opts), a.DType(), a.Shape()
	before, n, after := move.Around(shape, axis)
	c, line := a.Contiguous(), accumulateLine[fixed.FP64x64]
	switch d {
	case dtype.FP8x23:
		line = accumulateLine[fixed.FP8x23]
	case dtype.FP16x16:
		line = accumulateLine[fixed.FP16x16]
	case dtype.FP32x32:
		line = accumulateLine[fixed.FP32x32]
	}
	reduce.Trying(r, name, &s, d, shape, func(out *tensor.Any, bad *exec.Failure) {
		to, from, modes := exec.RunIn(out), exec.RunIn(&c), cast.StateOf(&s, d).Modes
		exec.Split(name, s.Ctx(), before*after, 10*n, func(first, till int) {
			for l := first; l < till; l++ {
				p, step := l/after*n*after+l%after, after
				if o.Reverse {
					p, step = p+(n-1)*after, -after
				}
				line(to, from, p, step, n, o.Exclusive, times, modes, bad)
			}
		})
		plan.Drop(&c, a)
	})
}

func accumulateLine[T num.Fixed](dst, src exec.Run, p, step, n int, exclusive, times bool, modes []fixed.Mode, bad *exec.Failure) {
	to, data := exec.Of[T](dst), exec.Of[T](src)
	var sum fixed.Sum[T]
	product, _ := fixed.FromInt64[T](1)
	for i := range n {
		failed := p
		v, err := product, error(nil)
		if !times {
			if !exclusive {
				sum.Add(data[p])
			}
			v, err = sum.Sum(modes...)
			if exclusive {
				sum.Add(data[p])
			}
		} else if product, err = fixed.Mul(product, data[p], modes...); !exclusive {
			v = product
		} else if failed += step; i == n-1 {
			err = nil // nobody asks for the last product
		}
		if err != nil {
			bad.Note(failed, err)
			break
		}
		to[p] = v
		p += step
	}
}

func cumulated(name string, a tensor.Any, axis int, o CumOptions, by cumulation) *move.Transfer {
	plan.Present(name, &a)
	shape := a.Shape()
	d := a.DType()
	return &move.Transfer{Name: name, D: d, Shape: shape, In: []tensor.Any{a}, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		before, n, after := move.Around(shape, axis)
		src, out := move.Numeric{Words: in[0], D: d}, move.Numeric{Words: dst, D: d}
		if n == 0 {
			return
		}
		f32, is32 := elems[float32](dst, in[0])
		f64, is64 := elems[float64](dst, in[0])
		exec.Split(name, ctx, before*after, 4*n, func(from, to int) {
			step, last := after, 0
			if o.Reverse {
				step, last = -after, (n-1)*after
			}
			// first is where line l begins. It has no branch: for ppc64le, Go 1.26 keeps a condition over a division, which changes it.
			first := func(l int) int { return l/after*n*after + l%after + last }
			l := from
			for ; (is32 || is64) && l+4 <= to; l += 4 {
				at := [4]int{first(l), first(l + 1), first(l + 2), first(l + 3)}
				if is32 {
					cumulateFour(&by, f32[0], f32[1], at, step, n, o.Exclusive)
				} else {
					cumulateFour(&by, f64[0], f64[1], at, step, n, o.Exclusive)
				}
			}
			for ; l < to; l++ {
				switch at := first(l); {
				case is32:
					cumulate(&by, f32[0], f32[1], at, step, n, o.Exclusive)
				case is64:
					cumulate(&by, f64[0], f64[1], at, step, n, o.Exclusive)
				case d.IsFloat():
					by.floats(out, src, at, step, n, o.Exclusive)
				default:
					by.words(out, src, at, step, n, o.Exclusive)
				}
			}
		})
	}}
}

// elems returns the elements of both as a []T, if T is their type.
func elems[T num.Elem](a, b move.Words) (e [2][]T, ok bool) {
	for i, w := range [2]move.Words{a, b} {
		if w.Of.DType() != dtype.Of[T]() {
			return e, false
		}
		e[i] = reach.Run[T](w.Of, w.Of.LayoutRef())
	}
	return e, true
}

func (by *cumulation) floats(dst, src move.Numeric, at, step, n int, exclusive bool) {
	acc := by.start
	if exclusive {
		dst.SetFloat(at, by.none)
	}
	for i := range n {
		v := src.Float(at + i*step)
		if by.times {
			acc *= v
		} else {
			acc += v
		}
		if to := i + 1; !exclusive {
			dst.SetFloat(at+i*step, acc)
		} else if to < n {
			dst.SetFloat(at+to*step, acc)
		}
	}
}

// cumulate is floats where every element's type is T.
func cumulate[T num.Float](by *cumulation, dst, src []T, at, step, n int, exclusive bool) {
	acc := by.start
	to, more := at, n
	if exclusive {
		dst[at] = T(by.none)
		to, more = at+step, n-1
	}
	for range more {
		if v := float64(src[at]); by.times {
			acc *= v
		} else {
			acc += v
		}
		if dst[to] = T(acc); acc != acc {
			break
		}
		at, to, more = at+step, to+step, more-1
	}
	for range more { // from a NaN on
		dst[to] = T(num.NaN64())
		to += step
	}
}

// cumulateFour is cumulate for four lines side by side: each waits for its last sum alone.
func cumulateFour[T num.Float](by *cumulation, dst, src []T, at [4]int, step, n int, exclusive bool) {
	a, b, c, d := by.start, by.start, by.start, by.start
	to, more := 0, n // from a line's first element
	if exclusive {
		for _, i := range at {
			dst[i] = T(by.none)
		}
		to, more = step, n-1
	}
	for i := 0; more > 0; more-- {
		v, w, x, y := float64(src[at[0]+i]), float64(src[at[1]+i]), float64(src[at[2]+i]), float64(src[at[3]+i])
		if by.times {
			a, b, c, d = a*v, b*w, c*x, d*y
		} else {
			a, b, c, d = a+v, b+w, c+x, d+y
		}
		dst[at[0]+to], dst[at[1]+to], dst[at[2]+to], dst[at[3]+to] = T(a), T(b), T(c), T(d)
		i, to = i+step, to+step
	}
	for k, acc := range [4]float64{a, b, c, d} {
		for i := at[k] + (n-1)*step; acc != acc && dst[i] != dst[i]; i -= step { // from a NaN on
			if dst[i] = T(num.NaN64()); i == at[k] {
				break
			}
		}
	}
}

func (by *cumulation) words(dst, src move.Numeric, at, step, n int, exclusive bool) {
	acc := uint64(by.none)
	for i := range n {
		next := by.word(acc, src.Bits(at+i*step))
		if exclusive {
			dst.SetBits(at+i*step, acc)
		} else {
			dst.SetBits(at+i*step, next)
		}
		acc = next
	}
}

// lineAxis reads the axis of a node, an input.
func lineAxis(name string, c *plan.Use) int {
	v, _ := move.Ints(name, c, 1)
	if len(v) != 1 {
		panic(plan.Fail(name, tensor.ErrShape, "the axis has %d elements; want one", len(v)))
	}
	return plan.AxisOf(name, v[0], c.In(0).Rank())
}

var cumSum = plan.Operator{About: plan.About{Name: "CumSum", FLOPs: plan.FLOPs{Read: 1}, Versions: []int{11, 14}, Attrs: []string{"exclusive", "reverse"}}, Least: 2, Takes: plan.Reals | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) { planCumulation(p, "CumSum", c, &addUp) }}

// planCumulation plans CumSum or its like.
func planCumulation(p *plan.Draft, name string, c *plan.Use, by *cumulation) {
	a, axis := c.With(name, 0), lineAxis(name, c)
	o := CumOptions{Exclusive: c.Attrs.Int("exclusive", 0) != 0, Reverse: c.Attrs.Int("reverse", 0) != 0}
	p.Stretched(a.DType(), c, 1)
	p.By(c, 0, func(r *tensor.Any, opts []Option) { accumulated(r, name, a, axis, o, by, opts) })
}
