package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// SumAs is ReduceSum of the elements converted to U as Cast does: in a wider type the
// sum of small integers doesn't wrap, and that of float32 is rounded to float64.
// Integers that don't fit U lose their high bits before they are added. Options are
// those of ReduceSum. NumPy's sum with dtype.
func SumAs[U num.Number, T num.Elem](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[U]) {
	present("SumAs", exec.Ref(&a))
	if dtype.Of[T]() == dtype.Float32 && dtype.Of[U]() == dtype.Float64 {
		sumFloat64.call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
		return r
	}
	s := read(opts)
	return ReduceSum(Cast[U](a, s.quiet()...), axes, opts...)
}

// sumFloat64 leaves out the last rounding of the sum of float32.
var sumFloat64 = reduction{about: about{name: "SumAs"}, takes: 1 << dtype.Float32, gives: dtype.Float64, spare: &sync.Pool{}, fast: sumFast,
	folder: func(*exec.Reducer) exec.Folder {
		return &rounded[float32]{terms: new(termSum[float32]), dtype: dtype.Float64}
	},
	lines: func(_ dtype.DType, out, x exec.Run, step, n int) bool {
		if !trySums[float32](nil, nil, 0, 0) {
			return false
		}
		sums := exec.Of[float64](out)
		sumEach(sums, exec.Of[float32](x), step, n)
		canonicalRow(sums)
		return true
	},
	rows: func(_ dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool {
		sumTile(exec.Of[float64](out), exec.Of[float32](x), from, &down, false)
		return true
	}}
