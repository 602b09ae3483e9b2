package op

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Gather returns the entries of a along axis that indices name, in the shape of
// indices, which takes the place of that axis. Indices may be negative. It panics,
// before anything is written, when one lies outside the axis. Elements keep their
// bits. ONNX Gather.
func Gather[T num.Elem](a tensor.Tensor[T], indices tensor.Tensor[int64], axis int, opts ...Option) (r tensor.Tensor[T]) {
	gathered(exec.Ref(&r), exec.Ref(&a), exec.Ref(&indices), axis, opts)
	return r
}

// gathered is Gather for a run-time element type, and indices of int64 or int32.
func gathered(r, a, indices *tensor.Any, axis int, opts []Option) {
	const name = "Gather"
	plan.Present(name, a, indices)
	axis = plan.AxisOf(name, axis, a.Rank())
	move.WantInt(name, 1, *indices)
	if axis == a.Rank()-1 && a.IsContiguous() { // elements, not rows
		taken(name, *a, *indices, axis, TakeRaise).Into(r, opts)
		return
	}
	s, d := plan.Read(name, opts), a.DType()
	plan.AimShape(r, name, &s, d, gatherShape(*a, *indices, axis))
	at := positions(name, indices, a.Dim(axis), axis)
	if r.Len() == 0 {
		return
	}
	src, out := *a, *r
	if r.Overlaps(src) {
		src = src.Clone()
	}
	// Both sides as [before, entry, after].
	before, n, after := move.Around(src.Shape(), axis)
	if src = src.Reshape(before, n, after); !walk.Ref(src.LayoutRef()).Flat() {
		c := tensor.EmptyOf(d, before, n, after)
		c.CopyFrom(src)
		src = c
	}
	if !walk.Ref(r.LayoutRef()).Flat() || !r.CanView(before, len(at), after) {
		out = tensor.EmptyOf(d, r.Shape()...)
	}
	to := out.Reshape(before, len(at), after)
	switch {
	case d == dtype.Complex64: // at multiples of 4 bytes
		pickEntries[complex64](s.Ctx(), &to, &src, at)
	case d.Size() == 1:
		pickEntries[uint8](s.Ctx(), &to, &src, at)
	case d.Size() == 2:
		pickEntries[uint16](s.Ctx(), &to, &src, at)
	case d.Size() == 4:
		pickEntries[uint32](s.Ctx(), &to, &src, at)
	case d.Size() == 8:
		pickEntries[uint64](s.Ctx(), &to, &src, at)
	default:
		pickEntries[fixed.FP64x64](s.Ctx(), &to, &src, at)
	}
	if !out.SameData(*r) {
		r.CopyFrom(out)
	}
}

// pickEntries sets entry i of to to entry at[i] of src. Both are [before, entry, after], and W
// has the size of an element.
func pickEntries[W num.Elem](ctx context.Context, to, src *tensor.Any, at []int) {
	from, f0 := reach.DataOf[W](src)
	till, t0 := reach.MutableOf[W](to)
	stream := conv.Streams[W](to.Len())
	before, after := to.Dim(0), to.Dim(2)
	step, _ := walk.Ref(src.LayoutRef()).Stride(1)
	col, _ := walk.Ref(src.LayoutRef()).Stride(2)
	runs := before == 1 && step >= 0 && (col == 1 || after == 1) && to.IsContiguous()
	exec.Split("Gather", ctx, len(at), before*after, func(lo, hi int) {
		if runs {
			conv.Pick(till[t0+lo*after:], from[f0:], after, step, at[lo:hi], stream)
			return
		}
		for i := lo; i < hi; i++ {
			conv.Copy2(till, from, entry(to.LayoutRef(), t0, i), entry(src.LayoutRef(), f0, at[i]), stream)
		}
	})
	runtime.KeepAlive(src)
	runtime.KeepAlive(to)
}

// entry returns entry i of a flat layout [before, entry, after].
func entry(lay *layout.Layout, origin, i int) conv.Block {
	row, _ := walk.Ref(lay).Stride(0)
	step, _ := walk.Ref(lay).Stride(1)
	col, _ := walk.Ref(lay).Stride(2)
	return conv.Block{Off: origin + i*step, Rows: walk.Ref(lay).Dim(0), Row: row, Cols: walk.Ref(lay).Dim(2), Col: col}
}

func gatherShape(a, indices tensor.Any, axis int) []int {
	shape := a.Shape()
	return append(append(append([]int{}, shape[:axis]...), indices.Shape()...), shape[axis+1:]...)
}

// positions resolves indices on an axis of extent n.
func positions(name string, indices *tensor.Any, n, axis int) []int {
	plan.Fits(name, indices.Len(), 8)
	var v []int64
	if indices.DType() == dtype.Int64 && indices.IsContiguous() {
		v = move.ElemsOf[int64](indices)
	} else {
		v = move.WordsOf(*indices).Int64s(name)
	}
	var few [8]int
	at := resolved(name, v, plan.AppendShape(few[:0], indices.LayoutRef()), n, axis)
	runtime.KeepAlive(indices)
	return at
}

var gatherOp = plan.Operator{About: plan.About{Name: "Gather", Shapes: true, Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{1, 11, 13}, Attrs: []string{"axis"}}, Least: 2,
	Planned: func(c *plan.Use, p *plan.Draft) {
		move.WantInt("Gather", 1, c.In(1))
		a, at := c.With("Gather", 0), c.With("Gather", 1)
		axis := plan.AxisOf("Gather", plan.AttrInt(c, "axis", 0), a.Rank())
		if !p.Brief {
			p.Gives(a.DType(), gatherShape(*a, *at, axis)...)
		}
		p.By(c, 0, func(r *tensor.Any, opts []Option) { gathered(r, a, at, axis, opts) })
	}}
