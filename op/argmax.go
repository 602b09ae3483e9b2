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
// the last as the options say; the first NaN if there is one; −0 < +0. The axis
// goes, unless KeepDims. It panics when the axis is empty. ONNX ArgMax.
func ArgMax[T num.Real](a tensor.Tensor[T], axis int, o ArgOptions, opts ...Option) (r tensor.Tensor[int64]) {
	argMax.At(exec.Ref(&r), exec.Ref(&a), axis, o.param(), opts)
	return r
}

// ArgOptions says which of equal elements ArgMax and ArgMin return.
type ArgOptions struct {
	LastIndex bool // the last, not the first: ONNX's attribute select_last_index
}

// param is the parameter of the reduction.
func (o ArgOptions) param() float64 {
	if o.LastIndex {
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

var argMax = reduce.Operator{About: plan.About{Name: "ArgMax", Orion: &inOrion{gives: dtype.Int32, vector: true}, Versions: []int{1, 11, 12, 13}, Attrs: []string{"axis", "keepdims", "select_last_index"}}, Vector: true, Takes: plan.Reals | plan.Fixeds,
	Gives: dtype.Int64, Arg: true, Param: func(c *plan.Use) float64 { return float64(c.Attrs.Int("select_last_index", 0)) },
	Folder: reduce.ArgMaxFolder, Lines: argMaxLines, Rows: argMaxRows, Spare: &sync.Pool{}}
