package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Var returns the variances over axes, or over all when axes is nil: with μ the
// mean in float64, the sum of (x − μ)² in the fixed order of this package, divided
// by the count less ddof and rounded once. ddof is 0 for all there is and 1 for a
// sample. Where the count isn't above ddof the result is NaN or ∞, of
// fixed point, whose variance is exact and rounded once, an error. The reduced axes
// go, unless KeepDims. NumPy var.
func Var[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, ddof int, opts ...Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		return asFixed(a,
			func(a tensor.Tensor[num.FP8x23]) tensor.Tensor[num.FP8x23] {
				return spreadFixed("Var", a, axes, ddof, opts)
			},
			func(a tensor.Tensor[num.FP16x16]) tensor.Tensor[num.FP16x16] {
				return spreadFixed("Var", a, axes, ddof, opts)
			},
			func(a tensor.Tensor[num.FP32x32]) tensor.Tensor[num.FP32x32] {
				return spreadFixed("Var", a, axes, ddof, opts)
			},
			func(a tensor.Tensor[num.FP64x64]) tensor.Tensor[num.FP64x64] {
				return spreadFixed("Var", a, axes, ddof, opts)
			})
	}
	return reduceTo("Var", a, axes, opts, func() folder[T, T] { return varFolder[T](ddof, false) })
}

func varFolder[T num.Elem](ddof int, root bool) folder[T, T] {
	return floatFolder[T](
		func() folder[float32, float64] { return &deviation[float32]{ddof: ddof, root: root} },
		func() folder[float64, float64] { return &deviation[float64]{ddof: ddof, root: root} })
}

// deviation is the folder of Var and Std: one pass for the mean, one for the squares.
type deviation[T num.Float] struct {
	termMean[T]
	ddof   int
	root   bool
	second bool
	mean   float64
}

func (f *deviation[T]) start() {
	f.termMean.start()
	f.second = false
}

func (f *deviation[T]) take(x []T) {
	if f.second {
		addSquares(&f.summer, x, f.mean)
		return
	}
	f.termMean.take(x)
}

func (f *deviation[T]) again() bool {
	if f.second {
		return false
	}
	f.mean, f.second = f.termMean.result(), true
	f.summer.start()
	return true
}

func (f *deviation[T]) result() float64 {
	v := f.total() / float64(max(f.n-f.ddof, 0)) // as NumPy does: ∞, or NaN for 0 ÷ 0
	if f.root {
		return math.Sqrt(v)
	}
	return v
}

var varOp = opN{about: about{name: "Var", attrs: []string{"axes", "ddof", "keepdims"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("Var", c, 18) },
	typed: perType{dtype.Float8E4M3: runVar[num.F8E4M3], dtype.Float8E5M2: runVar[num.F8E5M2],
		dtype.Float16: runVar[num.F16], dtype.BFloat16: runVar[num.BF16],
		dtype.Float32: runVar[float32], dtype.Float64: runVar[float64],
		dtype.FP8x23: runVar[num.FP8x23], dtype.FP16x16: runVar[num.FP16x16], dtype.FP32x32: runVar[num.FP32x32], dtype.FP64x64: runVar[num.FP64x64]}}

func runVar[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	axes, opts := reduceArgs("Var", c, 18)
	return one(Var(as[T]("Var", c, 0), axes, int(c.Attrs.Int("ddof", 0)), opts...).Any())
}
