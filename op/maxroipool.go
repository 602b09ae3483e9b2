package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// MaxRoiPool cuts regions out of images x [N, C, H, W] and makes them one size: [R, C,
// height, width]. rois [R, 5] has the image, x1, y1, x2 and y2 of each, which are
// multiplied by scale and rounded to elements, ties away from zero; both ends belong to
// the region. It is divided into height·width bins, from ⌊i·size/parts⌋ to before
// ⌈(i+1)·size/parts⌉, and each is its largest element, as in MaxPool: NaN is larger than
// any other. A bin without elements in the image is 0. It panics when shapes don't fit, or an image or a corner is out
// of range. ONNX MaxRoiPool.
//
// Source: R. Girshick, Fast R-CNN, 2015, section 2.1; onnxruntime's kernel for the ends of bins.
func MaxRoiPool[T num.Floating](x, rois tensor.Tensor[T], height, width int, scale float64, opts ...Option) (y tensor.Tensor[T]) {
	roiPooled(x.Any(), rois.Any(), height, width, scale).Into(exec.Ref(&y), opts)
	return y
}

func roiPooled(x, rois tensor.Any, height, width int, scale float64) *move.Transfer {
	const name = "MaxRoiPool"
	plan.Present(name, &x, &rois)
	checkFloats(name, x, rois)
	if x.Rank() != 4 || rois.Rank() != 2 || rois.Dim(1) != 5 {
		panic(plan.Fail(name, tensor.ErrShape, "x is %s, the regions %s; want [N, C, H, W] and [R, 5]", tensor.Describe(x), tensor.Describe(rois)))
	}
	if height < 1 || width < 1 {
		panic(plan.Fail(name, tensor.ErrValue, "a result of %d by %d; both must be 1 or more", height, width))
	}
	n, c, h, w := x.Dim(0), x.Dim(1), x.Dim(2), x.Dim(3)
	out := []int{rois.Dim(0), c, height, width}
	if c == 0 {
		oneRow(&rois)
	}
	return &move.Transfer{Name: name, D: x.DType(), Shape: out, In: move.OperandsOf(x, rois), Picky: true, Price: plan.Taking(plan.Room(8, []tensor.Any{x})+plan.BytesIn(40, rois.Shape()[:1]), 0), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		to, data, box := move.NumericOf(dst), move.NumericOf(in[0]).Float64s(name), move.NumericOf(in[1])
		type region struct{ image, y, x, h, w int }
		list := make([]region, rois.Dim(0))
		for i := range list {
			whole := func(k int, scale float64) int {
				v := math.Round(float64(box.Float(5*i+k) * scale))
				if !(math.Abs(v) <= 1<<30) {
					panic(plan.Fail(name, tensor.ErrIndex, "number %d of region %d is %v; the largest is 2³⁰", k, i, v))
				}
				return int(v)
			}
			r := region{image: whole(0, 1), x: whole(1, scale), y: whole(2, scale)}
			r.w, r.h = max(whole(3, scale)-r.x+1, 1), max(whole(4, scale)-r.y+1, 1)
			if r.image < 0 || r.image >= n {
				panic(plan.Fail(name, tensor.ErrIndex, "region %d is of image %d; there are %d", i, r.image, n))
			}
			list[i] = r
		}
		// ends returns the ends of bin b of the parts of a region, within the image.
		ends := func(b, parts, start, size, extent int) (int, int) {
			from, till := b*size/parts, ((b+1)*size+parts-1)/parts
			return min(max(from+start, 0), extent), min(max(till+start, 0), extent)
		}
		bins := height * width
		exec.Split(name, ctx, len(list)*c, h*w+bins, func(from, end int) {
			for u := from; u < end; u++ {
				r := &list[u/max(c, 1)]
				plane := data[(r.image*c+u%c)*h*w:][:h*w]
				for b := range bins {
					y0, y1 := ends(b/width, height, r.y, r.h, h)
					x0, x1 := ends(b%width, width, r.x, r.w, w)
					v, first := 0.0, true
					for y := y0; y < y1; y++ {
						for _, e := range plane[y*w+x0 : y*w+max(x0, x1)] {
							if first || move.GreaterFloat(e, v) {
								v, first = e, false
							}
						}
					}
					to.SetFloat(u*bins+b, v)
				}
			}
		})
	}}
}

// oneRow leaves the first row of each of some tensors, if every one of them repeats its first row. For a result without elements it is
// enough to check that row, whatever the number of rows.
func oneRow(ts ...*tensor.Any) {
	for _, t := range ts {
		l := walk.Ref(t.LayoutRef())
		if step, ok := l.Stride(0); !ok || step != 0 || !l.Flat() || t.Dim(0) == 0 {
			return
		}
	}
	for _, t := range ts {
		*t = t.Slice(tensor.R(0, 1))
	}
}

var maxRoiPool = plan.Operator{About: plan.About{Name: "MaxRoiPool", Versions: []int{1, 22}, Attrs: []string{"pooled_shape", "spatial_scale"}}, Least: 2, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		shape, ok := plan.AttrInts(c, "pooled_shape")
		if !ok || len(shape) != 2 {
			panic(plan.Fail("MaxRoiPool", tensor.ErrValue, "pooled_shape is %v; it must be a height and a width", shape))
		}
		return roiPooled(c.In(0), c.In(1), shape[0], shape[1], float64(c.Attrs.Float("spatial_scale", 1)))
	}}
