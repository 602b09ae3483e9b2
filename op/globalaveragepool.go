package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GlobalAveragePool returns the mean of each channel of x [N, C, D1, …] over its
// spatial axes, which stay with extent 1; it is ReduceMean over them. ONNX
// GlobalAveragePool.
func GlobalAveragePool[T num.Float | num.Narrow | num.Fixed](x tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	globalAveragePool.overPlanes(exec.Ref(&r), exec.Ref(&x), opts)
	return r
}

var globalAveragePool = reduction{about: about{name: "GlobalAveragePool", onnx: []int{1, 22}}, takes: floats | fixeds, planes: true,
	folder: meanFolder, lines: meanLines, rows: meanRows, spare: &sync.Pool{}}
