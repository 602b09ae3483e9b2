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

// Add returns a + b, element by element. Shapes broadcast. Integers wrap; floats
// follow IEEE 754; narrow floats are computed in float32 and rounded once, complex
// numbers by parts. Fixed point is exact, or beyond the format an error. It panics if the shapes don't broadcast. ONNX Add.
func Add[T num.Number](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	add.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var add = pointwise.Operator{Sums: true, About: plan.About{Name: "Add", Shapes: true, Versions: []int{6, 7, 13, 14}, Attrs: []string{"axis", "broadcast"}}, Clean: true,
	Rows: exec.Two(&simd.Add, &addRows), Fixed: &addFixed}

// addRows and addFixed are Sum's, too.
var addRows = rows2{I8: addRow[int8], I16: addRow[int16], I32: addRow[int32], I64: addRow[int64],
	U8: addRow[uint8], U16: addRow[uint16], U32: addRow[uint32], U64: addRow[uint64],
	F32: addRow[float32], F64: addRow[float64],
	C64: addParts[complex64, float32], C128: addParts[complex128, float64]}

var addFixed = pointwise.Fixed2{FP8x23: fixed.Add[fixed.FP8x23], FP16x16: fixed.Add[fixed.FP16x16], FP32x32: fixed.Add[fixed.FP32x32], FP64x64: fixed.Add[fixed.FP64x64], W32: pointwise.AddWords[int32], W64: pointwise.AddWords[int64]}

// addRow defines Add; every other implementation is tested against it bit for bit.
func addRow[T num.Native](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		v := a[i] + b[i]
		dst[i] = v
		if v != v { // of floats alone
			dst[i] = T(num.NaN32())
		}
	}
}
