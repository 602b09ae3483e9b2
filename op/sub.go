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

// Sub returns a − b, element by element. Shapes broadcast. Integers wrap; floats
// follow IEEE 754; narrow floats are computed in float32 and rounded once, complex
// numbers by parts. Fixed point is exact, or beyond the format an error. It panics if the shapes don't broadcast. ONNX Sub.
func Sub[T num.Number](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	sub.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var sub = pointwise.Operator{About: plan.About{Name: "Sub", Shapes: true, Versions: []int{6, 7, 13, 14}, Attrs: []string{"axis", "broadcast"}}, Clean: true,
	Rows: exec.Two(&simd.Sub, &rows2{I8: subRow[int8], I16: subRow[int16], I32: subRow[int32], I64: subRow[int64],
		U8: subRow[uint8], U16: subRow[uint16], U32: subRow[uint32], U64: subRow[uint64],
		F32: subRow[float32], F64: subRow[float64],
		C64: subParts[complex64, float32], C128: subParts[complex128, float64]}),
	Fixed: &pointwise.Fixed2{FP8x23: fixed.Sub[fixed.FP8x23], FP16x16: fixed.Sub[fixed.FP16x16], FP32x32: fixed.Sub[fixed.FP32x32], FP64x64: fixed.Sub[fixed.FP64x64], W32: pointwise.SubWords[int32], W64: pointwise.SubWords[int64]}}

// subRow defines Sub; every other implementation is tested against it bit for bit.
func subRow[T num.Native](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		v := a[i] - b[i]
		dst[i] = v
		if v != v { // of floats alone
			dst[i] = T(num.NaN32())
		}
	}
}
