package op

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Resampling says how Resize makes a tensor of another size. The zero value of a
// field is ONNX's default. The names of modes are ONNX's.
type Resampling struct {
	Scales         []float64 // per axis: the result has ⌊extent·scale⌋ elements; or
	Sizes          []int     // per axis: the result's extents
	Axes           []int     // the axes that the lists are about; nil means all
	Mode           string    // nearest, linear or cubic
	Coordinates    string    // half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, tf_crop_and_resize or tf_half_pixel_for_nn
	Nearest        string    // round_prefer_floor, round_prefer_ceil, floor or ceil
	CubicA         float64   // the parameter of the cubic kernel; 0 means -0.75
	ExcludeOutside bool      // neighbours outside have no weight; else they are the nearest element
	Antialias      bool      // a smaller result averages over all it covers
	Aspect         string    // what Sizes mean: stretch, not_larger or not_smaller
	ROI            []float64 // of tf_crop_and_resize: where the region begins on each axis, then where it ends, from 0 to 1
	Outside        float64   // what tf_crop_and_resize gives outside the tensor
}

// Resize returns a resampled to another size. An element of the result at x on an
// axis stands for a coordinate of a's axis, by the rule that Coordinates names:
// (x+½)/scale − ½ for half_pixel. With nearest it is the element next to that, bit
// for bit, for all types. With linear and cubic, for numbers alone, it is a sum of 2
// or 4 neighbours times weights, or of more with Antialias, axis by axis from the
// last to the first, in increasing position, all in float64 without fused steps; it
// is rounded once, integers to the nearest, even on a tie, and saturating. A
// neighbour of weight 0 isn't looked at. It panics when the lists don't fit a, when
// a scale isn't positive and finite, when an empty axis is to grow, and for modes it
// doesn't know. ONNX Resize.
func Resize[T num.Elem](a tensor.Tensor[T], how Resampling, opts ...Option) (r tensor.Tensor[T]) {
	if how.CubicA == 0 {
		how.CubicA = -0.75
	}
	resized("Resize", a.Any(), how).Into(exec.Ref(&r), opts)
	return r
}

// resample is how one axis is resampled.
type resample struct {
	in, out    int
	scale      float64
	start, end float64 // of the region
}

