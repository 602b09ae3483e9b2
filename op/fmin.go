package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// FMin returns the smaller of a and b, element by element: the other one if one is
// NaN, NaN if both are, and −0 of the two zeros. Shapes broadcast. It panics if
// they don't. IEEE 754 minimumNumber; NumPy fmin. Min gives NaN if either is.
func FMin[T num.Floating](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	fMin.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var fMin = pointwise.Operator{About: plan.About{Name: "FMin", Why: "integers have no NaN: use Min"}, Rows: exec.Two(nil, &rows2{F32: fMinRow[float32], F64: fMinRow[float64]})}

// fMinRow defines FMin.
func fMinRow[T num.Float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		switch x, y := a[i], b[i]; {
		case x != x:
			dst[i] = y
		case y != y:
			dst[i] = x
		default:
			dst[i] = min(x, y)
		}
	}
}
