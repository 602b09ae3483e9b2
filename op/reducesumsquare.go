package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceSumSquare returns the sums of squares over axes, or over all when axes is
// nil: each square enters a float64 sum in the fixed order of this package with
// one rounding, and the total is rounded once; 0 for nothing. Integers wrap. The reduced axes
// go, unless KeepDims. ONNX ReduceSumSquare.
func ReduceSumSquare[T num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceSumSquare.call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// squareSum adds squares.
type squareSum[T num.Float] struct{ summer }

func (f *squareSum[T]) take(x []T) { addSquares(&f.summer, x, 0) }

func sumSquareFolder(r *exec.Reducer) exec.Folder {
	switch {
	case r.DType.IsInteger():
		return intFolder(r.DType, squares)
	case r.DType.IsFixed():
		return fixedFolder(r, squares)
	}
	return termsFolder(r, new(squareSum[float32]), new(squareSum[float64]))
}

var reduceSumSquare = reduction{about: about{name: "ReduceSumSquare", flops: flops{read: 2}, onnx: []int{1, 11, 13, 18}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, since: 18, takes: reals | fixeds,
	folder: sumSquareFolder, spare: &sync.Pool{}}
