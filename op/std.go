package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Std returns the standard deviations over axes, or over all when axes is nil: the
// square root of Var's value before it is rounded. The reduced axes go, unless
// KeepDims. NumPy std.
func Std[T num.Fractional](a tensor.Tensor[T], axes []int, ddof int, opts ...Option) (r tensor.Tensor[T]) {
	stdOp.Call(exec.Ref(&r), exec.Ref(&a), axes, float64(ddof), opts)
	return r
}

var stdOp = reduce.Operator{About: plan.About{Name: "Std", Attrs: []string{"axes", "ddof", "keepdims"}}, Since: 18, Takes: plan.Floats | plan.Fixeds,
	Folder: func(r *exec.Reducer) exec.Folder { return deviationFolder(r, true) }, Spare: &sync.Pool{}, Param: ddofOf}
