package op

import (
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// MaxPool returns the largest element under a window that moves over the spatial
// axes of x [N, C, D1, …]; padding is never the largest. NaN if any is NaN, and
// −0 < +0. A window with no element inside gives the type's smallest value. ONNX
// MaxPool.
func MaxPool[T num.Native | num.Narrow | num.Fixed](x tensor.Tensor[T], win Window, opts ...Option) (r tensor.Tensor[T]) {
	maxPooled(exec.Ref(&r), nil, exec.Ref(&x), win, false, opts)
	return r
}

// maxPooled is MaxPool for a run-time element type. index, unless nil, becomes the place of each
// largest element among all of x in row-major order, or with columns in column-major order of the spatial axes.
func maxPooled(r, index, x *tensor.Any, win Window, columns bool, opts []Option) {
	const name = "MaxPool"
	present(name, x)
	d, s := x.DType(), read(opts)
	p := poolOf(exec.Job{Name: name, Ctx: s.ctx()}, x, win)
	aimShape(r, name, &s, d, p.shape)
	var places []int64
	if index != nil {
		zeros, err := tensor.Make(dtype.Int64, p.shape...)
		if err != nil {
			panic(fail(name, reason(err), "the places: %v", err))
		}
		*index, places = zeros, elemsOf[int64](&zeros)
	}
	if r.Len() == 0 {
		return
	}
	out := beside(r, !r.IsContiguous(), x)
	if d.IsNarrow() && p.byRows(index != nil) {
		wx, wide := inSingle(name, x), tensor.EmptyOf(dtype.Float32, p.shape...)
		low, _ := endsOf(d)
		poolWords[uint32](p, &wx, &wide, wideWord(d, low), nil)
		wx.Close()
		narrowInto(name, out, &wide)
	} else {
		p.maxima(x, out, places)
	}
	put(r, out)
	if columns && x.Len() > 0 {
		columnMajor(places, p.s)
	}
	runtime.KeepAlive(index)
}

// byRows reports whether the largest are found by rows of Max, if the type has such rows. It is
// false when places are wanted, and for padding that is all there is.
func (p *pooling) byRows(places bool) bool {
	last := &p.s[len(p.s)-1]
	return !places && last.kernel <= 64+4*last.in
}

// maxima fills r, and places, unless nil, with the place of each largest element.
func (p *pooling) maxima(x, r *tensor.Any, places []int64) {
	c, d := x.Contiguous(), x.DType()
	low, _ := endsOf(d)
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
		poolWindows(p, elemsOf[fixed.FP64x64](&c), elemsOf[fixed.FP64x64](r), func(window []fixed.FP64x64) (best int) {
			for i, v := range window {
				if greaterFixed(v, window[best]) {
					best = i
				}
			}
			return best
		}, exec.Number[fixed.FP64x64](&low), places)
	}
	drop(&c, x)
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
		return bitOrder{true, sign, largest(d)}
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
	src, dst := elemsOf[W](x), elemsOf[W](r)
	canon := exec.Recall[func(row []W)](canonOf(d))
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
	return maxOp.row(d)
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

// A rowPool finds the largest by rows of Max, which doesn't mind in which order: of the lines
// of x that a line of results looks at, and then of what they came to, shifted.
type rowPool[W any] struct {
	*pooling
	x, dst []W
	larger func(dst, a, b []W)
	low    W
	canon  func(row []W)
	lines  int // of results in a plane
	size   int // of a plane of x
}

func poolRows[W any](p *pooling, x, dst []W, larger func(dst, a, b []W), low W, canon func(row []W)) {
	last, outer := &p.s[len(p.s)-1], p.s[:len(p.s)-1]
	r, rows := rowPool[W]{p, x, dst, larger, low, canon, 1, last.in}, 1
	for i := range outer {
		r.lines *= outer[i].out
		r.size *= outer[i].in
		rows *= min(outer[i].kernel, outer[i].in)
	}
	n, cost := p.planes*r.lines, (rows*last.in+2*last.kernel*last.out)/4+8
	if p.Little(n, cost) {
		r.some(0, n)
	} else {
		r.split(n, cost)
	}
}

func (r *rowPool[W]) split(n, cost int) {
	d := *r // without it that of a pool that isn't split would not stay on the stack
	exec.Split(r.Name, r.Ctx, n, cost, func(from, to int) { d.some(from, to) })
}

// some finds lines [from, to) of results, short ones many at a time.
func (r *rowPool[W]) some(from, to int) {
	last, outer := &r.s[len(r.s)-1], r.s[:len(r.s)-1]
	var few [16]int
	at := few[:]
	if len(outer) > len(few)/4 {
		at = make([]int, 4*len(outer))
	}
	oc, kc, lo, hi := at[:len(outer)], at[len(outer):2*len(outer)], at[2*len(outer):3*len(outer)], at[3*len(outer):4*len(outer)]
	many := min(to-from, max(1, 512/max(last.in, last.out)))
	room := make([]W, many*(last.in+last.out))
	bests, taps := room[:many*last.in], room[many*last.in:]
	for ; from < to; from += many {
		many = min(many, to-from)
		for i := range many {
			l := from + i
			best, src := bests[i*last.in:][:last.in], r.x[l/r.lines*r.size:][:r.size]
			empty := false
			for i, rest := len(outer)-1, l%r.lines; i >= 0; i-- {
				oc[i], rest = rest%outer[i].out, rest/outer[i].out
				lo[i], hi[i], _ = outer[i].reach(oc[i])
				empty = empty || lo[i] == hi[i]
			}
			if empty {
				fill(best, r.low)
			}
			copy(kc, lo)
			for more, first := !empty, true; more; more, first = advance(kc, lo, hi), false {
				at := 0
				for i := range outer {
					at = at*outer[i].in + outer[i].at(oc[i], kc[i])
				}
				if row := src[at*last.in:][:last.in]; first {
					copy(best, row)
				} else {
					r.larger(best, best, row)
				}
			}
		}
		row := r.dst[from*last.out:][:many*last.out]
		tap(last, row, bests, 0, r.low)
		for k := 1; k < last.kernel; k++ {
			tap(last, taps[:len(row)], bests, k, r.low)
			r.larger(row, row, taps[:len(row)])
		}
		if r.canon != nil {
			r.canon(row)
		}
	}
}

func fill[W any](dst []W, v W) {
	for i := range dst {
		dst[i] = v
	}
}

// tap gives each output in dst, line by line, the element of src that step k of its window sees, low in the padding.
func tap[W any](s *span, dst, src []W, k int, low W) {
	at := s.at(0, k) // of the first output, which may lie in the padding, as may the last
	first := min(max(0, (-at+s.stride-1)/s.stride), s.out)
	end := max(first, min(s.out, (s.in-1-at+s.stride)/s.stride))
	for ; len(dst) >= s.out && len(src) >= s.in; dst, src = dst[s.out:], src[s.in:] {
		fill(dst[:first], low)
		fill(dst[end:s.out], low)
		to := dst[first:end]
		for i := range to {
			to[i] = src[at+(first+i)*s.stride]
		}
	}
}

var maxPool = opN{about: about{name: "MaxPool", flops: flops{rule: poolFLOPs}, onnx: []int{1, 8, 10, 11, 12, 22},
	attrs: []string{"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"}}, least: 1, takes: reals | fixeds,
	planned: func(c *Call, p *Plan) {
		x, win := c.with("MaxPool", 0), windowOf(c)
		shape := poolOf(exec.Job{Name: "MaxPool"}, x, win).shape
		p.gives(x.DType(), shape...)
		if c.Outputs < 2 {
			p.by(c, 0, func(r *tensor.Any, opts []Option) { maxPooled(r, nil, x, win, false, opts) })
			return
		}
		if !p.brief {
			p.out = append(p.out, spec("MaxPool", dtype.Int64, shape...))
		}
		columns := c.Attrs.Int("storage_order", 0) != 0
		p.run = func() {
			p.to = make([]tensor.Any, 2)
			maxPooled(&p.to[0], &p.to[1], x, win, columns, options(c))
		}
	}}

// columnMajor turns places in row-major order of the spatial axes to places in
// column-major order.
func columnMajor(places []int64, s []span) {
	plane := 1
	for i := range s {
		plane *= s[i].in
	}
	for i, v := range places {
		at, p, step := int(v)%plane, int(v)/plane*plane, plane
		for k := len(s) - 1; k >= 0; k-- {
			step /= s[k].in
			p += at % s[k].in * step
			at /= s[k].in
		}
		places[i] = int64(p)
	}
}
