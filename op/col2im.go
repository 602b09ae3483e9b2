package op

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Col2ImOptions says how the blocks of Col2Im lie in the image, per axis; nil means the
// usual value.
type Col2ImOptions struct {
	Strides   []int // from one block to the next; 1
	Dilations []int // from one element of a block to the next; 1
	Pads      []int // around the image, in front of each axis and then behind each; 0
}

// Col2Im puts blocks together to images, adding where they overlap. a has the shape
// (n, c·B, L): L blocks for each of n images, in row-major order of their places, of
// c channels with B elements, the product of block. The result is (n, c, image...).
// Elements are added in row-major order of their place in the block, floats in
// float64 and rounded once; integers wrap. Elements over the padding are dropped. It
// panics when the extents don't fit together. ONNX Col2Im.
func Col2Im[T num.Native | num.Narrow](a tensor.Tensor[T], image, block []int, o Col2ImOptions, opts ...Option) (r tensor.Tensor[T]) {
	imageOf(a.Any(), image, block, o).Into(exec.Ref(&r), opts)
	return r
}

func imageOf(a tensor.Any, image, block []int, p Col2ImOptions) *move.Transfer {
	const name = "Col2Im"
	plan.Present(name, &a)
	rank := len(image)
	fill := func(v []int, n, def int) []int {
		if v == nil {
			return slices.Repeat([]int{def}, n)
		}
		return v
	}
	p = Col2ImOptions{fill(p.Strides, rank, 1), fill(p.Dilations, rank, 1), fill(p.Pads, 2*rank, 0)}
	if a.Rank() != 3 || rank == 0 || len(block) != rank || len(p.Strides) != rank || len(p.Dilations) != rank || len(p.Pads) != 2*rank {
		panic(plan.Fail(name, tensor.ErrShape, "%s for an image of %d axes, a block of %d, %d strides, %d dilations and %d pads", tensor.Describe(a), rank, len(block), len(p.Strides), len(p.Dilations), len(p.Pads)))
	}
	size, count := 1, 1
	places := make([]int, rank)
	for i, n := range image {
		const most = 1 << 31
		if block[i] < 1 || p.Strides[i] < 1 || p.Dilations[i] < 1 || p.Pads[i] < 0 || p.Pads[rank+i] < 0 || n < 0 ||
			int64(max(n, block[i], p.Strides[i], p.Dilations[i], p.Pads[i], p.Pads[rank+i])) >= most {
			panic(plan.Fail(name, tensor.ErrValue, "axis %d: extent %d, block %d, stride %d, dilation %d, pads %d and %d", i, n, block[i], p.Strides[i], p.Dilations[i], p.Pads[i], p.Pads[rank+i]))
		}
		span := plan.Extent(name, i, block[i]-1, p.Dilations[i]) + 1
		places[i] = max(0, (n+p.Pads[i]+p.Pads[rank+i]-span+p.Strides[i])/p.Strides[i])
		size, count = plan.Extent(name, i, size, block[i]), plan.Extent(name, i, count, places[i])
	}
	if a.Dim(1)%size != 0 || a.Dim(2) != count {
		panic(plan.Fail(name, tensor.ErrShape, "%s; the second extent must be a multiple of %d, the size of a block, the last %d, the number of places", tensor.Describe(a), size, count))
	}
	out := append([]int{a.Dim(0), a.Dim(1) / size}, image...)
	return &move.Transfer{Name: name, D: a.DType(), Shape: out, In: []tensor.Any{a}, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, to := move.NumericOf(in[0]), move.NumericOf(dst)
		area := 1
		for _, n := range image {
			area *= n
		}
		if dst.Len() == 0 {
			return
		}
		stride := move.Steps(image)
		exec.Split(name, ctx, out[0]*out[1], 8*size*count, func(first, till int) {
			sums := make([]float64, area)
			words := make([]uint64, area)
			b, l := make([]int, rank), make([]int, rank)
			for plane := first; plane < till; plane++ {
				clear(sums)
				clear(words)
				for k := range size * count {
					unravelInto(b, k/count, block)
					unravelInto(l, k%count, places)
					at := 0
					for i, n := range image {
						x := l[i]*p.Strides[i] + b[i]*p.Dilations[i] - p.Pads[i]
						if x < 0 || x >= n {
							at = -1
							break
						}
						at += x * stride[i]
					}
					switch {
					case at < 0:
					case to.D.IsFloat():
						sums[at] += src.Float(plane*size*count + k)
					default:
						words[at] += src.Bits(plane*size*count + k)
					}
				}
				for i := range area {
					if to.D.IsFloat() {
						to.SetFloat(plane*area+i, sums[i])
					} else {
						to.SetBits(plane*area+i, words[i])
					}
				}
			}
		})
	}}
}

// unravelInto is unravel without a new slice.
func unravelInto(c []int, i int, shape []int) {
	for a := len(shape) - 1; a >= 0; a-- {
		c[a] = i % shape[a]
		i /= shape[a]
	}
}

var col2Im = plan.Operator{About: plan.About{Name: "Col2Im", PerAxis: 0b110, Versions: []int{18}, Attrs: []string{"dilations", "pads", "strides"}}, Least: 3, Takes: plan.Reals,
	Move: func(c *plan.Use) plan.Mover {
		image, _ := move.Ints("Col2Im", c, 1)
		block, _ := move.Ints("Col2Im", c, 2)
		var p Col2ImOptions
		p.Strides, _ = plan.AttrInts(c, "strides")
		p.Dilations, _ = plan.AttrInts(c, "dilations")
		p.Pads, _ = plan.AttrInts(c, "pads")
		return imageOf(c.In(0), image, block, p)
	}}
