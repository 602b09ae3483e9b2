package op

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
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

// interpolate resamples one axis after the other, from the last to the first. Axes before the first that changes count
// images. A thread has an image at a time where there are enough of them.
func interpolate(name string, ctx context.Context, dst, src move.Words, by []resample, how *ResizeOptions) {
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
func separate(by []resample, how *ResizeOptions) (images int, axes []resample) {
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
func interpolateScratch(by []resample, how *ResizeOptions) float64 {
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
