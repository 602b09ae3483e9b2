package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanArgMax returns where the largest element along axis is, passing over NaN: the
// first of equals, −0 < +0, and 0 where all are NaN. The axis goes, unless KeepDims.
// It panics when the axis is empty. NumPy nanargmax, which refuses a row of NaNs.
func NanArgMax[T num.Floating](a tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[int64]) {
	nanArgMaxOp.At(exec.Ref(&r), exec.Ref(&a), axis, 0, opts)
	return r
}

var nanArgMaxOp = reduce.Operator{About: plan.About{Name: "NanArgMax", Attrs: []string{"axis", "keepdims"}, Why: "integers have no NaN: use ArgMax"}, Takes: plan.Floats,
	Gives: dtype.Int64, Arg: true, Folder: reduce.NanArgMaxFolder, Spare: &sync.Pool{}}
