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
	return classify("SignBit", &a, kernel[float32, bool]{one: signBitRow[float32]}, kernel[float64, bool]{one: signBitRow[float64]}, opts)
}

// signBitRow defines SignBit.
func signBitRow[T num.Float](dst []bool, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = math.Signbit(float64(x))
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
