package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Pow returns a to the power b, element by element. Shapes broadcast. Floats have
// the special cases of IEEE 754's pow, and in float32 and float64 an error of at
// most 0.503 ulp. Integers wrap; to a negative power they give the true value
// toward zero, and 0 gives the largest integer, as an infinity would. Of fixed point a
// negative number has whole powers alone, and 0 no negative ones: these are errors. It panics if
// the shapes don't broadcast. ONNX Pow, whose operands may differ in type.
func Pow[T num.Native | num.Narrow | num.Fixed](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	if isTwo(&b) && b.Rank() <= a.Rank() {
		powTwo.call(exec.Ref(&r), exec.Ref(&a), opts)
		return r
	}
	pow.call(exec.Ref(&r), exec.Ref(&a), exec.Ref(&b), opts)
	return r
}

// isTwo reports whether b is the number 2 of float32, for which Pow32 multiplies.
func isTwo[T num.Elem](b *tensor.Tensor[T]) bool {
	x, ok := any(b).(*tensor.Tensor[float32])
	return ok && x.Len() == 1 && !isLazy(exec.Ref(x)) && x.Item() == 2
}

var powTwo = op1{about: about{name: "Pow"}, fast: &simd.Square, rows: rows1{F32: squareRow[float32]}}

var pow = op2{about: about{name: "Pow"}, cost: 60,
	rows: rows2{I8: powRow[int8], I16: powRow[int16], I32: powRow[int32], I64: powRow[int64],
		U8: powRow[uint8], U16: powRow[uint16], U32: powRow[uint32], U64: powRow[uint64],
		F32: powRow32, F64: powRow64},
	fixed: &fixed2{FP8x23: num.PowFixed[num.FP8x23], FP16x16: num.PowFixed[num.FP16x16], FP32x32: num.PowFixed[num.FP32x32], FP64x64: num.PowFixed[num.FP64x64]}}

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
		dst[i] = num.Pow32(a[i], b[i])
	}
}

func powRow64(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = num.Pow64(a[i], b[i])
	}
}

func powInteger[T num.Integer](x, n T) T {
	if n < 0 {
		switch {
		case x == 0:
			return highest[T]()
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

var powOp = opN{about: about{name: "Pow", onnx: []int{1, 7, 12, 13, 15}, attrs: []string{"axis", "broadcast"}}, least: 2,
	typed: perType{dtype.Int8: runPow[int8], dtype.Int16: runPow[int16], dtype.Int32: runPow[int32], dtype.Int64: runPow[int64],
		dtype.Uint8: runPow[uint8], dtype.Uint16: runPow[uint16], dtype.Uint32: runPow[uint32], dtype.Uint64: runPow[uint64],
		dtype.Float8E4M3: runPow[num.F8E4M3], dtype.Float8E5M2: runPow[num.F8E5M2], dtype.Float16: runPow[num.F16],
		dtype.BFloat16: runPow[num.BF16], dtype.Float32: runPow[float32], dtype.Float64: runPow[float64],
		dtype.FP8x23: runPow[num.FP8x23], dtype.FP16x16: runPow[num.FP16x16], dtype.FP32x32: runPow[num.FP32x32], dtype.FP64x64: runPow[num.FP64x64]},
	infer: func(c *Call) []tensor.Any {
		c = early("Pow", c)
		return one(spec("Pow", c.in(0).DType(), stretch("Pow", c.Inputs[:2]...)...))
	}}

// runPow gives the result the base's type. An exponent of another type is
// converted to the base's where that is a float. An integer base with an integer
// exponent is computed in 64 bits, with a float exponent in float64, and converted
// back.
func runPow[T num.Native | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	c = early("Pow", c)
	x, y, base := as[T]("Pow", c, 0), c.in(1), dtype.Of[T]()
	if exp := y.DType(); exp != base && !base.IsFloat() && !base.IsFixed() {
		return one(castTo1[T](wholePow(x.Any(), y, options(c))).Any())
	} else if exp != base {
		return one(Pow(x, castTo1[T](y), options(c)...).Any())
	}
	return one(Pow(x, as[T]("Pow", c, 1), options(c)...).Any())
}

// wholePow computes Pow of integers to an exponent of another type.
func wholePow(x, y tensor.Any, opts []Option) tensor.Any {
	switch base, exp := x.DType(), y.DType(); {
	case exp.IsFloat():
		return Pow(castTo1[float64](x), castTo1[float64](y), opts...).Any()
	case !exp.IsSigned():
		return Pow(castTo1[uint64](x), castTo1[uint64](y), opts...).Any()
	case !base.IsSigned():
		panic(fail("Pow", tensor.ErrDType, "a base of %v with an exponent of %v; convert one with op.Cast", base, exp))
	}
	return Pow(castTo1[int64](x), castTo1[int64](y), opts...).Any()
}
