package op

import (
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Min returns the smaller of a and b, element by element: NaN if either is NaN,
// and −0 of the two zeros. Shapes broadcast. It panics if they don't. ONNX Min,
// which takes one or more operands.
func Min[T num.Real](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	minOp.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var minOp = pointwise.Operator{About: plan.About{Name: "Min", Shapes: true, Versions: []int{6, 8, 12, 13}}, Fold: true,
	Rows: exec.Two(&simd.Min, &rows2{I8: minRow[int8], I16: minRow[int16], I32: minRow[int32], I64: minRow[int64],
		U8: minRow[uint8], U16: minRow[uint16], U32: minRow[uint32], U64: minRow[uint64],
		F32: minRow[float32], F64: minRow[float64]}),
	Fixed: &pointwise.Fixed2{FP8x23: minFixed[fixed.FP8x23], FP16x16: minFixed[fixed.FP16x16], FP32x32: minFixed[fixed.FP32x32], FP64x64: minFixed[fixed.FP64x64], W32: minWords[int32], W64: minWords[int64]}}

// minRow defines Min.
func minRow[T num.Native](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = min(a[i], b[i])
	}
}

func minWords[T pointwise.FixedWords](dst, a, b []T, _ *cast.State) { minRow(dst, a, b) }
