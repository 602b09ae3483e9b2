package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Ptp returns the distance of the largest and the smallest element of a along the
// given axes, nil meaning all: ReduceMax less ReduceMin. Integers wrap, NaN makes it
// NaN. It panics on an empty axis. numpy.ptp.
func Ptp[T num.Native | num.Narrow](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	plan.Present("Ptp", exec.Ref(&a))
	var keep []Option
	if s := plan.ReadReduction(opts); s.KeepDims {
		keep = append(keep, KeepDims())
	}
	return Sub(ReduceMax(a, axes, keep...), ReduceMin(a, axes, keep...), plan.Without(opts, plan.KeepDims)...)
}
