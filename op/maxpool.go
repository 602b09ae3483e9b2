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
func MaxPool[T num.Native | num.Narrow | num.Fixed](x tensor.Tensor[T], win Window, opts ...Option) (r tensor.Tensor[T]) {
	maxPooled(exec.Ref(&r), nil, exec.Ref(&x), win, false, opts)
	return r
}

// maxPooled is MaxPool for a run-time element type. index, unless nil, becomes the place of each
// largest element among all of x in row-major order, or with columns in column-major order of the spatial axes.
func maxPooled(r, index, x *tensor.Any, win Window, columns bool, opts []Option) {
	const name = "MaxPool"
	plan.Present(name, x)
	d, s := x.DType(), plan.Read(opts)
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
	out := plan.Beside(r, !r.IsContiguous(), x)
	if d.IsNarrow() && p.byRows(index != nil) {
		wx, wide := inSingle(name, x), tensor.EmptyOf(dtype.Float32, p.shape...)
		low, _ := move.EndsOf(d)
		poolWords[uint32](p, &wx, &wide, wideWord(d, low), nil)
		wx.Close()
		narrowInto(name, out, &wide)
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
// false when places are wanted, and for padding that is all there is.
func (p *pooling) byRows(places bool) bool {
	last := &p.s[len(p.s)-1]
	return !places && last.Kernel <= 64+4*last.In
}

// maxima fills r, and places, unless nil, with the place of each largest element.
func (p *pooling) maxima(x, r *tensor.Any, places []int64) {
	c, d := x.Contiguous(), x.DType()
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
	src, dst := move.ElemsOf[W](x), move.ElemsOf[W](r)
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
	r, rows := rowPool[W]{p, x, dst, larger, low, canon, 1, last.In}, 1
	for i := range outer {
		r.lines *= outer[i].Out
		r.size *= outer[i].In
		rows *= min(outer[i].Kernel, outer[i].In)
	}
	n, cost := p.planes*r.lines, (rows*last.In+2*last.Kernel*last.Out)/4+8
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
	many := min(to-from, max(1, 512/max(last.In, last.Out)))
	room := make([]W, many*(last.In+last.Out))
	bests, taps := room[:many*last.In], room[many*last.In:]
	for ; from < to; from += many {
		many = min(many, to-from)
		for i := range many {
			l := from + i
			best, src := bests[i*last.In:][:last.In], r.x[l/r.lines*r.size:][:r.size]
			empty := false
			for i, rest := len(outer)-1, l%r.lines; i >= 0; i-- {
				oc[i], rest = rest%outer[i].Out, rest/outer[i].Out
				lo[i], hi[i], _ = outer[i].Reach(oc[i])
				empty = empty || lo[i] == hi[i]
			}
			if empty {
				fill(best, r.low)
			}
			copy(kc, lo)
			for more, first := !empty, true; more; more, first = advance(kc, lo, hi), false {
				at := 0
				for i := range outer {
					at = at*outer[i].In + outer[i].At(oc[i], kc[i])
				}
				if row := src[at*last.In:][:last.In]; first {
					copy(best, row)
				} else {
					r.larger(best, best, row)
				}
			}
		}
		row := r.dst[from*last.Out:][:many*last.Out]
		tap(last, row, bests, 0, r.low)
		for k := 1; k < last.Kernel; k++ {
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
func tap[W any](s *contract.Span, dst, src []W, k int, low W) {
	at := s.At(0, k) // of the first output, which may lie in the padding, as may the last
	first := min(max(0, (-at+s.Stride-1)/s.Stride), s.Out)
	end := max(first, min(s.Out, (s.In-1-at+s.Stride)/s.Stride))
	for ; len(dst) >= s.Out && len(src) >= s.In; dst, src = dst[s.Out:], src[s.In:] {
		fill(dst[:first], low)
		fill(dst[end:s.Out], low)
		if first < end {
			conv.Every(dst[first:end], src[at+first*s.Stride:], s.Stride)
		}
	}
}

var maxPool = plan.Operator{About: plan.About{Name: "MaxPool", FLOPs: plan.FLOPs{Rule: contract.PoolFLOPs}, Versions: []int{1, 8, 10, 11, 12, 22},
	Attrs: []string{"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"}}, Least: 1, Takes: plan.Reals | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) {
		x, win := c.With("MaxPool", 0), contract.WindowOf(c)
		shape := poolOf(exec.Job{Name: "MaxPool"}, x, win).shape
		p.Gives(x.DType(), shape...)
		if c.Outputs < 2 {
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
