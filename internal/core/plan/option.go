package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op/option"
	"github.com/ashlar-go/ashlar/tensor"
)

// Option is the type that op shows.
type Option = option.Option

// Flags are the options of a call that are yes or no.
type Flags = exec.Flags

// The flags. op documents the option that sets each.
const (
	Saturate  Flags = 1 << iota // fixed point beyond its range becomes the nearest number in it
	Orion                       // the meaning of Orion
	Fast                        // approximate functions
	Wrap                        // fixed point beyond its range loses its high bits
	Rectify                     // the result goes through Relu
	RoundDown                   // scales of float8e8m0 are rounded down
	RoundNear                   // and to the nearest
	KeepDims                    // reduced axes stay, with extent 1: for reductions
)

// Ahead adds a Prefetch to an option of a target, and returns it. The rows of the target follow it.
func Ahead(o *Option) *simd.Prefetch {
	p := new(simd.Prefetch)
	o.More = &exec.More{Ahead: p}
	return p
}

// Heed notes the Prefetch that the options have for an Into target.
func Heed(j *exec.Job, opts []Option) {
	for i := range opts {
		if m := opts[i].More; m != nil && m.Ahead != nil {
			j.Ahead = m.Ahead
		}
	}
}

// WithoutInto returns the options without the target, and nothing that would move it to
// the heap.
func WithoutInto(opts []Option) []Option {
	out := make([]Option, len(opts))
	for i := range opts {
		if out[i].Flags = opts[i].Flags; opts[i].More != nil {
			out[i].More = &exec.More{Ctx: opts[i].More.Ctx}
		}
	}
	return out
}

// FlagsOf returns the flags of all options.
func FlagsOf(opts []Option) (f Flags) {
	for i := range opts {
		f |= opts[i].Flags
	}
	return f
}

// Has reports whether the options set a flag.
func Has(opts []Option, f Flags) bool { return FlagsOf(opts)&f != 0 }

// Without returns a copy of opts that lacks flags.
func Without(opts []Option, f Flags) []Option {
	opts = slices.Clone(opts)
	for i := range opts {
		opts[i].Flags &^= f
	}
	return opts
}

// Under returns the option that runs a call under a context.
func Under(ctx context.Context) (o Option) {
	o.More = &exec.More{Ctx: ctx}
	return o
}

// WithFlags returns the option that sets flags.
func WithFlags(f Flags) (o Option) {
	o.Flags = f
	return o
}

// WriteTo returns the option that writes the result to dst.
func WriteTo(dst *tensor.Any) (o Option) {
	o.Into = dst
	return o
}

// Settings is the options of one call, read.
type Settings struct {
	Into                                  *tensor.Any
	More                                  *exec.More
	KeepDims, Saturate, Orion, Fast, Wrap bool
	Rectify                               bool
}

// Read collects the options of operator name, which is no reduction. It panics when they set KeepDims.
func Read(name string, opts []Option) Settings {
	s := ReadReduction(opts)
	if s.KeepDims {
		panic(Fail(name, tensor.ErrValue, "it doesn't have the option KeepDims, which is for reductions"))
	}
	return s
}

// ReadReduction collects the options of a reduction. Of several targets or contexts the last one counts.
func ReadReduction(opts []Option) (s Settings) {
	var f Flags
	for i := range opts {
		if opts[i].Into != nil {
			s.Into = opts[i].Into
		}
		if opts[i].More != nil {
			s.More = opts[i].More
		}
		f |= opts[i].Flags
	}
	s.KeepDims, s.Saturate, s.Orion, s.Fast, s.Wrap = f&KeepDims != 0, f&Saturate != 0, f&Orion != 0, f&Fast != 0, f&Wrap != 0
	s.Rectify = f&Rectify != 0
	return s
}

// Ctx returns the context of the call, or nil.
func (s *Settings) Ctx() context.Context {
	if s.More == nil {
		return nil
	}
	return s.More.Ctx
}

// Target returns the options of a step that writes to dst, under the context of the call.
func (s *Settings) Target(dst *tensor.Any) (o Option) {
	o.Into, o.More = dst, s.More
	return o
}

// Quiet returns the options of a step on the way to a result: the context alone.
func (s *Settings) Quiet() []Option {
	if s.Ctx() == nil {
		return nil
	}
	return []Option{s.Target(nil)}
}

// Ready returns the Into target when it is the only option and a run of elements of
// type d that may be written: then exec.Dense is tried before anything else is looked at,
// as shapes are right when layouts are equal. This makes a call cheap.
func Ready(opts []Option, d dtype.DType) *tensor.Any {
	if len(opts) != 1 || opts[0].More != nil {
		return nil
	}
	dst := opts[0].Into
	if dst == nil || dst.DType() != d || dst.IsReadOnly() || dst.Closed() || !walk.Ref(dst.LayoutRef()).IsRowMajor() {
		return nil
	}
	return dst
}

// Kept returns the options that change the results.
func Kept(opts []Option) (keep []Option) {
	for _, o := range opts {
		if o.Flags != 0 {
			keep = append(keep, WithFlags(o.Flags))
		}
	}
	return keep
}

