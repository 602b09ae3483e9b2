package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceMean returns the means over axes, or over all when axes is nil: the sum in
// float64 in the fixed order of this package, divided by the count, rounded once.
// The mean of nothing is NaN. Of integers it is the exact mean toward zero, and 0 of
// nothing; Cast them for NumPy's mean. Of fixed point it is the exact mean rounded once,
// and of nothing an error. The parts of complex
// numbers are reduced by themselves. The reduced axes go, unless KeepDims. ONNX
// ReduceMean.
func ReduceMean[T num.Number](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceMean.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// termMean divides the sum by the count.
type termMean[T num.Float] struct {
	termSum[T]
	n int
}

func (f *termMean[T]) Begin() {
	f.termSum.Begin()
	f.n = 0
}

func (f *termMean[T]) Add(x []T) {
	f.termSum.Add(x)
	f.n += len(x)
}

func (f *termMean[T]) Total() float64 { return f.termSum.Total() / float64(f.n) }

func meanFolder(r *exec.Reducer) exec.Folder {
	switch {
	case r.DType.IsInteger():
		return reduce.IntFolder(r.DType, reduce.Averages)
	case r.DType.IsFixed():
		return reduce.FixedFolder(r, reduce.Averages)
	}
	return reduce.TermsFolder(r, new(termMean[float32]), new(termMean[float64]))
}

var reduceMean = reduce.Operator{About: plan.About{Name: "ReduceMean", PerAxis: 0b10, Versions: []int{1, 11, 13, 18}, Attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, Since: 18, Takes: plan.Numbers,
	Folder: meanFolder, Lines: reduce.MeanLines, Rows: reduce.MeanRows, Spare: &sync.Pool{}}
