package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// SignBit reports which elements have their sign bit set: negative numbers, −0,
// and NaNs with a sign. NumPy signbit.
func SignBit[T num.Float | num.Narrow](a tensor.Tensor[T], opts ...Option) tensor.Tensor[bool] {
	return classify("SignBit", &a, kernel[float32, bool]{one: signBitRow32}, kernel[float64, bool]{one: signBitRow64}, opts)
}

// signBitRow32 and signBitRow64 define SignBit. They look at bits: converting a
// float32 to float64 takes the sign of a NaN away on riscv64.
func signBitRow32(dst []bool, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = math.Float32bits(x)>>31 != 0
	}
}

func signBitRow64(dst []bool, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = math.Signbit(x)
	}
}

var signBitOp = opN{about: about{name: "SignBit"}, least: 1,
	run: perType{dtype.Float8E4M3: runSignBit[num.F8E4M3], dtype.Float8E5M2: runSignBit[num.F8E5M2], dtype.Float16: runSignBit[num.F16],
		dtype.BFloat16: runSignBit[num.BF16], dtype.Float32: runSignBit[float32], dtype.Float64: runSignBit[float64]},
	infer: func(c *Call) []tensor.Any {
		return one(spec("SignBit", dtype.Bool, tensor.Shape(c.in(0))...))
	}}

func runSignBit[T num.Float | num.Narrow](c *Call) []tensor.Any {
	return one(SignBit(as[T]("SignBit", c, 0), options(c)...))
}
