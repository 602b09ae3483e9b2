package op

import (
	"errors"
	"math"

	"github.com/ashlar-go/ashlar/tensor"
)

// Slice is ONNX's: start, end and step for each named axis, with Python's meaning
// of negative and too large bounds; attributes without steps before opset 10,
// inputs from there on. A view. Typed programs call Tensor.Slice or Tensor.S.
var slice = opN{about: about{name: "Slice", flops: flops{free: true}, onnx: []int{1, 10, 11, 13}, attrs: []string{"axes", "ends", "starts"}}, least: 1, most: 5,
	planned: func(c *Call, p *Plan) {
		idx := sliceOf(c)
		if !p.brief {
			lay := spec("Slice", c.in(0).DType(), c.in(0).Shape()...).Layout() // a nested one may have no such view; the run copies
			out, _, err := lay.Slice(idx...)
			if err != nil {
				panic(fail("Slice", tensor.ErrShape, "%v", err))
			}
			p.gives(c.in(0).DType(), out.Shape()...)
		}
		p.view(func() tensor.Any {
			a, err := tensor.Slice(c.in(0), idx...)
			if errors.Is(err, tensor.ErrView) { // a range that straddles the leaves of a nested axis
				var flat tensor.Any
				if flat, err = tensor.Contiguous(c.in(0)); err == nil {
					a, err = tensor.Slice(flat, idx...)
				}
			}
			return viewed(a, err)
		})
	}}

// sliceOf returns one index per axis.
func sliceOf(c *Call) []tensor.Index {
	var starts, ends, axes, steps []int
	var some bool
	if c.Opset < 10 {
		takes("Slice", c, 1)
		s, _ := c.Attrs.Ints("starts")
		e, _ := c.Attrs.Ints("ends")
		starts, ends = bounds(s), bounds(e)
		axes, some = attrInts(c, "axes")
	} else {
		needs("Slice", c, 3)
		starts = bounds(int64s("Slice", c, 1))
		ends = bounds(int64s("Slice", c, 2))
		axes, some = ints("Slice", c, 3)
		if !c.in(4).IsZero() {
			steps = bounds(int64s("Slice", c, 4))
		}
	}
	rank := c.in(0).Rank()
	if len(starts) != len(ends) || some && len(axes) != len(starts) || steps != nil && len(steps) != len(starts) || len(starts) > rank {
		panic(fail("Slice", tensor.ErrShape, "%d starts, %d ends, %d axes, %d steps for a tensor of rank %d", len(starts), len(ends), len(axes), len(steps), rank))
	}
	idx := make([]tensor.Index, rank)
	for i := range idx {
		idx[i] = tensor.Colon
	}
	seen := make([]bool, rank)
	for i := range starts {
		axis, step := i, 1
		if some {
			axis = axisOf("Slice", axes[i], rank)
		}
		if seen[axis] {
			panic(fail("Slice", tensor.ErrAxis, "axis %d is named twice", axis))
		}
		seen[axis] = true
		if steps != nil {
			step = steps[i]
		}
		if step == 0 {
			panic(fail("Slice", tensor.ErrValue, "the step of axis %d is 0", axis))
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
