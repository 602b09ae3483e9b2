package op

import (
	"context"
	"math"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ResizeOptions says how Resize makes a tensor of another size. The zero value of a
// field is ONNX's default. The names of modes are ONNX's.
type ResizeOptions struct {
	Scales         []float64 // per axis: the result has ⌊extent·scale⌋ elements; or
	Sizes          []int     // per axis: the result's extents
	Axes           []int     // the axes that the lists are about; nil means all
	Mode           string    // nearest, linear or cubic
	Coordinates    string    // half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, tf_crop_and_resize or tf_half_pixel_for_nn
	Nearest        string    // round_prefer_floor, round_prefer_ceil, floor or ceil
	CubicA         float64   // the parameter of the cubic kernel; 0 means -0.75
	ExcludeOutside bool      // neighbours outside have no weight; else they are the nearest element
	Antialias      bool      // a smaller result averages over all it covers
	Aspect         string    // the meaning of Sizes: stretch, not_larger or not_smaller
	ROI            []float64 // of tf_crop_and_resize: where the region begins on each axis, then where it ends, from 0 to 1
	Outside        float64   // the value of tf_crop_and_resize outside the tensor

	old bool // before opset 11: nearest is of coordinates in float32, and takes the ceiling on an axis that shrinks
}

// Resize returns a resampled to another size. An element of the result at x on an
// axis stands for a coordinate of a's axis, by the rule that Coordinates names:
// (x+½)/scale − ½ for half_pixel. With nearest it is the element next to that, bit
// for bit, for all types. With linear and cubic, for numbers alone, it is a sum of 2
// or 4 neighbours times weights, or of more with Antialias. The sum goes axis by axis from
// the last to the first, in increasing position, all in float64 without fused steps. It
// is rounded once, integers to the nearest, even on a tie, and saturating. A
// neighbour of weight 0 isn't looked at. It panics when the lists don't fit a, when
// a scale isn't positive and finite, when an empty axis is to grow, and for modes it
// doesn't know. ONNX Resize.
func Resize[T num.Elem](a tensor.Tensor[T], o ResizeOptions, opts ...Option) (r tensor.Tensor[T]) {
	if o.CubicA == 0 {
		o.CubicA = -0.75
	}
	resized("Resize", a.Any(), o).Into(exec.Ref(&r), opts)
	return r
}

// resample is how one axis is resampled.
type resample struct {
	in, out    int
	scale      float64
	start, end float64 // of the region
}

func resized(name string, a tensor.Any, how ResizeOptions) *move.Transfer {
	plan.Present(name, &a)
	how.Mode = orElse(how.Mode, "nearest")
	how.Coordinates = orElse(how.Coordinates, "half_pixel")
	how.Nearest = orElse(how.Nearest, "round_prefer_floor")
	plan.OneOf(name, "mode", how.Mode, "nearest", "linear", "cubic")
	plan.OneOf(name, "nearest mode", how.Nearest, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
	plan.OneOf(name, "coordinate mode", how.Coordinates, "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn")
	t := resampled(name, a, how, resamples(name, a.Shape(), &how))
	if how.Mode == "nearest" {
		t.Costs(0) // a copy
	}
	return t
}

// resampled is resized where by says how each axis is resampled.
func resampled(name string, a tensor.Any, how ResizeOptions, by []resample) *move.Transfer {
	shape := a.Shape()
	if d := a.DType(); how.Mode != "nearest" && !plan.Reals.Has(d) {
		panic(plan.Fail(name, tensor.ErrDType, "mode %q is not defined for %v; nearest is", how.Mode, d))
	}
	out := make([]int, len(shape))
	for i := range by {
		out[i] = by[i].out
	}
	t := &move.Transfer{Name: name, D: a.DType(), Shape: out, In: []tensor.Any{a}}
	if len(by) > 2 && by[1].plain(how.Coordinates) { // the sums of an element stay in order without the channels
		t.Last = func(a tensor.Any) *move.Transfer {
			return resampled(name, a, how, slices.Concat(by[:1], by[2:], by[1:2]))
		}
	}
	if how.Mode == "nearest" {
		maps := make([]move.Mapping, len(by))
		for i := range by {
			if !by[i].plain(how.Coordinates) {
				maps[i] = move.MappingOf(by[i].out, func(place int) int { return by[i].nearest(place, &how) })
			}
		}
		t.Takes(move.RemapScratch(maps), 0)
		t.Maps = maps
		t.Outside = func() []byte {
			outside := move.Words{Of: &a, Mem: make([]byte, a.DType().Size()), Size: a.DType().Size()}
			if how.Outside != 0 && plan.Reals.Has(a.DType()) {
				move.NumericOf(outside).SetReal(0, how.Outside)
			}
			return outside.Mem
		}
		t.Fill = func(ctx context.Context, dst move.Words, in []move.Words) {
			move.Remap(name, ctx, dst, in[0], shape, maps, t.Outside())
		}
		return t
	}
	t.Takes(interpolateScratch(by, &how), 0)
	t.Fill = func(ctx context.Context, dst move.Words, in []move.Words) {
		if dst.Len() > 0 {
			interpolate(name, ctx, dst, in[0], by, &how)
		}
	}
	return t
}

func orElse(text, def string) string {
	if text == "" {
		return def
	}
	return text
}

// resamples works out the extents and scales of all axes.
func resamples(name string, shape []int, how *ResizeOptions) []resample {
	axes := how.Axes
	if axes == nil {
		for i := range shape {
			axes = append(axes, i)
		}
	}
	crop := how.Coordinates == "tf_crop_and_resize"
	switch {
	case (how.Scales == nil) == (how.Sizes == nil):
		panic(plan.Fail(name, tensor.ErrShape, "give either scales or sizes"))
	case how.Scales != nil && len(how.Scales) != len(axes) || how.Sizes != nil && len(how.Sizes) != len(axes):
		panic(plan.Fail(name, tensor.ErrShape, "%d scales and %d sizes for %d axes", len(how.Scales), len(how.Sizes), len(axes)))
	case crop && len(how.ROI) != 2*len(axes):
		panic(plan.Fail(name, tensor.ErrShape, "a region of %d numbers for %d axes; want two for each", len(how.ROI), len(axes)))
	}
	by := make([]resample, len(shape))
	for i, n := range shape {
		by[i] = resample{n, n, 1, 0, 1}
	}
	seen := make([]bool, len(shape))
	aspect := 0.0
	for k, x := range axes {
		i := plan.AxisOf(name, x, len(shape))
		if seen[i] {
			panic(plan.Fail(name, tensor.ErrAxis, "axis %d is named twice in %s", x, plan.ListText(axes)))
		}
		seen[i] = true
		r := &by[i]
		if crop {
			r.start, r.end = how.ROI[k], how.ROI[len(axes)+k]
		}
		if how.Scales != nil {
			r.scale = how.Scales[k]
			size := math.Floor(float64(r.in) * r.scale)
			if !(r.scale > 0) || !(size < 1<<31) {
				panic(plan.Fail(name, tensor.ErrValue, "scale %v of axis %d with extent %d", r.scale, i, r.in))
			}
			r.out = int(size)
			continue
		}
		if r.out = how.Sizes[k]; r.out < 0 || int64(r.out) >= 1<<31 || r.in == 0 && r.out > 0 {
			panic(plan.Fail(name, tensor.ErrShape, "size %d of axis %d with extent %d", r.out, i, r.in))
		}
		r.scale = 1
		if r.in > 0 {
			r.scale = float64(r.out) / float64(r.in)
		}
		switch {
		case k == 0:
			aspect = r.scale
		case how.Aspect == "not_larger":
			aspect = min(aspect, r.scale)
		case how.Aspect == "not_smaller":
			aspect = max(aspect, r.scale)
		}
	}
	plan.OneOf(name, "aspect ratio policy", how.Aspect, "", "stretch", "not_larger", "not_smaller")
	if how.Sizes != nil && (how.Aspect == "not_larger" || how.Aspect == "not_smaller") {
		for i := range by {
			if seen[i] {
				by[i].scale = aspect
				by[i].out = int(math.Floor(float64(aspect*float64(by[i].in)) + 0.5))
			}
		}
	}
	return by
}

// coordinate returns where on the operand's axis element x of the result is, and
// whether that is inside the region of interest's tensor.
func (r *resample) coordinate(x int, mode string) (at float64, inside bool) {
	n, v := float64(r.in), float64(x)
	width := float64(r.scale * n) // the result's extent before it was rounded down
	half := float64((v+0.5)/r.scale) - 0.5
	switch mode {
	case "align_corners":
		if r.out == 1 {
			return 0, true
		}
		return float64(v*(n-1)) / (width - 1), true
	case "asymmetric":
		return v / r.scale, true
	case "pytorch_half_pixel":
		if r.out == 1 {
			return 0, true
		}
	case "half_pixel_symmetric":
		adjust := float64(r.out) / width
		return float64(n/2*(1-adjust)) + half, true
	case "tf_half_pixel_for_nn":
		return (v + 0.5) / r.scale, true
	case "tf_crop_and_resize":
		at = float64((r.end-r.start)*(n-1)) / 2
		if r.out != 1 {
			at = float64(float64(v*(r.end-r.start))*(n-1)) / (width - 1)
		}
		at += float64(r.start * (n - 1))
		return at, at >= 0 && at <= n-1
	}
	return half, true
}

// plain says that every element of the result is the one of the operand at its place.
func (r *resample) plain(mode string) bool {
	return r.scale == 1 && r.in == r.out && mode != "tf_crop_and_resize" && mode != "tf_half_pixel_for_nn"
}

// bounded converts a coordinate that was rounded down to an int, for an axis of
// extent n; NaN and numbers far outside stay outside.
func bounded(v float64, n int) int {
	if !(v > -1<<31) {
		return -1 << 31
	}
	return int(min(v, float64(n)+1<<31))
}

// nearest returns which element one of the result is, -1 for one outside.
func (r *resample) nearest(x int, how *ResizeOptions) int {
	at, inside := r.coordinate(x, how.Coordinates)
	if !inside {
		return -1
	}
	mode := how.Nearest
	if how.old {
		if at = float64(float32(at)); r.scale < 1 {
			mode = "ceil"
		}
	}
	low := math.Floor(at)
	up := at-low > 0.5
	switch mode {
	case "round_prefer_ceil":
		up = at-low >= 0.5
	case "floor":
		up = false
	case "ceil":
		up = at > low
	}
	i := bounded(low, r.in)
	if up {
		i++
	}
	return max(0, min(i, r.in-1))
}

// floatsOf returns the elements of an input of floats.
func floatsOf(name string, c *plan.Use, i int) []float64 {
	if c.In(i).IsZero() {
		return nil
	}
	a := *c.Values(name, i)
	if !plan.Floats.Has(a.DType()) {
		panic(plan.Fail(name, tensor.ErrDType, "input %d holds %v, want floats", i, a.DType()))
	}
	w := move.NumericOf(move.WordsOf(a))
	v := make([]float64, w.Len())
	w.Floats(v, 0)
	runtime.KeepAlive(w.Of)
	return v
}

var resize = plan.Operator{About: plan.About{Name: "Resize", PerAxis: 0b1110, Versions: []int{10, 11, 13, 18, 19}, Attrs: []string{"antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a",
	"exclude_outside", "extrapolation_value", "keep_aspect_ratio_policy", "mode", "nearest_mode"}}, Least: 1, Most: 4,
	Move: func(c *plan.Use) plan.Mover {
		how := ResizeOptions{Mode: c.Attrs.Str("mode", "nearest")}
		if c.Opset < 11 {
			plan.Needs("Resize", c, 2)
			plan.Takes("Resize", c, 2)
			return resized("Resize", c.In(0), oldResampling("Resize", how.Mode, floatsOf("Resize", c, 1)))
		}
		how.Coordinates = c.Attrs.Str("coordinate_transformation_mode", "half_pixel")
		how.Nearest = c.Attrs.Str("nearest_mode", "round_prefer_floor")
		how.CubicA = float64(c.Attrs.Float("cubic_coeff_a", -0.75))
		how.ExcludeOutside = c.Attrs.Int("exclude_outside", 0) != 0
		how.Outside = float64(c.Attrs.Float("extrapolation_value", 0))
		how.Antialias = c.Attrs.Int("antialias", 0) != 0
		how.Aspect = c.Attrs.Str("keep_aspect_ratio_policy", "stretch")
		how.Axes, _ = plan.AttrInts(c, "axes")
		if how.Coordinates == "tf_crop_and_resize" {
			how.ROI = floatsOf("Resize", c, 1)
		}
		if v := floatsOf("Resize", c, 2); len(v) > 0 { // an empty list is an absent one
			how.Scales = v
		}
		if v, _ := move.Ints("Resize", c, 3); len(v) > 0 {
			how.Sizes = v
		}
		return resized("Resize", c.In(0), how)
	}}

// oldResampling is the meaning of Resize before opset 11, and of Upsample. ONNX's text has no rule for nearest. Its node test
// test_resize_downsample_nearest of 1.5 takes the ceiling, and ONNX Runtime that of a quotient in float32.
func oldResampling(name, mode string, scales []float64) ResizeOptions {
	plan.OneOf(name, "mode", mode, "nearest", "linear", "bilinear")
	if mode == "bilinear" {
		mode = "linear"
	}
	return ResizeOptions{Mode: mode, Scales: append([]float64{}, scales...), Coordinates: "asymmetric", Nearest: "floor", old: true}
}
