package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Abs returns |a|, element by element. Floats lose their sign bit and nothing
// else, NaNs included; the smallest integer wraps to itself. ONNX Abs.
func Abs[T num.Real](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	abs.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var abs = pointwise.Operator{About: plan.About{Name: "Abs", Shapes: true, Versions: []int{6, 13}}, Clean: true,
	Rows: exec.One(&simd.Abs, &rows1{I8: absRow[int8], I16: absRow[int16], I32: absRow[int32], I64: absRow[int64],
		U8: absRow[uint8], U16: absRow[uint16], U32: absRow[uint32], U64: absRow[uint64],
		F32: absRow32, F64: absRow64, B16: absRowB16, B8: absRowB8}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Abs[fixed.FP8x23], FP16x16: fixed.Abs[fixed.FP16x16], FP32x32: fixed.Abs[fixed.FP32x32], FP64x64: fixed.Abs[fixed.FP64x64], W32: pointwise.AbsWords[int32], W64: pointwise.AbsWords[int64]}}

// absRow and its like for floats define Abs.
func absRow[T num.Integer](dst, a []T) {
	for i, x := range a[:len(dst)] {
		if x < 0 {
			x = -x
		}
		dst[i] = x
	}
}

func absRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
	}
}

func absRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = math.Float64frombits(math.Float64bits(x) &^ (1 << 63))
	}
}

func absRowB16(dst, a []uint16) {
	for i, x := range a[:len(dst)] {
		dst[i] = x &^ (1 << 15)
	}
}

func absRowB8(dst, a []uint8) {
	for i, x := range a[:len(dst)] {
		dst[i] = x &^ (1 << 7)
	}
}
