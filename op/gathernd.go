package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GatherND returns the parts of a that indices name: a row (i, j, …) along the last
// axis of indices is a coordinate on a's axes after the first batch ones, which the
// two have in common, and stands for what a holds there: an element, or all of the
// axes that it doesn't name. Indices may be negative. It panics when the shapes
// don't fit and, before anything is written, when an index lies outside its axis.
// Elements keep their bits. ONNX GatherND.
func GatherND[T num.Elem](a tensor.Tensor[T], indices tensor.Tensor[int64], batch int, opts ...Option) (r tensor.Tensor[T]) {
	gatheredND(a.Any(), indices.Any(), batch).into(exec.Ref(&r), opts)
	return r
}

func gatheredND(a, indices tensor.Any, batch int) *transfer {
	present("GatherND", &a, &indices)
	shape, by := a.Shape(), indices.Shape()
	k := ndWidth("GatherND", shape, indices, batch)
	out := append(append([]int{}, by[:len(by)-1]...), shape[batch+k:]...)
	return &transfer{name: "GatherND", d: a.DType(), shape: out, in: []tensor.Any{a, indices}, picky: true, fill: func(ctx context.Context, dst words, in []words) {
		at, block := ndOffsets("GatherND", shape, by, in[1], batch, k)
		if block == 1 {
			exec.Split("GatherND", ctx, len(at), 1, func(from, to int) {
				conv.Take(dst.mem[from*dst.size:], in[0].mem, dst.size, at[from:to], conv.Axis{Stride: 1})
			})
			return
		}
		exec.Split("GatherND", ctx, len(at), 1+block/4, func(from, to int) {
			for i, first := range at[from:to] {
				dst.copy((from+i)*block, in[0], int(first), block)
			}
		})
	}}
}

// ndWidth checks the indices of GatherND and ScatterND and returns how many axes
// a coordinate names.
func ndWidth(name string, shape []int, indices tensor.Any, batch int) int {
	wantInt(name, 1, indices)
	if indices.Rank() < 1 || batch < 0 || batch >= indices.Rank() || batch > len(shape) {
		panic(fail(name, tensor.ErrShape, "%d batch axes for data of rank %d and indices of rank %d, whose last axis holds coordinates", batch, len(shape), indices.Rank()))
	}
	for i := range batch {
		if shape[i] != indices.Dim(i) {
			panic(fail(name, tensor.ErrShape, "batch axis %d has extent %d in the data and %d in the indices", i, shape[i], indices.Dim(i)))
		}
	}
	k := indices.Dim(indices.Rank() - 1)
	if k > len(shape)-batch {
		panic(fail(name, tensor.ErrShape, "coordinates of %d numbers for data of rank %d with %d batch axes", k, len(shape), batch))
	}
	return k
}

// ndOffsets returns where in the data the block of each coordinate begins, and how
// many elements a block has.
func ndOffsets(name string, shape, by []int, indices words, batch, k int) (at []int64, block int) {
	stride := steps(shape)
	block = 1
	for _, e := range shape[batch+k:] {
		block *= e
	}
	per, n := 1, 1 // coordinates of one batch, and all
	for i, e := range by[:len(by)-1] {
		n *= e
		if i >= batch {
			per *= e
		}
	}
	whole := 1 // elements of one batch
	for _, e := range shape[batch:] {
		whole *= e
	}
	v := indices.places(name)
	if len(v) == 0 && block == 0 { // coordinates without numbers of blocks without elements, of which there may be any number
		return nil, 0
	}
	at = roomFor[int64](name, n)
	for i := range at {
		row, first := v[i*k:(i+1)*k], int64(i/per*whole)
		for x, p := range row {
			extent := int64(shape[batch+x])
			if p += extent & (p >> 63); uint64(p) >= uint64(extent) {
				panic(fail(name, tensor.ErrIndex, "index %d at %s is outside axis %d of extent %d", row[x], shapeText(unravel(i*k+x, by)), batch+x, extent))
			}
			first += p * int64(stride[batch+x])
		}
		at[i] = first
	}
	return at, block
}

var gatherND = opN{about: about{name: "GatherND", onnx: []int{11, 12, 13}, attrs: []string{"batch_dims"}}, least: 2,
	move: func(c *Call) *transfer {
		return gatheredND(c.in(0), c.in(1), attrInt(c, "batch_dims", 0))
	}}
