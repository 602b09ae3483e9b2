package op

import (
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceL1 returns the sums of magnitudes over axes, or over all when axes is nil,
// added in float64 in the fixed order of this package and rounded once; 0 for
// nothing. Integers wrap. The reduced axes go, unless KeepDims. ONNX ReduceL1.
func ReduceL1[T num.Real](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceL1.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// absSum adds magnitudes.
type absSum[T num.Float] struct {
	reduce.Summer
	abs [16 * reduce.SumLanes]T
}

func (f *absSum[T]) Add(x []T) {
	for some := range slices.Chunk(x, len(f.abs)) {
		for i, v := range some {
			if v <= 0 {
				v = 0 - v // +0 for both zeros
			}
			f.abs[i] = v
		}
		reduce.AddTerms(&f.Summer, f.abs[:len(some)])
	}
}

func l1Folder(r *exec.Reducer) exec.Folder {
	switch {
	case r.DType.IsInteger():
		return reduce.IntFolder(r.DType, reduce.Magnitudes)
	case r.DType.IsFixed():
		return reduce.FixedFolder(r, reduce.Magnitudes)
	case r.DType == dtype.Float64:
		return reduce.TermsFolder(r, nil, new(absSum[float64]))
	}
	return reduce.TermsFolder(r, new(absSum[float32]), nil)
}

var reduceL1 = reduce.Operator{About: plan.About{Name: "ReduceL1", PerAxis: 0b10, FLOPs: plan.FLOPs{Read: 2}, Versions: []int{1, 11, 13, 18}, Attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, Since: 18, Takes: plan.Reals | plan.Fixeds,
	Folder: l1Folder, Spare: &sync.Pool{}}
