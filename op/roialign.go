package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// RoiAlignOptions is how RoiAlign reads its regions.
type RoiAlignOptions struct {
	Height, Width int     // of the result, 1 or more
	Sampling      int     // samples along each side of a bin; 0 is as many as its side has elements
	Scale         float64 // of the regions' coordinates to coordinates of x
	Max           bool    // the largest sample and not their mean
	HalfPixel     bool    // coordinates belong to the middles of elements, not to their beginnings
}

// RoiAlign cuts regions out of images x [N, C, H, W] and makes them one size: [R, C,
// Height, Width]. rois [R, 4] has x1, y1, x2 and y2 of each, image [R] the image it is
// of. A region is divided into Height·Width bins, and in each samples are taken at
// equal distances by linear interpolation, as in DeformConv's last step but with the
// edge repeated, 0 from one element beyond. A bin is the mean of its samples, in the
// fixed order of this package, or the largest of the terms that make them up, as ONNX
// has it. It is computed in float64, and rounded once. It panics when shapes don't fit,
// an image is out of range, or a region asks for more than 2²⁰ samples in a bin. ONNX
// RoiAlign.
func RoiAlign[T num.Floating](x, rois tensor.Tensor[T], image tensor.Tensor[int64], o RoiAlignOptions, opts ...Option) (y tensor.Tensor[T]) {
	regions(x.Any(), rois.Any(), image.Any(), o).Into(exec.Ref(&y), opts)
	return y
}

func regions(x, rois, image tensor.Any, r RoiAlignOptions) *move.Transfer {
	const name = "RoiAlign"
	plan.Present(name, &x, &rois, &image)
	checkFloats(name, x, rois)
	move.WantInt(name, 2, image)
	if x.Rank() != 4 || rois.Rank() != 2 || rois.Dim(1) != 4 || image.Rank() != 1 || image.Dim(0) != rois.Dim(0) {
		panic(plan.Fail(name, tensor.ErrShape, "x is %s, the regions %s, their images %s; want [N, C, H, W], [R, 4] and [R]", tensor.Describe(x), tensor.Describe(rois), tensor.Describe(image)))
	}
	if r.Height < 1 || r.Width < 1 || r.Sampling < 0 || r.Sampling > 1<<10 {
		panic(plan.Fail(name, tensor.ErrValue, "a result of %d by %d, and %d samples; the first two must be 1 or more, the last 0 to 1024", r.Height, r.Width, r.Sampling))
	}
	n, c, h, w := x.Dim(0), x.Dim(1), x.Dim(2), x.Dim(3)
	out := []int{rois.Dim(0), c, r.Height, r.Width}
	if c == 0 {
		oneRow(&rois, &image)
	}
	return &move.Transfer{Name: name, D: x.DType(), Shape: out, In: move.OperandsOf(x, rois, image), Picky: true, Price: plan.Taking(plan.Room(8, []tensor.Any{x})+plan.BytesIn(48, rois.Shape()[:1]), 0), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		to, data, box := move.NumericOf(dst), move.NumericOf(in[0]).Float64s(name), move.NumericOf(in[1])
		of := in[2].Int64s(name)
		offset := 0.0
		if r.HalfPixel {
			offset = 0.5
		}
		type region struct{ y, x, binY, binX, gridY, gridX float64 }
		list := make([]region, len(of))
		for i, k := range of {
			if k < 0 || k >= int64(n) {
				panic(plan.Fail(name, tensor.ErrIndex, "region %d is of image %d; there are %d", i, k, n))
			}
			side := func(from, till, parts int) (start, bin, grid float64) {
				start = float64(box.Float(4*i+from)*r.Scale) - offset
				size := float64(box.Float(4*i+till)*r.Scale) - offset - start
				if !r.HalfPixel {
					size = math.Max(size, 1)
				}
				bin, grid = size/float64(parts), float64(r.Sampling)
				if r.Sampling == 0 {
					grid = math.Ceil(bin)
				}
				if !(grid <= 1<<10) {
					panic(plan.Fail(name, tensor.ErrValue, "region %d takes %v samples along the side of a bin; 1024 at most", i, grid))
				}
				return start, bin, math.Max(grid, 0)
			}
			var g region
			g.y, g.binY, g.gridY = side(1, 3, r.Height)
			g.x, g.binX, g.gridX = side(0, 2, r.Width)
			list[i] = g
		}
		bins := r.Height * r.Width
		exec.Split(name, ctx, len(list)*c, bins*40, func(from, till int) {
			var sum reduce.Summer
			var row [1024]float64 // samples that aren't added yet
			for u := from; u < till; u++ {
				g := &list[u/max(c, 1)]
				plane := data[(int(of[u/c])*c+u%c)*h*w:][:h*w]
				for b := range bins {
					samples, top, few := row[:0], 0.0, g.gridY*g.gridX <= float64(len(row))
					if !few {
						sum.Begin()
					}
					for iy := range int(g.gridY) {
						y := g.y + float64(float64(b/r.Width)*g.binY) + float64((float64(iy)+0.5)*g.binY)/g.gridY
						for ix := range int(g.gridX) {
							x := g.x + float64(float64(b%r.Width)*g.binX) + float64((float64(ix)+0.5)*g.binX)/g.gridX
							v := sampleAt(plane, h, w, y, x, r.Max)
							if r.Max {
								if iy+ix == 0 || move.GreaterFloat(v, top) {
									top = v
								}
								continue
							}
							if samples = append(samples, v); !few && len(samples) == len(row) {
								reduce.AddTerms(&sum, samples)
								samples = row[:0]
							}
						}
					}
					switch {
					case r.Max:
					case few:
						top = reduce.SumRow(samples) / math.Max(float64(len(samples)), 1)
					default:
						reduce.AddTerms(&sum, samples)
						top = sum.Total() / (g.gridY * g.gridX)
					}
					to.SetFloat(u*bins+b, top)
				}
			}
		})
	}}
}

