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

// ArgMax returns where the largest element along axis is: the first of equals, or
// the last with LastIndex; the first NaN if there is one; −0 < +0. The axis
// goes, unless KeepDims. It panics when the axis is empty. ONNX ArgMax.
func ArgMax[T num.Real](a tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[int64]) {
	argMax.At(exec.Ref(&r), exec.Ref(&a), axis, lastIndex(opts), opts)
	return r
}

// LastIndex makes ArgMax and ArgMin return the last of equal elements. ONNX's attribute select_last_index.
func LastIndex() Option { return plan.WithFlags(plan.LastIndex) }

// lastIndex is the parameter of ArgMax and ArgMin.
func lastIndex(opts []Option) float64 {
	if plan.Has(opts, plan.LastIndex) {
		return 1
	}
	return 0
}

func argMaxLines(d dtype.DType, out, x exec.Run, step, n int) bool {
	return reduce.PlaceLines(d, out, x, step, n, false)
}

func argMaxRows(d dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool {
	return reduce.PlaceRows(d, out, x, from, down, false)
}

var argMax = reduce.Operator{About: plan.About{Name: "ArgMax", Own: plan.LastIndex, Orion: &inOrion{gives: dtype.Int32, vector: true}, Versions: []int{1, 11, 12, 13}, Attrs: []string{"axis", "keepdims", "select_last_index"}}, Vector: true, Takes: plan.Reals | plan.Fixeds,
	Gives: dtype.Int64, Arg: true, Param: func(c *plan.Use) float64 { return float64(c.Attrs.Int("select_last_index", 0)) },
	Folder: reduce.ArgMaxFolder, Lines: argMaxLines, Rows: argMaxRows, Spare: &sync.Pool{}, Fast: extremeFast}
