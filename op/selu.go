package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Selu returns gamma·a where a > 0 and gamma·alpha·(eᵃ − 1) elsewhere, element by
// element; NaN stays. It is computed in float64 and rounded once. ONNX Selu, whose
// alpha is 1.6732632 and gamma 1.0507010 by default.
func Selu[T num.Floating](a tensor.Tensor[T], alpha, gamma float64, opts ...Option) (r tensor.Tensor[T]) {
	selu.Formula(exec.Ref(&r), exec.Ref(&a), alpha, gamma, opts)
	return r
}

var selu = pointwise.Operator{About: plan.About{Name: "Selu", Versions: []int{6, 22}, Attrs: []string{"alpha", "gamma"}}, Def: [2]float32{1.67326319217681884765625, 1.05070102214813232421875}, Cost: 25,
	Rows: exec.With(nil, &rowsP{F32: seluRow[float32], F64: seluRow[float64]})}

// seluRow defines Selu.
func seluRow[T num.Float](dst, a []T, alpha, gamma T) {
	for i, x := range a[:len(dst)] {
		v := float64(x)
		if v < 0 {
			v = float64(alpha) * float.Expm1x64(v)
		}
		dst[i] = T(float64(gamma) * v)
	}
}
