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

// Mod returns the remainder of a ÷ b rounded toward −∞, element by element: it has
// the sign of b. Shapes broadcast. An integer divisor of 0 is an error that names
// its index; for floats it gives NaN, as ±∞ for a does. Of floats with different
// signs the exact remainder plus b is rounded. Of fixed point it is exact, and a divisor
// of 0 an error. It panics if the shapes don't
// broadcast. NumPy remainder; ONNX Mod with fmod = 0, which has integers alone.
func Mod[T num.Real](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	mod.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

// FMod returns the remainder of a ÷ b rounded toward zero, element by element: it
// has the sign of a, and of floats it is exact. Shapes broadcast. An integer
// divisor of 0 is an error that names its index; for floats it gives NaN, as ±∞
// for a does. It panics if the shapes don't broadcast. ONNX Mod with fmod = 1.
func FMod[T num.Real](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	fMod.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var mod = pointwise.Operator{About: plan.About{Name: "Mod", Divides: true}, Cost: 5,
	Rows: exec.Two(nil, &rows2{I8: modRow[int8], I16: modRow[int16], I32: modRow[int32], I64: modRow[int64],
		U8: modRow[uint8], U16: modRow[uint16], U32: modRow[uint32], U64: modRow[uint64],
		F32: modFloatRow[float32], F64: modFloatRow[float64]}),
	Fixed: &pointwise.Fixed2{FP8x23: modFixed[fixed.FP8x23], FP16x16: modFixed[fixed.FP16x16], FP32x32: modFixed[fixed.FP32x32], FP64x64: modFixed[fixed.FP64x64]}}

var fMod = pointwise.Operator{About: plan.About{Name: "FMod", Divides: true}, Cost: 20,
	Rows: exec.Two(nil, &rows2{I8: remRow[int8], I16: remRow[int16], I32: remRow[int32], I64: remRow[int64],
		U8: remRow[uint8], U16: remRow[uint16], U32: remRow[uint32], U64: remRow[uint64],
		F32: fModRow[float32], F64: fModRow[float64]}),
	Fixed: &pointwise.Fixed2{FP8x23: remFixed[fixed.FP8x23], FP16x16: remFixed[fixed.FP16x16], FP32x32: remFixed[fixed.FP32x32], FP64x64: remFixed[fixed.FP64x64]}}

// modRow and modFloatRow define Mod.
func modRow[T num.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i, d := range b {
		r := a[i] % d
		if r != 0 && (r < 0) != (d < 0) {
			r += d
		}
		dst[i] = r
	}
}

func modFloatRow[T num.Float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		_, dst[i] = divMod(a[i], b[i])
	}
}

// remRow and fModRow define FMod. The remainder of two float32 is a float32, so
// that of their float64 values is the right one.
func remRow[T num.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] % b[i]
	}
}

func fModRow[T num.Float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Mod(float64(a[i]), float64(b[i])))
	}
}

var modOp = plan.Operator{About: plan.About{Name: "Mod", Divides: true, Shapes: true, FLOPs: plan.FLOPs{Each: 1}, Versions: []int{10, 13}, Attrs: []string{"fmod"}}, Least: 2, Takes: plan.Reals | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) {
		plan.OneType("Mod", c.Inputs[:2]...)
		a, b, by := c.With("Mod", 0), c.With("Mod", 1), &mod
		if c.Attrs.Int("fmod", 0) != 0 {
			by = &fMod
		} else if a.DType().IsFloat() { // for which ONNX doesn't define it
			panic(plan.Fail("Mod", tensor.ErrDType, "floats need the attribute fmod = 1"))
		}
		p.Stretched(a.DType(), c, 2)
		p.By(c, 0, func(r *tensor.Any, opts []Option) { by.Call(r, opts, a, b) })
	}}
