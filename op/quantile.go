package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Quantile returns the elements below which the part q of those over axes lies, or
// of all when axes is nil: at position q·(n − 1) of the sorted elements, between two
// the straight line between them, in float64 and rounded once. NaN if any is NaN,
// and of nothing. The reduced axes go, unless KeepDims. It panics when q is outside
// [0, 1]. It selects and doesn't sort: n elements take O(n) steps. NumPy quantile with method linear.
func Quantile[T num.Float | num.Narrow](a tensor.Tensor[T], q float64, axes []int, opts ...Option) (r tensor.Tensor[T]) {
	quantileOp.call(exec.Ref(&r), exec.Ref(&a), axes, q, opts)
	return r
}

var quantileOp = reduction{about: about{name: "Quantile", attrs: []string{"axes", "keepdims", "q"}}, since: 18, takes: floats, collects: true,
	folder: quantileFolder, param: func(c *Call) float64 { return float64(c.Attrs.Float("q", 0.5)) },
	check: func(q float64) {
		if !(q >= 0 && q <= 1) {
			panic(fail("Quantile", tensor.ErrValue, "q is %v; it must be between 0 and 1", q))
		}
	}}
