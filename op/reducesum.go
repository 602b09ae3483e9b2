package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceSum returns the sums over axes, or over all when axes is nil; an empty
// list of axes reduces none. The parts of complex
// numbers are reduced by themselves. The reduced axes go, unless KeepDims. Integers
// wrap in their own type, where NumPy's sum of narrow ones has 64 bits: Cast them
// first. Floats are added in float64 in the fixed order of this package and
// rounded once. Fixed point is added exactly: only the sum can be beyond the format.
// The sum of nothing is 0. ONNX ReduceSum.
func ReduceSum[T num.Number](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceSum.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// termSum adds the elements in the fixed order, which internal/core/reduce/sumfloats.go states.
type termSum[T num.Float] struct{ reduce.Summer }

func (f *termSum[T]) Add(x []T) { reduce.AddTerms(&f.Summer, x) }

func sumFolder(r *exec.Reducer) exec.Folder {
	switch {
	case r.DType.IsInteger():
		return reduce.IntFolder(r.DType, reduce.Plain)
	case r.DType.IsFixed():
		return reduce.FixedFolder(r, reduce.Plain)
	}
	return reduce.TermsFolder(r, new(termSum[float32]), new(termSum[float64]))
}

var reduceSum = reduce.Operator{About: plan.About{Name: "ReduceSum", Shapes: true, PerAxis: 0b10, Versions: []int{1, 11, 13}, Attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, Since: 13, Takes: plan.Numbers,
	Folder: sumFolder, Lines: reduce.SumLines, Rows: reduce.SumRows, Spare: &sync.Pool{}}
