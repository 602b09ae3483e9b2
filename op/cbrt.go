package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Cbrt returns the cube root of a, negative for negative a, element by element:
// correctly rounded in float32, within 0.501 ulp in float64. ±0 and ±∞ stay.
// NumPy cbrt; not an operator of ONNX.
func Cbrt[T num.Floating](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	cbrt.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var cbrt = pointwise.Operator{About: plan.About{Name: "Cbrt"}, Function: true, Cost: 50, Rows: exec.One(nil, &rows1{F32: cbrtRow32, F64: cbrtRow64})}

// cbrtRow32 and cbrtRow64 define Cbrt.
func cbrtRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Cbrt32(x)
	}
}

func cbrtRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Cbrt64(x)
	}
}
