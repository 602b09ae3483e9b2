package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LpPool returns (Σ|x|ᵖ)^(1/p) of the elements under a window that moves over the
// spatial axes of x [N, C, D1, …]; padding counts as 0. The powers are computed in
// float64 and added in the fixed order of this package, and the result is rounded once.
// It panics unless p is 1 or more. ONNX LpPool, whose p is 2 by default.
func LpPool[T num.Floating](x tensor.Tensor[T], win Window, p int, opts ...Option) (r tensor.Tensor[T]) {
	lpPooled(x.Any(), contract.Window(win), p).Into(exec.Ref(&r), opts)
	return r
}

func lpPooled(x tensor.Any, win contract.Window, power int) *move.Transfer {
	const name = "LpPool"
	plan.Present(name, &x)
	p := poolOf(exec.Job{Name: name, Cost: 8}, &x, win)
	if power < 1 {
		panic(plan.Fail(name, tensor.ErrValue, "p is %d; it must be 1 or more", power))
	}
	price := plan.Copying(8, 2, 1)
	price.Costs(plan.ProductOfAll(2, plan.Count(p.shape), plan.Count(win.Kernel)))
	return &move.Transfer{Name: name, D: x.DType(), Shape: p.shape, In: move.OperandsOf(x), Price: price, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		p.Ctx = ctx
		to, src := move.NumericOf(dst), plan.RoomFor[float64](name, in[0].Len())
		move.NumericOf(in[0]).Floats(src, 0)
		pooled(p, src, false, func(o int, window []float64, _ []int, _ int) {
			to.SetFloat(o, lpNorm(window, float64(power)))
		})
	}}
}

var lpPool = plan.Operator{About: plan.About{Name: "LpPool", Versions: []int{2, 11, 18, 22},
	Attrs: []string{"auto_pad", "ceil_mode", "dilations", "kernel_shape", "p", "pads", "strides"}}, Least: 1, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover { return lpPooled(c.In(0), contract.WindowOf(c), plan.AttrInt(c, "p", 2)) }}
