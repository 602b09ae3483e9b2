package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// IsFinite reports which elements are neither infinite nor NaN. NumPy isfinite.
func IsFinite[T num.Float | num.Narrow](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[bool]) {
	isFiniteOp.call(exec.Ref(&r), exec.Ref(&a), opts)
	return r
}

var isFiniteOp = test1{about: about{name: "IsFinite", why: "integers are finite"}, f32: isFiniteRow[float32], f64: isFiniteRow[float64]}

// isFiniteRow defines IsFinite.
func isFiniteRow[T num.Float](dst []bool, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = x-x == 0
	}
}
