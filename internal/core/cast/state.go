package cast

import (
	"errors"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// State holds the parts of a call that its rows need besides elements.
type State struct {
	Frac   uint // bits after the point
	Modes  []fixed.Mode
	Mode   fixed.Mode
	Failed atomic.Bool
	trace  bool // one element is computed again
	err    error
}

// StateOf returns the state of a call with fixed-point numbers of type d.
func StateOf(s *plan.Settings, d dtype.DType) *State {
	f := &State{Frac: FracOf(d)}
	if s.Saturate {
		f.Mode |= fixed.Saturate
	}
	if s.Wrap {
		f.Mode |= fixed.Wrap
	}
	f.Modes = []fixed.Mode{f.Mode}
	return f
}

// FracOf returns the number of bits after the point of a format.
func FracOf(d dtype.DType) uint {
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

// Word32 returns v units as a word of 32 bits.
func (s *State) Word32(v int64) int32 {
	if w := int32(v); int64(w) == v {
		return w
	}
	return int32(s.Beyond(v, v < 0, -1<<31))
}

// Beyond returns the word for a result that doesn't fit the words of a format, by the
// modes. low is the low bits of the result, and least is the least word.
func (s *State) Beyond(low int64, neg bool, least int64) int64 {
	switch {
	case s.Mode&fixed.Wrap != 0:
		return low
	case s.Mode&fixed.Saturate == 0:
		s.Failed.Store(true)
	case neg:
		return least
	default:
		return ^least
	}
	return 0
}

// FailingOf writes a result by run to dst. It panics with the error of the first element
// without a result. Then nothing was written.
func FailingOf(j exec.Job, s *plan.Settings, dst *tensor.Any, state *State, run func(out *tensor.Any), at func(idx []int) error) {
	out := *dst
	if s.Into != nil {
		out = tensor.EmptyOf(dst.DType(), dst.Shape()...)
	}
	if run(&out); state.Failed.Load() {
		shape := dst.Shape()
		for i := range dst.Len() {
			idx := plan.Unravel(i, shape)
			if err := at(idx); err != nil {
				panic(Unfit(j.Name, idx, err))
			}
		}
	}
	if s.Into != nil {
		dst.CopyFrom(out)
		out.Close()
	}
}

// Again computes one element again, and returns its error.
func (s *State) Again(run func(s *State)) error {
	one := &State{Frac: s.Frac, Mode: s.Mode, Modes: s.Modes, trace: true}
	run(one)
	return one.err
}

// Unfit is the error of an element without a result.
func Unfit(name string, idx []int, err error) *tensor.Error {
	hint := ""
	if errors.Is(err, fixed.ErrOverflow) {
		hint = "; the option Saturate gives it a result, and so does Wrap in arithmetic"
	}
	reason := fixed.ErrDomain
	if errors.Is(err, fixed.ErrOverflow) {
		reason = fixed.ErrOverflow
	}
	return plan.Fail(name, reason, "at index %s: %v%s", plan.ShapeText(idx), err, hint)
}

// Fault notes an element without a result.
func (s *State) Fault(err error) {
	s.Failed.Store(true)
	if s.trace {
		s.err = err
	}
}

// Refuse panics if an element of a result of a shape has failed.
func Refuse(name string, bad *exec.Failure, shape []int) {
	if bad.Err != nil {
		panic(Unfit(name, plan.Unravel(bad.At, shape), bad.Err))
	}
}
