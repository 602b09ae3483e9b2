package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GlobalMaxPool returns the largest element of each channel of x [N, C, D1, …]
// over its spatial axes, which stay with extent 1; it is ReduceMax over them. ONNX
// GlobalMaxPool.
func GlobalMaxPool[T num.Native | num.Narrow | num.Fixed](x tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	return reduceBy("GlobalMaxPool", &x, planeAxes("GlobalMaxPool", x.Any()), append(opts[:len(opts):len(opts)], KeepDims()), maxReducer[T]{})
}

var globalMaxPool = opN{about: about{name: "GlobalMaxPool", onnx: []int{1, 22}}, least: 1,
	infer: func(c *Call) []tensor.Any {
		lay := c.in(0).Layout()
		return one(spec("GlobalMaxPool", c.in(0).DType(), reducedShape("GlobalMaxPool", &lay, planeAxes("GlobalMaxPool", c.in(0)), true)...))
	},
	typed: perType{dtype.Float8E4M3: runGlobalMaxPool[num.F8E4M3], dtype.Float8E5M2: runGlobalMaxPool[num.F8E5M2],
		dtype.Float16: runGlobalMaxPool[num.F16], dtype.BFloat16: runGlobalMaxPool[num.BF16],
		dtype.Float32: runGlobalMaxPool[float32], dtype.Float64: runGlobalMaxPool[float64],
		dtype.FP8x23: runGlobalMaxPool[num.FP8x23], dtype.FP16x16: runGlobalMaxPool[num.FP16x16], dtype.FP32x32: runGlobalMaxPool[num.FP32x32], dtype.FP64x64: runGlobalMaxPool[num.FP64x64]}}

func runGlobalMaxPool[T num.Native | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	return one(GlobalMaxPool(as[T]("GlobalMaxPool", c, 0), options(c)...).Any())
}
