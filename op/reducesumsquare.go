package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceSumSquare returns the sums of squares over axes, or over all when axes is
// nil: each square enters a float64 sum in the fixed order of this package with
// one rounding, and the total is rounded once; 0 for nothing. Integers wrap. The reduced axes
// go, unless KeepDims. ONNX ReduceSumSquare.
func ReduceSumSquare[T num.Real](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceSumSquare.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// squareSum adds squares.
type squareSum[T num.Float] struct{ reduce.Summer }

func (f *squareSum[T]) Add(x []T) { reduce.AddSquares(&f.Summer, x, 0) }

func sumSquareFolder(r *exec.Reducer) exec.Folder {
	switch {
	case r.DType.IsInteger():
		return reduce.IntFolder(r.DType, reduce.Squares)
	case r.DType.IsFixed():
		return reduce.FixedFolder(r, reduce.Squares)
	}
	return reduce.TermsFolder(r, new(squareSum[float32]), new(squareSum[float64]))
}

var reduceSumSquare = reduce.Operator{About: plan.About{Name: "ReduceSumSquare", PerAxis: 0b10, FLOPs: plan.FLOPs{Read: 2}, Versions: []int{1, 11, 13, 18}, Attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, Since: 18, Takes: plan.Reals | plan.Fixeds,
	Folder: sumSquareFolder, Spare: &sync.Pool{}}
