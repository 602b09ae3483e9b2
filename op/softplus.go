package op

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Softplus returns log(1 + eᵃ), element by element: 0 for −∞, +∞ for +∞, NaN for
// NaN. It is computed in float64, to a few ulp, and rounded once. ONNX Softplus.
func Softplus[T num.Float | num.Narrow](a tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	return apply1(&softplus, &a, opts)
}

var softplus = op1{about: about{name: "Softplus", onnx: []int{1, 22}}, cost: 45, rows: rows1{F32: softplusRow[float32], F64: softplusRow[float64]}}

// softplusRow defines Softplus.
func softplusRow[T num.Float](dst, a []T) {
	for i, x := range a[:len(dst)] {
		v := float64(x)
		dst[i] = T(max(v, 0) + log1p(num.Exp64(-math.Abs(v))))
	}
}

// log1p returns log(1 + x) to a few ulp for 0 ≤ x ≤ 1, by Kahan's trick: the error
// of rounding 1 + x cancels in the quotient.
func log1p(x float64) float64 {
	u := 1 + x
	d := u - 1
	if d == 0 {
		return x
	}
	return float64(num.Log64(u)*x) / d
}
