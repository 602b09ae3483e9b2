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

// Div returns a ÷ b, element by element. Shapes broadcast. Integers truncate
// toward zero, and the smallest one divided by −1 wraps to itself; an integer
// divisor of 0 is an error that names its index. Floats follow IEEE 754; narrow
// floats are computed in float32 and rounded once. Complex numbers are divided by
// Smith's method, each step rounded, as in NumPy. Fixed point is rounded once; a divisor
// of 0 and a result beyond the format are errors. It panics if the shapes don't
// broadcast. ONNX Div.
func Div[T num.Number](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	div.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var div = pointwise.Operator{About: plan.About{Name: "Div", Divides: true, Shapes: true, Versions: []int{6, 7, 13, 14}, Attrs: []string{"axis", "broadcast"}}, Clean: true, OrionCuts: true, Cost: 4,
	Rows: exec.Two(&simd.Div, &rows2{I8: divRow[int8], I16: divRow[int16], I32: divRow[int32], I64: divRow[int64],
		U8: divRow[uint8], U16: divRow[uint16], U32: divRow[uint32], U64: divRow[uint64],
		F32: divRow[float32], F64: divRow[float64],
		C64: divParts[complex64, float32], C128: divParts[complex128, float64]}),
	Fixed: &pointwise.Fixed2{FP8x23: fixed.Div[fixed.FP8x23], FP16x16: fixed.Div[fixed.FP16x16], FP32x32: fixed.Div[fixed.FP32x32], FP64x64: fixed.Div[fixed.FP64x64], W32: pointwise.DivWords32}}

// divRow defines Div; every other implementation is tested against it bit for bit.
func divRow[T num.Native](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		v := a[i] / b[i]
		dst[i] = v
		if v != v { // of floats alone
			dst[i] = T(num.NaN32())
		}
	}
}
