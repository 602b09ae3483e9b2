package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ArgMax returns where the largest element along axis is: the first of equals, or
// the last when last is set; the first NaN if there is one; −0 < +0. The axis
// goes, unless KeepDims. It panics when the axis is empty. ONNX ArgMax.
func ArgMax[T num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axis int, last bool, opts ...Option) (r tensor.Tensor[int64]) {
	var p float64
	if last {
		p = 1
	}
	argMax.at(exec.Ref(&r), exec.Ref(&a), axis, p, opts)
	return r
}

func argMaxLines(d dtype.DType, out, x exec.Run, step, n int) bool {
	return placeLines(d, out, x, step, n, false)
}

func argMaxRows(d dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool {
	return placeRows(d, out, x, from, down, false)
}

var argMax = reduction{about: about{name: "ArgMax", orion: &inOrion{gives: dtype.Int32, vector: true}, onnx: []int{1, 11, 12, 13}, attrs: []string{"axis", "keepdims", "select_last_index"}}, takes: reals | fixeds,
	gives: dtype.Int64, arg: true, param: func(c *Call) float64 { return float64(c.Attrs.Int("select_last_index", 0)) },
	folder: argMaxFolder, lines: argMaxLines, rows: argMaxRows, spare: &sync.Pool{}, fast: extremeFast}
