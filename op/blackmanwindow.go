package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// BlackmanWindow returns (0.42 − ½·cos(2πi/n)) + 0.08·cos(4πi/n) for i below size, where n
// is size, or size − 1 unless periodic: then the window is symmetric. It is computed in
// float64, each step rounded, and rounded once to T. A symmetric window of one element
// is 1. ONNX BlackmanWindow.
func BlackmanWindow[T num.Native | num.Narrow](size int, periodic bool) (r tensor.Tensor[T]) {
	windowFunction("BlackmanWindow", dtype.Of[T](), size, periodic, 0.42, 0.5, 0.08).into(exec.Ref(&r), nil)
	return r
}

func cosines(size int, periodic bool, a, b, c float64) func(ctx context.Context, dst words, _ []words) {
	n := size
	if !periodic {
		n--
	}
	return func(_ context.Context, dst words, _ []words) {
		to := numericOf(dst)
		for i := range size {
			v := 1.0
			if n > 0 {
				v = a - float64(b*num.Cos64(2*math.Pi*float64(i)/float64(n)))
				v += float64(c * num.Cos64(4*math.Pi*float64(i)/float64(n)))
			}
			to.setReal(i, v)
		}
	}
}

var blackmanWindow = opN{about: about{name: "BlackmanWindow", onnx: []int{17}, attrs: []string{"output_datatype", "periodic"}, why: "the operand is a size, int32 or int64"}, least: 1, takes: indices,
	move: func(c *Call) *transfer { return windowed("BlackmanWindow", c, 0.42, 0.5, 0.08) }}