func resized(name string, a tensor.Any, how Resampling) *move.Transfer {
	plan.Present(name, &a)
	how.Mode = orElse(how.Mode, "nearest")
	how.Coordinates = orElse(how.Coordinates, "half_pixel")
	how.Nearest = orElse(how.Nearest, "round_prefer_floor")
	plan.OneOf(name, "mode", how.Mode, "nearest", "linear", "cubic")
	plan.OneOf(name, "nearest mode", how.Nearest, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
	plan.OneOf(name, "coordinate mode", how.Coordinates, "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn")
	shape := a.Shape()
	by := resamples(name, shape, &how)
	if d := a.DType(); how.Mode != "nearest" && !plan.Reals.Has(d) {
		panic(plan.Fail(name, tensor.ErrDType, "mode %q is not defined for %v; nearest is", how.Mode, d))
	}
	out := make([]int, len(shape))
	for i := range by {
		out[i] = by[i].out
	}
	t := &move.Transfer{Name: name, D: a.DType(), Shape: out, In: []tensor.Any{a}}
	if how.Mode == "nearest" {
		maps := make([]move.Mapping, len(by))
		for i := range by {
			if !by[i].plain(how.Coordinates) {
				maps[i] = move.MappingOf(by[i].out, func(place int) int { return by[i].nearest(place, &how) })
			}
		}
		t.Scratch = move.RemapScratch(maps)
		t.Fill = func(ctx context.Context, dst move.Words, in []move.Words) {
			outside := move.Words{Of: dst.Of, Mem: make([]byte, dst.Size), Size: dst.Size}
			if how.Outside != 0 && plan.Reals.Has(a.DType()) {
				move.NumericOf(outside).SetReal(0, how.Outside)
			}
			move.Remap(name, ctx, dst, in[0], shape, maps, outside.Mem)
		}
		return t
	}
	t.Scratch = interpolateScratch(by, &how)
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
func resamples(name string, shape []int, how *Resampling) []resample {
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
// extent n; NaN and what is far outside stay outside.
func bounded(v float64, n int) int {
	if !(v > -1<<31) {
		return -1 << 31
	}
	return int(min(v, float64(n)+1<<31))
}

// nearest returns which element one of the result is, -1 for one outside.
func (r *resample) nearest(x int, how *Resampling) int {
	at, inside := r.coordinate(x, how.Coordinates)
	if !inside {
		return -1
	}
	low := math.Floor(at)
	up := at-low > 0.5
	switch how.Nearest {
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

// taps is which elements go into one of the result, and their weights.
type taps struct {
	at     []int
	weight []float64
}

// mostTaps is about how many neighbours are kept at a time.
const mostTaps = 1 << 14

// tapsAtATime returns of how many elements of the result the neighbours are kept at a time, and how many each has at most.
func (r *resample) tapsAtATime(how *Resampling) (elements, each int) {
	each = 2 * kernelReach(how, r.scale)
	return min(r.out, max(1, mostTaps/each)), each
}

// taps sets to to those of the elements of the result from first on; one without any is outside.
func (r *resample) taps(to []taps, first int, how *Resampling) {
	for x := range to {
		t := &to[x]
		t.at = t.at[:0]
		at, inside := r.coordinate(first+x, how.Coordinates)
		if !inside {
			continue
		}
		low := math.Ceil(at) - 1 // so the rest is in (0, 1]
		w := kernelWeights(t.weight, how, at-low, r.scale)
		begin := bounded(low, r.in) + 1 - len(w)/2
		sum := 0.0
		for k := range w {
			if i := begin + k; how.ExcludeOutside && (i < 0 || i >= r.in) {
				w[k] = 0
			}
			sum += w[k]
		}
		t.at, t.weight = slices.Grow(t.at, len(w)), w[:0]
		for k, v := range w {
			if how.ExcludeOutside {
				v /= sum
			}
			if v != 0 {
				t.at = append(t.at, max(0, min(begin+k, r.in-1)))
				t.weight = append(t.weight, v)
			}
		}
	}
}

// kernelWeights returns, in the memory of w, the weights of the neighbours of a point that lies rest
// beyond the lower one of the middle two.
func kernelWeights(w []float64, how *Resampling, rest, scale float64) []float64 {
	if scale = min(scale, 1); !how.Antialias {
		scale = 1
	}
	kernel := func(x float64) float64 { return max(0, 1-x) }
	if how.Mode == "cubic" {
		kernel = func(x float64) float64 { return cubicKernel(x, how.CubicA) }
	}
	first := 1 - kernelReach(how, scale)
	w = slices.Grow(w[:0], 2-2*first)[:2-2*first]
	sum := 0.0
	for k := range w {
		w[k] = kernel(math.Abs(float64((float64(first+k) - rest) * scale)))
		sum += w[k]
	}
	if how.Antialias {
		for k := range w {
			w[k] /= sum
		}
	}
	return w
}

// kernelReach returns how many neighbours on each side have a weight.
func kernelReach(how *Resampling, scale float64) int {
	reach := 1.0
	if how.Mode == "cubic" {
		reach = 2
	}
	if how.Antialias {
		reach /= min(scale, 1)
	}
	return int(math.Ceil(min(reach, 1<<24)))
}

// cubicKernel is Keys' kernel with parameter a at distance x.
func cubicKernel(x, a float64) float64 {
	switch {
	case x <= 1:
		return float64(float64(float64(float64((a+2)*x)-(a+3))*x)*x) + 1
	case x < 2:
		return float64(float64(float64(float64(float64(a*x)-float64(5*a))*x)+float64(8*a))*x) - float64(4*a)
	}
	return 0
}

// interpolate resamples one axis after the other, from the last to the first. Axes before the first that changes count
// images. A thread has an image at a time where there are enough of them.
func interpolate(name string, ctx context.Context, dst, src move.Words, by []resample, how *Resampling) {
	images, axes := separate(by, how)
	if images < exec.Workers(ctx) {
		images, axes = 1, by
	}
	from, to := move.NumericOf(src), move.NumericOf(dst)
	first := resampler{by: axes, how: how, name: name, taps: make([][]taps, len(axes)), split: func(n, cost int, f func(from, to int)) { exec.Split(name, ctx, n, cost, f) }}
	if images == 1 {
		first.image(to, from, 0)
		return
	}
	first.split = func(n, cost int, f func(from, to int)) { // by one thread
		step := max(1, exec.SplitCost/max(1, cost))
		for at := 0; at < n; at += step {
			exec.Look(name, ctx)
			f(at, min(at+step, n))
		}
	}
	cost := 1
	for i := range axes {
		if cost *= axes[i].out; !axes[i].plain(how.Coordinates) {
			first.neighbours(i, 0)
		}
	}
	var lock sync.Mutex
	var idle []*resampler
	exec.Split(name, ctx, images, 4*cost, func(begin, end int) {
		lock.Lock()
		g := first // with rooms of its own
		mine := &g
		if n := len(idle); n > 0 {
			mine, idle = idle[n-1], idle[:n-1]
		}
		lock.Unlock()
		for i := begin; i < end; i++ {
			mine.image(to, from, i)
		}
		lock.Lock()
		idle = append(idle, mine)
		lock.Unlock()
	})
}

// separate returns how many images the first axes count, and the axes of an image. It is one image where no axis changes, or where
// the neighbours of an axis don't fit the memory for them.
func separate(by []resample, how *Resampling) (images int, axes []resample) {
	images = 1
	for i := range by {
		if !by[i].plain(how.Coordinates) {
			axes = by[i:]
			break
		}
		images *= by[i].in
	}
	for i := range axes {
		if most, _ := axes[i].tapsAtATime(how); most < axes[i].out {
			return 1, by
		}
	}
	if axes == nil {
		return 1, by
	}
	return images, axes
}

// A resampler resamples images of one shape.
type resampler struct {
	by    []resample
	how   *Resampling
	name  string
	split func(n, cost int, f func(from, to int))
	taps  [][]taps // of each axis, as many as are kept at a time
	rooms [2][]float64
}

// room returns the memory of one of two images of a shape.
func (g *resampler) room(i int, shape ...int) []float64 {
	n := 1
	for axis, e := range shape {
		n = plan.Extent(g.name, axis, n, e)
	}
	if len(g.rooms[i]) < n {
		g.rooms[i] = plan.RoomFor[float64](g.name, n)
	}
	return g.rooms[i][:n]
}

// neighbours returns the taps of the elements of an axis from first on, as many as are kept at a time.
func (g *resampler) neighbours(axis, first int) []taps {
	r := &g.by[axis]
	most, _ := r.tapsAtATime(g.how)
	fresh := g.taps[axis] == nil
	if fresh {
		g.taps[axis] = make([]taps, most)
	}
	ts := g.taps[axis][:min(most, r.out-first)]
	if fresh || most < r.out {
		r.taps(ts, first, g.how)
	}
	return ts
}

// image resamples image i.
func (g *resampler) image(to, from move.Numeric, i int) {
	shape, n := make([]int, len(g.by)), 1
	for i := range g.by {
		shape[i] = g.by[i].in
		n *= shape[i]
	}
	v, next := g.room(0, n), 1
	g.split(n, 1, func(a, b int) { from.Reals(v[a:b], i*n+a) })
	for axis := range slices.Backward(g.by) {
		r := &g.by[axis]
		if r.plain(g.how.Coordinates) {
			continue
		}
		before, n, after := move.Around(shape, axis)
		out := g.room(next, before, r.out, after)
		for first := 0; first < r.out; {
			ts := g.neighbours(axis, first)
			g.split(before*len(ts), 4*after, func(from, to int) {
				for from < to {
					b, x := from/len(ts), from%len(ts)
					m := min(len(ts)-x, to-from)
					weighLines(out[(b*r.out+first+x)*after:], v[b*n*after:], ts[x:x+m], after)
					from += m
				}
			})
			first += len(ts)
		}
		v, next, shape[axis] = out, 1-next, r.out
	}
	for i := range g.by {
		_, n, after := move.Around(shape, i)
		for x := 0; x < n && g.how.Coordinates == "tf_crop_and_resize"; x++ {
			if _, inside := g.by[i].coordinate(x, g.how.Coordinates); inside {
				continue
			}
			for at := x * after; at < len(v); at += n * after {
				for k := range after {
					v[at+k] = g.how.Outside
				}
			}
		}
	}
	g.split(len(v), 1, func(a, b int) { to.SetReals(i*len(v)+a, v[a:b]) })
}

// weighLines sets the lines of dst, after elements each, to the sums of weights times lines of src. A sum begins with −0.
func weighLines(dst, src []float64, ts []taps, after int) {
	for x := range ts {
		t, line := &ts[x], dst[x*after:][:after]
		if len(t.at) == 0 {
			for k := range line {
				line[k] = math.Copysign(0, -1)
			}
			continue
		}
		w := t.weight[:len(t.at)]
		if after == 1 {
			acc := float64(w[0] * src[t.at[0]])
			for j, at := range t.at[1:] {
				acc += float64(w[1+j] * src[at])
			}
			line[0] = acc
			continue
		}
		a, wa := src[t.at[0]*after:][:after], w[0]
		if len(w) == 1 {
			for k := range line {
				line[k] = float64(wa * a[k])
			}
			continue
		}
		b, wb := src[t.at[1]*after:][:after], w[1]
		for k := range line {
			line[k] = float64(wa*a[k]) + float64(wb*b[k])
		}
		for j, at := range t.at[2:] {
			a, wa := src[at*after:][:after], w[2+j]
			for k := range line {
				line[k] += float64(wa * a[k])
			}
		}
	}
}

// interpolateScratch returns how many bytes interpolate takes: the elements of the images of all threads as float64, after
// each axis again, and neighbours with their weights.
func interpolateScratch(by []resample, how *Resampling) float64 {
	images, by := separate(by, how)
	elements := 1.0
	for i := range by {
		elements *= float64(by[i].in)
	}
	n := float64(8 * elements)
	for i := range slices.Backward(by) {
		if r := &by[i]; r.in > 0 && !r.plain(how.Coordinates) {
			elements = float64(elements / float64(r.in) * float64(r.out))
			most, each := r.tapsAtATime(how)
			n += float64(8*elements) + float64(float64(most)*float64(64+24*each))
		}
	}
	return n * float64(max(1, min(images, exec.Workers(context.Background()))))
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

var resize = plan.Operator{About: plan.About{Name: "Resize", FLOPs: plan.FLOPs{Rule: resizeFLOPs}, Versions: []int{10, 11, 13, 18, 19}, Attrs: []string{"antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a",
	"exclude_outside", "extrapolation_value", "keep_aspect_ratio_policy", "mode", "nearest_mode"}}, Least: 1, Most: 4,
	Move: func(c *plan.Use) plan.Mover {
		how := Resampling{Mode: c.Attrs.Str("mode", "nearest")}
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

// oldResampling is the meaning of Resize before opset 11, and of Upsample.
func oldResampling(name, mode string, scales []float64) Resampling {
	plan.OneOf(name, "mode", mode, "nearest", "linear", "bilinear")
	if mode == "bilinear" {
		mode = "linear"
	}
	return Resampling{Mode: mode, Scales: append([]float64{}, scales...), Coordinates: "asymmetric", Nearest: "floor"}
}
