package op

import (
	"errors"
	"math"

	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// Slice is ONNX's: start, end and step for each named axis, with Python's meaning
// of negative and too large bounds; attributes without steps before opset 10,
// inputs from there on. A view. Typed programs call Tensor.Slice or Tensor.S.
var slice = plan.Operator{About: plan.About{Name: "Slice", Shapes: true, PerAxis: 0b11110, Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{1, 10, 11, 13}, Attrs: []string{"axes", "ends", "starts"}}, Least: 1, Most: 5,
	Planned: func(c *plan.Use, p *plan.Draft) {
		idx := sliceOf(c)
		if !p.Brief {
			lay := plan.Spec("Slice", c.In(0).DType(), c.In(0).Shape()...).Layout() // a nested one may have no such view; the run copies
			out, _, err := lay.Slice(idx...)
			if err != nil {
				panic(plan.Fail("Slice", tensor.ErrShape, "%v", err))
			}
			p.Gives(c.In(0).DType(), out.Shape()...)
		}
		p.View(func() tensor.Any {
			a, err := tensor.Slice(c.In(0), idx...)
			if errors.Is(err, tensor.ErrView) { // a range that straddles the leaves of a nested axis
				var flat tensor.Any
				if flat, err = tensor.Contiguous(c.In(0)); err == nil {
					a, err = tensor.Slice(flat, idx...)
				}
			}
			return pointwise.Viewed(a, err)
		})
		p.Lay = plan.Sliced(idx)
	}}

// sliceOf returns one index per axis.
func sliceOf(c *plan.Use) []tensor.Index {
	var starts, ends, axes, steps []int
	var some bool
	if c.Opset < 10 {
		plan.Takes("Slice", c, 1)
		s, _ := c.Attrs.Ints("starts")
		e, _ := c.Attrs.Ints("ends")
		starts, ends = bounds(s), bounds(e)
		axes, some = plan.AttrInts(c, "axes")
	} else {
		plan.Needs("Slice", c, 3)
		starts = bounds(move.Int64s("Slice", c, 1))
		ends = bounds(move.Int64s("Slice", c, 2))
		axes, some = move.Ints("Slice", c, 3)
		if !c.In(4).IsZero() {
			steps = bounds(move.Int64s("Slice", c, 4))
		}
	}
	rank := c.In(0).Rank()
	if len(starts) != len(ends) || some && len(axes) != len(starts) || steps != nil && len(steps) != len(starts) || len(starts) > rank {
		panic(plan.Fail("Slice", tensor.ErrShape, "%d starts, %d ends, %d axes, %d steps for a tensor of rank %d", len(starts), len(ends), len(axes), len(steps), rank))
	}
	idx := make([]tensor.Index, rank)
	for i := range idx {
		idx[i] = tensor.Colon
	}
	seen := make([]bool, rank)
	for i := range starts {
		axis, step := i, 1
		if some {
			axis = plan.AxisOf("Slice", axes[i], rank)
		}
		if seen[axis] {
			panic(plan.Fail("Slice", tensor.ErrAxis, "axis %d is named twice", axis))
		}
		seen[axis] = true
		if steps != nil {
			step = steps[i]
		}
		if step == 0 {
			panic(plan.Fail("Slice", tensor.ErrValue, "the step of axis %d is 0", axis))
		}
		idx[axis] = tensor.R(starts[i], ends[i], step)
	}
	return idx
}

// bounds keeps bounds that mean far away from meaning an omitted one, or from
// not fitting an int.
func bounds(v []int64) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = max(int(max(min(x, math.MaxInt), math.MinInt)), tensor.None+1)
	}
	return out
}
