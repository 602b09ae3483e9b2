package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceL1 returns the sums of magnitudes over axes, or over all when axes is nil,
// added in float64 in the fixed order of this package and rounded once; 0 for
// nothing. Integers wrap. The reduced axes go, unless KeepDims. ONNX ReduceL1.
func ReduceL1[T num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceL1.call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// absSum adds magnitudes.
type absSum[T num.Float] struct {
	summer
	abs [exec.FoldLen]T
}

func (f *absSum[T]) take(x []T) {
	for i, v := range x {
		if v <= 0 {
			v = 0 - v // +0 for both zeros
		}
		f.abs[i] = v
	}
	addTerms(&f.summer, f.abs[:len(x)])
}

func l1Folder(r *exec.Reducer) exec.Folder {
	switch {
	case r.DType.IsInteger():
		return intFolder(r.DType, magnitudes)
	case r.DType.IsFixed():
		return fixedFolder(r, magnitudes)
	case r.DType == dtype.Float64:
		return termsFolder(r, nil, new(absSum[float64]))
	}
	return termsFolder(r, new(absSum[float32]), nil)
}

var reduceL1 = reduction{about: about{name: "ReduceL1", flops: flops{read: 2}, onnx: []int{1, 11, 13, 18}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, since: 18, takes: reals | fixeds,
	folder: l1Folder, spare: &sync.Pool{}}
