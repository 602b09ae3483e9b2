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

// ScatterND returns a with updates put in. A row (i, j, …) along the last axis of
// indices is a coordinate on a's first axes. The update for it, an element or
// all of the axes that it doesn't name, goes there. updates has the shape of
// indices but for the last axis, and then the axes not named. The order, the modes
// and the panics are as in ScatterElements. ONNX ScatterND.
func ScatterND[T num.Elem](a tensor.Tensor[T], indices tensor.Tensor[int64], updates tensor.Tensor[T], mode ScatterMode, opts ...Option) (r tensor.Tensor[T]) {
	scatteredND(a.Any(), indices.Any(), updates.Any(), mode).Into(exec.Ref(&r), opts)
	return r
}

func scatteredND(a, indices, updates tensor.Any, mode ScatterMode) *move.Transfer {
	plan.Present("ScatterND", &a, &indices, &updates)
	shape, by := a.Shape(), indices.Shape()
	k := ndWidth("ScatterND", shape, indices, 0)
	checkScatter("ScatterND", a, updates, append(append([]int{}, by[:len(by)-1]...), shape[k:]...), mode)
	if a.Len() == 0 {
		updates = a // none of them has a place
	}
	return &move.Transfer{Name: "ScatterND", D: a.DType(), Shape: shape, In: []tensor.Any{a, indices, updates}, Picky: true,
		Price: plan.Taking(plan.BytesIn(8, by[:len(by)-1]), 0), Fill: func(_ context.Context, dst move.Words, in []move.Words) {
			at, block := ndOffsets("ScatterND", shape, by, in[1], 0, k, nil)
			dst.Copy(0, in[0], 0, dst.Len())
			if block == 1 {
				combine(dst, at, conv.Axis{Stride: 1}, in[2], 0, mode)
				return
			}
			var along [1024]int64 // places of an update, a part at a time, each counted from the one before
			for i, first := range at {
				for from := 0; from < block; from += len(along) {
					combine(dst, along[:min(len(along), block-from)], conv.Axis{First: int(first) + from, Step: 1}, in[2], i*block+from, mode)
				}
			}
		}}
}

var scatterND = plan.Operator{About: plan.About{Name: "ScatterND", Shapes: true, Moves: plan.Moves{In: 0b101, Out: 1}, Versions: []int{11, 13, 16, 18}, Attrs: []string{"reduction"}}, Least: 3,
	Move: func(c *plan.Use) plan.Mover { return scatteredND(c.In(0), c.In(1), c.In(2), scatterMode(c)) }}
