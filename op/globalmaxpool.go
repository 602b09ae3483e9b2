package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GlobalMaxPool returns the largest element of each channel of x [N, C, D1, …]
// over its spatial axes, which stay with extent 1; it is ReduceMax over them. ONNX
// GlobalMaxPool.
func GlobalMaxPool[T num.Real](x tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	globalMaxPool.OverPlanes(exec.Ref(&r), exec.Ref(&x), opts)
	return r
}

var globalMaxPool = reduce.Operator{About: plan.About{Name: "GlobalMaxPool", Versions: []int{1, 22}}, Takes: plan.Reals | plan.Fixeds, Planes: true,
	Folder: reduce.MaxFolder, Lines: reduceMaxLines, Rows: reduceMaxRows, Spare: &sync.Pool{}}
