package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Hypot returns √(a² + b²), element by element, without overflow or underflow on
// the way. Shapes broadcast. In float32 and float64 the error is at most 0.501
// ulp. +∞ where either is ±∞, even if the other is NaN. It panics if the shapes
// don't broadcast. NumPy hypot; not an operator of ONNX.
func Hypot[T num.Floating](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	hypot.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var hypot = pointwise.Operator{About: plan.About{Name: "Hypot"}, Cost: 30, Rows: exec.Two(nil, &rows2{F32: hypotRow32, F64: hypotRow64})}

// hypotRow32 and hypotRow64 define Hypot.
func hypotRow32(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = float.Hypot32(a[i], b[i])
	}
}

func hypotRow64(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = float.Hypot64(a[i], b[i])
	}
}
