package op

import (
	"errors"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
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

// A fixedTable has the function of an operator for each format.
type fixedTable interface {
	// row returns the row of a format, with numbers of it.
	row(d dtype.DType, p, q exec.Word, s *fixedState) fixedRow
}

// fixed1 is the table of one operand.
type fixed1 struct {
	FP8x23  func(x fixed.FP8x23, mode ...fixed.Mode) (fixed.FP8x23, error)
	FP16x16 func(x fixed.FP16x16, mode ...fixed.Mode) (fixed.FP16x16, error)
	FP32x32 func(x fixed.FP32x32, mode ...fixed.Mode) (fixed.FP32x32, error)
	FP64x64 func(x fixed.FP64x64, mode ...fixed.Mode) (fixed.FP64x64, error)
	W32     func(dst, a []int32, s *fixedState)
	W64     func(dst, a []int64, s *fixedState)
}

// fixed2 is fixed1 for two operands.
type fixed2 struct {
	FP8x23  func(x, y fixed.FP8x23, mode ...fixed.Mode) (fixed.FP8x23, error)
	FP16x16 func(x, y fixed.FP16x16, mode ...fixed.Mode) (fixed.FP16x16, error)
	FP32x32 func(x, y fixed.FP32x32, mode ...fixed.Mode) (fixed.FP32x32, error)
	FP64x64 func(x, y fixed.FP64x64, mode ...fixed.Mode) (fixed.FP64x64, error)
	W32     func(dst, a, b []int32, s *fixedState)
	W64     func(dst, a, b []int64, s *fixedState)
}

// fixedP is fixed1 for a formula with two numbers in it.
type fixedP struct {
	FP8x23  func(x, p, q fixed.FP8x23, mode ...fixed.Mode) (fixed.FP8x23, error)
	FP16x16 func(x, p, q fixed.FP16x16, mode ...fixed.Mode) (fixed.FP16x16, error)
	FP32x32 func(x, p, q fixed.FP32x32, mode ...fixed.Mode) (fixed.FP32x32, error)
	FP64x64 func(x, p, q fixed.FP64x64, mode ...fixed.Mode) (fixed.FP64x64, error)
}

// fixedState is what the rows of a call know besides elements.
type fixedState struct {
	frac   uint // bits after the point
	modes  []fixed.Mode
	mode   fixed.Mode
	failed atomic.Bool
	trace  bool // one element is computed again
	err    error
}

func stateOf(s *settings, d dtype.DType) *fixedState {
	f := &fixedState{frac: fracOf(d)}
	if s.saturate {
		f.mode |= fixed.Saturate
	}
	if s.wrap {
		f.mode |= fixed.Wrap
	}
	f.modes = []fixed.Mode{f.mode}
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
	case s.mode&fixed.Wrap != 0:
		return low
	case s.mode&fixed.Saturate == 0:
		s.failed.Store(true)
	case neg:
		return least
	default:
		return ^least
	}
	return 0
}

// Rows of a call. Their types carry T, so that tables hold each format's functions alone.
type (
	fixedRow1[T num.Elem] struct {
		fn  func(x T, mode ...fixed.Mode) (T, error)
		w32 func(dst, a []int32, s *fixedState)
		w64 func(dst, a []int64, s *fixedState)
		s   *fixedState
	}
	fixedRow2[T num.Elem] struct {
		fn  func(x, y T, mode ...fixed.Mode) (T, error)
		w32 func(dst, a, b []int32, s *fixedState)
		w64 func(dst, a, b []int64, s *fixedState)
		s   *fixedState
	}
	fixedRowP[T num.Elem] struct {
		fn   func(x, p, q T, mode ...fixed.Mode) (T, error)
		p, q T
		s    *fixedState
	}
)

// A fixedRow is a row of fixed point.
type fixedRow interface {
	exec.Via
	// fails returns what is wrong with the result of one element of each operand.
	fails(in *[3]exec.Run) error
}

