package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GlobalAveragePool returns the mean of each channel of x [N, C, D1, …] over its
// spatial axes, which stay with extent 1; it is ReduceMean over them. ONNX
// GlobalAveragePool.
func GlobalAveragePool[T num.Fractional](x tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	globalAveragePool.OverPlanes(exec.Ref(&r), exec.Ref(&x), opts)
	return r
}

var globalAveragePool = reduce.Operator{About: plan.About{Name: "GlobalAveragePool", Versions: []int{1, 22}}, Takes: plan.Floats | plan.Fixeds, Planes: true,
	Folder: meanFolder, Lines: reduce.MeanLines, Rows: reduce.MeanRows, Spare: &sync.Pool{}}
