package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanMax returns the largest elements over axes, or over all when axes is nil,
// passing over NaN: NaN if there is nothing else, −∞ of nothing, −0 < +0. The
// reduced axes go, unless KeepDims. NumPy nanmax.
func NanMax[T num.Floating](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	nanMaxOp.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

var nanMaxOp = reduce.Operator{About: plan.About{Name: "NanMax", Attrs: []string{"axes", "keepdims"}, Why: "integers have no NaN: use ReduceMax"}, Since: 18, Takes: plan.Floats,
	Folder: reduce.NanMaxFolder, Spare: &sync.Pool{}}
