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

// Max returns the larger of a and b, element by element: NaN if either is NaN,
// and +0 of the two zeros. Shapes broadcast. It panics if they don't. ONNX Max,
// which takes one or more operands.
func Max[T num.Real](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	maxOp.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var maxOp = pointwise.Operator{About: plan.About{Name: "Max", Shapes: true, Versions: []int{6, 8, 12, 13}}, Fold: true,
	Rows: exec.Two(&simd.Max, &rows2{I8: maxRow[int8], I16: maxRow[int16], I32: maxRow[int32], I64: maxRow[int64],
		U8: maxRow[uint8], U16: maxRow[uint16], U32: maxRow[uint32], U64: maxRow[uint64],
		F32: maxRow[float32], F64: maxRow[float64]}),
	Fixed: &pointwise.Fixed2{FP8x23: maxFixed[fixed.FP8x23], FP16x16: maxFixed[fixed.FP16x16], FP32x32: maxFixed[fixed.FP32x32], FP64x64: maxFixed[fixed.FP64x64], W32: maxWords[int32], W64: maxWords[int64]}}

// maxRow defines Max.
func maxRow[T num.Native](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = max(a[i], b[i])
	}
}

// maxWords is the row of integers, whose words it orders, too.
func maxWords[T pointwise.FixedWords](dst, a, b []T, _ *cast.State) { maxRow(dst, a, b) }
