package op

import (
	"math"
	"runtime"
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// weighed is how many elements of a line are multiplied by a weight at a time.
const weighed = 256

// A band resamples images by lines. A line is the elements of the result behind a place of an axis. It is the sum of lines of the operand,
// which are resampled along the later axes, and kept while the next ones need them.
type band struct {
	by      []resample
	taps    [][]taps // nil for an axis that stays
	in, out []int    // elements of the operand and of the result behind a place of an axis
	last    int      // the last axis that changes
	whole   bool     // lines along it are resampled as one
	kept    []int    // how many lines of each axis are kept
	from    move.Numeric
	held    [][]int     // by axis and line: 1 + where it begins in the operand
	lines   [][]float64 // by axis
	row     []float64   // of the operand
	result  []float64
	some    []float64 // for addLine
}

// newBand returns a band without memory. taps may be nil then.
func newBand(by []resample, how *ResizeOptions, taps [][]taps) *band {
	n := len(by)
	b := &band{by: by, taps: taps, in: make([]int, n), out: make([]int, n), kept: make([]int, n)}
	in, out := 1, 1
	for i := n - 1; i >= 0; i-- {
		r := &by[i]
		b.in[i], b.out[i] = in, out
		in, out = multiplied(in, r.in), multiplied(out, r.out)
		if r.plain(how.Coordinates) {
			continue
		}
		_, each := r.tapsAtATime(how)
		if b.kept[i] = min(each, r.in); b.last == 0 {
			b.last = i
		}
	}
	const few, some = 16, 1 << 14 // elements behind a place, and of a line
	r := &by[b.last]
	if b.whole = b.in[b.last] < few || multiplied(b.in[b.last], max(r.in, r.out)) <= some; b.whole {
		b.kept[b.last] = 0
	}
	return b
}

// multiplied returns a · b, or some large number: descriptions may have more elements than tensors.
func multiplied(a, b int) int { return int(min(float64(a)*float64(b), math.MaxInt/4)) }

// room returns how many units of an image there are, and how many elements a thread keeps.
func (b *band) room() (units int, elements float64) {
	units, elements = b.by[0].out, float64(b.out[0])
	if b.last == 0 && b.whole {
		units, elements = 1, float64(float64(units)*elements)
	}
	for i, n := range b.kept {
		elements += float64(float64(n) * float64(b.out[i]))
	}
	if b.whole {
		elements += float64(float64(b.by[b.last].in) * float64(b.in[b.last]))
	}
	return units, elements + weighed
}

// lines resamples images by lines.
func (g *resampler) lines(to, from move.Numeric, images int) {
	for i := range g.by {
		if !g.by[i].plain(g.how.Coordinates) {
			g.neighbours(i, 0)
		}
	}
	first := newBand(g.by, g.how, g.taps)
	units, elements := first.room()
	plan.Fits(g.name, int(min(elements, math.MaxInt/8)), 8)
	var lock sync.Mutex
	var idle []*band
	var panels []*contract.Panels
	size := first.by[0].out * first.out[0] / units
	g.split(images*units, 4*size, func(begin, end int) {
		lock.Lock()
		var b *band
		if n := len(idle); n > 0 {
			b, idle = idle[n-1], idle[:n-1]
		} else {
			b = newBand(g.by, g.how, g.taps)
			p := contract.PanelsOf(8*int(elements) + 64*(len(g.by)+3))
			panels = append(panels, p)
			b.carve(from, size, p.Bytes())
		}
		lock.Unlock()
		for u := begin; u < end; u++ {
			image := u / units * first.by[0].in * first.in[0]
			if units == 1 {
				b.part(0, image, b.result)
			} else {
				b.line(0, image, u%units, b.result)
			}
			to.SetReals(u*size, b.result)
		}
		lock.Lock()
		idle = append(idle, b)
		lock.Unlock()
	})
	for _, p := range panels {
		contract.PanelPool.Put(p)
	}
	runtime.KeepAlive(panels)
}

// carve gives a band its memory.
func (b *band) carve(from move.Numeric, size int, rest []byte) {
	b.from, b.held, b.lines = from, make([][]int, len(b.by)), make([][]float64, len(b.by))
	b.result, b.some = conv.Carve[float64](&rest, size), conv.Carve[float64](&rest, weighed)
	for i, n := range b.kept {
		b.held[i], b.lines[i] = make([]int, n), conv.Carve[float64](&rest, n*b.out[i])
	}
	if b.whole {
		b.row = conv.Carve[float64](&rest, b.by[b.last].in*b.in[b.last])
	}
}

// part resamples the elements of the operand from one on along an axis and those behind it.
func (b *band) part(axis, from int, dst []float64) {
	switch {
	case axis > b.last:
		b.from.Reals(dst, from)
	case axis == b.last && b.whole:
		b.from.Reals(b.row, from)
		weighLines(dst, b.row, b.taps[axis], b.out[axis], b.some)
	default:
		for x := range b.by[axis].out {
			b.line(axis, from, x, dst[x*b.out[axis]:][:b.out[axis]])
		}
	}
}

// line computes the elements behind place x of an axis of part.
func (b *band) line(axis, from, x int, dst []float64) {
	if b.taps[axis] == nil {
		b.part(axis+1, from+x*b.in[axis], dst)
		return
	}
	t, n := &b.taps[axis][x], b.out[axis]
	noSum(dst, t)
	for j, at := range t.at {
		k, begin := at%b.kept[axis], from+at*b.in[axis]
		line := b.lines[axis][k*n:][:n]
		if b.held[axis][k] != 1+begin {
			b.held[axis][k] = 1 + begin
			b.part(axis+1, begin, line)
		}
		addLine(dst, line, t.weight[j], j == 0, b.some)
	}
}

// besideSome is how many elements of small images are resampled side by side.
const besideSome = 1 << 14

// sideBySide returns how many images are resampled side by side, 0 where they are too few or too large.
func sideBySide(images int, by []resample) int {
	in, out := 1, 1
	for i := range by {
		in, out = multiplied(in, by[i].in), multiplied(out, by[i].out)
	}
	n := min(64, images, besideSome/max(1, in+out))
	if n < 16 {
		return 0
	}
	return n
}

// among returns the axes of n images whose elements lie side by side.
func among(by []resample, n int) []resample {
	return append(by[:len(by):len(by)], resample{n, n, 1, 0, 1})
}

// amongRoom returns how many elements of float64 a thread of beside keeps.
func amongRoom(by []resample, how *ResizeOptions, n int) float64 {
	b := newBand(among(by, n), how, nil)
	_, room := b.room()
	return room + float64(2*multiplied(b.out[0], by[0].out)+multiplied(b.in[0], by[0].in)) + float64(8*(len(by)+8))
}

// beside resamples small images of float32: elements of one place lie side by side, so that lines are long.
func (g *resampler) beside(to, from move.Numeric, images int) {
	x, y := move.ElemsOf[float32](from.Of), move.ElemsOf[float32](to.Of)
	wide, in, out := sideBySide(images, g.by), 1, 1
	for i := range g.by {
		in, out = in*g.by[i].in, out*g.by[i].out
		if !g.by[i].plain(g.how.Coordinates) {
			g.neighbours(i, 0)
		}
	}
	g.split((images+wide-1)/wide, 4*out*wide, func(begin, end int) {
		p := contract.PanelsOf(8 * int(amongRoom(g.by, g.how, wide)))
		defer contract.PanelPool.Put(p)
		for c := begin * wide; c < min(end*wide, images); c += wide {
			n, rest := min(wide, images-c), p.Bytes()
			near, far := conv.Carve[float32](&rest, in*n), conv.Carve[float32](&rest, out*n)
			conv.Pack(near, x, conv.Block{Off: c * in, Rows: in, Row: 1, Cols: n, Col: in})
			b := newBand(among(g.by, n), g.how, append(g.taps[:len(g.taps):len(g.taps)], nil))
			b.carve(move.NumericOf(move.WordsOf(tensor.FromSlice(near, in*n).Any())), out*n, rest)
			b.part(0, 0, b.result)
			conv.NarrowF64(far, b.result)
			conv.Copy2(y, far, conv.Block{Off: c * out, Rows: n, Row: out, Cols: out, Col: 1}, conv.Block{Rows: n, Row: 1, Cols: out, Col: n}, false)
		}
		runtime.KeepAlive(p)
	})
}
