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

// Square returns a·a, element by element. Integers wrap; floats are rounded once.
// NumPy square.
func Square[T num.Real](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	squareOp.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var squareOp = pointwise.Operator{About: plan.About{Name: "Square"}, Rows: exec.One(&simd.Square, &rows1{I8: squareRow[int8], I16: squareRow[int16], I32: squareRow[int32], I64: squareRow[int64],
	U8: squareRow[uint8], U16: squareRow[uint16], U32: squareRow[uint32], U64: squareRow[uint64],
	F32: squareRow[float32], F64: squareRow[float64]}),
	Fixed: &pointwise.Fixed1{FP8x23: squareFixed[fixed.FP8x23], FP16x16: squareFixed[fixed.FP16x16], FP32x32: squareFixed[fixed.FP32x32], FP64x64: squareFixed[fixed.FP64x64], W32: pointwise.SquareWords32, W64: pointwise.SquareWords64}}

// squareRow defines Square.
func squareRow[T num.Native](dst, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = x * x
	}
}
