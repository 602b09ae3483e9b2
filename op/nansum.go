package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanSum returns the sums over axes, or over all when axes is nil, with +0 in the
// place of NaN: as ReduceSum, in the fixed order of this package. The reduced axes
// go, unless KeepDims. NumPy nansum.
func NanSum[T num.Float | num.Narrow](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	nanSumOp.call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
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

func (f *nanless[T]) total() float64 {
	if f.mean {
		return f.termSum.total() / float64(f.n)
	}
	return f.termSum.total()
}

func nanSumFolder(r *exec.Reducer) exec.Folder {
	return termsFolder(r, &nanless[float32]{}, &nanless[float64]{})
}

var nanSumOp = reduction{about: about{name: "NanSum", attrs: []string{"axes", "keepdims"}, why: "integers have no NaN: use ReduceSum"}, since: 18, takes: floats,
	folder: nanSumFolder, spare: &sync.Pool{}}