func (r *fixedRow1[T]) Row(dst exec.Run, _ dtype.DType, in [3]exec.Run, _ dtype.DType) {
	switch {
	case r.w32 != nil && r.s.frac < 32:
		r.w32(exec.Of[int32](dst), exec.Of[int32](in[0]), r.s)
	case r.w64 != nil && r.s.frac == 32:
		r.w64(exec.Of[int64](dst), exec.Of[int64](in[0]), r.s)
	default:
		to, a := exec.Of[T](dst), exec.Of[T](in[0])
		for i, x := range a[:len(to)] {
			v, err := r.fn(x, r.s.modes...)
			if to[i] = v; err != nil {
				r.s.failed.Store(true)
			}
		}
	}
}

func (r *fixedRow1[T]) fails(in *[3]exec.Run) error {
	_, err := r.fn(exec.Of[T](in[0])[0], r.s.modes...)
	return err
}

func (r *fixedRow2[T]) Row(dst exec.Run, _ dtype.DType, in [3]exec.Run, _ dtype.DType) {
	switch {
	case r.w32 != nil && r.s.frac < 32 && r.s.mode&fixed.TowardZero == 0:
		r.w32(exec.Of[int32](dst), exec.Of[int32](in[0]), exec.Of[int32](in[1]), r.s)
	case r.w64 != nil && r.s.frac == 32 && r.s.mode&fixed.TowardZero == 0:
		r.w64(exec.Of[int64](dst), exec.Of[int64](in[0]), exec.Of[int64](in[1]), r.s)
	default:
		to, a := exec.Of[T](dst), exec.Of[T](in[0])
		b := exec.Of[T](in[1])[:len(to)]
		for i, x := range a[:len(to)] {
			v, err := r.fn(x, b[i], r.s.modes...)
			if to[i] = v; err != nil {
				r.s.failed.Store(true)
			}
		}
	}
}

func (r *fixedRow2[T]) fails(in *[3]exec.Run) error {
	_, err := r.fn(exec.Of[T](in[0])[0], exec.Of[T](in[1])[0], r.s.modes...)
	return err
}

func (r *fixedRowP[T]) Row(dst exec.Run, _ dtype.DType, in [3]exec.Run, _ dtype.DType) {
	to, a := exec.Of[T](dst), exec.Of[T](in[0])
	for i, x := range a[:len(to)] {
		v, err := r.fn(x, r.p, r.q, r.s.modes...)
		if to[i] = v; err != nil {
			r.s.failed.Store(true)
		}
	}
}

func (r *fixedRowP[T]) fails(in *[3]exec.Run) error {
	_, err := r.fn(exec.Of[T](in[0])[0], r.p, r.q, r.s.modes...)
	return err
}

func (o *fixed1) row(d dtype.DType, _, _ exec.Word, s *fixedState) fixedRow {
	switch d {
	case dtype.FP8x23:
		return &fixedRow1[fixed.FP8x23]{fn: o.FP8x23, w32: o.W32, s: s}
	case dtype.FP16x16:
		return &fixedRow1[fixed.FP16x16]{fn: o.FP16x16, w32: o.W32, s: s}
	case dtype.FP32x32:
		return &fixedRow1[fixed.FP32x32]{fn: o.FP32x32, w64: o.W64, s: s}
	}
	return &fixedRow1[fixed.FP64x64]{fn: o.FP64x64, s: s}
}

func (o *fixed2) row(d dtype.DType, _, _ exec.Word, s *fixedState) fixedRow {
	switch d {
	case dtype.FP8x23:
		return &fixedRow2[fixed.FP8x23]{fn: o.FP8x23, w32: o.W32, s: s}
	case dtype.FP16x16:
		return &fixedRow2[fixed.FP16x16]{fn: o.FP16x16, w32: o.W32, s: s}
	case dtype.FP32x32:
		return &fixedRow2[fixed.FP32x32]{fn: o.FP32x32, w64: o.W64, s: s}
	}
	return &fixedRow2[fixed.FP64x64]{fn: o.FP64x64, s: s}
}

