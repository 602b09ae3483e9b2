package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GatherElements returns, in the shape of indices, elements of a: that at (i, j, k)
// is a's at (i, indices(i,j,k), k) for axis 1, and so for others. Ranks are equal,
// and on the other axes indices reach no further than a. They may be negative. It
// panics, before anything is written, when one lies outside the axis. Elements keep
// their bits. ONNX GatherElements; TakeAlongAxis broadcasts the other axes.
func GatherElements[T num.Elem](a tensor.Tensor[T], indices tensor.Tensor[int64], axis int, opts ...Option) (r tensor.Tensor[T]) {
	elementsAt("GatherElements", a.Any(), indices.Any(), axis).into(exec.Ref(&r), opts)
	return r
}

func elementsAt(name string, a, indices tensor.Any, axis int) *transfer {
	present(name, &a, &indices)
	shape := a.Shape()
	axis = elementAxis(name, shape, indices, axis)
	out := indices.Shape()
	return &transfer{name: name, d: a.DType(), shape: out, in: []tensor.Any{a, indices}, picky: true, fill: func(ctx context.Context, dst words, in []words) {
		at := elementOffsets(name, shape, out, in[1], axis)
		exec.Split(name, ctx, len(at), 1, func(from, to int) { dst.pick(from, in[0], at[from:to]) })
	}}
}

// elementAxis checks the shape of the indices of GatherElements and its like.
func elementAxis(name string, shape []int, indices tensor.Any, axis int) int {
	axis = axisOf(name, axis, len(shape))
	if indices.Rank() != len(shape) {
		panic(fail(name, tensor.ErrShape, "indices have rank %d, the data %d", indices.Rank(), len(shape)))
	}
	for i, n := range shape {
		if i != axis && indices.Dim(i) > n {
			panic(fail(name, tensor.ErrShape, "indices have extent %d on axis %d, the data %d; only axis %d may be longer", indices.Dim(i), i, n, axis))
		}
	}
	wantInt(name, 1, indices)
	return axis
}

// elementOffsets returns which element of a tensor of the given shape each index
// names along axis; the indices have the shape by.
func elementOffsets(name string, shape, by []int, indices words, axis int) []int {
	at := resolved(name, indices.int64s(name), by, shape[axis], axis)
	stride := steps(shape)
	c := make([]int, len(by))
	base := 0 // of the coordinate but for axis
	for i := range at {
		at[i] = base + at[i]*stride[axis]
		for k := len(c) - 1; k >= 0; k-- {
			c[k]++
			if k != axis {
				base += stride[k]
			}
			if c[k] < by[k] {
				break
			}
			if k != axis {
				base -= c[k] * stride[k]
			}
			c[k] = 0
		}
	}
	return at
}

// resolved checks indices, which have a shape, against an axis of extent n.
func resolved(name string, indices []int64, shape []int, n, axis int) []int {
	at := make([]int, fits(name, len(indices), 8))
	for i, v := range indices {
		p := v
		if p < 0 {
			p += int64(n)
		}
		if uint64(p) >= uint64(n) {
			panic(fail(name, tensor.ErrIndex, "index %d at %s is outside axis %d of extent %d", v, shapeText(unravel(i, shape)), axis, n))
		}
		at[i] = int(p)
	}
	return at
}

var gatherElements = opN{about: about{name: "GatherElements", onnx: []int{11, 13}, attrs: []string{"axis"}}, least: 2,
	move: func(c *Call) *transfer {
		return elementsAt("GatherElements", c.in(0), c.in(1), attrInt(c, "axis", 0))
	}}
