package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanMax returns the largest elements over axes, or over all when axes is nil,
// passing over NaN: NaN if there is nothing else, −∞ of nothing, −0 < +0. The
// reduced axes go, unless KeepDims. NumPy nanmax.
func NanMax[T num.Float | num.Narrow](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	return reduceTo("NanMax", a, axes, opts, func() folder[T, T] { return &sighted[T]{folder: maxFolder[T]()} })
}

// sighted is the folder of NanMax and NanMin: it hands on what isn't NaN, or the
// first NaN when there was nothing else.
type sighted[T num.Elem] struct {
	folder[T, T]
	nan  T
	nans bool
	any  bool
	copy []T
}

func (f *sighted[T]) start() {
	f.folder.start()
	f.nans, f.any = false, false
}

func (f *sighted[T]) take(x []T) {
	f.copy = f.copy[:0]
	for _, v := range x {
		if isNaN(v) {
			f.nan, f.nans = v, true
		} else {
			f.copy = append(f.copy, v)
		}
	}
	f.any = f.any || len(f.copy) > 0
	f.folder.take(f.copy)
}

func (f *sighted[T]) result() T {
	if !f.any && f.nans {
		f.folder.start()
		f.folder.take([]T{f.nan})
	}
	return f.folder.result()
}

var nanMaxOp = opN{about: about{name: "NanMax", attrs: []string{"axes", "keepdims"}, why: "integers have no NaN: use ReduceMax"}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("NanMax", c, 18) },
	typed: perType{dtype.Float8E4M3: runNanMax[num.F8E4M3], dtype.Float8E5M2: runNanMax[num.F8E5M2],
		dtype.Float16: runNanMax[num.F16], dtype.BFloat16: runNanMax[num.BF16],
		dtype.Float32: runNanMax[float32], dtype.Float64: runNanMax[float64]}}

func runNanMax[T num.Float | num.Narrow](c *Call) []tensor.Any {
	axes, opts := reduceArgs("NanMax", c, 18)
	return one(NanMax(as[T]("NanMax", c, 0), axes, opts...).Any())
}
