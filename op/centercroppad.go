package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CenterCropPad returns a with the given extents on the given axes, nil meaning all:
// where an axis is too long its middle stays, where it is too short zeros go on both
// sides; of an odd difference the larger half is at the end. It panics when there
// isn't an extent of at least 0 for each axis. Elements keep their bits. ONNX
// CenterCropPad.
func CenterCropPad[T num.Elem](a tensor.Tensor[T], extents, axes []int, opts ...Option) (r tensor.Tensor[T]) {
	centered(a.Any(), extents, axes).Into(exec.Ref(&r), opts)
	return r
}

func centered(a tensor.Any, extents, axes []int) *move.Transfer {
	const name = "CenterCropPad"
	plan.Present(name, &a)
	shape := a.Shape()
	if axes == nil {
		for i := range shape {
			axes = append(axes, i)
		}
	}
	if len(extents) != len(axes) {
		panic(plan.Fail(name, tensor.ErrShape, "%d extents for %d axes", len(extents), len(axes)))
	}
	out := append([]int{}, shape...)
	seen := make([]bool, len(shape))
	for k, x := range axes {
		i := plan.AxisOf(name, x, len(shape))
		if seen[i] {
			panic(plan.Fail(name, tensor.ErrAxis, "axis %d is named twice in %s", x, plan.ListText(axes)))
		}
		seen[i] = true
		if out[i] = extents[k]; out[i] < 0 {
			panic(plan.Fail(name, tensor.ErrShape, "extent %d of axis %d is negative", out[i], i))
		}
	}
	maps := make([]move.Mapping, len(shape))
	for i, n := range shape {
		if out[i] != n {
			first := (n - out[i]) / 2 // rounds toward 0 both ways: the smaller half is in front
			maps[i] = move.Mapping{N: out[i], At: func(place int) move.Piece { return padPiece(PadConstant, place+first, n) }}
		}
	}
	return &move.Transfer{Name: name, D: a.DType(), Shape: out, In: []tensor.Any{a}, Price: plan.Taking(move.RemapScratch(maps), 0), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		move.Remap(name, ctx, dst, in[0], shape, maps, make([]byte, dst.Size))
	}}
}

var centerCropPad = plan.Operator{About: plan.About{Name: "CenterCropPad", PerAxis: 0b10, Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{18}, Attrs: []string{"axes"}}, Least: 2,
	Move: func(c *plan.Use) plan.Mover {
		extents, _ := move.Ints("CenterCropPad", c, 1)
		axes, _ := plan.AttrInts(c, "axes")
		return centered(c.In(0), extents, axes)
	}}
