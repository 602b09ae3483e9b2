package op

import (
	"math/bits"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// AveragePool returns the mean under a window that moves over the spatial axes
// of x [N, C, D1, …]: the elements inside are added in float64 in the fixed
// order of this package and divided once by their number, or with o.CountIncludePad by
// the number of window positions inside the padded input. A window with nothing
// to divide by gives NaN. Fixed point is added exactly and rounded once; there such a
// window is an error. ONNX AveragePool.
func AveragePool[T num.Fractional](x tensor.Tensor[T], win Window, o AveragePoolOptions, opts ...Option) (r tensor.Tensor[T]) {
	averagePooled(exec.Ref(&r), exec.Ref(&x), contract.Window(win), o.CountIncludePad, opts)
	return r
}

// AveragePoolOptions says by how many elements AveragePool divides.
type AveragePoolOptions struct {
	CountIncludePad bool // padding counts: ONNX's attribute count_include_pad
}

// averagePooled is AveragePool for a run-time element type.
func averagePooled(r, x *tensor.Any, win contract.Window, includePad bool, opts []Option) {
	const name = "AveragePool"
	plan.Present(name, x)
	d, s := x.DType(), plan.Read(name, opts)
	p := poolOf(exec.Job{Name: name, Ctx: s.Ctx()}, x, win)
	plan.AimShape(r, name, &s, d, p.shape)
	if r.Len() == 0 {
		return
	}
	p.lies(x, r)
	out := plan.Beside(r, d.IsFixed() && s.Into != nil || !p.last && !r.IsContiguous(), x)
	if out != r {
		p.last = false
	}
	var c tensor.Any
	if p.last {
		c = *x
	} else if d.IsNarrow() {
		own := x.Contiguous() // Convert keeps the order of the elements in memory
		pointwise.Convert(&c, name, dtype.Float64, &own, s.Quiet())
		plan.Drop(&own, x)
	} else {
		c = x.Contiguous()
	}
	var bad exec.Failure
	switch d {
	case dtype.Float32:
		meansByRows(p, storage[float32](&c), includePad, storage[float32](out), conv.Canon32)
	case dtype.Float64:
		meansByRows(p, storage[float64](&c), includePad, storage[float64](out), conv.Canon64)
	case dtype.FP8x23:
		fixedMeans[fixed.FP8x23](p, &c, out, includePad, &s, &bad)
	case dtype.FP16x16:
		fixedMeans[fixed.FP16x16](p, &c, out, includePad, &s, &bad)
	case dtype.FP32x32:
		fixedMeans[fixed.FP32x32](p, &c, out, includePad, &s, &bad)
	case dtype.FP64x64:
		fixedMeans[fixed.FP64x64](p, &c, out, includePad, &s, &bad)
	default:
		wide := tensor.EmptyOf(dtype.Float64, p.shape...)
		meansByRows(p, move.ElemsOf[float64](&c), includePad, move.ElemsOf[float64](&wide), func([]float64) {})
		pointwise.Convert(out, name, d, &wide, onto(out, s.Quiet()))
		wide.Close()
	}
	plan.Drop(&c, x)
	cast.Refuse(name, &bad, p.shape)
	plan.Put(r, out)
}

// means has set the mean of each window of x.
func means[T num.Float](p *pooling, x []T, includePad bool, set func(o int, mean float64)) {
	pooled(p, x, false, func(o int, window []T, _ []int, padded int) {
		n := len(window)
		if includePad {
			n = padded
		}
		set(o, reduce.SumRow(window)/float64(n))
	})
}

// fixedMeans sets r to the exact mean of each window, rounded once, and notes the first that there isn't.
func fixedMeans[T num.Fixed](p *pooling, x, r *tensor.Any, includePad bool, s *plan.Settings, bad *exec.Failure) {
	to, modes := move.ElemsOf[T](r), cast.StateOf(s, r.DType()).Modes
	pooled(p, move.ElemsOf[T](x), false, func(o int, window []T, _ []int, padded int) {
		n := len(window)
		if includePad {
			n = padded
		}
		var sum fixed.Sum[T]
		sum.AddRow(window)
		v, err := sum.Mean(n, modes...)
		bad.Note(o, err)
		to[o] = v
	})
}

// meansByRows computes the means of windows by rows: of many planes side by side, or of neighbouring outputs of a line, whose windows have few
// elements. They are added in the same order for each.
func meansByRows[T num.Float](p *pooling, x []T, includePad bool, res []T, canon func([]T)) {
	s := p.s
	if len(s) == 1 { // an axis of one line around it
		s = []contract.Span{{In: 1, Out: 1, Kernel: 1, Stride: 1, Dilation: 1}, s[0]}
	}
	volume, lines, plane := 1, 1, 1
	_, outs := p.plane()
	for i := range s {
		volume = min(volume*min(s[i].Kernel, reduce.SumLanes+1), reduce.SumLanes+1)
		lines *= s[i].Out
		plane *= s[i].In
	}
	least := contract.PoolPlanes
	if volume > reduce.SumLanes { // too many for lines
		least = 4
	}
	if beside(p, x, res, least, func() func(dst, near []T, at int, window *exec.Sequence, padded int) {
		var m meanRow[T]
		return func(dst, near []T, at int, window *exec.Sequence, padded int) {
			n := window.N
			if includePad {
				n = padded
			}
			m.within(dst, near, at, window, float64(n))
			canon(dst)
		}
	}) {
		return
	}
	if volume > reduce.SumLanes {
		means(p, x, includePad, func(o int, v float64) { res[o] = T(v) })
		canon(res[:p.planes*outs])
		return
	}
	lines /= s[len(s)-1].Out
	exec.Split(p.Name, p.Ctx, p.planes*lines, volume*s[len(s)-1].Out, func(from, to int) {
		m := newLineMeans[T](s, includePad)
		for l := from; l < to; {
			at := l % lines
			l += m.some(at, min(to-l, lines-at), x[l/lines*plane:][:plane], res[l*m.x.Out:])
		}
	})
	canon(res[:p.planes*outs])
}

// lineMeans computes the means of lines of windows. It puts elements and lines that are a stride apart beside each other. Then
// neighbouring outputs take adjacent elements from a place of the window, also from line to line.
type lineMeans[T num.Float] struct {
	outer      []contract.Span // all but the last two axes
	y, x       contract.Span
	includePad bool
	first, end int // the outputs of a line whose windows have all places along it inside

	oc, kc, lo, hi []int // of all axes but the last
	near, line     []T   // of the input, and of outputs
	mean           meanRow[T]
	rows           []int // of near that a window has
	begin, width   int   // of a line of the input: the first element of near's, and how many there are of a remainder
}

const meansStrip = 512 // sums at a time

func newLineMeans[T num.Float](s []contract.Span, includePad bool) *lineMeans[T] {
	n := len(s) - 1
	m := &lineMeans[T]{outer: s[:n-1], y: s[n-1], x: s[n], includePad: includePad}
	m.first = min(m.x.Out, max(0, (m.x.Begin+m.x.Stride-1)/m.x.Stride))
	m.end = max(m.first, min(m.x.Out, (m.x.In-1-m.x.At(0, m.x.Kernel-1)+m.x.Stride)/m.x.Stride))
	at := make([]int, 4*n)
	m.oc, m.kc, m.lo, m.hi = at[:n], at[n:2*n], at[2*n:3*n], at[3*n:]
	return m
}

// linesRoom returns how many elements of lines a lineMeans keeps at most.
func linesRoom(s []contract.Span) float64 {
	n := float64(1)
	for i, last := 0, len(s)-1; i <= last; i++ {
		reach, more := float64(float64(s[i].Kernel-1)*float64(s[i].Dilation))+1, 0
		switch {
		case i == last:
			more = meansStrip
		case i == last-1:
			more = meansStrip / (s[last].In + 1)
		default:
			reach = float64(min(s[i].Kernel, s[i].In))
		}
		n *= 2 * min(float64(s[i].In), reach+float64(float64(more)*float64(s[i].Stride)))
	}
	return n
}

// some computes lines of outputs from line l of a plane on, n at most, whose windows lie in the plane in the same way, and
// returns how many these are.
func (m *lineMeans[T]) some(l, n int, plane, res []T) int {
	y, last := &m.y, len(m.outer)
	padded, empty := 1, false
	for i, rest := last, l; i >= 0; i-- {
		s, p := y, 0
		if i < last {
			s = &m.outer[i]
		}
		m.oc[i], rest = rest%s.Out, rest/s.Out
		m.lo[i], m.hi[i], p = s.Reach(m.oc[i])
		padded, empty = padded*p, empty || m.lo[i] == m.hi[i]
	}
	o, run := m.oc[last], 1
	for pitch := m.x.In + m.x.Stride; m.hi[last]-m.lo[last] == y.Kernel && run < n && (run+1)*pitch <= meansStrip && o+run < y.Out && y.At(o+run, y.Kernel-1) < y.In; {
		run++
	}
	for from := 0; from < m.x.Out; from += meansStrip { // there is a second strip of single lines alone
		m.strip(plane, res, from, min(m.x.Out, from+meansStrip), run, padded, empty)
	}
	return run
}

// strip computes outputs [from, to) of run lines.
func (m *lineMeans[T]) strip(plane, res []T, from, to, run, padded int, empty bool) {
	y, last := &m.y, len(m.outer)
	lo, hi, o := m.lo[last], m.hi[last], m.oc[last]
	m.begin = max(0, m.x.At(from, 0)/m.x.Stride*m.x.Stride)
	cols := min(m.x.In, m.x.At(to-1, m.x.Kernel-1)+1) - m.begin // of the input
	m.width = (cols + m.x.Stride - 1) / m.x.Stride
	pitch := max(1, min(m.x.Stride, cols)) * m.width
	high := (hi-lo-1)*y.Dilation + (run-1)*y.Stride + 1 // lines of the input
	lines := (high-1)/y.Stride + 1                      // of those a stride apart
	size := min(y.Stride, high) * lines * pitch
	m.rows, m.near = m.rows[:0], m.near[:0]
	whole := y.Stride == 1 && m.x.Stride == 1 && cols == m.x.In // the lines lie so
	copy(m.kc, m.lo)
	for more := !empty && cols > 0; more; more = advance(m.kc[:last], m.lo[:last], m.hi[:last]) {
		at := 0
		for i := range m.outer {
			at = at*m.outer[i].In + m.outer[i].At(m.oc[i], m.kc[i])
		}
		src := plane[(at*y.In+y.At(o, lo))*m.x.In:][:high*m.x.In]
		from := len(m.near)
		if whole && len(m.outer) == 0 {
			m.near = src[:len(src):len(src)]
		} else {
			m.near = slices.Grow(m.near, size)[:from+size]
			for i := range high {
				m.part(m.near[from+(i%y.Stride*lines+i/y.Stride)*pitch:], src[i*m.x.In+m.begin:][:cols])
			}
		}
		for k := range hi - lo {
			i := k * y.Dilation
			m.rows = append(m.rows, from+(i%y.Stride*lines+i/y.Stride)*pitch)
		}
	}
	for o := from; o < to; {
		lo, hi, p := m.x.Reach(o)
		n := 1
		if o >= m.first && o < m.end {
			n = min(to, m.end) - o
		}
		by := len(m.rows) * (hi - lo)
		if m.includePad {
			by = padded * p
		}
		m.divided(res, o, n, lo, hi, run, pitch, float64(by))
		o += n
	}
	if whole && len(m.outer) == 0 {
		m.near = nil // it isn't room of ours
	}
}

// part sets dst to part of a line: its elements a stride apart, for each remainder of the stride.
func (m *lineMeans[T]) part(dst, src []T) {
	step := m.x.Stride
	for i := range min(step, len(src)) {
		conv.Every(dst[i*m.width:][:(len(src)-i+step-1)/step], src[i:], step)
	}
}

func widenTo[T num.Float](dst []float64, src []T) {
	switch s := any(src).(type) {
	case []float32:
		conv.WidenF32(dst, s[:len(dst)])
	case []float64:
		copy(dst, s)
	}
}

// divided computes outputs [o, o+cols) of run lines, whose windows have the same places from lo to hi inside, and divides the sums
// by n.
func (m *lineMeans[T]) divided(res []T, o, cols, lo, hi, run, pitch int, n float64) {
	var few [reduce.SumLanes][]T
	all := (run-1)*pitch + cols
	lane := few[:0]
	for _, row := range m.rows {
		for k := lo; k < hi; k++ {
			at := m.x.At(o, k) - m.begin
			lane = append(lane, m.near[row+at%m.x.Stride*m.width+at/m.x.Stride:][:all])
		}
	}
	if cols == 1 || len(lane) == 0 {
		var sum [reduce.SumLanes]float64
		for i := range run {
			for k, l := range lane {
				sum[k] = float64(l[i*pitch])
			}
			for terms := len(lane); terms > 1; {
				h := 1 << (bits.Len(uint(terms-1)) - 1)
				for k := h; k < terms; k++ {
					sum[k-h] += sum[k]
				}
				terms = h
			}
			v := T(sum[0] / n)
			for j := range cols {
				res[i*m.x.Out+o+j] = v
			}
		}
		return
	}
	m.line = slices.Grow(m.line[:0], all)[:all]
	m.mean.of(m.line, lane, n)
	for i := range run {
		copy(res[i*m.x.Out+o:][:cols], m.line[i*pitch:])
	}
}

// meanRows sets dst to the sums of rows divided by n, and reports whether there is a kernel for so many.
func meanRows(dst []float32, x [][]float32, n float64) bool {
	switch len(x) {
	case 2:
		return simd.TryMean2(dst, x[0], x[1], n)
	case 3:
		return simd.TryMean3(dst, x[0], x[1], x[2], n)
	case 4:
		return simd.TryMean4(dst, x[0], x[1], x[2], x[3], n)
	case 6:
		return simd.TryMean6(dst, x[0], x[1], x[2], x[3], x[4], x[5], n)
	case 9:
		return simd.TryMean9(dst, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], n)
	}
	return false
}

