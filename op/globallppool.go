package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GlobalLpPool returns (Σ|x|ᵖ)^(1/p) of each channel of x [N, C, D1, …] over its
// spatial axes, which stay with extent 1; it is LpPool with a window of their extents,
// and rounds as LpPool does. It panics unless p is 1 or more, x has a spatial axis, and
// none of them is empty. ONNX GlobalLpPool, whose p is 2 by default.
func GlobalLpPool[T num.Float | num.Narrow](x tensor.Tensor[T], p int, opts ...Option) (r tensor.Tensor[T]) {
	globalLpPooled(x.Any(), p).into(exec.Ref(&r), opts)
	return r
}

func globalLpPooled(x tensor.Any, power int) *transfer {
	const name = "GlobalLpPool"
	present(name, &x)
	if x.Rank() < 3 {
		panic(fail(name, tensor.ErrShape, "x is %s; want [N, C, D1, …]", tensor.Describe(x)))
	}
	t := lpPooled(x, Window{Kernel: x.Shape()[2:]}, power)
	t.name = name
	return t
}

var globalLpPool = opN{about: about{name: "GlobalLpPool", takesUp: inDoubles, flops: flops{read: 2}, onnx: []int{2, 22}, attrs: []string{"p"}}, least: 1, takes: floats,
	move: func(c *Call) *transfer { return globalLpPooled(c.in(0), attrInt(c, "p", 2)) }}
