package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanSum returns the sums over axes, or over all when axes is nil, with +0 in the
// place of NaN: as ReduceSum, in the fixed order of this package. The reduced axes
// go, unless KeepDims. NumPy nansum.
func NanSum[T num.Floating](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	nanSumOp.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// nanless is the folder of NanSum and NanMean.
type nanless[T num.Float] struct {
	termSum[T]
	mean bool
	n    int // elements that aren't NaN
	copy []T
}

func (f *nanless[T]) Begin() {
	f.termSum.Begin()
	f.n = 0
}

func (f *nanless[T]) Add(x []T) {
	f.copy = append(f.copy[:0], x...)
	for i, v := range f.copy {
		if v != v {
			f.copy[i] = 0
		} else {
			f.n++
		}
	}
	f.termSum.Add(f.copy)
}

func (f *nanless[T]) Total() float64 {
	if f.mean {
		return f.termSum.Total() / float64(f.n)
	}
	return f.termSum.Total()
}

func nanSumFolder(r *exec.Reducer) exec.Folder {
	return reduce.TermsFolder(r, &nanless[float32]{}, &nanless[float64]{})
}

var nanSumOp = reduce.Operator{About: plan.About{Name: "NanSum", Attrs: []string{"axes", "keepdims"}, Why: "integers have no NaN: use ReduceSum"}, Since: 18, Takes: plan.Floats,
	Folder: nanSumFolder, Spare: &sync.Pool{}}
