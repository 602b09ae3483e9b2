package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Log1p returns log(1 + a), element by element, also where a is so small that 1
// + a rounds to 1: correctly rounded in float32, within 0.501 ulp in float64. ±0
// and +∞ stay, −1 gives −∞; NaN where a < −1. NumPy log1p; not an operator of
// ONNX.
func Log1p[T num.Floating](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	log1p.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var log1p = pointwise.Operator{About: plan.About{Name: "Log1p"}, Function: true, Cost: 30, Rows: exec.One(nil, &rows1{F32: log1pRow32, F64: log1pRow64})}

// log1pRow32 and log1pRow64 define Log1p.
func log1pRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Log1p32(x)
	}
}

func log1pRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Log1p64(x)
	}
}
