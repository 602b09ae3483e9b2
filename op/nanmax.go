package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanMax returns the largest elements over axes, or over all when axes is nil,
// passing over NaN: NaN if there is nothing else, −∞ of nothing, −0 < +0. The
// reduced axes go, unless KeepDims. NumPy nanmax.
func NanMax[T num.Float | num.Narrow](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	nanMaxOp.call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

var nanMaxOp = reduction{about: about{name: "NanMax", attrs: []string{"axes", "keepdims"}, why: "integers have no NaN: use ReduceMax"}, since: 18, takes: floats,
	folder: nanMaxFolder, spare: &sync.Pool{}}
