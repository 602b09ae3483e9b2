package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// SumAs is ReduceSum of the elements converted to U as Cast does: in a wider type the
// sum of small integers doesn't wrap, and that of float32 is rounded to float64.
// Integers that don't fit U lose their high bits before they are added. Options are
// as in ReduceSum. NumPy's sum with dtype.
func SumAs[U num.Number, T num.Elem](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[U]) {
	plan.Present("SumAs", exec.Ref(&a))
	if dtype.Of[T]() == dtype.Float32 && dtype.Of[U]() == dtype.Float64 {
		sumFloat64.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
		return r
	}
	s := plan.ReadReduction(opts)
	return ReduceSum(Cast[U](a, s.Quiet()...), axes, opts...)
}

// sumFloat64 leaves out the last rounding of the sum of float32.
var sumFloat64 = reduce.Operator{About: plan.About{Name: "SumAs"}, Takes: 1 << dtype.Float32, Gives: dtype.Float64, Spare: &sync.Pool{},
	Folder: func(*exec.Reducer) exec.Folder {
		return &reduce.Rounded[float32]{Terms: new(termSum[float32]), Dtype: dtype.Float64}
	},
	Lines: func(_ dtype.DType, out, x exec.Run, step, n int) bool {
		if !reduce.TrySums[float32](nil, nil, 0, 0) {
			return false
		}
		sums := exec.Of[float64](out)
		reduce.SumEach(sums, exec.Of[float32](x), step, n)
		cast.CanonicalRow(sums)
		return true
	},
	Rows: func(_ dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool {
		reduce.SumDown(exec.Of[float64](out), exec.Of[float32](x), from, &down, false)
		return true
	}}
