package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Hardmax returns 1 where the largest element of each line along axis is, 0
// elsewhere: the position that ArgMax gives, so the first of equals, or the first
// NaN. ONNX Hardmax; before opset 13 a line is axis and all after it.
func Hardmax[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axis int, opts ...Option) tensor.Tensor[T] {
	return softened("Hardmax", a, axisOf("Hardmax", axis, a.Rank()), 1, opts, hardmaxLines[float32], hardmaxLines[float64])
}

// hardmaxLines defines Hardmax.
func hardmaxLines[T num.Float](dst, _, a []T, n int) {
	for ; len(a) > 0; dst, a = dst[n:], a[n:] {
		top := 0
		for i, v := range a[:n] {
			if greaterFloat(v, a[top]) {
				top = i
			}
		}
		clear(dst[:n])
		dst[top] = 1
	}
}

var hardmax = opN{about: about{name: "Hardmax", onnx: []int{1, 11, 13}, attrs: []string{"axis"}}, least: 1,
	infer: func(c *Call) []tensor.Any {
		softAxis("Hardmax", c, c.in(0).Rank())
		return one(spec("Hardmax", c.in(0).DType(), c.in(0).Shape()...))
	},
	typed: perType{dtype.Float8E4M3: runHardmax[num.F8E4M3], dtype.Float8E5M2: runHardmax[num.F8E5M2],
		dtype.Float16: runHardmax[num.F16], dtype.BFloat16: runHardmax[num.BF16], dtype.Float32: runHardmax[float32],
		dtype.Float64: runHardmax[float64],
		dtype.FP8x23:  runHardmax[num.FP8x23], dtype.FP16x16: runHardmax[num.FP16x16], dtype.FP32x32: runHardmax[num.FP32x32], dtype.FP64x64: runHardmax[num.FP64x64]}}

func runHardmax[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	a := as[T]("Hardmax", c, 0)
	axis, tail := softAxis("Hardmax", c, a.Rank())
	return one(softened("Hardmax", a, axis, tail, options(c), hardmaxLines[float32], hardmaxLines[float64]).Any())
}
