package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Mean returns (ts[0] + ts[1] + …) ÷ len(ts), element by element: Sum, then Div.
// Shapes broadcast. It panics if they don't or there are no tensors. For the mean
// of the elements of one tensor see ReduceMean. ONNX Mean.
func Mean[T num.Floating](ts []tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	averaged(exec.Ref(&r), exec.Refs(ts), opts)
	return r
}

// averaged is Mean for a run-time element type.
func averaged(r *tensor.Any, ts []*tensor.Any, opts []Option) {
	if len(ts) == 0 {
		panic(plan.Fail("Mean", tensor.ErrShape, "no tensors; give at least one"))
	}
	plan.Present("Mean", ts...)
	all := ts[0]
	if len(ts) > 1 {
		all = new(tensor.Any)
		summed(&sum, all, ts, nil)
	}
	n := tensor.EmptyOf(ts[0].DType())
	move.NumericOf(move.WordsOf(n)).SetFloat(0, float64(len(ts)))
	div.Call(r, opts, all, &n)
	if len(ts) > 1 {
		all.Close()
	}
}

var mean = plan.Operator{About: plan.About{Name: "Mean", Versions: []int{6, 8, 13}}, Least: 1, Most: -1, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		plan.Needs("Mean", c, len(c.Inputs))
		plan.OneType("Mean", c.Inputs...)
		ts := make([]*tensor.Any, len(c.Inputs))
		for i := range ts {
			ts[i] = c.With("Mean", i)
		}
		p.Stretched(c.In(0).DType(), c, len(c.Inputs))
		p.Copies(0, 2, 1)
		p.Costs(plan.ProductOfAll(int64(len(ts)), plan.LengthOf(plan.Nth(p.Out, 0))))
		p.By(c, 0, func(r *tensor.Any, opts []Option) { averaged(r, ts, opts) })
	}}
