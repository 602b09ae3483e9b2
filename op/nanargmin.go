package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanArgMin returns where the smallest element along axis is, passing over NaN: the
// first of equals, −0 < +0, and 0 where all are NaN. The axis goes, unless KeepDims.
// It panics when the axis is empty. NumPy nanargmin, which refuses a row of NaNs.
func NanArgMin[T num.Float | num.Narrow](a tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[int64]) {
	nanArgMinOp.at(exec.Ref(&r), exec.Ref(&a), axis, 0, opts)
	return r
}

var nanArgMinOp = reduction{about: about{name: "NanArgMin", attrs: []string{"axis", "keepdims"}, why: "integers have no NaN: use ArgMin"}, takes: floats,
	gives: dtype.Int64, arg: true, folder: nanArgMinFolder, spare: &sync.Pool{}}
