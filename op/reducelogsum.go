package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceLogSum returns the natural logarithms of the sums over axes, or over all
// when axes is nil: summed as ReduceSum, the logarithm of the float64 sum, rounded
// once; −∞ for nothing. The reduced axes go, unless KeepDims. ONNX ReduceLogSum.
func ReduceLogSum[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceLogSum.call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// termLog is the logarithm of the sum.
type termLog[T num.Float] struct{ termSum[T] }

func (f *termLog[T]) total() float64 { return num.Log64(f.termSum.total()) }

func logSumFolder(r *exec.Reducer) exec.Folder {
	if r.DType.IsFixed() {
		return fixedFolder(r, logarithms)
	}
	return termsFolder(r, new(termLog[float32]), new(termLog[float64]))
}

var reduceLogSum = reduction{about: about{name: "ReduceLogSum", onnx: []int{1, 11, 13, 18}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, since: 18, takes: floats | fixeds,
	folder: logSumFolder, spare: &sync.Pool{}}
