package pointwise

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Fixed point: an operator's functions of one number define it, and rows of words, where
// there are some, give the same. An element without a result, because it is beyond the
// format or the function has no value there, fails the call. Rows only note that there
// is one. The function finds the first in row-major order again, and its error names the
// fault.

// A fixedTable has the function of an operator for each format.
type fixedTable interface {
	// row returns the row of a format, with numbers of it.
	Row(d dtype.DType, p, q exec.Word, s *cast.State) FixedRow
}

// Fixed1 is the table of one operand.
type Fixed1 struct {
	FP8x23  func(x fixed.FP8x23, mode ...fixed.Mode) (fixed.FP8x23, error)
	FP16x16 func(x fixed.FP16x16, mode ...fixed.Mode) (fixed.FP16x16, error)
	FP32x32 func(x fixed.FP32x32, mode ...fixed.Mode) (fixed.FP32x32, error)
	FP64x64 func(x fixed.FP64x64, mode ...fixed.Mode) (fixed.FP64x64, error)
	W32     func(dst, a []int32, s *cast.State)
	W64     func(dst, a []int64, s *cast.State)
}

// Fixed2 is fixed1 for two operands.
type Fixed2 struct {
	FP8x23  func(x, y fixed.FP8x23, mode ...fixed.Mode) (fixed.FP8x23, error)
	FP16x16 func(x, y fixed.FP16x16, mode ...fixed.Mode) (fixed.FP16x16, error)
	FP32x32 func(x, y fixed.FP32x32, mode ...fixed.Mode) (fixed.FP32x32, error)
	FP64x64 func(x, y fixed.FP64x64, mode ...fixed.Mode) (fixed.FP64x64, error)
	W32     func(dst, a, b []int32, s *cast.State)
	W64     func(dst, a, b []int64, s *cast.State)
}

// FixedP is fixed1 for a formula with two numbers in it.
type FixedP struct {
	FP8x23  func(x, p, q fixed.FP8x23, mode ...fixed.Mode) (fixed.FP8x23, error)
	FP16x16 func(x, p, q fixed.FP16x16, mode ...fixed.Mode) (fixed.FP16x16, error)
	FP32x32 func(x, p, q fixed.FP32x32, mode ...fixed.Mode) (fixed.FP32x32, error)
	FP64x64 func(x, p, q fixed.FP64x64, mode ...fixed.Mode) (fixed.FP64x64, error)
}

// Rows of a call, of one operand and of two. Their types carry T, so that tables hold each format's functions alone.
type (
	FixedRow1[T num.Elem] struct {
		Fn  func(x T, mode ...fixed.Mode) (T, error)
		w32 func(dst, a []int32, s *cast.State)
		w64 func(dst, a []int64, s *cast.State)
		s   *cast.State
	}
	FixedRow2[T num.Elem] struct {
		Fn  func(x, y T, mode ...fixed.Mode) (T, error)
		w32 func(dst, a, b []int32, s *cast.State)
		w64 func(dst, a, b []int64, s *cast.State)
		s   *cast.State
	}
	fixedRowP[T num.Elem] struct {
		fn   func(x, p, q T, mode ...fixed.Mode) (T, error)
		p, q T
		s    *cast.State
	}
)

// A FixedRow is a row of fixed point.
type FixedRow interface {
	exec.Via
	// fails returns the error of the result of one element of each operand.
	fails(in *[3]exec.Run) error
}

func (r *FixedRow1[T]) Row(dst exec.Run, _ dtype.DType, in [3]exec.Run, _ dtype.DType) {
	switch {
	case r.w32 != nil && r.s.Frac < 32:
		r.w32(exec.Of[int32](dst), exec.Of[int32](in[0]), r.s)
	case r.w64 != nil && r.s.Frac == 32:
		r.w64(exec.Of[int64](dst), exec.Of[int64](in[0]), r.s)
	default:
		to, a := exec.Of[T](dst), exec.Of[T](in[0])
		for i, x := range a[:len(to)] {
			v, err := r.Fn(x, r.s.Modes...)
			if to[i] = v; err != nil {
				r.s.Failed.Store(true)
			}
		}
	}
}

func (r *FixedRow1[T]) fails(in *[3]exec.Run) error {
	_, err := r.Fn(exec.Of[T](in[0])[0], r.s.Modes...)
	return err
}

func (r *FixedRow2[T]) Row(dst exec.Run, _ dtype.DType, in [3]exec.Run, _ dtype.DType) {
	switch {
	case r.w32 != nil && r.s.Frac < 32 && r.s.Mode&fixed.TowardZero == 0:
		r.w32(exec.Of[int32](dst), exec.Of[int32](in[0]), exec.Of[int32](in[1]), r.s)
	case r.w64 != nil && r.s.Frac == 32 && r.s.Mode&fixed.TowardZero == 0:
		r.w64(exec.Of[int64](dst), exec.Of[int64](in[0]), exec.Of[int64](in[1]), r.s)
	default:
		to, a := exec.Of[T](dst), exec.Of[T](in[0])
		b := exec.Of[T](in[1])[:len(to)]
		for i, x := range a[:len(to)] {
			v, err := r.Fn(x, b[i], r.s.Modes...)
			if to[i] = v; err != nil {
				r.s.Failed.Store(true)
			}
		}
	}
}

