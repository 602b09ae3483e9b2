package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceLogSum returns the natural logarithms of the sums over axes, or over all
// when axes is nil: summed as ReduceSum, the logarithm of the float64 sum, rounded
// once; −∞ for nothing. The reduced axes go, unless KeepDims. ONNX ReduceLogSum.
func ReduceLogSum[T num.Fractional](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceLogSum.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// termLog is the logarithm of the sum.
type termLog[T num.Float] struct{ termSum[T] }

func (f *termLog[T]) Total() float64 { return float.Log64(f.termSum.Total()) }

func logSumFolder(r *exec.Reducer) exec.Folder {
	if r.DType.IsFixed() {
		return reduce.FixedFolder(r, reduce.Logarithms)
	}
	return reduce.TermsFolder(r, new(termLog[float32]), new(termLog[float64]))
}

var reduceLogSum = reduce.Operator{About: plan.About{Name: "ReduceLogSum", PerAxis: 0b10, Versions: []int{1, 11, 13, 18}, Attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, Since: 18, Takes: plan.Floats | plan.Fixeds,
	Folder: logSumFolder, Spare: &sync.Pool{}}
