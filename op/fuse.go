package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// A chain of elementwise operators computed whole reads and writes memory once for
// each of them. Lazy operands make the operators note their work, and Fuse does the
// work block by block, so that the results between them stay in the cache. Each note
// is an ordinary call with Into, on tensors of a block: there is no second
// implementation of anything, and bits can't differ. Only a float product and its
// addend have a row of both, and some functions have one of all three.

// Lazy returns a for use in a chain: an elementwise operator that has such an operand
// returns at once with a tensor of the right type and shape but without elements,
// which Fuse computes. Those are the operators on elements at one place, as arithmetic,
// comparisons, functions, Cast, Clip and Where; every other use of the elements of a lazy
// tensor or of a view of it panics with an *Error and tensor.ErrLazy. a must not change
// before Fuse is done, or while the function of Prepare is at work. An operator without a lazy
// operand computes at once, also within a chain.
func Lazy[T num.Elem](a tensor.Tensor[T]) tensor.Tensor[T] {
	pointwise.PutOff("Lazy", exec.Ref(&a))
	return a
}

// Fuse computes the tensor that a lazy one stands for, in one pass over memory, with the same
// bits as the operators one after the other; Into may name an operand of the chain.
// Parts that operators of the chain share are computed once. Two kinds of parts are computed
// whole before the pass: one of another shape than the result, as a row which is added to a matrix,
// and one that may fail, a division of integers or a result of fixed point. A tensor that isn't
// lazy is copied.
func Fuse[T num.Elem](y tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	pointwise.Fused(exec.Ref(&r), "Fuse", exec.Ref(&y), plan.Read("Fuse", opts))()
	return r
}

// Prepare returns a function that does the work of Fuse, and plans it now. A call then
// computes the chain from the elements that its operands have at the time, and costs
// little more than the operators themselves. This pays where tensors are small and the chain is
// computed often. Into is required and names the target of all calls; with Context they
// all heed it. A part that was computed while the chain was written, as Exp(row) is unless row is
// lazy, is not computed again. The function keeps operands, target and the results between them, and
// one goroutine at a time may call it. Two functions, also of one chain, may be at work at once if each has a
// target of its own.
func Prepare[T num.Elem](y tensor.Tensor[T], opts ...Option) func() {
	plan.Present("Prepare", exec.Ref(&y))
	s := plan.Read("Prepare", opts)
	if s.Into == nil {
		panic(plan.Fail("Prepare", tensor.ErrValue, "there is no target; name one with Into"))
	}
	var r tensor.Tensor[T]
	return pointwise.Fused(exec.Ref(&r), "Prepare", exec.Ref(&y), s)
}
