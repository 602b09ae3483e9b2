package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceMin returns the smallest elements over axes, or over all when axes is nil: NaN
// if any is NaN, −0 < +0, and false < true. Of nothing it is the type's largest
// value, +∞ where there is one. The reduced axes go, unless KeepDims. ONNX ReduceMin.
func ReduceMin[T bool | num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceMin.call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

func reduceMinLines(d dtype.DType, out, x exec.Run, step, n int) bool {
	return extremeLines(d, out, x, step, n, true)
}

func reduceMinRows(d dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool {
	return extremeRows(&minOp, d, out, x, from, down, true)
}

var reduceMin = reduction{about: about{name: "ReduceMin", onnx: []int{1, 11, 12, 13, 18, 20}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, since: 18, takes: bools | reals | fixeds,
	folder: minFolder, lines: reduceMinLines, rows: reduceMinRows, spare: &sync.Pool{}, fast: extremeFast}