// sampleAt returns the element at (y, x) by linear interpolation, with the edge repeated,
// or the largest of its four terms.
func sampleAt(plane []float64, h, w int, y, x float64, largest bool) float64 {
	if !(y >= -1 && y <= float64(h) && x >= -1 && x <= float64(w)) || h == 0 || w == 0 {
		return 0
	}
	edge := func(v float64, n int) (lo, hi int, part float64) {
		v = math.Max(v, 0)
		if lo = int(v); lo >= n-1 {
			return n - 1, n - 1, 0
		}
		return lo, lo + 1, v - float64(lo)
	}
	y0, y1, v := edge(y, h)
	x0, x1, u := edge(x, w)
	a := float64(float64((1-v)*(1-u)) * plane[y0*w+x0])
	b := float64(float64((1-v)*u) * plane[y0*w+x1])
	c := float64(float64(v*(1-u)) * plane[y1*w+x0])
	d := float64(float64(v*u) * plane[y1*w+x1])
	if !largest {
		return (a + b) + (c + d)
	}
	for _, t := range []float64{b, c, d} {
		if move.GreaterFloat(t, a) {
			a = t
		}
	}
	return a
}

var roiAlign = plan.Operator{About: plan.About{Name: "RoiAlign", Versions: []int{10, 16, 22},
	Attrs: []string{"coordinate_transformation_mode", "mode", "output_height", "output_width", "sampling_ratio", "spatial_scale"}}, Least: 3, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		def := "half_pixel"
		if c.Opset < 16 {
			def = "output_half_pixel"
		}
		r := RoiAlignOptions{Height: plan.AttrInt(c, "output_height", 1), Width: plan.AttrInt(c, "output_width", 1), Sampling: plan.AttrInt(c, "sampling_ratio", 0), Scale: float64(c.Attrs.Float("spatial_scale", 1))}
		switch mode := c.Attrs.Str("coordinate_transformation_mode", def); mode {
		case "half_pixel":
			r.HalfPixel = true
		case "output_half_pixel":
		default:
			panic(plan.Fail("RoiAlign", tensor.ErrValue, "coordinate_transformation_mode %q; want half_pixel or output_half_pixel", mode))
		}
		switch mode := c.Attrs.Str("mode", "avg"); mode {
		case "max":
			r.Max = true
		case "avg":
		default:
			panic(plan.Fail("RoiAlign", tensor.ErrValue, "mode %q; want avg or max", mode))
		}
		return regions(c.In(0), c.In(1), c.In(2), r)
	}}
