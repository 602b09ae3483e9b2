package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// HammingWindow returns 25/46 − 21/46·cos(2πi/n) for i below size, where n is size, or
// size − 1 unless periodic: then the window is symmetric. It is computed in float64,
// each step rounded, and rounded once to T. A symmetric window of one element is 1. ONNX
// HammingWindow, whose factors these are; NumPy's are 0.54 and 0.46.
func HammingWindow[T num.Native | num.Narrow](size int, periodic bool) (r tensor.Tensor[T]) {
	windowFunction("HammingWindow", dtype.Of[T](), size, periodic, 25.0/46, 21.0/46, 0).into(exec.Ref(&r), nil)
	return r
}

var hammingWindow = opN{about: about{name: "HammingWindow", onnx: []int{17}, attrs: []string{"output_datatype", "periodic"}, why: "the operand is a size, int32 or int64"}, least: 1, takes: indices,
	move: func(c *Call) *transfer { return windowed("HammingWindow", c, 25.0/46, 21.0/46, 0) }}
