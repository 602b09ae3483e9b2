package op

import (
	"bytes"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CountNonZero returns how many elements of a aren't zero along the given axes, nil
// meaning all: both zeros of a float are zero, NaN isn't; true isn't. An empty axis
// gives 0. It panics when an axis doesn't exist or is named twice.
// numpy.count_nonzero.
func CountNonZero[T num.Elem](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[int64]) {
	truth := truthOf(countNonzero.Name, exec.Ref(&a))
	countNonzero.Call(exec.Ref(&r), &truth, axes, 0, opts)
	return r
}

// Any reports whether an element of a isn't zero along the given axes, nil meaning
// all, as CountNonZero counts them. An empty axis gives false. numpy.any.
func Any[T num.Elem](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[bool]) {
	truth := truthOf(anyTrue.Name, exec.Ref(&a))
	anyTrue.Call(exec.Ref(&r), &truth, axes, 0, opts)
	return r
}

// All reports whether no element of a is zero, as Any does. An empty axis gives
// true. numpy.all.
func All[T num.Elem](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[bool]) {
	truth := truthOf(allTrue.Name, exec.Ref(&a))
	allTrue.Call(exec.Ref(&r), &truth, axes, 0, opts)
	return r
}

// truthOf returns which elements aren't zero.
func truthOf(name string, a *tensor.Any) tensor.Any {
	plan.Present(name, a)
	if a.DType() == dtype.Bool {
		return *a
	}
	return tensor.FromSlice(conv.As[bool](truths(move.WordsOf(*a))), a.Shape()...).Any()
}

// These have no form in ONNX.
var (
	countNonzero = reduce.Operator{About: plan.About{Name: "CountNonZero"}, Takes: plan.Bools, Gives: dtype.Int64,
		Folder: func(*exec.Reducer) exec.Folder { return new(truthCount) }, Spare: &sync.Pool{}}
	anyTrue = reduce.Operator{About: plan.About{Name: "Any"}, Takes: plan.Bools, // false < true
		Folder: reduce.MaxFolder, Lines: anyLines, Rows: anyRows, Spare: &sync.Pool{}}
	allTrue = reduce.Operator{About: plan.About{Name: "All"}, Takes: plan.Bools,
		Folder: reduce.MinFolder, Lines: allLines, Rows: allRows, Spare: &sync.Pool{}}
)

type truthCount struct{ n int64 }

func (f *truthCount) Start() { f.n = 0 }

func (f *truthCount) Take(x exec.Run) {
	f.n += int64(conv.True(exec.Bytes(x, dtype.Bool)))
}

func (f *truthCount) Result(out exec.Run) error {
	exec.Of[int64](out)[0] = f.n
	return nil
}

func anyLines(_ dtype.DType, out, x exec.Run, step, n int) bool {
	for i := range out {
		exec.Of[bool](out)[i] = bytes.IndexByte(exec.Bytes(x, dtype.Bool)[i*step:i*step+n], 1) >= 0
	}
	return true
}

func allLines(_ dtype.DType, out, x exec.Run, step, n int) bool {
	for i := range out {
		exec.Of[bool](out)[i] = bytes.IndexByte(exec.Bytes(x, dtype.Bool)[i*step:i*step+n], 0) < 0
	}
	return true
}

func anyRows(_ dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool {
	return reduce.ExtremeRows(&maxOp, dtype.Uint8, out, x, from, down, false)
}

func allRows(_ dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool {
	return reduce.ExtremeRows(&minOp, dtype.Uint8, out, x, from, down, true)
}
