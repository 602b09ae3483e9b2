package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceMax returns the largest elements over axes, or over all when axes is nil: NaN
// if any is NaN, −0 < +0, and false < true. Of nothing it is the type's smallest
// value, −∞ where there is one. The reduced axes go, unless KeepDims. ONNX ReduceMax.
func ReduceMax[T bool | num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceMax.call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

func reduceMaxLines(d dtype.DType, out, x exec.Run, step, n int) bool {
	return extremeLines(d, out, x, step, n, false)
}

func reduceMaxRows(d dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool {
	return extremeRows(&maxOp, d, out, x, from, down, false)
}

var reduceMax = reduction{about: about{name: "ReduceMax", onnx: []int{1, 11, 12, 13, 18, 20}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, since: 18, takes: bools | reals | fixeds,
	folder: maxFolder, lines: reduceMaxLines, rows: reduceMaxRows, spare: &sync.Pool{}, fast: extremeFast}
