package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Expm1 returns eᵃ − 1, element by element, also where a is so small that eᵃ
// rounds to 1: correctly rounded in float32, within 0.501 ulp in float64. ±0 and
// +∞ stay, −∞ gives −1. NumPy expm1; not an operator of ONNX.
func Expm1[T num.Floating](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	expm1.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var expm1 = pointwise.Operator{About: plan.About{Name: "Expm1"}, Function: true, Cost: 15, Rows: exec.One(nil, &rows1{F32: expm1Row32, F64: expm1Row64})}

// expm1Row32 and expm1Row64 define Expm1.
func expm1Row32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Expm1x32(x)
	}
}

func expm1Row64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Expm1x64(x)
	}
}
