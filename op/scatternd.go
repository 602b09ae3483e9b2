package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ScatterND returns a with updates put in: a row (i, j, …) along the last axis of
// indices is a coordinate on a's first axes, and the update for it, an element or
// all of the axes that it doesn't name, goes there. updates has the shape of
// indices but for the last axis, and then the axes not named. The order, the modes
// and what panics are those of ScatterElements. ONNX ScatterND.
func ScatterND[T num.Elem](a tensor.Tensor[T], indices tensor.Tensor[int64], updates tensor.Tensor[T], mode ScatterMode, opts ...Option) (r tensor.Tensor[T]) {
	scatteredND(a.Any(), indices.Any(), updates.Any(), mode).into(exec.Ref(&r), opts)
	return r
}

func scatteredND(a, indices, updates tensor.Any, mode ScatterMode) *transfer {
	present("ScatterND", &a, &indices, &updates)
	shape, by := a.Shape(), indices.Shape()
	k := ndWidth("ScatterND", shape, indices, 0)
	checkScatter("ScatterND", a, updates, append(append([]int{}, by[:len(by)-1]...), shape[k:]...), mode)
	return &transfer{name: "ScatterND", d: a.DType(), shape: shape, in: []tensor.Any{a, indices, updates}, picky: true, fill: func(_ context.Context, dst words, in []words) {
		at, block := ndOffsets("ScatterND", shape, by, in[1], 0, k, nil)
		dst.copy(0, in[0], 0, dst.len())
		if block == 1 {
			combine(dst, at, conv.Axis{Stride: 1}, in[2], 0, mode)
			return
		}
		along := make([]int64, block)
		for i, first := range at {
			combine(dst, along, conv.Axis{First: int(first), Step: 1}, in[2], i*block, mode)
		}
	}}
}

var scatterND = opN{about: about{name: "ScatterND", onnx: []int{11, 13, 16, 18}, attrs: []string{"reduction"}}, least: 3,
	move: func(c *Call) *transfer { return scatteredND(c.in(0), c.in(1), c.in(2), scatterMode(c)) }}
