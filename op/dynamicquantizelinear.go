package op

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// DynamicQuantizeLinear quantizes x to uint8 with a scale and a zero point that suit
// it. With lo the smallest of x and 0, and hi the largest, each step rounded to
// float32:
//
//	scale = (hi − lo) / 255
//	zero  = saturate(round(0 − lo/scale))
//	y     = saturate(round(x/scale) + zero)
//
// where round is to nearest, even on a tie. If all elements are 0, or there are none,
// the scale is 0, and so are the others. NaN anywhere gives the scale NaN and 0 elsewhere.
// ONNX DynamicQuantizeLinear.
func DynamicQuantizeLinear(x tensor.Tensor[float32], opts ...Option) (y tensor.Tensor[uint8], scale tensor.Tensor[float32], zero tensor.Tensor[uint8]) {
	fits("DynamicQuantizeLinear", x.Len(), 1) // of elements that repeat there may be any number
	var lo, hi float32
	for v := range x.Values() {
		if v != v {
			lo, hi = v, v
			break
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	step := float32(hi-lo) / 255
	low := float32(lo / step)
	scale, zero = tensor.Scalar(step), tensor.Scalar(uint8(0))
	if step != step {
		scale = tensor.Scalar(float32(math.NaN()))
		canonicalRow(scale.Elems())
	}
	numericOf(wordsOf(zero.Any())).setQuantized(0, float64(0-low), 0, true)
	opts = slices.Clone(opts)
	for i := range opts {
		opts[i].flags &^= orion // would cut off with a zero point that is rounded
	}
	y = moved[uint8](quantizing(x.Any(), scale.Any(), zero.Any(), dtype.Uint8, dtype.Float32, 0, 0, true), opts)
	return y, scale, zero
}

var dynamicQuantizeLinear = opN{about: about{name: "DynamicQuantizeLinear", onnx: []int{11}, why: "of float32 alone: Cast first"}, least: 1,
	takes: 1 << dtype.Float32,
	infer: func(c *Call) []tensor.Any {
		return []tensor.Any{spec("DynamicQuantizeLinear", dtype.Uint8, c.in(0).Shape()...), spec("DynamicQuantizeLinear", dtype.Float32), spec("DynamicQuantizeLinear", dtype.Uint8)}
	},
	run: func(c *Call) []tensor.Any {
		y, scale, zero := DynamicQuantizeLinear(as[float32]("DynamicQuantizeLinear", c, 0), options(c)...)
		return []tensor.Any{y.Any(), scale.Any(), zero.Any()}
	}}
