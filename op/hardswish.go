package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// HardSwish computes the following function, element by element:
//
//	−0             for a ≤ −3
//	a·(a + 3) ÷ 6  for −3 < a < 3
//	a              for a ≥ 3
//
// NaN stays. It is computed in float64 and rounded once. ONNX HardSwish.
func HardSwish[T num.Floating](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	hardSwish.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var hardSwish = pointwise.Operator{About: plan.About{Name: "HardSwish", Versions: []int{14, 22}}, Cost: 5, Rows: exec.One(&simd.HardSwish, &rows1{F32: hardSwishRow[float32], F64: hardSwishRow[float64]})}

// hardSwishRow defines HardSwish.
func hardSwishRow[T num.Float](dst, a []T) {
	for i, x := range a[:len(dst)] {
		switch v := float64(x); {
		case x <= -3:
			x = T(math.Copysign(0, -1))
		case x < 3:
			x = T(float64(v*(v+3)) / 6)
		}
		dst[i] = x
	}
}
