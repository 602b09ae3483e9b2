package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// DFTOptions says how DFT transforms. Its zero value is the forward transform of all elements.
type DFTOptions struct {
	Length   int  // of the transform; longer signals are cut off, shorter ones filled up with 0; 0 is the signal's own
	Inverse  bool // with the other sign of the exponent, and divided by the length
	OneSided bool // of a real signal: half of the spectrum, or the signal of half a spectrum
}

// DFT returns the discrete Fourier transform of x along an axis that isn't the last. The last
// axis holds the parts of a number: it is 1 long for real numbers and 2 for complex ones, and
// 2 in the result. For n numbers it is
//
//	y[k] = Σ x[t]·exp(−2πi·k·t/n)
//
// OneSided keeps k to n/2 of a real signal. OneSided and Inverse take such a half spectrum and
// return the real signal, whose last axis is 1 long; the length is then 2·(extent − 1) unless
// o has one, and the imaginary parts of the first element, and of the middle one of an even
// length, don't count.
//
// All steps are rounded to float64, in an order that depends on the length alone, and the
// result is rounded once to T: so it has the same bits on all processors, and one of float32
// or narrower is nearly always the true value rounded. A length whose prime factors are at
// most 31 is computed by those factors, another one by a convolution (L. Bluestein, 1970). A
// NaN or an infinity makes much of its signal NaN. It panics for an axis that isn't there or
// is the last, a last axis of another length, and a transform of no elements. It panics for a
// onesided transform of complex numbers, too, and for its inverse of real ones. ONNX DFT.
func DFT[T num.Floating](x tensor.Tensor[T], axis int, o DFTOptions, opts ...Option) (r tensor.Tensor[T]) {
	fourierOf(x.Any(), axis, o).Into(exec.Ref(&r), opts)
	return r
}

func fourierOf(x tensor.Any, axis int, o DFTOptions) *move.Transfer {
	const name = "DFT"
	plan.Present(name, &x)
	rank := x.Rank()
	if rank < 2 || x.Dim(-1) != 1 && x.Dim(-1) != 2 {
		panic(plan.Fail(name, tensor.ErrShape, "the input is %s; want [..., 1] of real numbers or [..., 2] of complex ones", tensor.Describe(x)))
	}
	if axis = plan.AxisOf(name, axis, rank); axis == rank-1 {
		panic(plan.Fail(name, tensor.ErrAxis, "axis %d is the last, which holds the parts of a number", axis))
	}
	shape := x.Shape()
	before, extent, after := move.Around(shape[:rank-1], axis)
	parts, n, bins := shape[rank-1], o.Length, 0
	half := o.OneSided && o.Inverse
	switch {
	case o.OneSided && parts != 1 && !o.Inverse:
		panic(plan.Fail(name, tensor.ErrShape, "a onesided transform of complex numbers; half of their spectrum doesn't give the other half"))
	case half && parts != 2:
		panic(plan.Fail(name, tensor.ErrShape, "a onesided inverse of real numbers; want a spectrum of complex ones, [..., 2]"))
	case n != 0:
	case half:
		n = 2 * (extent - 1)
	default:
		n = extent
	}
	if n <= 0 {
		panic(plan.Fail(name, tensor.ErrShape, "a transform of %d elements along axis %d of %s; want 1 or more", n, axis, tensor.Describe(x)))
	}
	used := min(extent, n)
	shape[axis], shape[rank-1], bins = n, 2, n
	switch {
	case half:
		used = min(extent, n/2+1)
		shape[rank-1] = 1
	case o.OneSided:
		bins = n/2 + 1
		shape[axis] = bins
	}
	scratch, each := fourierScratch(n, before*after)
	return &move.Transfer{Name: name, D: x.DType(), Shape: shape, In: move.OperandsOf(x), Price: plan.Taking(scratch, each), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		f := newFourier(name, n)
		src, to := move.NumericOf(in[0]), move.NumericOf(dst)
		exec.Split(name, ctx, before*after, f.cost(), func(from, till int) {
			t := f.room(name)
			for line := from; line < till; line++ {
				first := line/after*extent*after + line%after
				clear(t.in)
				for i := range used {
					at := (first + i*after) * parts
					v := complex(src.Float(at), 0)
					if parts == 2 {
						v = complex(real(v), src.Float(at+1))
					}
					t.in[i] = v
				}
				if half {
					mirror(t.in)
				}
				if o.Inverse {
					exchange(t.in)
				}
				t.transform()
				first = line/after*bins*after + line%after
				for k := range bins {
					re, im := real(t.out[k]), imag(t.out[k])
					if o.Inverse {
						re, im = im/float64(n), re/float64(n)
					}
					if at := first + k*after; half {
						to.SetFloat(at, re)
					} else {
						to.SetFloat(2*at, re)
						to.SetFloat(2*at+1, im)
					}
				}
			}
		})
	}}
}

// mirror makes the second half of the spectrum of a real signal from the first.
func mirror(v []complex128) {
	n := len(v)
	v[0] = complex(real(v[0]), 0)
	for k := 1; k <= n/2; k++ {
		if 2*k == n {
			v[k] = complex(real(v[k]), 0)
		}
		v[n-k] = complex(real(v[k]), -imag(v[k]))
	}
}

// exchange swaps the parts of numbers. A transform of swapped numbers is, swapped again,
// the inverse but for the division.
func exchange(v []complex128) {
	for i, z := range v {
		v[i] = complex(imag(z), real(z))
	}
}

var dft = plan.Operator{About: plan.About{Name: "DFT", Versions: []int{17, 20}, Attrs: []string{"axis", "inverse", "onesided"}, Why: "of floats alone: Cast first"}, Least: 1, Most: 3, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		const name = "DFT"
		o := DFTOptions{Inverse: c.Attrs.Int("inverse", 0) != 0, OneSided: c.Attrs.Int("onesided", 0) != 0}
		var axis int
		if c.Opset < 20 {
			plan.Takes(name, c, 2)
			axis = plan.AttrInt(c, "axis", 1)
		} else {
			axis = numberOr(name, c, 2, -2)
		}
		if !c.In(1).IsZero() {
			o.Length = numberOr(name, c, 1, 0)
			if o.Length <= 0 {
				panic(plan.Fail(name, tensor.ErrValue, "dft_length is %d; want 1 or more", o.Length))
			}
		}
		return fourierOf(c.In(0), axis, o)
	}}

// numberOr returns an input that is one integer, or def when it is absent.
func numberOr(name string, c *plan.Use, i, def int) int {
	v, ok := move.Ints(name, c, i)
	if !ok {
		return def
	}
	if len(v) != 1 {
		panic(plan.Fail(name, tensor.ErrShape, "input %d has %d elements; want one", i, len(v)))
	}
	return v[0]
}