// CheckTarget panics unless an Into target has the shape of the result and may be written.
func CheckTarget(name string, to *tensor.Any, shape []int) {
	switch {
	case !SameShape(to.LayoutRef(), shape):
		panic(Fail(name, tensor.ErrShape, "the Into target has shape %s, the result %s", ShapeText(to.Shape()), ShapeText(slices.Clone(shape))))
	case to.Closed():
		panic(Fail(name, tensor.ErrClosed, "the Into target is closed, its memory is given back; close it after its last use"))
	case to.IsReadOnly():
		panic(Fail(name, tensor.ErrReadOnly, "the Into target is read-only"))
	}
}

// Beside returns r, or a tensor to be put there later when apart is set or r overlaps an operand.
// Operands may be nil or absent.
func Beside(r *tensor.Any, apart bool, ins ...*tensor.Any) *tensor.Any {
	for _, a := range ins {
		apart = apart || a != nil && !a.IsZero() && conv.Overlap(exec.Reach(a), exec.Reach(r))
	}
	if !apart {
		return r
	}
	out := tensor.EmptyOf(r.DType(), r.Shape()...)
	return &out
}

// Put copies out to r and gives its memory back, unless it is r.
func Put(r, out *tensor.Any) {
	if out != r {
		r.CopyFrom(*out)
		out.Close()
	}
}

// Deliver makes r the result of operator name, which is out, or with an Into target a copy there.
func Deliver(r *tensor.Any, name string, s *Settings, out tensor.Any) {
	if *r = out; s.Into != nil {
		AimShape(r, name, s, out.DType(), out.Shape())
		r.CopyFrom(out)
	}
}

// Drop gives back the memory of a copy of an operand, unless it is the operand itself.
func Drop(made, of *tensor.Any) {
	if !made.SameData(*of) {
		made.Close()
	}
}

// Fail makes the error of an operator; name is as in the table, "Add".
func Fail(name string, err error, format string, args ...any) *tensor.Error {
	return &tensor.Error{Op: "op." + name, Text: fmt.Sprintf(format, args...), Err: err}
}

// ErrUnknown says that shapes can't be inferred without a value that isn't known.
var ErrUnknown = errors.New("not known before the run")

// ErrUnsupported says that an operator is defined but not in the way asked for.
var ErrUnsupported = errors.New("unsupported")

// Aim makes r the tensor to write the result to, of the shape that the operands' layouts
// stretch to together.
func Aim(r *tensor.Any, name string, s *Settings, d dtype.DType, ls ...*layout.Layout) {
	var few [8]int
	shape := few[:0]
	if len(ls) == 1 || len(ls) == 2 && walk.Ref(ls[0]).Equal(walk.Ref(ls[1])) {
		shape = AppendShape(shape, ls[0])
	} else {
		shape = BroadcastShape(name, shape, ls...)
	}
	AimShape(r, name, s, d, shape)
}

// AimShape is aim for a shape that is known.
func AimShape(r *tensor.Any, name string, s *Settings, d dtype.DType, shape []int) {
	if s.Into == nil {
		*r = tensor.EmptyOf(d, shape...)
		return
	}
	if s.Into.IsZero() {
		panic(Fail(name, tensor.ErrClosed, "the Into target is the zero value; make one with tensor.New"))
	}
	if s.Into.DType() != d {
		panic(Fail(name, tensor.ErrDType, "the Into target holds %v, the result %v", s.Into.DType(), d))
	}
	CheckTarget(name, s.Into, shape)
	*r = *s.Into
}

// Present panics when an operand that an operator needs is the zero value, or closed. The body that the
// typed function and the run-time form share begins with it. ins are as ONNX numbers
// them; one that may be absent is nil.
func Present(name string, ins ...*tensor.Any) {
	for i, a := range ins {
		PresentAt(name, i, a)
	}
}

// PresentAll is Present for a list.
func PresentAll(name string, ins []tensor.Any) {
	for i := range ins {
		PresentAt(name, i, &ins[i])
	}
}

// PresentAt is Present for input i.
func PresentAt(name string, i int, a *tensor.Any) {
	switch {
	case a == nil:
	case a.IsZero():
		panic(Fail(name, tensor.ErrClosed, "input %d is the zero value; make one with tensor.New or FromSlice", i))
	case a.Closed():
		panic(closed(name, i))
	}
}

// closed is the error of an input whose memory is given back.
func closed(name string, i int) error {
	return Fail(name, tensor.ErrClosed, "input %d is closed, its memory is given back; close it after its last use", i)
}

// Must panics with an error about element type d unless ok holds.
func Must(name string, ok bool, d dtype.DType) {
	if ok {
		return
	}
	panic(Fail(name, tensor.ErrDType, "is not defined for %v; convert the operand with op.Cast", d))
}

// Unravel returns the coordinate of element i of a shape in row-major order.
func Unravel(i int, shape []int) []int {
	c := make([]int, len(shape))
	for a := len(shape) - 1; a >= 0; a-- {
		c[a] = i % shape[a]
		i /= shape[a]
	}
	return c
}