// A meanRow makes rows of means. It keeps room for sums.
type meanRow[T num.Float] struct{ wide []float64 }

// within sets dst to the sums of the rows of near that begin where window says, from at on, divided by n.
func (m *meanRow[T]) within(dst, near []T, at int, window *exec.Sequence, n float64) {
	if window.N > reduce.SumLanes {
		m.wide = slices.Grow(m.wide[:0], len(dst))[:len(dst)]
		reduce.SumDown(m.wide, near, at, window, false)
		m.narrow(dst, m.wide, n)
		return
	}
	var few [reduce.SumLanes][]T
	for i := range window.N {
		few[i] = near[at+window.Offset(i):][:len(dst)]
	}
	m.of(dst, few[:window.N], n)
}

// of sets dst to the sums of at most reduce.SumLanes rows, as reduce.SumRow adds, divided by n.
func (m *meanRow[T]) of(dst []T, x [][]T, n float64) {
	if lanes, ok := any(x).([][]float32); ok && meanRows(any(dst).([]float32), lanes, n) {
		return
	}
	var lane [reduce.SumLanes][]float64
	all, terms := len(dst), max(1, len(x))
	m.wide = slices.Grow(m.wide[:0], terms*all)[:terms*all]
	for i := range terms {
		lane[i] = m.wide[i*all:][:all]
		if len(x) == 0 {
			clear(lane[i])
		} else {
			widenTo(lane[i], x[i])
		}
	}
	for h := reduce.SumLanes / 2; h > 0; h /= 2 {
		for i := h; i < terms; i++ {
			reduce.AddRows(lane[i-h], lane[i-h], lane[i])
		}
		terms = min(terms, h)
	}
	m.narrow(dst, lane[0], n)
}

