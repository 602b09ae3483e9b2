package op

import (
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceL2 returns the square roots of the sums of squares over axes, or over all
// when axes is nil: summed as ReduceSumSquare, the root taken in float64, rounded
// once. The reduced axes go, unless KeepDims. ONNX ReduceL2.
func ReduceL2[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceL2.call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// rootSum is the root of the sum of squares.
type rootSum[T num.Float] struct{ squareSum[T] }

func (f *rootSum[T]) total() float64 { return math.Sqrt(f.squareSum.total()) }

func l2Folder(r *exec.Reducer) exec.Folder {
	if r.DType.IsFixed() {
		return fixedFolder(r, roots)
	}
	return termsFolder(r, new(rootSum[float32]), new(rootSum[float64]))
}

var reduceL2 = reduction{about: about{name: "ReduceL2", flops: flops{read: 2}, onnx: []int{1, 11, 13, 18}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, since: 18, takes: floats | fixeds,
	folder: l2Folder, spare: &sync.Pool{}}
