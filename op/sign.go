package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Sign returns the sign of each element: −1 for a negative element and 1 for a positive
// one. It gives +0 for both zeros, and NaN for NaN. ONNX Sign.
func Sign[T num.Real](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	sign.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var sign = pointwise.Operator{About: plan.About{Name: "Sign", Versions: []int{9, 13}},
	Rows: exec.One(nil, &rows1{I8: signRow[int8], I16: signRow[int16], I32: signRow[int32], I64: signRow[int64],
		U8: signRow[uint8], U16: signRow[uint16], U32: signRow[uint32], U64: signRow[uint64],
		F32: signRow[float32], F64: signRow[float64]}),
	Fixed: &pointwise.Fixed1{FP8x23: signFixed[fixed.FP8x23], FP16x16: signFixed[fixed.FP16x16], FP32x32: signFixed[fixed.FP32x32], FP64x64: signFixed[fixed.FP64x64]}}

// signRow defines Sign.
func signRow[T num.Native](dst, a []T) {
	for i, x := range a[:len(dst)] {
		switch {
		case x > 0:
			x = 1
		case x < 0:
			x = 0
			x--
		case x == 0:
			x = 0
		}
		dst[i] = x
	}
}
