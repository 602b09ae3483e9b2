package op

import (
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Erf returns the error function of a, element by element: correctly rounded in
// float32, within 0.501 ulp in float64. ±0 stays, ±∞ gives ±1. ONNX Erf.
func Erf[T num.Float | num.Narrow](a tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	return apply1(&erf, &a, opts)
}

var erf = op1{about: about{name: "Erf", onnx: []int{9, 13}}, fast: &simd.Erf, function: true, cost: 20, rows: rows1{F32: erfRow32, F64: erfRow64}}

// erfRow32 and erfRow64 define Erf.
func erfRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = num.Erf32(x)
	}
}

func erfRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = num.Erf64(x)
	}
}
