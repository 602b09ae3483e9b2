package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// FMax returns the larger of a and b, element by element: the other one if one is
// NaN, NaN if both are, and +0 of the two zeros. Shapes broadcast. It panics if
// they don't. IEEE 754 maximumNumber; NumPy fmax. Max gives NaN if either is.
func FMax[T num.Floating](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	fMax.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var fMax = pointwise.Operator{About: plan.About{Name: "FMax", Why: "integers have no NaN: use Max"}, Rows: exec.Two(nil, &rows2{F32: fMaxRow[float32], F64: fMaxRow[float64]})}

// fMaxRow defines FMax.
func fMaxRow[T num.Float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		switch x, y := a[i], b[i]; {
		case x != x:
			dst[i] = y
		case y != y:
			dst[i] = x
		default:
			dst[i] = max(x, y)
		}
	}
}
