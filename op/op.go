// Package op computes with tensors: one file per operator, named as ONNX names
// it, with its meaning, its function, its table and its defining loop. Operators that ONNX lacks
// are named after NumPy's functions.
//
// An operator comes in two forms. The typed function, op.Add(a, b), takes and
// returns tensor.Tensor[T] and panics with a *tensor.Error on a mistake. The
// run-time form, an Op from Lookup or Operators, takes tensor.Any and attributes, as a
// graph holds them, and returns errors.
//
// The operators of ONNX's domain ai.onnx.ml are in package op/ml, its optimizers in op/train. The operators of com.microsoft
// are here: each is a form of an operator of this package. Package op/all lists the operators of all domains.
//
// The result depends on the logical input alone: not on strides, threads, the
// processor or the other rows of a batch. Computed NaNs are the canonical quiet
// one. float16, bfloat16 and float8 are computed in float32 and rounded once; functions
// that are correctly rounded in float32 are so in them, too.
//
// Arguments have one order. Tensors are first, each with its Quantization behind it. Then there are axes, numbers, modes and a
// Window, in the order of NumPy or ONNX. A struct follows with the options that the operator alone has, and then the options of
// all operators. Only Einsum begins with its equation, as in NumPy.
//
// Axes that are nil mean all axes. A list without entries means none, as () beside None in NumPy: a program that computes
// the axes to sum over, as a gradient of broadcasting does, then gets the operand back and not one number.
//
// Fixed point is rounded once, to nearest, ties to even, unless an operator says
// otherwise. A result beyond the format, or that an operator doesn't have, as a ÷ 0, is
// an error that names its index; see Saturate and Wrap.
package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Into writes the result to dst, which has the result's shape and type, instead
// of a new tensor; the operator returns dst. dst may be an operand. Other overlap
// with an operand behaves as if the operands were read first.
func Into[T num.Elem](dst tensor.Tensor[T]) Option {
	return plan.WriteTo(exec.Ref(&dst))
}

// Context stops the operator early when ctx is done: it then panics with a
// *tensor.Error that wraps ctx.Err(), and the elements of an Into target are
// unspecified. An operator that returns has computed all elements. Context itself
// panics with a *tensor.Error when ctx is nil.
func Context(ctx context.Context) Option { return plan.Under(contextOf("Context", ctx)) }

// contextOf returns ctx unless it is nil.
func contextOf(name string, ctx context.Context) context.Context {
	if ctx == nil {
		panic(plan.Fail(name, tensor.ErrValue, "the context is nil; context.Background() is one without an end"))
	}
	return ctx
}

// WithThreads returns a context under which an operator uses at most n threads. Without
// it that is GOMAXPROCS, which stays the bound. The result is the same with any number.
// It panics with a *tensor.Error for a nil context, and unless n is positive.
func WithThreads(ctx context.Context, n int) context.Context {
	contextOf("WithThreads", ctx)
	if n <= 0 {
		panic(plan.Fail("WithThreads", tensor.ErrValue, "%d threads; the least is 1", n))
	}
	return exec.WithThreads(ctx, n)
}

// Threads returns how many threads an operator uses at most under a context. It panics
// with a *tensor.Error for a nil context.
func Threads(ctx context.Context) int { return exec.Workers(contextOf("Threads", ctx)) }

// Fast lets Exp, Log, Tanh and Sigmoid of float32 be off by up to 2 units in the last
// place, where the processor has kernels that are faster so: AVX2, AVX-512 or NEON. Their
// result then isn't promised to be the same on another processor. Special values are
// as without it. Other operators and types don't change.
func Fast() Option { return plan.WithFlags(plan.Fast) }

// Wrap makes operators on fixed point give the low bits of a result beyond the format,
// instead of failing. It takes precedence over Saturate. Functions have no such result and
// fail all the same.
func Wrap() Option { return plan.WithFlags(plan.Wrap) }

// KeepDims leaves the axes that a reduction reduces in the result, with extent 1. An operator that is no reduction panics with it.
func KeepDims() Option { return plan.WithFlags(plan.KeepDims) }
