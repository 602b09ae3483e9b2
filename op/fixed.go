package op

import (
	"errors"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Fixed point: an operator's functions of one number define it, and rows of words, where
// there are some, give the same. An element without a result, because it is beyond the
// format or the function has no value there, fails the call: rows only note that there
// is one, and the first in row-major order is found again by the function, whose error
// says what is wrong with it.

// Wrap makes operators on fixed point give the low bits of a result beyond the format,
// instead of failing. It takes precedence over Saturate. Functions have no such result and
// fail all the same.
func Wrap() Option { return Option{flags: wrap} }

// fixed1 has the function of a one-operand operator for each format.
type fixed1 struct {
	FP8x23  func(x num.FP8x23, mode ...num.FixedMode) (num.FP8x23, error)
	FP16x16 func(x num.FP16x16, mode ...num.FixedMode) (num.FP16x16, error)
	FP32x32 func(x num.FP32x32, mode ...num.FixedMode) (num.FP32x32, error)
	FP64x64 func(x num.FP64x64, mode ...num.FixedMode) (num.FP64x64, error)
	W32     func(dst, a []int32, s *fixedState)
	W64     func(dst, a []int64, s *fixedState)
}

// fixed2 is fixed1 for two operands.
type fixed2 struct {
	FP8x23  func(x, y num.FP8x23, mode ...num.FixedMode) (num.FP8x23, error)
	FP16x16 func(x, y num.FP16x16, mode ...num.FixedMode) (num.FP16x16, error)
	FP32x32 func(x, y num.FP32x32, mode ...num.FixedMode) (num.FP32x32, error)
	FP64x64 func(x, y num.FP64x64, mode ...num.FixedMode) (num.FP64x64, error)
	W32     func(dst, a, b []int32, s *fixedState)
	W64     func(dst, a, b []int64, s *fixedState)
}

// fixedP is fixed1 for a formula with two numbers in it.
type fixedP struct {
	FP8x23  func(x, p, q num.FP8x23, mode ...num.FixedMode) (num.FP8x23, error)
	FP16x16 func(x, p, q num.FP16x16, mode ...num.FixedMode) (num.FP16x16, error)
	FP32x32 func(x, p, q num.FP32x32, mode ...num.FixedMode) (num.FP32x32, error)
	FP64x64 func(x, p, q num.FP64x64, mode ...num.FixedMode) (num.FP64x64, error)
}

// fixedState is what the rows of a call know besides elements.
type fixedState struct {
	frac   uint // bits after the point
	modes  []num.FixedMode
	mode   num.FixedMode
	failed atomic.Bool
	trace  bool // one element is computed again
	err    error
}

func stateOf(s *settings, d dtype.DType) *fixedState {
	f := &fixedState{frac: fracOf(d)}
	if s.saturate {
		f.mode |= num.Saturate
	}
	if s.wrap {
		f.mode |= num.Wrap
	}
	f.modes = []num.FixedMode{f.mode}
	return f
}

// fracOf returns the bits after the point of a format.
func fracOf(d dtype.DType) uint {
	switch d {
	case dtype.FP8x23:
		return 23
	case dtype.FP16x16:
		return 16
	case dtype.FP32x32:
		return 32
	}
	return 64
}

// word32 makes a word of 32 bits of v units.
func (s *fixedState) word32(v int64) int32 {
	if w := int32(v); int64(w) == v {
		return w
	}
	return int32(s.beyond(v, v < 0, -1<<31))
}

// beyond is what the modes make of a result beyond words of a format, of which low is the
// low bits and least the first.
func (s *fixedState) beyond(low int64, neg bool, least int64) int64 {
	switch {
	case s.mode&num.Wrap != 0:
		return low
	case s.mode&num.Saturate == 0:
		s.failed.Store(true)
	case neg:
		return least
	default:
		return ^least
	}
	return 0
}

// Rows of kernels. Their types carry T, so that tables hold each format's functions alone.
type (
	fixedRow1[T num.Elem] struct {
		fn  func(x T, mode ...num.FixedMode) (T, error)
		w32 func(dst, a []int32, s *fixedState)
		w64 func(dst, a []int64, s *fixedState)
		s   *fixedState
	}
	fixedRow2[T num.Elem] struct {
		fn  func(x, y T, mode ...num.FixedMode) (T, error)
		w32 func(dst, a, b []int32, s *fixedState)
		w64 func(dst, a, b []int64, s *fixedState)
		s   *fixedState
	}
	fixedRowP[T num.Elem] struct {
		fn   func(x, p, q T, mode ...num.FixedMode) (T, error)
		p, q T
		s    *fixedState
	}
)

func (r *fixedRow1[T]) row(dst, a []T) {
	switch {
	case r.w32 != nil && r.s.frac < 32:
		r.w32(conv.As[int32](dst), conv.As[int32](a), r.s)
	case r.w64 != nil && r.s.frac == 32:
		r.w64(conv.As[int64](dst), conv.As[int64](a), r.s)
	default:
		for i, x := range a[:len(dst)] {
			v, err := r.fn(x, r.s.modes...)
			if dst[i] = v; err != nil {
				r.s.failed.Store(true)
			}
		}
	}
}

func (r *fixedRow2[T]) row(dst, a, b []T) {
	switch {
	case r.w32 != nil && r.s.frac < 32 && r.s.mode&num.TowardZero == 0:
		r.w32(conv.As[int32](dst), conv.As[int32](a), conv.As[int32](b), r.s)
	case r.w64 != nil && r.s.frac == 32 && r.s.mode&num.TowardZero == 0:
		r.w64(conv.As[int64](dst), conv.As[int64](a), conv.As[int64](b), r.s)
	default:
		b = b[:len(dst)]
		for i, x := range a[:len(dst)] {
			v, err := r.fn(x, b[i], r.s.modes...)
			if dst[i] = v; err != nil {
				r.s.failed.Store(true)
			}
		}
	}
}

func (r *fixedRowP[T]) row(dst, a []T) {
	for i, x := range a[:len(dst)] {
		v, err := r.fn(x, r.p, r.q, r.s.modes...)
		if dst[i] = v; err != nil {
			r.s.failed.Store(true)
		}
	}
}

func (o *fixed1) row(p any) {
	switch r := p.(type) {
	case *fixedRow1[num.FP8x23]:
		r.fn, r.w32 = o.FP8x23, o.W32
	case *fixedRow1[num.FP16x16]:
		r.fn, r.w32 = o.FP16x16, o.W32
	case *fixedRow1[num.FP32x32]:
		r.fn, r.w64 = o.FP32x32, o.W64
	case *fixedRow1[num.FP64x64]:
		r.fn = o.FP64x64
	}
}

func (o *fixed2) row(p any) {
	switch r := p.(type) {
	case *fixedRow2[num.FP8x23]:
		r.fn, r.w32 = o.FP8x23, o.W32
	case *fixedRow2[num.FP16x16]:
		r.fn, r.w32 = o.FP16x16, o.W32
	case *fixedRow2[num.FP32x32]:
		r.fn, r.w64 = o.FP32x32, o.W64
	case *fixedRow2[num.FP64x64]:
		r.fn = o.FP64x64
	}
}

func (o *fixedP) row(p any) {
	switch r := p.(type) {
	case *fixedRowP[num.FP8x23]:
		r.fn = o.FP8x23
	case *fixedRowP[num.FP16x16]:
		r.fn = o.FP16x16
	case *fixedRowP[num.FP32x32]:
		r.fn = o.FP32x32
	case *fixedRowP[num.FP64x64]:
		r.fn = o.FP64x64
	}
}

// applyFixed1 is general1 for fixed point.
func applyFixed1[T num.Elem](o *op1, j *job, ins *[3]*tensor.Tensor[T], dst tensor.Tensor[T], s *settings) tensor.Tensor[T] {
	r := &fixedRow1[T]{s: stateOf(s, dtype.Of[T]())}
	o.fixed.row(r)
	return failing(*j, s, dst, r.s, func(out *tensor.Tensor[T]) {
		elementwise(*j, out, ins, 1, &kernel[T, T]{via: r}, nil, nil)
	}, func(idx []int) error {
		_, err := r.fn(ins[0].At(idx...), r.s.modes...)
		return err
	})
}

// applyFixed2 is general2 for fixed point.
func applyFixed2[T num.Elem](o *op2, j *job, ins *[3]*tensor.Tensor[T], dst tensor.Tensor[T], s *settings) tensor.Tensor[T] {
	r := &fixedRow2[T]{s: stateOf(s, dtype.Of[T]())}
	if s.orion && (o.name == "Mul" || o.name == "Div") {
		r.s.mode |= num.TowardZero
		r.s.modes = []num.FixedMode{r.s.mode}
	}
	o.fixed.row(r)
	return failing(*j, s, dst, r.s, func(out *tensor.Tensor[T]) {
		elementwise(*j, out, ins, 2, &kernel[T, T]{pair: r}, nil, nil)
	}, func(idx []int) error {
		_, err := r.fn(ins[0].BroadcastTo(dst.Shape()...).At(idx...), ins[1].BroadcastTo(dst.Shape()...).At(idx...), r.s.modes...)
		return err
	})
}

// applyFixedP is applyWith for fixed point.
func applyFixedP[T num.Elem](name string, f *fixedP, a *tensor.Tensor[T], p, q T, opts []Option) tensor.Tensor[T] {
	must(name, f != nil, dtype.Of[T]())
	if isLazy(a) {
		return noted[T](note{name: name, cost: 20, alone: true, also: kept(opts), args: []arg{argOf(name, a)},
			run: func(in []any, opts []Option) { applyFixedP(name, f, in[0].(*tensor.Tensor[T]), p, q, opts) }}, opts, a.LayoutRef())
	}
	s := read(opts)
	ins := &[3]*tensor.Tensor[T]{a}
	dst := target[T](name, &s, appendShape(nil, a.LayoutRef()))
	r := &fixedRowP[T]{s: stateOf(&s, dtype.Of[T]()), p: p, q: q}
	f.row(r)
	j := job{name: name, ctx: s.ctx(), cost: 20}
	return failing(j, &s, dst, r.s, func(out *tensor.Tensor[T]) {
		elementwise(j, out, ins, 1, &kernel[T, T]{via: r}, nil, nil)
	}, func(idx []int) error {
		_, err := r.fn(ins[0].At(idx...), r.p, r.q, r.s.modes...)
		return err
	})
}

// kept returns the options that change what is computed.
func kept(opts []Option) (keep []Option) {
	for _, o := range opts {
		if o.flags != 0 {
			keep = append(keep, Option{flags: o.flags})
		}
	}
	return keep
}

// failing writes a result by run to dst, and panics with the error of its first element
// that has none; then nothing was written.
func failing[R num.Elem](j job, s *settings, dst tensor.Tensor[R], state *fixedState, run func(out *tensor.Tensor[R]), at func(idx []int) error) tensor.Tensor[R] {
	out := dst
	if s.into != nil {
		out = tensor.Empty[R](dst.Shape()...)
	}
	if run(&out); state.failed.Load() {
		shape := dst.Shape()
		for i := range dst.Len() {
			idx := unravel(i, shape)
			if err := at(idx); err != nil {
				panic(unfit(j.name, idx, err))
			}
		}
	}
	if s.into != nil {
		dst.CopyFrom(out)
	}
	return dst
}

// again computes one element again, and returns what is wrong with it.
func (s *fixedState) again(run func(s *fixedState)) error {
	one := &fixedState{frac: s.frac, mode: s.mode, modes: s.modes, trace: true}
	run(one)
	return one.err
}

// unfit is the error of an element without a result.
func unfit(name string, idx []int, err error) *tensor.Error {
	hint := ""
	if errors.Is(err, num.ErrFixedOverflow) {
		hint = "; the option Saturate gives it a result, and so does Wrap in arithmetic"
	}
	reason := num.ErrFixedDomain
	if errors.Is(err, num.ErrFixedOverflow) {
		reason = num.ErrFixedOverflow
	}
	return fail(name, reason, "at index %s: %v%s", shapeText(idx), err, hint)
}

// fixedNumber rounds a number of an attribute to a format.
func fixedNumber[T num.Elem](name string, v float64) (x T) {
	var err error
	switch x := any(&x).(type) {
	case *num.FP8x23:
		*x, err = num.FixedFromFloat64[num.FP8x23](v)
	case *num.FP16x16:
		*x, err = num.FixedFromFloat64[num.FP16x16](v)
	case *num.FP32x32:
		*x, err = num.FixedFromFloat64[num.FP32x32](v)
	case *num.FP64x64:
		*x, err = num.FixedFromFloat64[num.FP64x64](v)
	}
	if err != nil {
		panic(fail(name, num.ErrFixedOverflow, "a parameter: %v; give one that the format holds", err))
	}
	return x
}

// An ordering compares fixed point: the words as integers.
type ordering[T num.Elem] struct {
	r     *rowsCmp
	order func(c int) bool
}

func (o ordering[T]) row(dst []bool, a, b []T) {
	switch dtype.Of[T]().Size() {
	case 4:
		o.r.I32(dst, conv.As[int32](a), conv.As[int32](b))
	case 8:
		o.r.I64(dst, conv.As[int64](a), conv.As[int64](b))
	default:
		x, y := conv.As[num.FP64x64](a), conv.As[num.FP64x64](b)
		for i := range dst {
			dst[i] = o.order(num.CompareFixed(x[i], y[i]))
		}
	}
}
