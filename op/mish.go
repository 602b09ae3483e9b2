package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Mish returns a·tanh(log(1 + eᵃ)), element by element: correctly rounded in
// float32, within 0.501 ulp in float64. ±0 and +∞ stay, −∞ gives the limit, −0.
// ONNX Mish.
func Mish[T num.Floating](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	mish.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var mish = pointwise.Operator{About: plan.About{Name: "Mish", Versions: []int{18, 22}}, Function: true, Cost: 40, Rows: exec.One(&simd.Mish, &rows1{F32: mishRow32, F64: mishRow64})}

// mishRow32 and mishRow64 define Mish.
func mishRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Mish32(x)
	}
}

func mishRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Mish64(x)
	}
}
