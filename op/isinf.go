package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// IsInf reports which elements are infinite: −∞ if negative is set, +∞ if positive
// is. ONNX IsInf, whose detect_negative and detect_positive are set by default.
func IsInf[T num.Float | num.Narrow](a tensor.Tensor[T], negative, positive bool, opts ...Option) tensor.Tensor[bool] {
	lo, hi := infinity(-1, negative), infinity(1, positive)
	return classify("IsInf", &a, kernel[float32, bool]{with: isInfRow[float32], p: float32(lo), q: float32(hi)},
		kernel[float64, bool]{with: isInfRow[float64], p: lo, q: hi}, opts)
}

// infinity returns an infinity to look for, or NaN, which nothing equals.
func infinity(sign int, wanted bool) float64 {
	if wanted {
		return math.Inf(sign)
	}
	return num.NaN64()
}

// isInfRow defines IsInf: what equals lo or hi.
func isInfRow[T num.Float](dst []bool, a []T, lo, hi T) {
	for i, x := range a[:len(dst)] {
		dst[i] = x == lo || x == hi
	}
}

var isInf = opN{about: about{name: "IsInf", onnx: []int{10, 20}, attrs: []string{"detect_negative", "detect_positive"}, why: "integers have no infinity"}, least: 1,
	run: perType{dtype.Float8E4M3: runIsInf[num.F8E4M3], dtype.Float8E5M2: runIsInf[num.F8E5M2], dtype.Float16: runIsInf[num.F16],
		dtype.BFloat16: runIsInf[num.BF16], dtype.Float32: runIsInf[float32], dtype.Float64: runIsInf[float64]},
	infer: func(c *Call) []tensor.Any {
		return one(spec("IsInf", dtype.Bool, tensor.Shape(c.in(0))...))
	}}

func runIsInf[T num.Float | num.Narrow](c *Call) []tensor.Any {
	return one(IsInf(as[T]("IsInf", c, 0), c.Attrs.Int("detect_negative", 1) != 0, c.Attrs.Int("detect_positive", 1) != 0, options(c)...))
}
