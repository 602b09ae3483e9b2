package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// TensorScatter returns cache with update written over part of axis: for the sequence b, index b of axis 0, from at[b] on; from 0 where at is
// the zero Tensor. Their shapes agree elsewhere, and axis, which may be negative, isn't 0. With o.Circular it goes on at 0 after the end of
// axis: it takes indices modulo the extent. Elements keep their bits. It panics when shapes don't fit, an update begins before 0 or,
// unless o.Circular, ends beyond the axis. ONNX TensorScatter.
func TensorScatter[T num.Elem](cache, update tensor.Tensor[T], at tensor.Tensor[int64], axis int, o TensorScatterOptions, opts ...Option) (r tensor.Tensor[T]) {
	written(cache.Any(), update.Any(), at.Any(), axis, o.Circular).Into(exec.Ref(&r), opts)
	return r
}

// TensorScatterOptions says where TensorScatter writes past the end of the axis.
type TensorScatterOptions struct {
	Circular bool // at its beginning: "circular" of ONNX's attribute mode
}

func written(cache, update, at tensor.Any, axis int, circular bool) *move.Transfer {
	const name = "TensorScatter"
	plan.Present(name, &cache, &update)
	shape := cache.Shape()
	if cache.DType() != update.DType() {
		panic(plan.Fail(name, tensor.ErrDType, "the cache holds %v, the update %v; convert one with op.Cast", cache.DType(), update.DType()))
	}
	if axis = plan.AxisOf(name, axis, len(shape)); axis == 0 {
		panic(plan.Fail(name, tensor.ErrAxis, "axis 0 is that of the sequences; want another"))
	}
	fit := update.Rank() == len(shape)
	for i := 0; fit && i < len(shape); i++ {
		fit = update.Dim(i) == shape[i] || i == axis && update.Dim(i) < shape[i]
	}
	if !fit {
		panic(plan.Fail(name, tensor.ErrShape, "the update %s doesn't fit the cache %s; its shape may differ on axis %d alone, where it is no longer", tensor.Describe(update), tensor.Describe(cache), axis))
	}
	if !at.IsZero() {
		move.WantInt(name, 2, at)
		if !plan.SameShape(at.LayoutRef(), shape[:1]) {
			panic(plan.Fail(name, tensor.ErrShape, "input 2, where the updates begin, is %s; want [%d], one for each sequence", tensor.Describe(at), shape[0]))
		}
	}
	long := update.Dim(axis)
	return &move.Transfer{Name: name, D: cache.DType(), Shape: shape, In: move.OperandsOf(cache, update, at), Picky: true, Fill: func(_ context.Context, dst move.Words, in []move.Words) {
		var starts []int64 // 0 without them
		if !in[2].Absent() {
			starts = in[2].Int64s(name)
			for b, v := range starts {
				if v < 0 || !circular && v > int64(shape[axis]-long) {
					panic(plan.Fail(name, tensor.ErrIndex, "the update of sequence %d begins at %d of axis %d, of %d, and is %d long", b, v, axis, shape[axis], long))
				}
			}
		}
		dst.Copy(0, in[0], 0, dst.Len())
		before, n, after := move.Around(shape, axis)
		if dst.Len() == 0 || long == 0 {
			return
		}
		for r := range before {
			first := 0
			if starts != nil {
				first = int(starts[r/(before/shape[0])] % int64(n))
			}
			head := min(long, n-first)
			dst.Copy((r*n+first)*after, in[1], r*long*after, head*after)
			dst.Copy(r*n*after, in[1], (r*long+head)*after, (long-head)*after)
		}
	}}
}

var tensorScatter = plan.Operator{About: plan.About{Name: "TensorScatter", Moves: plan.Moves{In: 0b11, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{24}, Attrs: []string{"axis", "mode"}}, Least: 2, Most: 3,
	Move: func(c *plan.Use) plan.Mover {
		mode := c.Attrs.Str("mode", "linear")
		if mode != "linear" && mode != "circular" {
			panic(plan.Fail("TensorScatter", tensor.ErrValue, "mode %.40q; want linear or circular", mode))
		}
		return written(c.In(0), c.In(1), c.In(2), plan.AttrInt(c, "axis", -2), mode == "circular")
	}}
