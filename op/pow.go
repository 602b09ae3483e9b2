package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Pow returns a to the power b, element by element. Shapes broadcast. Floats have
// the special cases of IEEE 754's pow, and in float32 and float64 an error of at
// most 0.503 ulp. Integers wrap; to a negative power they give the true value
// toward zero, and 0 gives the largest integer, as an infinity would. Of fixed point a
// negative number has whole powers alone, and 0 no negative ones: these are errors. It panics if
// the shapes don't broadcast. ONNX Pow, whose operands may differ in type.
func Pow[T num.Real](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	powered(exec.Ref(&r), exec.Ref(&a), exec.Ref(&b), opts)
	return r
}

// powered is Pow for a run-time element type, which both operands have.
func powered(r, a, b *tensor.Any, opts []Option) {
	if b.DType() == dtype.Float32 && b.Len() == 1 && b.Rank() <= a.Rank() && !pointwise.IsLazy(b) && isTwo(b) {
		powTwo.Call(r, opts, a)
		return
	}
	pow.Call(r, opts, a, b)
}

// isTwo reports whether a float32 is the number 2, for which Pow32 multiplies.
func isTwo(b *tensor.Any) bool {
	v := exec.Item(b)
	return exec.Number[float32](&v) == 2
}

var powTwo = pointwise.Operator{About: plan.About{Name: "Pow"}, Rows: exec.One(&simd.Square, &rows1{F32: squareRow[float32]})}

var pow = pointwise.Operator{About: plan.About{Name: "Pow"}, Cost: 60,
	Rows: exec.Two(&simd.Pow, &rows2{I8: powRow[int8], I16: powRow[int16], I32: powRow[int32], I64: powRow[int64],
		U8: powRow[uint8], U16: powRow[uint16], U32: powRow[uint32], U64: powRow[uint64],
		F32: powRow32, F64: powRow64}),
	Fixed: &pointwise.Fixed2{FP8x23: fixed.Pow[fixed.FP8x23], FP16x16: fixed.Pow[fixed.FP16x16], FP32x32: fixed.Pow[fixed.FP32x32], FP64x64: fixed.Pow[fixed.FP64x64]}}

// powRow, powRow32 and powRow64 define Pow.
func powRow[T num.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = powInteger(a[i], b[i])
	}
}

func powRow32(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = float.Pow32(a[i], b[i])
	}
}

func powRow64(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = float.Pow64(a[i], b[i])
	}
}

func powInteger[T num.Integer](x, n T) T {
	if n < 0 {
		switch {
		case x == 0:
			return move.Highest[T]()
		case x == 1, x+1 == 0 && n&1 == 0:
			return 1
		case x+1 == 0:
			return x
		}
		return 0
	}
	y := T(1)
	for {
		if n&1 != 0 {
			y *= x
		}
		if n >>= 1; n == 0 {
			return y
		}
		x *= x
	}
}

var powOp = plan.Operator{About: plan.About{Name: "Pow", FLOPs: plan.FLOPs{Each: 1}, Versions: []int{1, 7, 12, 13, 15}, Attrs: []string{"axis", "broadcast"}}, Least: 2, Takes: plan.Reals | plan.Fixeds,
	Planned: planPow}

// planPow gives the result the base's type. An exponent of another type is
// converted to the base's where that is a float. An integer base with an integer
// exponent is computed in 64 bits, with a float exponent in float64, and converted
// back.
func planPow(c *plan.Use, p *plan.Draft) {
	c = pointwise.Early("Pow", c)
	x, y := c.With("Pow", 0), c.With("Pow", 1)
	base, exp := x.DType(), y.DType()
	p.Stretched(base, c, 2)
	in := base
	if exp != base && base.IsInteger() {
		switch {
		case exp.IsFloat():
			in = dtype.Float64
		case !exp.IsSigned():
			in = dtype.Uint64
		case !base.IsSigned():
			panic(plan.Fail("Pow", tensor.ErrDType, "a base of %v with an exponent of %v; convert one with op.Cast", base, exp))
		default:
			in = dtype.Int64
		}
	}
	p.By(c, 0, func(r *tensor.Any, opts []Option) {
		a, b := pointwise.InType(*x, in), pointwise.InType(*y, in)
		if in == base {
			powered(r, &a, &b, opts)
			return
		}
		var wide tensor.Any
		powered(&wide, &a, &b, plan.WithoutInto(opts))
		pointwise.Convert(r, "Cast", base, &wide, opts)
	})
}
