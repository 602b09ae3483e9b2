package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Median returns the middle elements over axes, or over all when axes is nil: of an
// even number the mean of the two in the middle, added and halved in float64 and
// rounded once. NaN if any is NaN, and of nothing. The reduced axes go, unless
// KeepDims. NumPy median.
func Median[T num.Float | num.Narrow](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	medianOp.call(exec.Ref(&r), exec.Ref(&a), axes, 0.5, opts)
	return r
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

func (f *ranked[T]) total() float64 {
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

func quantileFolder(r *exec.Reducer) exec.Folder {
	return termsFolder(r, &ranked[float32]{q: r.P}, &ranked[float64]{q: r.P})
}

var medianOp = reduction{about: about{name: "Median", attrs: []string{"axes", "keepdims"}}, since: 18, takes: floats, collects: true,
	folder: quantileFolder, param: func(*Call) float64 { return 0.5 }}
