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

// ArgMin returns where the smallest element along axis is: the first of equals, or
// the last as the options say; the first NaN if there is one; −0 < +0. The axis
// goes, unless KeepDims. It panics when the axis is empty. ONNX ArgMin.
func ArgMin[T num.Real](a tensor.Tensor[T], axis int, o ArgOptions, opts ...Option) (r tensor.Tensor[int64]) {
	argMin.At(exec.Ref(&r), exec.Ref(&a), axis, o.param(), opts)
	return r
}

func argMinLines(d dtype.DType, out, x exec.Run, step, n int) bool {
	return reduce.PlaceLines(d, out, x, step, n, true)
}

func argMinRows(d dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool {
	return reduce.PlaceRows(d, out, x, from, down, true)
}

var argMin = reduce.Operator{About: plan.About{Name: "ArgMin", Orion: &inOrion{gives: dtype.Uint32, vector: true}, Versions: []int{1, 11, 12, 13}, Attrs: []string{"axis", "keepdims", "select_last_index"}}, Vector: true, Takes: plan.Reals | plan.Fixeds,
	Gives: dtype.Int64, Arg: true, Param: func(c *plan.Use) float64 { return float64(c.Attrs.Int("select_last_index", 0)) },
	Folder: reduce.ArgMinFolder, Lines: argMinLines, Rows: argMinRows, Spare: &sync.Pool{}}
