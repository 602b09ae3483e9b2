// Package op computes with tensors: one file per operator, named as ONNX names
// it, with its meaning, its function, its table and its defining loop.
//
// An operator comes in two forms. The typed function, op.Add(a, b), takes and
// returns tensor.Tensor[T] and panics with a *tensor.Error on a mistake. The
// run-time form, an Op from Lookup or All, takes tensor.Any and attributes, as a
// graph holds them, and returns errors.
//
// The result depends on the logical input alone: not on strides, threads, the
// processor or the other rows of a batch. Computed NaNs are the canonical quiet
// one. float16, bfloat16 and float8 are computed in float32 and rounded once; functions
// that are correctly rounded in float32 are so in them, too.
//
// Fixed point is rounded once, to nearest, ties to even, unless an operator says
// otherwise. A result beyond the format, or that an operator doesn't have, as a ÷ 0, is
// an error that names its index; see Saturate and Wrap.
package op

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Option changes how an operator runs. Into and Context don't change what it computes; Fast,
// KeepDims, Orion, Rectify, RoundScales, Saturate and Wrap do. Options are plain values, so that
// passing them allocates nothing.
type Option struct {
	// Four fields of four words at most: such a struct lives in registers, a
	// larger one is copied through memory, which stalls the processor.
	into  *tensor.Any
	more  *more
	flags flags
}

type flags uint32

const (
	keepDims flags = 1 << iota
	saturate
	orion
	fast
	wrap
	rectify
	roundDown
	roundNear
)

// heed notes what the options say of an Into target besides where it is.
func heed(j *exec.Job, opts []Option) {
	for i := range opts {
		if m := opts[i].more; m != nil && m.ahead != nil {
			j.Ahead = m.ahead
		}
	}
}

// more is what must stay one pointer further away than into: a context is handed
// to other threads, and escape analysis doesn't tell fields apart, so beside it
// every Into target would move to the heap.
type more struct {
	ctx   context.Context
	ahead *simd.Prefetch // the Into target is part of a tensor that is too large for the caches: what its row prefetches
}

// Into writes the result to dst, which has the result's shape and type, instead
// of a new tensor; the operator returns dst. dst may be an operand. Other overlap
// with an operand behaves as if the operands were read first.
func Into[T num.Elem](dst tensor.Tensor[T]) Option {
	return Option{into: exec.Ref(&dst)}
}

// Context stops the operator early when ctx is done: it then panics with a
// *tensor.Error that wraps ctx.Err(), and the elements of an Into target are
// unspecified. An operator that returns has computed all elements.
func Context(ctx context.Context) Option { return Option{more: &more{ctx: ctx}} }

// WithThreads returns a context under which an operator uses at most n threads. Without
// it that is GOMAXPROCS, which stays the bound. The result is the same with any number.
// It panics with a *tensor.Error for a nil context, and unless n is positive.
func WithThreads(ctx context.Context, n int) context.Context {
	if ctx == nil {
		panic(fail("WithThreads", tensor.ErrValue, "the context is nil; context.Background() is one without an end"))
	}
	if n <= 0 {
		panic(fail("WithThreads", tensor.ErrValue, "%d threads; the least is 1", n))
	}
	return exec.WithThreads(ctx, n)
}

// Threads returns how many threads an operator uses at most under a context, which may be nil.
func Threads(ctx context.Context) int { return exec.Workers(ctx) }

// Fast lets Exp, Log, Tanh and Sigmoid of float32 be off by up to 2 units in the last
// place, where the processor has AVX2 or AVX-512 that makes them faster; what they
// return then isn't promised to be the same on another processor. Special values are
// as without it. Other operators and types don't change.
func Fast() Option { return Option{flags: fast} }

// Scalar returns a tensor of rank 0, for use as an operand: op.Add(t, op.Scalar(v)).
func Scalar[T num.Elem](v T) tensor.Tensor[T] { return tensor.Scalar(v) }

// settings is the options of one call, read.
type settings struct {
	into                                  *tensor.Any
	more                                  *more
	keepDims, saturate, orion, fast, wrap bool
	rectify                               bool
}

func read(opts []Option) (s settings) {
	var f flags
	for i := range opts {
		if opts[i].into != nil {
			s.into = opts[i].into
		}
		if opts[i].more != nil {
			s.more = opts[i].more
		}
		f |= opts[i].flags
	}
	s.keepDims, s.saturate, s.orion, s.fast, s.wrap = f&keepDims != 0, f&saturate != 0, f&orion != 0, f&fast != 0, f&wrap != 0
	s.rectify = f&rectify != 0
	return s
}

// ctx returns the context of the call, or nil.
func (s *settings) ctx() context.Context {
	if s.more == nil {
		return nil
	}
	return s.more.ctx
}

// quiet returns the options of a step on the way to a result: the context alone.
func (s *settings) quiet() []Option {
	if s.ctx() == nil {
		return nil
	}
	return []Option{{more: s.more}}
}

func checkTarget(name string, lay *layout.Layout, readOnly bool, shape []int) {
	if !sameShape(lay, shape) {
		panic(fail(name, tensor.ErrShape, "the Into target has shape %s, the result %s", shapeText(lay.Shape()), shapeText(slices.Clone(shape))))
	}
	if readOnly {
		panic(fail(name, tensor.ErrReadOnly, "the Into target is read-only"))
	}
}

// beside returns r, or a tensor to be put there later when apart is set or r overlaps an operand.
// Operands may be nil or absent.
func beside(r *tensor.Any, apart bool, ins ...*tensor.Any) *tensor.Any {
	for _, a := range ins {
		apart = apart || a != nil && !a.IsZero() && conv.Overlap(exec.Reach(a), exec.Reach(r))
	}
	if !apart {
		return r
	}
	out := tensor.EmptyOf(r.DType(), r.Shape()...)
	return &out
}

// put copies out to r and gives its memory back, unless it is r.
func put(r, out *tensor.Any) {
	if out != r {
		r.CopyFrom(*out)
		out.Close()
	}
}

// drop gives back the memory of a copy of an operand, unless it is the operand itself.
func drop(made, of *tensor.Any) {
	if !made.SameData(*of) {
		made.Close()
	}
}

// fail makes the error of an operator; name is as in the table, "Add".
func fail(name string, err error, format string, args ...any) *tensor.Error {
	return &tensor.Error{Op: "op." + name, Text: fmt.Sprintf(format, args...), Err: err}
}

// ErrUnknown says that shapes can't be inferred without a value that isn't known.
var ErrUnknown = errors.New("not known before the run")

// ErrUnsupported says that an operator is defined but not in the way asked for.
var ErrUnsupported = errors.New("unsupported")
