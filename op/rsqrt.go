package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Rsqrt returns 1 ÷ √a, element by element: correctly rounded in float32, within
// 0.501 ulp in float64. ±0 gives ±∞, +∞ gives 0; NaN where a < 0. C23 rsqrt; not
// an operator of ONNX.
func Rsqrt[T num.Floating](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	rsqrt.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var rsqrt = pointwise.Operator{About: plan.About{Name: "Rsqrt"}, Function: true, Cost: 20, Rows: exec.One(nil, &rows1{F32: rsqrtRow32, F64: rsqrtRow64})}

// rsqrtRow32 and rsqrtRow64 define Rsqrt.
func rsqrtRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Rsqrt32(x)
	}
}

func rsqrtRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Rsqrt64(x)
	}
}
