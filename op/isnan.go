package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// IsNaN reports which elements are NaN. ONNX IsNaN.
func IsNaN[T num.Float | num.Narrow](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[bool]) {
	isNaNOp.call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var isNaNOp = pointwise{about: about{name: "IsNaN", onnx: []int{9, 13, 20}, why: "integers have no NaN"}, rows: exec.Test(&rowsTest{F32: isNaNRow[float32], F64: isNaNRow[float64]})}

// isNaNRow defines IsNaN.
func isNaNRow[T num.Float](dst []bool, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = x != x
	}
}
