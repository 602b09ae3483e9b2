package op

import (
	"context"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GatherND returns the parts of a that indices name. A row (i, j, …) along the last
// axis of indices is a coordinate on a's axes after the first batch ones, which the
// two have in common. It stands for the part of a there: an element, or all of the
// axes that it doesn't name. Indices may be negative. It panics when the shapes
// don't fit and, before anything is written, when an index lies outside its axis.
// Elements keep their bits. ONNX GatherND.
func GatherND[T num.Elem](a tensor.Tensor[T], indices tensor.Tensor[int64], batch int, opts ...Option) (r tensor.Tensor[T]) {
	gatheredND(a.Any(), indices.Any(), batch).Into(exec.Ref(&r), opts)
	return r
}

func gatheredND(a, indices tensor.Any, batch int) *move.Transfer {
	plan.Present("GatherND", &a, &indices)
	shape, by := a.Shape(), indices.Shape()
	k := ndWidth("GatherND", shape, indices, batch)
	out := append(append([]int{}, by[:len(by)-1]...), shape[batch+k:]...)
	return &move.Transfer{Name: "GatherND", D: a.DType(), Shape: out, In: []tensor.Any{a, indices}, Picky: true, Price: plan.Taking(plan.BytesIn(8, by[:len(by)-1]), 0), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		at, block := ndOffsets("GatherND", shape, by, in[1], batch, k, func(c *coordinates, n int) bool { // elements, a few at a time
			if !dst.Fresh {
				return false
			}
			var bad atomic.Bool
			exec.Split("GatherND", ctx, n, 1+k, func(from, to int) {
				var few [1024]int64
				for i := from; i < to; i += len(few) {
					at := few[:min(len(few), to-i)]
					if !c.offsets(at, i) {
						bad.Store(true)
						return
					}
					conv.Take(dst.Mem[i*dst.Size:], in[0].Mem, dst.Size, at, conv.Axis{Stride: 1})
				}
			})
			return !bad.Load()
		})
		if block == 1 {
			exec.Split("GatherND", ctx, len(at), 1, func(from, to int) {
				conv.Take(dst.Mem[from*dst.Size:], in[0].Mem, dst.Size, at[from:to], conv.Axis{Stride: 1})
			})
			return
		}
		exec.Split("GatherND", ctx, len(at), 1+block/4, func(from, to int) {
			for i, first := range at[from:to] {
				dst.Copy((from+i)*block, in[0], int(first), block)
			}
		})
	}}
}

// ndWidth checks the indices of GatherND and ScatterND and returns how many axes
// a coordinate names.
func ndWidth(name string, shape []int, indices tensor.Any, batch int) int {
	move.WantInt(name, 1, indices)
	if indices.Rank() < 1 || batch < 0 || batch >= indices.Rank() || batch > len(shape) {
		panic(plan.Fail(name, tensor.ErrShape, "%d batch axes for data of rank %d and indices of rank %d, whose last axis holds coordinates", batch, len(shape), indices.Rank()))
	}
	for i := range batch {
		if shape[i] != indices.Dim(i) {
			panic(plan.Fail(name, tensor.ErrShape, "batch axis %d has extent %d in the data and %d in the indices", i, shape[i], indices.Dim(i)))
		}
	}
	k := indices.Dim(indices.Rank() - 1)
	if k > len(shape)-batch {
		panic(plan.Fail(name, tensor.ErrShape, "coordinates of %d numbers for data of rank %d with %d batch axes", k, len(shape), batch))
	}
	return k
}

// ndOffsets returns where in the data the block of each coordinate begins, and how
// many elements a block has. Where blocks are elements and alone, if there is one,
// does the work with the coordinates, there is nothing to return.
func ndOffsets(name string, shape, by []int, indices move.Words, batch, k int, alone func(c *coordinates, n int) bool) (at []int64, block int) {
	block = 1
	for _, e := range shape[batch+k:] {
		block *= e
	}
	c, n := coordinates{extents: shape[batch : batch+k], strides: move.Steps(shape)[batch:], per: 1, whole: 1}, 1
	for i, e := range by[:len(by)-1] {
		n *= e
		if i >= batch {
			c.per *= e
		}
	}
	for _, e := range shape[batch:] {
		c.whole *= e
	}
	c.v = indices.Places(name)
	if len(c.v) == 0 && block == 0 { // coordinates without numbers of blocks without elements, of which there may be any number
		return nil, 0
	}
	if block == 1 && alone != nil && alone(&c, n) {
		return nil, 0
	}
	at = plan.RoomFor[int64](name, n)
	if !c.offsets(at, 0) {
		for i, p := range c.v {
			if extent := int64(c.extents[i%k]); p < -extent || p >= extent {
				panic(plan.Fail(name, tensor.ErrIndex, "index %d at %s is outside axis %d of extent %d", p, plan.ShapeText(plan.Unravel(i, by)), batch+i%k, extent))
			}
		}
	}
	return at, block
}

// coordinates are the coordinates of GatherND and ScatterND.
type coordinates struct {
	v                []int64 // one coordinate after the other
	extents, strides []int
	per, whole       int // coordinates and elements of one batch entry
}

// offsets sets at to where the coordinates from from on lead, and reports whether all are inside.
func (c *coordinates) offsets(at []int64, from int) bool {
	k := len(c.extents)
	for len(at) > 0 {
		entry := from / c.per
		part := at[:min(len(at), (entry+1)*c.per-from)]
		for i := range part {
			part[i] = int64(entry * c.whole)
		}
		for x, extent := range c.extents {
			if !addPlaces(part, c.v[from*k+x:], k, int64(extent), int64(c.strides[x])) {
				return false
			}
		}
		at, from = at[len(part):], from+len(part)
	}
	return true
}

// addPlaces adds the indices that are k apart in v, times stride, and reports whether all are on an axis of an extent.
func addPlaces(at, v []int64, k int, extent, stride int64) bool {
	j, wrong := 0, int64(0)
	for i := range at {
		p := v[j]
		p += extent & (p >> 63)
		wrong |= p | (extent - 1 - p)
		at[i] += p * stride
		j += k
	}
	return wrong >= 0
}

var gatherND = plan.Operator{About: plan.About{Name: "GatherND", Shapes: true, Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{11, 12, 13}, Attrs: []string{"batch_dims"}}, Least: 2,
	Move: func(c *plan.Use) plan.Mover {
		return gatheredND(c.In(0), c.In(1), plan.AttrInt(c, "batch_dims", 0))
	}}
