package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CastLike is Cast to the element type of like. ONNX CastLike.
func CastLike[To, From num.Elem](a tensor.Tensor[From], like tensor.Tensor[To], opts ...Option) tensor.Tensor[To] {
	return Cast[To](a, opts...)
}

var castLike = opN{about: about{name: "CastLike", onnx: []int{15, 19, 21, 23, 24, 25}, attrs: []string{"saturate"}}, least: 2,
	run: perType{dtype.Bool: runCastLike[bool], dtype.Int8: runCastLike[int8], dtype.Int16: runCastLike[int16],
		dtype.Int32: runCastLike[int32], dtype.Int64: runCastLike[int64], dtype.Uint8: runCastLike[uint8],
		dtype.Uint16: runCastLike[uint16], dtype.Uint32: runCastLike[uint32], dtype.Uint64: runCastLike[uint64],
		dtype.Float8E4M3: runCastLike[num.F8E4M3], dtype.Float8E5M2: runCastLike[num.F8E5M2], dtype.Float16: runCastLike[num.F16],
		dtype.BFloat16: runCastLike[num.BF16], dtype.Float32: runCastLike[float32], dtype.Float64: runCastLike[float64],
		dtype.Complex64: runCastLike[complex64], dtype.Complex128: runCastLike[complex128],
		dtype.FP8x23: runCastLike[num.FP8x23], dtype.FP16x16: runCastLike[num.FP16x16], dtype.FP32x32: runCastLike[num.FP32x32], dtype.FP64x64: runCastLike[num.FP64x64]},
	infer: func(c *Call) []tensor.Any {
		return one(spec("CastLike", c.in(1).DType(), tensor.Shape(c.in(0))...))
	}}

func runCastLike[From num.Elem](c *Call) []tensor.Any {
	return one(castAny("CastLike", c, as[From]("CastLike", c, 0), c.in(1).DType()))
}
