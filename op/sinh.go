package op

import (
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Sinh returns the hyperbolic sine of a, element by element: correctly rounded
// in float32, within 0.501 ulp in float64. ±0 and ±∞ stay. ONNX Sinh.
func Sinh[T num.Float | num.Narrow](a tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	return apply1(&sinh, &a, opts)
}

var sinh = op1{about: about{name: "Sinh", onnx: []int{9, 22}}, function: true, cost: 30, rows: rows1{F32: sinhRow32, F64: sinhRow64}}

// sinhRow32 and sinhRow64 define Sinh.
func sinhRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = num.Sinh32(x)
	}
}

func sinhRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = num.Sinh64(x)
	}
}
