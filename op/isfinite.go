package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// IsFinite reports which elements are neither infinite nor NaN. NumPy isfinite.
func IsFinite[T num.Floating](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[bool]) {
	isFiniteOp.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var isFiniteOp = pointwise.Operator{About: plan.About{Name: "IsFinite", Why: "integers are finite"}, Rows: exec.Test(&rowsTest{F32: isFiniteRow[float32], F64: isFiniteRow[float64]})}

// isFiniteRow defines IsFinite.
func isFiniteRow[T num.Float](dst []bool, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = x-x == 0
	}
}
