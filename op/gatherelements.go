package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GatherElements returns, in the shape of indices, elements of a: that at (i, j, k)
// is a's at (i, indices(i,j,k), k) for axis 1, and so for others. Ranks are equal,
// and on the other axes indices reach no further than a. They may be negative. It
// panics, before anything is written, when one lies outside the axis. Elements keep
// their bits. ONNX GatherElements; TakeAlongAxis broadcasts the other axes.
func GatherElements[T num.Elem](a tensor.Tensor[T], indices tensor.Tensor[int64], axis int, opts ...Option) (r tensor.Tensor[T]) {
	elementsAt("GatherElements", a.Any(), indices.Any(), axis).Into(exec.Ref(&r), opts)
	return r
}

func elementsAt(name string, a, indices tensor.Any, axis int) *move.Transfer {
	plan.Present(name, &a, &indices)
	shape := a.Shape()
	axis = elementAxis(name, shape, indices, axis)
	out := indices.Shape()
	return &move.Transfer{Name: name, D: a.DType(), Shape: out, In: []tensor.Any{a, indices}, Picky: true, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		at := in[1].Places(name)
		move.CheckPlaces(name, at, out, shape[axis], axis)
		if dst.Len() == 0 {
			return // however many rows of none there are
		}
		last := len(out) - 1
		exec.Split(name, ctx, plan.Elements(out[:last]), out[last], func(from, to int) {
			alongRows(shape, out, axis, from, to, func(from, n int, x conv.Axis) {
				conv.Take(dst.Mem[from*dst.Size:], in[0].Mem, dst.Size, at[from:from+n], x)
			})
		})
	}}
}

// elementAxis checks the shape of the indices of GatherElements and its like.
func elementAxis(name string, shape []int, indices tensor.Any, axis int) int {
	axis = plan.AxisOf(name, axis, len(shape))
	if indices.Rank() != len(shape) {
		panic(plan.Fail(name, tensor.ErrShape, "indices have rank %d, the data %d", indices.Rank(), len(shape)))
	}
	for i, n := range shape {
		if i != axis && indices.Dim(i) > n {
			panic(plan.Fail(name, tensor.ErrShape, "indices have extent %d on axis %d, the data %d; only axis %d may be longer", indices.Dim(i), i, n, axis))
		}
	}
	move.WantInt(name, 1, indices)
	return axis
}

// alongRows calls f with the runs of indices along their last axis, from run from up to run to: they have the
// shape by, and name elements along axis of a tensor of the given shape.
func alongRows(shape, by []int, axis, from, to int, f func(from, n int, x conv.Axis)) {
	stride := move.Steps(shape)
	last := len(by) - 1
	x := conv.Axis{N: shape[axis], Stride: stride[axis], Step: 1}
	if axis == last {
		x.Step = 0
	}
	for r := from; r < to; r++ {
		x := x
		for k, rest := last-1, r; k >= 0; k-- {
			if k != axis {
				x.First += rest % by[k] * stride[k]
			}
			rest /= by[k]
		}
		f(r*by[last], by[last], x)
	}
}

// resolved checks indices, which have a shape, against an axis of extent n.
func resolved(name string, indices []int64, shape []int, n, axis int) []int {
	move.CheckPlaces(name, indices, shape, n, axis)
	at := make([]int, plan.Fits(name, len(indices), 8))
	for i, v := range indices {
		at[i] = int(v + int64(n)&(v>>63))
	}
	return at
}

var gatherElements = plan.Operator{About: plan.About{Name: "GatherElements", Shapes: true, Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{11, 13}, Attrs: []string{"axis"}}, Least: 2,
	Move: func(c *plan.Use) plan.Mover {
		return elementsAt("GatherElements", c.In(0), c.In(1), plan.AttrInt(c, "axis", 0))
	}}
