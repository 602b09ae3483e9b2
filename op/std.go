package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Std returns the standard deviations over axes, or over all when axes is nil: the
// square root of Var's value before it is rounded. The reduced axes go, unless
// KeepDims. NumPy std.
func Std[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, ddof int, opts ...Option) tensor.Tensor[T] {
	switch x := any(a).(type) {
	case tensor.Tensor[num.FP8x23]:
		y := reduceLines("Std", x, axes, opts, func(x []num.FP8x23, mode []num.FixedMode) (num.FP8x23, error) {
			var m num.FixedMoments[num.FP8x23]
			m.AddRow(x)
			return m.StdDev(ddof, mode...)
		})
		return *any(&y).(*tensor.Tensor[T])
	case tensor.Tensor[num.FP16x16]:
		y := reduceLines("Std", x, axes, opts, func(x []num.FP16x16, mode []num.FixedMode) (num.FP16x16, error) {
			var m num.FixedMoments[num.FP16x16]
			m.AddRow(x)
			return m.StdDev(ddof, mode...)
		})
		return *any(&y).(*tensor.Tensor[T])
	case tensor.Tensor[num.FP32x32]:
		y := reduceLines("Std", x, axes, opts, func(x []num.FP32x32, mode []num.FixedMode) (num.FP32x32, error) {
			var m num.FixedMoments[num.FP32x32]
			m.AddRow(x)
			return m.StdDev(ddof, mode...)
		})
		return *any(&y).(*tensor.Tensor[T])
	case tensor.Tensor[num.FP64x64]:
		y := reduceLines("Std", x, axes, opts, func(x []num.FP64x64, mode []num.FixedMode) (num.FP64x64, error) {
			var m num.FixedMoments[num.FP64x64]
			m.AddRow(x)
			return m.StdDev(ddof, mode...)
		})
		return *any(&y).(*tensor.Tensor[T])
	}
	return reduceTo("Std", a, axes, opts, func() folder[T, T] { return varFolder[T](ddof, true) })
}

var stdOp = opN{about: about{name: "Std", attrs: []string{"axes", "ddof", "keepdims"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("Std", c, 18) },
	run: perType{dtype.Float8E4M3: runStd[num.F8E4M3], dtype.Float8E5M2: runStd[num.F8E5M2],
		dtype.Float16: runStd[num.F16], dtype.BFloat16: runStd[num.BF16],
		dtype.Float32: runStd[float32], dtype.Float64: runStd[float64],
		dtype.FP8x23: runStd[num.FP8x23], dtype.FP16x16: runStd[num.FP16x16], dtype.FP32x32: runStd[num.FP32x32], dtype.FP64x64: runStd[num.FP64x64]}}

func runStd[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	axes, opts := reduceArgs("Std", c, 18)
	return one(Std(as[T]("Std", c, 0), axes, int(c.Attrs.Int("ddof", 0)), opts...))
}
