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

// ReduceMax returns the largest elements over axes, or over all when axes is nil: NaN
// if any is NaN, −0 < +0, and false < true. Of nothing it is the type's smallest
// value, −∞ where there is one. The reduced axes go, unless KeepDims. ONNX ReduceMax.
func ReduceMax[T bool | num.Real](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceMax.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

func reduceMaxLines(d dtype.DType, out, x exec.Run, step, n int) bool {
	return reduce.ExtremeLines(d, out, x, step, n, false)
}

func reduceMaxRows(d dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool {
	return reduce.ExtremeRows(&maxOp, d, out, x, from, down, false)
}

var reduceMax = reduce.Operator{About: plan.About{Name: "ReduceMax", Shapes: true, PerAxis: 0b10, Versions: []int{1, 11, 12, 13, 18, 20}, Attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, Since: 18, Takes: plan.Bools | plan.Reals | plan.Fixeds,
	Folder: reduce.MaxFolder, Lines: reduceMaxLines, Rows: reduceMaxRows, Spare: &sync.Pool{}}
