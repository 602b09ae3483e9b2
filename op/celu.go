package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Celu returns alpha·(e^(a ÷ alpha) − 1) where a < 0 and a elsewhere, element by
// element; NaN stays. It is computed in float64 and rounded once. ONNX Celu, whose
// alpha is 1 by default.
func Celu[T num.Floating](a tensor.Tensor[T], alpha float64, opts ...Option) (r tensor.Tensor[T]) {
	celu.Formula(exec.Ref(&r), exec.Ref(&a), alpha, 0, opts)
	return r
}

var celu = pointwise.Operator{About: plan.About{Name: "Celu", Versions: []int{12, 28}, Attrs: []string{"alpha"}}, Def: [2]float32{1}, Cost: 30,
	Rows: exec.With(nil, &rowsP{F32: celuRow[float32], F64: celuRow[float64]})}

// celuRow defines Celu.
func celuRow[T num.Float](dst, a []T, alpha, _ T) {
	for i, x := range a[:len(dst)] {
		if x < 0 {
			x = T(float64(alpha) * float.Expm1x64(float64(x)/float64(alpha)))
		}
		dst[i] = x
	}
}
