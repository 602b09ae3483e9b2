package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanSum returns the sums over axes, or over all when axes is nil, with +0 in the
// place of NaN: as ReduceSum, in the fixed order of this package. The reduced axes
// go, unless KeepDims. NumPy nansum.
func NanSum[T num.Float | num.Narrow](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	return reduceTo("NanSum", a, axes, opts, nanSumFolder[T])
}

func nanSumFolder[T num.Elem]() folder[T, T] {
	return floatFolder[T](func() folder[float32, float64] { return &nanless[float32]{} },
		func() folder[float64, float64] { return &nanless[float64]{} })
}

// nanless is the folder of NanSum and NanMean.
type nanless[T num.Float] struct {
	termSum[T]
	mean bool
	n    int // elements that aren't NaN
	copy []T
}

func (f *nanless[T]) start() {
	f.termSum.start()
	f.n = 0
}

func (f *nanless[T]) take(x []T) {
	f.copy = append(f.copy[:0], x...)
	for i, v := range f.copy {
		if v != v {
			f.copy[i] = 0
		} else {
			f.n++
		}
	}
	f.termSum.take(f.copy)
}

func (f *nanless[T]) result() float64 {
	if f.mean {
		return f.total() / float64(f.n)
	}
	return f.total()
}

var nanSumOp = opN{about: about{name: "NanSum", attrs: []string{"axes", "keepdims"}, why: "integers have no NaN: use ReduceSum"}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("NanSum", c, 18) },
	typed: perType{dtype.Float8E4M3: runNanSum[num.F8E4M3], dtype.Float8E5M2: runNanSum[num.F8E5M2],
		dtype.Float16: runNanSum[num.F16], dtype.BFloat16: runNanSum[num.BF16],
		dtype.Float32: runNanSum[float32], dtype.Float64: runNanSum[float64]}}

func runNanSum[T num.Float | num.Narrow](c *Call) []tensor.Any {
	axes, opts := reduceArgs("NanSum", c, 18)
	return one(NanSum(as[T]("NanSum", c, 0), axes, opts...).Any())
}
