package op

import (
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// MaxPool returns the largest element under a window that moves over the spatial
// axes of x [N, C, D1, …]; padding is never the largest. NaN if any is NaN, and
// −0 < +0. A window with no element inside gives the type's smallest value. ONNX
// MaxPool.
func MaxPool[T num.Real](x tensor.Tensor[T], win Window, opts ...Option) (r tensor.Tensor[T]) {
	maxPooled(exec.Ref(&r), nil, exec.Ref(&x), contract.Window(win), false, opts)
	return r
}

// maxPooled is MaxPool for a run-time element type. index, unless nil, becomes the place of each
// largest element among all of x in row-major order, or with columns in column-major order of the spatial axes.
func maxPooled(r, index, x *tensor.Any, win contract.Window, columns bool, opts []Option) {
	const name = "MaxPool"
	plan.Present(name, x)
	d, s := x.DType(), plan.Read(name, opts)
	p := poolOf(exec.Job{Name: name, Ctx: s.Ctx()}, x, win)
	plan.AimShape(r, name, &s, d, p.shape)
	var places []int64
	if index != nil {
		zeros, err := tensor.Make(dtype.Int64, p.shape...)
		if err != nil {
			panic(plan.Fail(name, move.Reason(err), "the places: %v", err))
		}
		*index, places = zeros, move.ElemsOf[int64](&zeros)
	}
	if r.Len() == 0 {
		return
	}
	if p.byRows(index != nil) {
		p.lies(x, r)
	}
	out := plan.Beside(r, !p.last && !r.IsContiguous(), x)
	if out != r {
		p.last = false
	}
	if d.IsNarrow() && p.byRows(index != nil) {
		w := singlesFor(p.Job, x, r)
		wx, wide := w.widened(x), w.empty(p.shape...)
		low, _ := move.EndsOf(d)
		poolWords[uint32](p, &wx, &wide, wideWord(d, low), nil)
		w.done(out, &wide)
	} else {
		p.maxima(x, out, places)
	}
	plan.Put(r, out)
	if columns && x.Len() > 0 {
		columnMajor(places, p.s)
	}
	runtime.KeepAlive(index)
}

// byRows reports whether the largest are found by rows of Max, if the type has such rows. It is
// false when places are wanted, and for padding or kernels that are much larger than the input.
func (p *pooling) byRows(places bool) bool {
	last := &p.s[len(p.s)-1]
	return !places && (last.Kernel-1)*last.Dilation <= 64+4*last.In && (last.Out-1)*last.Stride <= 64+4*(last.In+last.Out)
}

// maxima fills r, and places, unless nil, with the place of each largest element.
func (p *pooling) maxima(x, r *tensor.Any, places []int64) {
	c, d := *x, x.DType()
	if !p.last {
		c = x.Contiguous()
	}
	low, _ := move.EndsOf(d)
	switch d.Size() {
	case 1:
		poolWords[uint8](p, &c, r, low, places)
	case 2:
		poolWords[uint16](p, &c, r, low, places)
	case 4:
		poolWords[uint32](p, &c, r, low, places)
	case 8:
		poolWords[uint64](p, &c, r, low, places)
	default:
		poolWindows(p, move.ElemsOf[fixed.FP64x64](&c), move.ElemsOf[fixed.FP64x64](r), func(window []fixed.FP64x64) (best int) {
			for i, v := range window {
				if move.GreaterFixed(v, window[best]) {
					best = i
				}
			}
			return best
		}, exec.Number[fixed.FP64x64](&low), places)
	}
	plan.Drop(&c, x)
}

// A bitOrder gives the bits of an element a number that orders them: NaN above all, −0 < +0.
type bitOrder struct {
	float     bool
	sign, inf uint64
}

func bitOrderOf(d dtype.DType) bitOrder {
	sign := uint64(1) << (8*d.Size() - 1)
	switch {
	case d.IsFloat():
		return bitOrder{true, sign, move.Largest(d)}
	case d.IsSigned():
		return bitOrder{sign: sign}
	}
	return bitOrder{}
}

func (o *bitOrder) of(v uint64) uint64 {
	switch {
	case !o.float:
		return v ^ o.sign
	case v&^o.sign > o.inf:
		return math.MaxUint64
	case v&o.sign != 0:
		return ^v & (o.sign - 1)
	}
	return v | o.sign
}

// poolWords is maxima for elements of one size.
func poolWords[W uint8 | uint16 | uint32 | uint64](p *pooling, x, r *tensor.Any, low exec.Word, places []int64) {
	d := x.DType()
	src, dst := storage[W](x), storage[W](r)
	if !p.last {
		src, dst = src[:x.Len()], dst[:r.Len()]
	}
	canon := exec.Recall[func(row []W)](cast.CanonOf(d))
	if larger := exec.As[func(dst, a, b []W)](largerRow(d)); larger != nil && p.byRows(places != nil) {
		poolRows(p, src, dst, larger, exec.Number[W](&low), canon)
	} else {
		order := bitOrderOf(d)
		poolWindows(p, src, dst, func(window []W) (best int) {
			top := order.of(uint64(window[0]))
			for i, v := range window {
				if key := order.of(uint64(v)); key > top {
					best, top = i, key
				}
			}
			return best
		}, exec.Number[W](&low), places)
		switch {
		case canon != nil:
			canon(dst)
		case d.IsNarrow():
			wide := inSingle(p.Name, r)
			narrowInto(p.Name, r, &wide) // exact, but for NaNs
		}
	}
	runtime.KeepAlive(x)
	runtime.KeepAlive(r)
}

// largerRow returns the row of Max, nil if there is none. Fixed point is ordered as its words.
func largerRow(d dtype.DType) exec.Row {
	switch {
	case d.IsFixed() && d.Size() == 4:
		d = dtype.Int32
	case d.IsFixed() && d.Size() == 8:
		d = dtype.Int64
	}
	return maxOp.Row(d)
}

// poolWindows finds the largest of each window by best, which returns the first in one that isn't empty.
func poolWindows[W any](p *pooling, x, dst []W, best func(window []W) int, low W, places []int64) {
	plane, outs := p.plane()
	pooled(p, x, places != nil, func(o int, window []W, place []int, _ int) {
		if len(window) == 0 {
			dst[o] = low
			return
		}
		i := best(window)
		dst[o] = window[i]
		if places != nil {
			places[o] = int64(o/outs*plane + place[i])
		}
	})
}

// A rowPool finds the largest by rows of Max, which doesn't mind in which order: first along all axes but the last, of lines of x as they
// lie, and then along the last. For that it puts elements that are a stride apart beside each other, between their padding. So one row
// finds the larger of two places of the windows for many lines.
type rowPool[W num.Elem] struct {
	*pooling
	outer  []contract.Span // all but the last two axes
	y, x   contract.Span
	src    []W
	dst    []W
	larger func(dst, a, b []W)
	low    W
	canon  func(row []W)
	lines  int // of results in a plane
	size   int // of a plane of src
	width  int // of a line of one remainder of the stride
	pitch  int // of all its remainders
	most   int // lines of results at a time
}

// poolStrip is about how many elements are looked at together, unless a line has more.
const poolStrip = 4096

func poolRows[W num.Elem](p *pooling, x, dst []W, larger func(dst, a, b []W), low W, canon func(row []W)) {
	n := len(p.s) - 1
	if p.last && poolLast(p, x, dst, larger, low, canon) {
		return
	}
	if (p.last || p.s[n].Out <= contract.PoolLine*min(p.s[n].Stride, 1<<20)) && beside(p, x, dst, contract.PoolPlanes, func() func(dst, near []W, at int, window *exec.Sequence, padded int) {
		return func(dst, near []W, at int, window *exec.Sequence, _ int) {
			switch window.N {
			case 0:
				fill(dst, low)
			case 1:
				copy(dst, near[at:])
			default:
				one := near[at:][:len(dst)]
				for i := 1; i < window.N; i++ {
					larger(dst, one, near[at+window.Offset(i):][:len(dst)])
					one = dst
				}
			}
			if canon != nil {
				canon(dst)
			}
		}
	}) {
		return
	}
	r := rowPool[W]{pooling: p, x: p.s[n], src: x, dst: dst, larger: larger, low: low, canon: canon, lines: 1, size: p.s[n].In}
	if n > 0 {
		r.outer, r.y = p.s[:n-1], p.s[n-1]
	} else { // the channels are lines of one plane
		r.y = contract.Span{In: p.planes, Out: p.planes, Kernel: 1, Stride: 1, Dilation: 1}
		r.lines, r.size = p.planes, len(x)
	}
	count, rows := p.planes, 1
	for i := range p.s[:n] {
		count *= p.s[i].Out
		r.lines *= p.s[i].Out
		r.size *= p.s[i].In
		rows *= min(p.s[i].Kernel, p.s[i].In)
	}
	r.width, r.pitch = pitchOf(&r.x)
	r.most = min(r.y.Out, max(1, poolStrip/max(r.pitch, r.x.In)))
	cost := (rows*r.x.In+2*r.x.Kernel*r.x.Out)/4 + 8
	if p.Little(count, cost) {
		r.some(0, count)
	} else {
		r.split(count, cost)
	}
}

// pitchOf returns the width and the pitch of a rowPool.
func pitchOf(x *contract.Span) (width, pitch int) {
	line := (x.Out-1)*x.Stride + (x.Kernel-1)*x.Dilation + 1
	width = (line-1)/x.Stride + 1
	return width, width * min(x.Stride, line)
}

func (r *rowPool[W]) split(n, cost int) {
	d := *r // without it that of a pool that isn't split would not stay on the stack
	exec.Split(r.Name, r.Ctx, n, cost, func(from, to int) { d.some(from, to) })
}

// some finds lines [from, to) of results.
func (r *rowPool[W]) some(from, to int) {
	var few [16]int
	at := few[:]
	if len(r.outer) > len(few)/4 {
		at = make([]int, 4*len(r.outer))
	}
	n := len(r.outer)
	oc, kc, lo, hi := at[:n], at[n:2*n], at[2*n:3*n], at[3*n:4*n]
	most := min(r.most, to-from)
	room := make([]W, most*(r.x.In+2*r.pitch))
	bests, near, row := room[:most*r.x.In], room[most*r.x.In:most*(r.x.In+r.pitch)], room[most*(r.x.In+r.pitch):]
	fill(near, r.low)
	for run := 0; from < to; from += run {
		o := from % r.lines
		empty := false
		for i, rest := n-1, o/r.y.Out; i >= 0; i-- {
			oc[i], rest = rest%r.outer[i].Out, rest/r.outer[i].Out
			lo[i], hi[i], _ = r.outer[i].Reach(oc[i])
			empty = empty || lo[i] == hi[i]
		}
		o %= r.y.Out
		run = min(to-from, r.y.Out-o, most)
		best, src := bests[:run*r.x.In], r.src[from/r.lines*r.size:][:r.size]
		if empty {
			fill(best, r.low)
		}
		copy(kc, lo)
		for more, first := !empty, true; more; more, first = advance(kc, lo, hi), false {
			at := 0
			for i := range r.outer {
				at = at*r.outer[i].In + r.outer[i].At(oc[i], kc[i])
			}
			r.down(best, src[at*r.y.In*r.x.In:], o, run, first)
		}
		r.across(r.dst[from*r.x.Out:][:run*r.x.Out], near[:run*r.pitch], row, best)
	}
}

// down sets best to the largest along the last axis but one, for run lines of results from line o on, whose windows begin at the first line of
// src. Unless first is set, elements of best that are larger stay. Lines go together whose windows follow each other and lie inside.
func (r *rowPool[W]) down(best, src []W, o, run int, first bool) {
	y, in := &r.y, r.x.In
	for n := 0; run > 0; o, run, best = o+n, run-n, best[n*in:] {
		lo, hi, _ := y.Reach(o)
		n = 1
		for y.Stride == 1 && hi-lo == y.Kernel && n < run && y.At(o+n, y.Kernel-1) < y.In {
			n++
		}
		to := best[:n*in]
		if first && lo == hi {
			fill(to, r.low)
		}
		var one []W
		for k := lo; k < hi; k++ {
			switch next := src[y.At(o, k)*in:][:n*in]; {
			case !first || k > lo+1:
				r.larger(to, to, next)
			case k == lo+1:
				r.larger(to, one, next)
			case hi == lo+1:
				copy(to, next)
			default:
				one = next
			}
		}
	}
}

// across finds the largest along the last axis of the lines of best. near has the padding.
func (r *rowPool[W]) across(dst, near, row, best []W) {
	x, lines := &r.x, len(dst)/r.x.Out
	if r.pitch == x.In && x.Stride == 1 && x.Begin == 0 {
		near = best
	} else {
		for k := range r.pitch / r.width {
			if c := contract.CutOf(r.width, k-x.Begin, x.Stride, x.In); c.N > 0 {
				for i := range lines {
					conv.Every(near[i*r.pitch+k*r.width+c.Before:][:c.N], best[i*x.In+c.At:], x.Stride)
				}
			}
		}
	}
	all := len(near) - r.pitch + x.Out
	one := near[:all]
	for k := 1; k < x.Kernel; k++ {
		at := k * x.Dilation
		r.larger(row[:all], one, near[at%x.Stride*r.width+at/x.Stride:][:all])
		one = row[:all]
	}
	for i := range lines {
		copy(dst[i*x.Out:][:x.Out], one[i*r.pitch:])
	}
	if r.canon != nil {
		r.canon(dst)
	}
}

// fill sets all elements to v.
func fill[W any](dst []W, v W) {
	if len(dst) > 0 {
		dst[0] = v
	}
	for n := 1; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// maxRoom returns how many bytes each thread of a MaxPool takes.
func (p *pooling) maxRoom(d dtype.DType, places bool) float64 {
	n, size := p.room(contract.PoolPlanes), float64(max(4, d.Size())) // narrow floats are single ones
	if places {
		size += 8
	} else if p.byRows(false) {
		last := &p.s[len(p.s)-1]
		_, pitch := pitchOf(last)
		n = max(n, 3*poolStrip, float64(last.In)+float64(2*float64(pitch)))
	}
	return float64(size * n)
}

var maxPool = plan.Operator{About: plan.About{Name: "MaxPool", Trims: true, Versions: []int{1, 8, 10, 11, 12, 22},
	Attrs: []string{"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"}}, Least: 1, Takes: plan.Reals | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) {
		x, win := c.With("MaxPool", 0), contract.WindowOf(c)
		q := poolOf(exec.Job{Name: "MaxPool"}, x, win)
		shape := q.shape
		p.Gives(x.DType(), shape...)
		p.Takes(0, q.maxRoom(x.DType(), c.Outputs > 1))
		p.Costs(plan.ProductOfAll(plan.Count(shape), plan.Count(win.Kernel)))
		if c.Outputs < 2 {
			p.Last, p.ByInput = true, true
			p.By(c, 0, func(r *tensor.Any, opts []Option) { maxPooled(r, nil, x, win, false, opts) })
			return
		}
		if !p.Brief {
			p.Out = append(p.Out, plan.Spec("MaxPool", dtype.Int64, shape...))
		}
		columns := c.Attrs.Int("storage_order", 0) != 0
		p.Run = func() {
			p.To = make([]tensor.Any, 2)
			maxPooled(&p.To[0], &p.To[1], x, win, columns, plan.Options(c))
		}
	}}

// columnMajor turns places in row-major order of the spatial axes to places in
// column-major order.
func columnMajor(places []int64, s []contract.Span) {
	plane := 1
	for i := range s {
		plane *= s[i].In
	}
	for i, v := range places {
		at, p, step := int(v)%plane, int(v)/plane*plane, plane
		for k := len(s) - 1; k >= 0; k-- {
			step /= s[k].In
			p += at % s[k].In * step
			at /= s[k].In
		}
		places[i] = int64(p)
	}
}
