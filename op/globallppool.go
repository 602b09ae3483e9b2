package op

import (
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GlobalLpPool returns (Σ|x|ᵖ)^(1/p) of each channel of x [N, C, D1, …] over its
// spatial axes, which stay with extent 1; it is LpPool with a window of their extents,
// and rounds as LpPool does. It panics unless p is 1 or more, x has a spatial axis, and
// none of them is empty. ONNX GlobalLpPool, whose p is 2 by default.
func GlobalLpPool[T num.Floating](x tensor.Tensor[T], p int, opts ...Option) (r tensor.Tensor[T]) {
	globalLpPooled(x.Any(), p).Into(exec.Ref(&r), opts)
	return r
}

func globalLpPooled(x tensor.Any, power int) *move.Transfer {
	const name = "GlobalLpPool"
	plan.Present(name, &x)
	if x.Rank() < 3 {
		panic(plan.Fail(name, tensor.ErrShape, "x is %s; want [N, C, D1, …]", tensor.Describe(x)))
	}
	t := lpPooled(x, contract.Window{Kernel: x.Shape()[2:]}, power)
	t.Name = name
	return t
}

var globalLpPool = plan.Operator{About: plan.About{Name: "GlobalLpPool", FLOPs: plan.FLOPs{Read: 2}, Versions: []int{2, 22}, Attrs: []string{"p"}}, Least: 1, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover { return globalLpPooled(c.In(0), plan.AttrInt(c, "p", 2)) }}
