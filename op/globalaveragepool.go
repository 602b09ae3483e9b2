package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GlobalAveragePool returns the mean of each channel of x [N, C, D1, …] over its
// spatial axes, which stay with extent 1; it is ReduceMean over them. ONNX
// GlobalAveragePool.
func GlobalAveragePool[T num.Float | num.Narrow | num.Fixed](x tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		return reduceFixed("GlobalAveragePool", x, planeAxes("GlobalAveragePool", x.Any()), append(opts[:len(opts):len(opts)], KeepDims()), &fixedMean)
	}
	return reduceBy("GlobalAveragePool", &x, planeAxes("GlobalAveragePool", x.Any()), append(opts[:len(opts):len(opts)], KeepDims()), meanReducer[T]{})
}

var globalAveragePool = opN{about: about{name: "GlobalAveragePool", onnx: []int{1, 22}}, least: 1,
	infer: func(c *Call) []tensor.Any {
		lay := c.in(0).Layout()
		return one(spec("GlobalAveragePool", c.in(0).DType(), reducedShape("GlobalAveragePool", &lay, planeAxes("GlobalAveragePool", c.in(0)), true)...))
	},
	typed: perType{dtype.Float8E4M3: runGlobalAveragePool[num.F8E4M3], dtype.Float8E5M2: runGlobalAveragePool[num.F8E5M2],
		dtype.Float16: runGlobalAveragePool[num.F16], dtype.BFloat16: runGlobalAveragePool[num.BF16],
		dtype.Float32: runGlobalAveragePool[float32], dtype.Float64: runGlobalAveragePool[float64],
		dtype.FP8x23: runGlobalAveragePool[num.FP8x23], dtype.FP16x16: runGlobalAveragePool[num.FP16x16], dtype.FP32x32: runGlobalAveragePool[num.FP32x32], dtype.FP64x64: runGlobalAveragePool[num.FP64x64]}}

func runGlobalAveragePool[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	return one(GlobalAveragePool(as[T]("GlobalAveragePool", c, 0), options(c)...).Any())
}

// planeAxes returns the axes after the first two.
func planeAxes(name string, x tensor.Any) []int {
	lay := x.Layout()
	axes := make([]int, len(spatial(name, &lay)))
	for i := range axes {
		axes[i] = i + 2
	}
	return axes
}
