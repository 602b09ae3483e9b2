package op

import (
	"context"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// taps is which elements go into one of the result, and their weights.
type taps struct {
	at     []int
	weight []float64
}

// mostTaps is about how many neighbours are kept at a time.
const mostTaps = 1 << 14

// tapsAtATime returns of how many elements of the result the neighbours are kept at a time, and how many each has at most.
func (r *resample) tapsAtATime(how *ResizeOptions) (elements, each int) {
	each = 2 * kernelReach(how, r.scale)
	return min(r.out, max(1, mostTaps/each)), each
}

// taps sets to to the taps of the elements of the result from first on. An element without taps is outside.
func (r *resample) taps(to []taps, first int, how *ResizeOptions) {
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
func kernelWeights(w []float64, how *ResizeOptions, rest, scale float64) []float64 {
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
func kernelReach(how *ResizeOptions, scale float64) int {
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

// interpolate resamples one axis after the other, from the last to the first: by lines, or whole images where the neighbours of an axis
// don't fit the memory for them.
func interpolate(name string, ctx context.Context, dst, src move.Words, by []resample, how *ResizeOptions) {
	images, axes, lines := separate(by, how)
	from, to := move.NumericOf(src), move.NumericOf(dst)
	g := resampler{by: axes, how: how, name: name, taps: make([][]taps, len(axes)), split: func(n, cost int, f func(from, to int)) { exec.Split(name, ctx, n, cost, f) }}
	switch {
	case !lines:
		g.image(to, from)
	case from.D == dtype.Float32 && sideBySide(images, axes) > 0:
		g.beside(to, from, images)
	default:
		g.lines(to, from, images)
	}
}

// separate returns how many images the axes before the first that changes count, and the axes of an image. lines reports whether it can be
// resampled by lines. If not it is one image of all axes.
func separate(by []resample, how *ResizeOptions) (images int, axes []resample, lines bool) {
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
			axes = nil
			break
		}
	}
	if axes == nil || how.Coordinates == "tf_crop_and_resize" {
		return 1, by, false
	}
	return images, axes, true
}

// A resampler resamples images of one shape.
type resampler struct {
	by    []resample
	how   *ResizeOptions
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

// image resamples one image as a whole.
func (g *resampler) image(to, from move.Numeric) {
	shape, n := make([]int, len(g.by)), 1
	for i := range g.by {
		shape[i] = g.by[i].in
		n *= shape[i]
	}
	v, next := g.room(0, n), 1
	g.split(n, 1, func(a, b int) { from.Reals(v[a:b], a) })
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
				room := make([]float64, weighed)
				for from < to {
					b, x := from/len(ts), from%len(ts)
					m := min(len(ts)-x, to-from)
					weighLines(out[(b*r.out+first+x)*after:], v[b*n*after:], ts[x:x+m], after, room)
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
	g.split(len(v), 1, func(a, b int) { to.SetReals(a, v[a:b]) })
}

// weighLines sets the lines of dst, after elements each, to the sums of weights times lines of src. room is memory for some elements.
func weighLines(dst, src []float64, ts []taps, after int, room []float64) {
	for x := range ts {
		t := &ts[x]
		if after == 1 && len(t.at) > 0 {
			w := t.weight[:len(t.at)]
			acc := float64(w[0] * src[t.at[0]])
			for j, at := range t.at[1:] {
				acc += float64(w[1+j] * src[at])
			}
			dst[x] = acc
			continue
		}
		line := dst[x*after:][:after]
		noSum(line, t)
		for j, at := range t.at {
			addLine(line, src[at*after:], t.weight[j], j == 0, room)
		}
	}
}

// noSum sets a line without neighbours to −0, with which a sum begins.
func noSum(line []float64, t *taps) {
	if len(t.at) == 0 {
		for k := range line {
			line[k] = math.Copysign(0, -1)
		}
	}
}

// addLine adds w times the elements of src to line, which has nothing before the first time.
func addLine(line, src []float64, w float64, first bool, room []float64) {
	src = src[:len(line)]
	switch {
	case len(line) < 8 && first:
		for k, v := range src {
			line[k] = float64(w * v)
		}
	case first:
		scaled(line, src, w)
	case len(line) < 8:
		for k, v := range src {
			line[k] += float64(w * v)
		}
	default:
		for k := 0; k < len(line); k += len(room) {
			part := line[k:min(k+len(room), len(line))]
			scaled(room[:len(part)], src[k:], w)
			reduce.AddRows(part, part, room[:len(part)])
		}
	}
}

// scaled sets dst to w times the elements of src.
func scaled(dst, src []float64, w float64) {
	src = src[:len(dst)]
	if simd.TryAffine64(dst, src, 0, w, math.Copysign(0, -1)) {
		return
	}
	for k, v := range src {
		dst[k] = float64(w * v)
	}
}

// interpolateScratch returns how many bytes interpolate takes: neighbours with their weights, and lines of all threads or images, as float64.
func interpolateScratch(by []resample, how *ResizeOptions) float64 {
	images, by, lines := separate(by, how)
	elements, n := 1.0, 0.0
	for i := range by {
		elements *= float64(by[i].in)
	}
	if !lines {
		n = float64(8 * elements)
	}
	for i := range slices.Backward(by) {
		if r := &by[i]; r.in > 0 && !r.plain(how.Coordinates) {
			elements = float64(elements / float64(r.in) * float64(r.out))
			most, each := r.tapsAtATime(how)
			n += float64(float64(most) * float64(64+24*each))
			if !lines {
				n += float64(8 * elements)
			}
		}
	}
	if lines && sideBySide(images, by) > 0 {
		n += float64(64 * besideSome * float64(exec.Workers(context.Background())))
	}
	if lines {
		units, room := newBand(by, how, nil).room()
		if wide := sideBySide(images, by); wide > 0 {
			units, room = 1, amongRoom(by, how, wide)
		}
		n += float64(max(1, min(float64(images)*float64(units), float64(exec.Workers(context.Background())))) * float64(8*room))
	}
	return n
}
