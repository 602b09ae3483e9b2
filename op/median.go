package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Median returns the middle elements over axes, or over all when axes is nil: of an
// even number the mean of the two in the middle, added and halved in float64 and
// rounded once. NaN if any is NaN, and of nothing. The reduced axes go, unless
// KeepDims. NumPy median.
func Median[T num.Float | num.Narrow](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	roomToSort("Median", &a)
	return reduceTo("Median", a, axes, opts, func() folder[T, T] { return quantileFolder[T](0.5) })
}

// roomToSort panics when elements that repeat are too many to be kept.
func roomToSort[T num.Elem](name string, a *tensor.Tensor[T]) {
	if n := a.Len(); n > len(exec.Reach(exec.Ref(a))) {
		fits(name, n, 8)
	}
}

func quantileFolder[T num.Elem](q float64) folder[T, T] {
	return floatFolder[T](func() folder[float32, float64] { return &ranked[float32]{q: q} },
		func() folder[float64, float64] { return &ranked[float64]{q: q} })
}

// ranked is the folder of Median and Quantile: it keeps the sequence, and sorts it.
type ranked[T num.Float] struct {
	q   float64
	all []T
	nan bool
}

func (f *ranked[T]) start() { f.all, f.nan = f.all[:0], false }

func (f *ranked[T]) take(x []T) {
	f.all = append(f.all, x...)
	for _, v := range x {
		f.nan = f.nan || v != v
	}
}

func (f *ranked[T]) result() float64 {
	n := len(f.all)
	if n == 0 || f.nan {
		return float64(num.NaN32())
	}
	slices.Sort(f.all)
	if f.q == 0.5 && n%2 == 0 {
		return (float64(f.all[n/2-1]) + float64(f.all[n/2])) / 2
	}
	at := float64(f.q * float64(n-1))
	i := min(int(at), n-1)
	x, t := float64(f.all[i]), at-float64(i)
	if t == 0 {
		return x
	}
	y := float64(f.all[i+1])
	if t < 0.5 {
		return x + float64((y-x)*t)
	}
	return y - float64((y-x)*(1-t)) // so that neither end overshoots
}

var medianOp = opN{about: about{name: "Median", attrs: []string{"axes", "keepdims"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("Median", c, 18) },
	typed: perType{dtype.Float8E4M3: runMedian[num.F8E4M3], dtype.Float8E5M2: runMedian[num.F8E5M2],
		dtype.Float16: runMedian[num.F16], dtype.BFloat16: runMedian[num.BF16],
		dtype.Float32: runMedian[float32], dtype.Float64: runMedian[float64]}}

func runMedian[T num.Float | num.Narrow](c *Call) []tensor.Any {
	axes, opts := reduceArgs("Median", c, 18)
	return one(Median(as[T]("Median", c, 0), axes, opts...).Any())
}