func (r *FixedRow2[T]) fails(in *[3]exec.Run) error {
	_, err := r.Fn(exec.Of[T](in[0])[0], exec.Of[T](in[1])[0], r.s.Modes...)
	return err
}

func (r *fixedRowP[T]) Row(dst exec.Run, _ dtype.DType, in [3]exec.Run, _ dtype.DType) {
	to, a := exec.Of[T](dst), exec.Of[T](in[0])
	for i, x := range a[:len(to)] {
		v, err := r.fn(x, r.p, r.q, r.s.Modes...)
		if to[i] = v; err != nil {
			r.s.Failed.Store(true)
		}
	}
}

func (r *fixedRowP[T]) fails(in *[3]exec.Run) error {
	_, err := r.fn(exec.Of[T](in[0])[0], r.p, r.q, r.s.Modes...)
	return err
}

func (o *Fixed1) Row(d dtype.DType, _, _ exec.Word, s *cast.State) FixedRow {
	switch d {
	case dtype.FP8x23:
		return &FixedRow1[fixed.FP8x23]{Fn: o.FP8x23, w32: o.W32, s: s}
	case dtype.FP16x16:
		return &FixedRow1[fixed.FP16x16]{Fn: o.FP16x16, w32: o.W32, s: s}
	case dtype.FP32x32:
		return &FixedRow1[fixed.FP32x32]{Fn: o.FP32x32, w64: o.W64, s: s}
	}
	return &FixedRow1[fixed.FP64x64]{Fn: o.FP64x64, s: s}
}

func (o *Fixed2) Row(d dtype.DType, _, _ exec.Word, s *cast.State) FixedRow {
	switch d {
	case dtype.FP8x23:
		return &FixedRow2[fixed.FP8x23]{Fn: o.FP8x23, w32: o.W32, s: s}
	case dtype.FP16x16:
		return &FixedRow2[fixed.FP16x16]{Fn: o.FP16x16, w32: o.W32, s: s}
	case dtype.FP32x32:
		return &FixedRow2[fixed.FP32x32]{Fn: o.FP32x32, w64: o.W64, s: s}
	}
	return &FixedRow2[fixed.FP64x64]{Fn: o.FP64x64, s: s}
}

func (o *FixedP) Row(d dtype.DType, p, q exec.Word, s *cast.State) FixedRow {
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
func (o *Operator) inFixed(r *tensor.Any, j *exec.Job, ins []*tensor.Any, k *exec.Kernel, s *plan.Settings) {
	state := cast.StateOf(s, r.DType())
	if s.Orion && o.OrionCuts {
		state.Mode |= fixed.TowardZero
		state.Modes = []fixed.Mode{state.Mode}
	}
	if o.Rows.Numbers() {
		j.Cost = max(j.Cost, 20)
	}
	row := o.Fixed.Row(r.DType(), k.P, k.Q, state)
	cast.FailingOf(*j, s, r, state, func(out *tensor.Any) {
		exec.Elementwise(j, out, ins, &exec.Kernel{Via: row})
	}, func(idx []int) error {
		var in [3]exec.Run
		for i, a := range ins {
			in[i] = exec.At(a, idx)
		}
		return row.fails(&in)
	})
}

// FixedWord is fixedNumber for a run-time format.
func FixedWord(name string, d dtype.DType, v float64) (w exec.Word) {
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
		panic(plan.Fail(name, fixed.ErrOverflow, "a parameter: %v; give one that the format holds", err))
	}
	return w
}

func fixedIn[T num.Fixed](v float64) (exec.Word, error) {
	x, err := fixed.FromFloat64[T](v)
	return exec.WordOf(x), err
}

// An ordering compares fixed point: the words as integers.
type ordering struct {
	o *Operator
	d dtype.DType
}

func (o *ordering) Row(dst exec.Run, _ dtype.DType, in [3]exec.Run, _ dtype.DType) {
	switch o.d.Size() {
	case 4:
		exec.As[exec.Row2](o.o.Rows.Plain(dtype.Int32))(dst, in[0], in[1])
	case 8:
		exec.As[exec.Row2](o.o.Rows.Plain(dtype.Int64))(dst, in[0], in[1])
	default:
		to, x, y := exec.Of[bool](dst), exec.Of[fixed.FP64x64](in[0]), exec.Of[fixed.FP64x64](in[1])
		for i := range to {
			to[i] = o.o.Order(fixed.Compare(x[i], y[i]))
		}
	}
}
