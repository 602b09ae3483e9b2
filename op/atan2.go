package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Atan2 returns the angle of the point (b, a), between −π and π, element by
// element: the arc tangent of a ÷ b with the signs deciding the quadrant. Shapes
// broadcast. In float32 and float64 the error is at most 0.501 ulp. The special
// cases are IEEE 754's atan2: for a = ±0 it is ±0 or ±π by b's sign, −0 counting
// as negative, and infinities are as limits. It panics if the shapes don't
// broadcast. NumPy arctan2; not an operator of ONNX.
func Atan2[T num.Floating](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	atan2.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var atan2 = pointwise.Operator{About: plan.About{Name: "Atan2"}, Cost: 60, Rows: exec.Two(nil, &rows2{F32: atan2Row32, F64: atan2Row64})}

// atan2Row32 and atan2Row64 define Atan2.
func atan2Row32(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = float.Atan2x32(a[i], b[i])
	}
}

func atan2Row64(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = float.Atan2x64(a[i], b[i])
	}
}
