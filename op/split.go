package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Split returns views of a, one after the other along axis, with the given extents,
// which add up to that of the axis. It panics when they don't, and with Into, which takes
// one tensor. ONNX Split.
func Split[T num.Elem](a tensor.Tensor[T], sizes []int, axis int, opts ...Option) []tensor.Tensor[T] {
	plan.Present("Split", exec.Ref(&a))
	checkViews("Split", opts)
	axis = plan.AxisOf("Split", axis, a.Rank())
	checkParts(a.Dim(axis), axis, sizes)
	return exec.TypedAll[T](parts(a.Any(), axis, sizes))
}

// ArraySplit returns views of a, one after the other along axis: n parts as equal
// as can be, the larger ones first. It panics when n is less than 1, and with Into.
// numpy.array_split.
func ArraySplit[T num.Elem](a tensor.Tensor[T], n, axis int, opts ...Option) []tensor.Tensor[T] {
	plan.Present("ArraySplit", exec.Ref(&a))
	checkViews("ArraySplit", opts)
	return exec.TypedAll[T](equalParts(a.Any(), axis, n))
}

// checkViews panics unless the options suit an operator that returns a list of views.
func checkViews(name string, opts []Option) {
	if s := plan.Read(name, opts); s.Into != nil {
		panic(plan.Fail(name, tensor.ErrValue, "it returns views, for which there is no Into; copy one with Tensor.CopyFrom"))
	}
}

func equalParts(a tensor.Any, axis, n int) []tensor.Any {
	axis = plan.AxisOf("ArraySplit", axis, a.Rank())
	if n < 1 {
		panic(plan.Fail("ArraySplit", tensor.ErrShape, "%d parts; want at least one", n))
	}
	if n > max(a.Dim(axis), mostParts) { // all the others are empty
		panic(plan.Fail("ArraySplit", tensor.ErrShape, "%d parts of an axis of %d; want at most as many, or %d", n, a.Dim(axis), mostParts))
	}
	sizes := make([]int, plan.Fits("ArraySplit", n, 256)) // a part is a tensor
	for i := range sizes {
		sizes[i] = a.Dim(axis) / n
		if i < a.Dim(axis)%n {
			sizes[i]++
		}
	}
	return parts(a, axis, sizes)
}

// mostParts is how many parts there may be of an axis that has fewer elements.
const mostParts = 1 << 16

// parts returns views of a along axis that have the given extents.
func parts(a tensor.Any, axis int, sizes []int) []tensor.Any {
	if !walk.Ref(a.LayoutRef()).Flat() { // a part of a nested axis may have no view
		a = a.Contiguous()
	}
	idx := make([]tensor.Index, a.Rank())
	for i := range idx {
		idx[i] = tensor.Colon
	}
	out := make([]tensor.Any, len(sizes))
	at := 0
	for i, n := range sizes {
		idx[axis] = tensor.R(at, at+n)
		out[i] = a.Slice(idx...)
		at += n
	}
	return out
}

func checkParts(n, axis int, sizes []int) {
	rest := n
	for i, s := range sizes {
		if s < 0 || s > rest {
			panic(plan.Fail("Split", tensor.ErrShape, "part %d of extent %d; %d of the %d on axis %d are left", i, s, rest, n, axis))
		}
		rest -= s
	}
	if rest > 0 {
		panic(plan.Fail("Split", tensor.ErrShape, "the parts leave %d of the %d on axis %d", rest, n, axis))
	}
}

var splitOp = plan.Operator{About: plan.About{Name: "Split", Shapes: true, Moves: plan.Moves{In: 1, Out: plan.EveryPlace}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{2, 11, 13, 18}, Attrs: []string{"axis", "num_outputs", "split"}}, Least: 1, Most: 2,
	Planned: func(c *plan.Use, p *plan.Draft) {
		axis, sizes := splitOf(c)
		a := c.With("Split", 0)
		if !p.Brief {
			p.Out = make([]tensor.Any, len(sizes))
			shape := a.Shape()
			for i, n := range sizes {
				shape[axis] = n
				p.Out[i] = plan.Spec("Split", a.DType(), shape...)
			}
		}
		p.Views, p.Run = true, func() { p.To = parts(*a, axis, sizes) }
		p.Lay = func(l *layout.Layout) (list []layout.Layout, err error) {
			idx, at := make([]tensor.Index, a.Rank()), 0
			for i := range idx {
				idx[i] = tensor.Colon
			}
			for _, n := range sizes {
				idx[axis] = tensor.R(at, at+n)
				part, _, err := l.Slice(idx...)
				if err != nil {
					return nil, err
				}
				list, at = append(list, part), at+n
			}
			return list, nil
		}
	}}

// splitOf returns the axis and the extents of a node's outputs: an attribute before
// opset 13, an input from there on; without them equal parts, as many as there are
// outputs, of which from opset 18 on the last may be smaller.
func splitOf(c *plan.Use) (axis int, sizes []int) {
	axis = plan.AxisOf("Split", plan.AttrInt(c, "axis", 0), c.In(0).Rank())
	n := c.In(0).Dim(axis)
	var some bool
	if c.Opset < 13 {
		plan.Takes("Split", c, 1)
		sizes, some = plan.AttrInts(c, "split")
	} else {
		sizes, some = move.Ints("Split", c, 1)
	}
	if some {
		checkParts(n, axis, sizes)
		if c.Outputs > 0 && len(sizes) != c.Outputs {
			panic(plan.Fail("Split", tensor.ErrShape, "%d extents for %d outputs", len(sizes), c.Outputs))
		}
		return axis, sizes
	}
	count := max(c.Outputs, 1)
	if count > max(n, mostParts) {
		panic(plan.Fail("Split", tensor.ErrShape, "%d outputs of an axis of %d; at most as many, or %d", count, n, mostParts))
	}
	if c.Attrs.Has("num_outputs") && c.Attrs.Int("num_outputs", 0) != int64(count) {
		panic(plan.Fail("Split", tensor.ErrShape, "num_outputs is %d for %d outputs", c.Attrs.Int("num_outputs", 0), count))
	}
	if c.Opset < 18 && n%count != 0 {
		panic(plan.Fail("Split", tensor.ErrShape, "axis %d of extent %d doesn't split into %d equal parts", axis, n, count))
	}
	part, rest := (n+count-1)/count, n
	for range count {
		sizes = append(sizes, min(part, rest))
		rest -= min(part, rest)
	}
	return axis, sizes
}
