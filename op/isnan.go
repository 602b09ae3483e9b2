package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// IsNaN reports which elements are NaN. ONNX IsNaN.
func IsNaN[T num.Floating](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[bool]) {
	isNaNOp.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var isNaNOp = pointwise.Operator{About: plan.About{Name: "IsNaN", Versions: []int{9, 13, 20}, Why: "integers have no NaN"}, Rows: exec.Test(&rowsTest{F32: isNaNRow[float32], F64: isNaNRow[float64]})}

// isNaNRow defines IsNaN.
func isNaNRow[T num.Float](dst []bool, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = x != x
	}
}
