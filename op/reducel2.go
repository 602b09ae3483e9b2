package op

import (
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceL2 returns the square roots of the sums of squares over axes, or over all
// when axes is nil: summed as ReduceSumSquare, the root taken in float64, rounded
// once. The reduced axes go, unless KeepDims. ONNX ReduceL2.
func ReduceL2[T num.Fractional](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceL2.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// rootSum is the root of the sum of squares.
type rootSum[T num.Float] struct{ squareSum[T] }

func (f *rootSum[T]) Total() float64 { return math.Sqrt(f.squareSum.Total()) }

func l2Folder(r *exec.Reducer) exec.Folder {
	if r.DType.IsFixed() {
		return reduce.FixedFolder(r, reduce.Roots)
	}
	return reduce.TermsFolder(r, new(rootSum[float32]), new(rootSum[float64]))
}

var reduceL2 = reduce.Operator{About: plan.About{Name: "ReduceL2", PerAxis: 0b10, FLOPs: plan.FLOPs{Read: 2}, Versions: []int{1, 11, 13, 18}, Attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, Since: 18, Takes: plan.Floats | plan.Fixeds,
	Folder: l2Folder, Spare: &sync.Pool{}}
