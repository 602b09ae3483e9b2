package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanMin returns the smallest elements over axes, or over all when axes is nil,
// passing over NaN: NaN if there is nothing else, +∞ of nothing, −0 < +0. The
// reduced axes go, unless KeepDims. NumPy nanmin.
func NanMin[T num.Float | num.Narrow](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	nanMinOp.call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

var nanMinOp = reduction{about: about{name: "NanMin", attrs: []string{"axes", "keepdims"}, why: "integers have no NaN: use ReduceMin"}, since: 18, takes: floats,
	folder: nanMinFolder, spare: &sync.Pool{}}
