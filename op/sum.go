package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Sum returns ts[0] + ts[1] + …, element by element, added from the left as Add
// does. Shapes broadcast. Of a single tensor it returns a copy. It panics if the
// shapes don't broadcast or there are no tensors. For the sum of the elements of
// one tensor see ReduceSum. Sums of fixed point are exact and rounded once, so that only
// the last can be beyond the format. ONNX Sum.
func Sum[T num.Number](ts []tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	if len(ts) == 0 {
		panic(plan.Fail("Sum", tensor.ErrShape, "no tensors; give at least one"))
	}
	summed(&sum, exec.Ref(&r), exec.Refs(ts), opts)
	return r
}

// summed is Sum for a run-time element type.
func summed(o *pointwise.Operator, r *tensor.Any, ts []*tensor.Any, opts []Option) {
	plan.Present("Sum", ts...)
	if len(ts) == 1 {
		s := plan.Read("Sum", opts)
		plan.Aim(r, "Sum", &s, ts[0].DType(), ts[0].LayoutRef())
		r.CopyFrom(*ts[0])
		return
	}
	if d := ts[0].DType(); len(ts) > 2 && d.IsFixed() {
		sumFixed(r, ts, opts)
		return
	}
	acc := ts[0]
	for _, t := range ts[1 : len(ts)-1] {
		var next tensor.Any
		o.Call(&next, nil, acc, t)
		acc = &next
	}
	o.Call(r, opts, acc, ts[len(ts)-1])
}

// sumFixed is Sum of fixed point: the line of each element's terms is reduced.
func sumFixed(r *tensor.Any, ts []*tensor.Any, opts []Option) {
	d := ts[0].DType()
	ls, args := make([]*layout.Layout, len(ts)), make([]pointwise.Arg, len(ts))
	for i, t := range ts {
		ls[i], args[i] = t.LayoutRef(), pointwise.ArgOf("Sum", t)
	}
	if pointwise.IsLazy(ts...) {
		pointwise.Noted(r, pointwise.Note{Name: "Sum", Cost: len(ts), Alone: true, Also: plan.Kept(opts), Args: args,
			Run: func(r *tensor.Any, in []*tensor.Any, opts []Option) { sumFixed(r, in, opts) }}, d, opts, ls...)
		return
	}
	shape, lines := plan.BroadcastShape("Sum", nil, ls...), make([]tensor.Any, len(ts))
	for i, t := range ts {
		lines[i] = t.BroadcastTo(shape...).Slice(tensor.Ellipsis, tensor.NewAxis)
	}
	plan.Read("Sum", opts) // the reduction below has options that Sum doesn't have
	var stacked tensor.Any
	concatenated(&stacked, len(shape), lines, nil)
	sumLine.Call(r, &stacked, []int{len(shape)}, 0, opts)
}

// sumLine adds the terms of an element.
var sumLine = reduce.Operator{About: plan.About{Name: "Sum"}, Takes: plan.Fixeds, Folder: sumFolder}

var sum = pointwise.Operator{About: plan.About{Name: "Sum", Shapes: true, Versions: []int{6, 8, 13}}, Fold: true, Once: summed, Clean: true,
	Rows: exec.Two(&simd.Add, &addRows), Fixed: &addFixed}