// narrow sets dst to sums divided by n.
func (m *meanRow[T]) narrow(dst []T, sums []float64, n float64) {
	if !simd.TryDivNumber64(sums, sums, n, false) {
		for i, v := range sums {
			sums[i] = v / n
		}
	}
	switch to := any(dst).(type) {
	case []float32:
		conv.NarrowF64(to, sums)
	case []float64:
		copy(to, sums)
	}
}

var averagePool = plan.Operator{About: plan.About{Name: "AveragePool", Versions: []int{1, 7, 10, 11, 19, 22},
	Attrs: []string{"auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads", "strides"}}, Least: 1, Takes: plan.Floats | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) {
		x, win, pads := c.With("AveragePool", 0), contract.WindowOf(c), c.Attrs.Int("count_include_pad", 0) != 0
		q, size := poolOf(exec.Job{Name: "AveragePool"}, x, win), x.DType().Size()
		p.Gives(x.DType(), q.shape...)
		if x.DType().IsNarrow() {
			size = 8
			p.Copies(4, 1, 1)
		}
		p.Takes(0, float64(float64(size)*max(q.room(contract.PoolPlanes/16), linesRoom(q.s)))+8*reduce.SumLanes*meansStrip)
		p.Costs(plan.ProductOfAll(plan.Count(q.shape), plan.Count(win.Kernel)))
		p.Last, p.ByInput = true, true
		p.By(c, 0, func(r *tensor.Any, opts []Option) { averagePooled(r, x, contract.Window(win), pads, opts) })
	}}
