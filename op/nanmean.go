package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanMean returns the means of the elements that aren't NaN over axes, or over all when axes is
// nil: NanSum's value before it is rounded, divided by the number of elements that
// aren't NaN; NaN if there is none. The reduced axes go, unless KeepDims. NumPy
// nanmean.
func NanMean[T num.Floating](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	nanMeanOp.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

func nanMeanFolder(r *exec.Reducer) exec.Folder {
	return reduce.TermsFolder(r, &nanless[float32]{mean: true}, &nanless[float64]{mean: true})
}

var nanMeanOp = reduce.Operator{About: plan.About{Name: "NanMean", Attrs: []string{"axes", "keepdims"}}, Since: 18, Takes: plan.Floats,
	Folder: nanMeanFolder, Spare: &sync.Pool{}}
