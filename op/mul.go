package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Mul returns a · b, element by element. Shapes broadcast. Integers wrap; floats
// follow IEEE 754; narrow floats are computed in float32 and rounded once. A complex
// product is (ac − bd) + (ad + bc)i, each product and sum rounded, as in NumPy: a step
// that overflows gives an infinity or NaN. Fixed point is rounded once; a result
// beyond the format is an error. It panics if the shapes don't broadcast. ONNX Mul.
func Mul[T num.Number](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	mul.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var mul = pointwise.Operator{Multiplies: true, About: plan.About{Name: "Mul", Shapes: true, Versions: []int{6, 7, 13, 14}, Attrs: []string{"axis", "broadcast"}}, Clean: true, OrionCuts: true,
	Rows: exec.Two(&simd.Mul, &rows2{I8: mulRow[int8], I16: mulRow[int16], I32: mulRow[int32], I64: mulRow[int64],
		U8: mulRow[uint8], U16: mulRow[uint16], U32: mulRow[uint32], U64: mulRow[uint64],
		F32: mulRow[float32], F64: mulRow[float64],
		C64: mulParts[complex64, float32], C128: mulParts[complex128, float64]}),
	Fixed: &pointwise.Fixed2{FP8x23: fixed.Mul[fixed.FP8x23], FP16x16: fixed.Mul[fixed.FP16x16], FP32x32: fixed.Mul[fixed.FP32x32], FP64x64: fixed.Mul[fixed.FP64x64], W32: pointwise.MulWords32, W64: pointwise.MulWords64}}

// mulRow defines Mul; every other implementation is tested against it bit for bit.
func mulRow[T num.Native](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		v := a[i] * b[i]
		dst[i] = v
		if v != v { // of floats alone
			dst[i] = T(num.NaN32())
		}
	}
}