func (o *fixedP) row(d dtype.DType, p, q exec.Word, s *fixedState) fixedRow {
	switch d {
	case dtype.FP8x23:
		return &fixedRowP[fixed.FP8x23]{o.FP8x23, exec.Number[fixed.FP8x23](&p), exec.Number[fixed.FP8x23](&q), s}
	case dtype.FP16x16:
		return &fixedRowP[fixed.FP16x16]{o.FP16x16, exec.Number[fixed.FP16x16](&p), exec.Number[fixed.FP16x16](&q), s}
	case dtype.FP32x32:
		return &fixedRowP[fixed.FP32x32]{o.FP32x32, exec.Number[fixed.FP32x32](&p), exec.Number[fixed.FP32x32](&q), s}
	}
	return &fixedRowP[fixed.FP64x64]{o.FP64x64, exec.Number[fixed.FP64x64](&p), exec.Number[fixed.FP64x64](&q), s}
}

// inFixed computes r, which is the target, in fixed point.
func (o *pointwise) inFixed(r *tensor.Any, j *exec.Job, ins []*tensor.Any, k *exec.Kernel, s *settings) {
	state := stateOf(s, r.DType())
	if s.orion && o.orionCuts {
		state.mode |= fixed.TowardZero
		state.modes = []fixed.Mode{state.mode}
	}
	if o.rows.Numbers() {
		j.Cost = max(j.Cost, 20)
	}
	row := o.fixed.row(r.DType(), k.P, k.Q, state)
	failingOf(*j, s, r, state, func(out *tensor.Any) {
		exec.Elementwise(j, out, ins, &exec.Kernel{Via: row})
	}, func(idx []int) error {
		var in [3]exec.Run
		for i, a := range ins {
			in[i] = exec.At(a, idx)
		}
		return row.fails(&in)
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

// failingOf writes a result by run to dst, and panics with the error of its first element
// that has none; then nothing was written.
func failingOf(j exec.Job, s *settings, dst *tensor.Any, state *fixedState, run func(out *tensor.Any), at func(idx []int) error) {
	out := *dst
	if s.into != nil {
		out = tensor.EmptyOf(dst.DType(), dst.Shape()...)
	}
	if run(&out); state.failed.Load() {
		shape := dst.Shape()
		for i := range dst.Len() {
			idx := unravel(i, shape)
			if err := at(idx); err != nil {
				panic(unfit(j.Name, idx, err))
			}
		}
	}
	if s.into != nil {
		dst.CopyFrom(out)
		out.Close()
	}
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
	if errors.Is(err, fixed.ErrOverflow) {
		hint = "; the option Saturate gives it a result, and so does Wrap in arithmetic"
	}
	reason := fixed.ErrDomain
	if errors.Is(err, fixed.ErrOverflow) {
		reason = fixed.ErrOverflow
	}
	return fail(name, reason, "at index %s: %v%s", shapeText(idx), err, hint)
}

// fixedWord is fixedNumber for a run-time format.
func fixedWord(name string, d dtype.DType, v float64) (w exec.Word) {
	var err error
	switch d {
	case dtype.FP8x23:
		w, err = fixedIn[fixed.FP8x23](v)
	case dtype.FP16x16:
		w, err = fixedIn[fixed.FP16x16](v)
	case dtype.FP32x32:
		w, err = fixedIn[fixed.FP32x32](v)
	case dtype.FP64x64:
		w, err = fixedIn[fixed.FP64x64](v)
	}
	if err != nil {
		panic(fail(name, fixed.ErrOverflow, "a parameter: %v; give one that the format holds", err))
	}
	return w
}

func fixedIn[T num.Fixed](v float64) (exec.Word, error) {
	x, err := fixed.FromFloat64[T](v)
	return exec.WordOf(x), err
}

// An ordering compares fixed point: the words as integers.
type ordering struct {
	o *pointwise
	d dtype.DType
}

func (o *ordering) Row(dst exec.Run, _ dtype.DType, in [3]exec.Run, _ dtype.DType) {
	switch o.d.Size() {
	case 4:
		exec.As[exec.Row2](o.o.rows.Plain(dtype.Int32))(dst, in[0], in[1])
	case 8:
		exec.As[exec.Row2](o.o.rows.Plain(dtype.Int64))(dst, in[0], in[1])
	default:
		to, x, y := exec.Of[bool](dst), exec.Of[fixed.FP64x64](in[0]), exec.Of[fixed.FP64x64](in[1])
		for i := range to {
			to[i] = o.o.order(fixed.Compare(x[i], y[i]))
		}
	}
}
