package op

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// NonMaxSuppressionOptions says which boxes NonMaxSuppression keeps.
type NonMaxSuppressionOptions struct {
	Most     int     // boxes of each class and image
	Overlap  float32 // boxes whose intersection is more than this part of their union with a kept one go; 0 to 1
	Least    float32 // the score that a box must be above, if HasLeast
	HasLeast bool
	Centers  bool // a box is (x, y, width, height) around its middle, not two corners (y1, x1, y2, x2) in any order
}

// NonMaxSuppression returns which boxes [N, B, 4] to keep by their scores [N, C, B], as
// rows (image, class, box) of a [K, 3] tensor: for each image and class in order, boxes
// by falling score, the first of equals first and NaN never. A box goes when it
// overlaps one that is kept; the areas are in float32, each step rounded. An Into target
// has K rows. ONNX NonMaxSuppression.
func NonMaxSuppression(boxes, scores tensor.Tensor[float32], o NonMaxSuppressionOptions, opts ...Option) (r tensor.Tensor[int64]) {
	s := plan.Read("NonMaxSuppression", opts)
	plan.Deliver(exec.Ref(&r), "NonMaxSuppression", &s, suppressed(s.Ctx(), boxes.Any(), scores.Any(), o))
	return r
}

func suppressed(ctx context.Context, boxes, scores tensor.Any, o NonMaxSuppressionOptions) tensor.Any {
	const name = "NonMaxSuppression"
	plan.Present(name, &boxes, &scores)
	if boxes.Rank() != 3 || boxes.Dim(2) != 4 || scores.Rank() != 3 || scores.Dim(0) != boxes.Dim(0) || scores.Dim(2) != boxes.Dim(1) {
		panic(plan.Fail(name, tensor.ErrShape, "the boxes are %s, their scores %s; want [N, B, 4] and [N, C, B]", tensor.Describe(boxes), tensor.Describe(scores)))
	}
	if !(o.Overlap >= 0 && o.Overlap <= 1) {
		panic(plan.Fail(name, tensor.ErrValue, "an overlap of %v; it must be 0 to 1", o.Overlap))
	}
	if o.Most <= 0 || scores.Len() == 0 {
		return tensor.New[int64](0, 3).Any()
	}
	boxes, scores = boxes.Contiguous(), scores.Contiguous()
	at, by := move.ElemsOf[float32](&boxes), move.ElemsOf[float32](&scores)
	classes, n := scores.Dim(1), boxes.Dim(1)
	var out []int64
	for u := range scores.Dim(0) * classes {
		exec.Look(name, ctx)
		image := u / classes
		var order []int
		for i, v := range by[u*n : (u+1)*n] {
			if v == v && (!o.HasLeast || v > o.Least) {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(by[u*n+j], by[u*n+i]) })
		var kept []corners
		for _, i := range order {
			if len(kept) >= o.Most {
				break
			}
			b := cornersOf(at[(image*n+i)*4:][:4], o.Centers)
			if slices.ContainsFunc(kept, func(k corners) bool { return k.overlap(b) > o.Overlap }) {
				continue
			}
			kept = append(kept, b)
			out = append(out, int64(image), int64(u%classes), int64(i))
		}
	}
	runtime.KeepAlive(&boxes)
	runtime.KeepAlive(&scores)
	return tensor.FromSlice(out, len(out)/3, 3).Any()
}

// corners is a box by its corners, the lower first.
type corners struct{ y1, x1, y2, x2 float32 }

func cornersOf(b []float32, centers bool) corners {
	if centers {
		w, h := float32(b[2]/2), float32(b[3]/2) // a half is a product, which may be fused
		return corners{b[1] - h, b[0] - w, b[1] + h, b[0] + w}
	}
	return corners{min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])}
}

func (a corners) area() float32 { return float32((a.y2 - a.y1) * (a.x2 - a.x1)) }

// overlap is the part of the union that is in both; 0 when a box has no area.
func (a corners) overlap(b corners) float32 {
	h, w := min(a.y2, b.y2)-max(a.y1, b.y1), min(a.x2, b.x2)-max(a.x1, b.x1)
	if !(h > 0 && w > 0) || !(a.area() > 0 && b.area() > 0) {
		return 0
	}
	both := float32(h * w)
	return both / (a.area() + b.area() - both)
}

var nonMaxSuppression = plan.Operator{About: plan.About{Name: "NonMaxSuppression", Versions: []int{10, 11}, Attrs: []string{"center_point_box"}, Why: "of float32 alone: Cast first"}, Least: 2, Most: 5,
	Takes: 1 << dtype.Float32,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "NonMaxSuppression"
		o := NonMaxSuppressionOptions{Centers: c.Attrs.Int("center_point_box", 0) != 0}
		if v, ok := move.Ints(name, c, 2); ok && len(v) == 1 {
			o.Most = v[0]
		} else if ok {
			panic(plan.Fail(name, tensor.ErrShape, "input 2 has %d elements; want one", len(v)))
		}
		for i, to := range []*float32{&o.Overlap, &o.Least} {
			if c.In(3 + i).IsZero() {
				continue
			}
			t := move.Holding(c, name, 3+i, dtype.Float32)
			if t.Len() != 1 {
				panic(plan.Fail(name, tensor.ErrShape, "input %d has %d elements; want one", 3+i, t.Len()))
			}
			w := exec.Item(c.Values(name, 3+i))
			*to = exec.Number[float32](&w)
			o.HasLeast = o.HasLeast || i == 1
		}
		boxes, scores := c.With(name, 0), move.Holding(c, name, 1, dtype.Float32)
		p.Run = func() { p.To = plan.One(suppressed(c.Context, *boxes, *scores, o)) }
	}}
