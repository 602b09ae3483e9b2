package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// SumAs is ReduceSum of the elements converted to U as Cast does: in a wider type the
// sum of small integers doesn't wrap, and that of float32 is rounded to float64.
// Integers that don't fit U lose their high bits before they are added. Options are
// those of ReduceSum. NumPy's sum with dtype.
func SumAs[U num.Number, T num.Elem](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[U] {
	present("SumAs", exec.Ref(&a))
	s := read(opts)
	return ReduceSum(Cast[U](a, s.quiet()...), axes, opts...)
}
