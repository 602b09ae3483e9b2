package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Quantile returns the elements below which the part q of those over axes lies, or
// of all when axes is nil: at position q·(n − 1) of the sorted elements, between two
// the straight line between them, in float64 and rounded once. NaN if any is NaN,
// and of nothing. The reduced axes go, unless KeepDims. It panics when q is outside
// [0, 1]. It selects and doesn't sort: n elements take O(n) steps. NumPy quantile with method linear.
func Quantile[T num.Floating](a tensor.Tensor[T], q float64, axes []int, opts ...Option) (r tensor.Tensor[T]) {
	quantileOp.Call(exec.Ref(&r), exec.Ref(&a), axes, q, opts)
	return r
}

var quantileOp = reduce.Operator{About: plan.About{Name: "Quantile", Attrs: []string{"axes", "keepdims", "q"}}, Since: 18, Takes: plan.Floats, Collects: true,
	Folder: quantileFolder, Param: func(c *plan.Use) float64 { return float64(c.Attrs.Float("q", 0.5)) },
	Check: func(q float64) {
		if !(q >= 0 && q <= 1) {
			panic(plan.Fail("Quantile", tensor.ErrValue, "q is %v; it must be between 0 and 1", q))
		}
	}}
