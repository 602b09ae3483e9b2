package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// FloorDiv returns a ÷ b rounded toward −∞, element by element, so that
// a = b·FloorDiv(a, b) + Mod(a, b). Shapes broadcast. An integer divisor of 0 is an
// error that names its index, and the smallest integer ÷ −1 wraps to itself. Of
// floats it is the quotient that goes with the exact remainder, not the rounded
// quotient's floor: 1 by 0.1 gives 9. A float divisor of 0 gives a ÷ b, ±∞ or NaN.
// Of fixed point it is the exact quotient's floor; a divisor of 0 is an error.
// It panics if the shapes don't broadcast. NumPy floor_divide.
func FloorDiv[T num.Real](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	floorDiv.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var floorDiv = pointwise.Operator{About: plan.About{Name: "FloorDiv", Divides: true}, Cost: 8,
	Rows: exec.Two(nil, &rows2{I8: floorDivRow[int8], I16: floorDivRow[int16], I32: floorDivRow[int32], I64: floorDivRow[int64],
		U8: floorDivRow[uint8], U16: floorDivRow[uint16], U32: floorDivRow[uint32], U64: floorDivRow[uint64],
		F32: floorDivFloatRow[float32], F64: floorDivFloatRow[float64]}),
	Fixed: &pointwise.Fixed2{FP8x23: floorDivFixed[fixed.FP8x23], FP16x16: floorDivFixed[fixed.FP16x16], FP32x32: floorDivFixed[fixed.FP32x32], FP64x64: floorDivFixed[fixed.FP64x64]}}

// floorDivRow and floorDivFloatRow define FloorDiv.
func floorDivRow[T num.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i, d := range b {
		q := a[i] / d
		if r := a[i] % d; r != 0 && (r < 0) != (d < 0) {
			q--
		}
		dst[i] = q
	}
}

func floorDivFloatRow[T num.Float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i], _ = divMod(a[i], b[i])
	}
}

// divMod returns the quotient of two floats rounded toward −∞ and the remainder
// with b's sign, as Python and NumPy define them. Every step is exact or rounded
// to T.
func divMod[T num.Float](a, b T) (q, r T) {
	if b == 0 {
		return a / b, T(math.NaN())
	}
	r = T(math.Mod(float64(a), float64(b)))
	q = T(a-r) / b
	if r == 0 {
		r = T(math.Copysign(0, float64(b)))
	} else if (r < 0) != (b < 0) {
		r += b
		q--
	}
	if q == 0 {
		return T(math.Copysign(0, float64(a/b))), r
	}
	near := T(math.Floor(float64(q)))
	if q-near > 0.5 {
		near++
	}
	return near, r
}
