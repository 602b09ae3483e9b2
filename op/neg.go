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

// Neg returns −a, element by element. Floats change their sign bit and nothing
// else, NaNs included; integers wrap: the smallest signed one is its own negative, and an
// unsigned a becomes 2ⁿ − a. The smallest number of fixed point is an error. ONNX Neg,
// which leaves unsigned integers out; numpy.negative.
func Neg[T num.Number](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	neg.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var neg = pointwise.Operator{About: plan.About{Name: "Neg", Shapes: true, Versions: []int{6, 13}}, Clean: true,
	Rows: exec.One(&simd.Neg, &rows1{I8: negRow[int8], I16: negRow[int16], I32: negRow[int32], I64: negRow[int64],
		U8: negRow[uint8], U16: negRow[uint16], U32: negRow[uint32], U64: negRow[uint64],
		F32: negRow32, F64: negRow64, C64: negRowC64, C128: negRowC128, B16: negRowB16, B8: negRowB8}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Neg[fixed.FP8x23], FP16x16: fixed.Neg[fixed.FP16x16], FP32x32: fixed.Neg[fixed.FP32x32], FP64x64: fixed.Neg[fixed.FP64x64], W32: pointwise.NegWords[int32], W64: pointwise.NegWords[int64]}}

// negRow and its like for floats define Neg.
func negRow[T num.Integer](dst, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = -x
	}
}

func negRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = math.Float32frombits(math.Float32bits(x) ^ 1<<31)
	}
}

func negRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = math.Float64frombits(math.Float64bits(x) ^ 1<<63)
	}
}

func negRowB16(dst, a []uint16) {
	for i, x := range a[:len(dst)] {
		dst[i] = x ^ 1<<15
	}
}

func negRowB8(dst, a []uint8) {
	for i, x := range a[:len(dst)] {
		dst[i] = x ^ 1<<7
	}
}
