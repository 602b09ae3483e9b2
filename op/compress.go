package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Compress returns the entries of a along axis where cond, of rank 1, is true; those
// beyond its end go. It panics when cond is longer than the axis. Elements keep
// their bits. ONNX Compress, which without an axis takes elements of the flattened
// tensor: a.Reshape(-1) is that.
func Compress[T num.Elem](a tensor.Tensor[T], cond tensor.Tensor[bool], axis int, opts ...Option) (r tensor.Tensor[T]) {
	compressed(a.Any(), cond.Any(), axis).Into(exec.Ref(&r), opts)
	return r
}

func compressed(a, cond tensor.Any, axis int) *move.Transfer {
	plan.Present("Compress", &a, &cond)
	shape := a.Shape()
	axis = plan.AxisOf("Compress", axis, len(shape))
	switch {
	case cond.DType() != dtype.Bool:
		panic(plan.Fail("Compress", tensor.ErrDType, "the condition holds %v, want bool", cond.DType()))
	case cond.Rank() != 1 || cond.Dim(0) > shape[axis]:
		panic(plan.Fail("Compress", tensor.ErrShape, "the condition is %s; want one axis of at most %d, the extent of axis %d", tensor.Describe(cond), shape[axis], axis))
	}
	if cond.IsSpec() {
		panic(plan.Unknown("Compress", 1))
	}
	held := move.WordsOf(cond)
	n := len(held.Mem)
	out := append([]int{}, shape...)
	out[axis] = conv.True(held.Mem)
	return &move.Transfer{Name: "Compress", D: a.DType(), Shape: out, In: []tensor.Any{a, *held.Of}, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		truth := in[1].Mem
		before, extent, after := move.Around(shape, axis)
		exec.Split("Compress", ctx, before, n*after, func(from, to int) {
			for b := from; b < to; b++ {
				line, into := in[0].Mem[b*extent*after*dst.Size:][:n*after*dst.Size], dst.Mem[b*out[axis]*after*dst.Size:][:out[axis]*after*dst.Size]
				if after == 1 {
					conv.Filter(into, line, dst.Size, truth)
					continue
				}
				k := 0
				for i, v := range truth {
					if v != 0 {
						k += copy(into[k:], line[i*after*dst.Size:(i+1)*after*dst.Size])
					}
				}
			}
		})
	}}
}

var compress = plan.Operator{About: plan.About{Name: "Compress", Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{9, 11}, Attrs: []string{"axis"}}, Least: 2,
	Move: func(c *plan.Use) plan.Mover {
		a := c.In(0)
		if c.Attrs.Has("axis") {
			return compressed(a, c.In(1), plan.AttrInt(c, "axis", 0))
		}
		if a.IsSpec() {
			flat, err := tensor.NewSpec(a.DType(), a.Len())
			if err != nil {
				panic(err)
			}
			return compressed(flat.Any(), c.In(1), 0)
		}
		return compressed(pointwise.Viewed(tensor.Reshape(a, a.Len())), c.In(1), 0)
	}}
