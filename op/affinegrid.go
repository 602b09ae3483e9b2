package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// AffineGrid returns the points at which GridSample reads to apply affine maps: of theta
// [n, r, r+1], of 2 or 3 axes, and size (n, c, axes...) it has the shape (n, axes..., r). A
// point of n numbers, for the last axis first, is theta's matrix times the position of the
// element, with theta's last column added. A position goes from −1 at the beginning of each
// axis to 1 at its end.
// With o.AlignCorners −1 and 1 are the centres of the first and the last element, not their
// outer edges; the only element of an axis is then at 0. Positions are quotients rounded to
// float64, as are the products and their sums from the left; the result is rounded once. It
// panics when the shapes don't fit. ONNX AffineGrid.
func AffineGrid[T num.Floating](theta tensor.Tensor[T], size []int, o AffineGridOptions, opts ...Option) (r tensor.Tensor[T]) {
	affineGridOf(theta.Any(), size, o.AlignCorners).Into(exec.Ref(&r), opts)
	return r
}

// AffineGridOptions says where the points of AffineGrid are.
type AffineGridOptions struct {
	AlignCorners bool // −1 and 1 are the centres of the first and the last element: ONNX's attribute align_corners
}

func affineGridOf(theta tensor.Any, size []int, corners bool) *move.Transfer {
	const name = "AffineGrid"
	plan.Present(name, &theta)
	axes := len(size) - 2
	if axes != 2 && axes != 3 || theta.Rank() != 3 || theta.Dim(0) != size[0] || theta.Dim(1) != axes || theta.Dim(2) != axes+1 {
		panic(plan.Fail(name, tensor.ErrShape, "maps %s for size %s; want [n, 2, 3] for (n, c, h, w) or [n, 3, 4] for (n, c, d, h, w)", tensor.Describe(theta), plan.ListText(size)))
	}
	shape := []int{size[0]}
	for i, e := range size[2:] {
		if e < 0 {
			panic(plan.Fail(name, tensor.ErrShape, "extent %d of axis %d is negative", e, i+2))
		}
		shape = append(shape, e)
	}
	shape = append(shape, axes)
	return &move.Transfer{Name: name, D: theta.DType(), Shape: shape, In: move.OperandsOf(theta), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		maps, to := move.NumericOf(in[0]), move.NumericOf(dst)
		points := plan.Elements(shape[1 : axes+1])
		exec.Split(name, ctx, shape[0]*points, 20*axes*axes, func(from, till int) {
			var at [3]float64 // of the last axis first
			for p := from; p < till; p++ {
				rest := p % points
				for i := range axes {
					n := shape[axes-i]
					at[i] = placed(rest%n, n, corners)
					rest /= n
				}
				for i := range axes {
					m := (p/points*axes + i) * (axes + 1)
					sum := float64(maps.Float(m) * at[0])
					for k := 1; k < axes; k++ {
						sum += float64(maps.Float(m+k) * at[k])
					}
					to.SetFloat(p*axes+i, sum+maps.Float(m+axes))
				}
			}
		})
	}}
}

// placed returns where element i of an axis of n is, from −1 to 1.
func placed(i, n int, corners bool) float64 {
	switch {
	case !corners:
		return float64(2*i+1-n) / float64(n)
	case n == 1:
		return 0
	}
	return float64(2*i+1-n) / float64(n-1)
}

var affineGrid = plan.Operator{About: plan.About{Name: "AffineGrid", Versions: []int{20}, Attrs: []string{"align_corners"}, Why: "of floats alone: Cast first"}, Least: 2, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		size, _ := move.Ints("AffineGrid", c, 1)
		return affineGridOf(c.In(0), size, c.Attrs.Int("align_corners", 0) != 0)
	}}
