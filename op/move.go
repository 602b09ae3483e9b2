package op

import (
	"context"
	"encoding/binary"
	"errors"
	"math/bits"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/order"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operators that move elements don't look at what they mean, so one body does for
// all element types: it moves words of their size.

// words is the elements of a tensor in row-major order, one after the other.
type words struct {
	of     *tensor.Any // contiguous; it holds the memory
	mem    []byte
	size   int  // of an element, in bytes
	orion  bool // of a result: see Orion
	stream bool // of a result: see conv.Streams
	fresh  bool // of a result: nobody sees it after a panic, so that values may be checked on the way
}

// wordsOf returns the elements of a: those themselves where they are contiguous,
// else a copy.
func wordsOf(a tensor.Any) words {
	mem, ok := tensor.Bytes(a)
	if !ok {
		c, err := tensor.Contiguous(a)
		if err != nil {
			panic(err)
		}
		a = c
		mem, _ = tensor.Bytes(a)
	}
	return words{of: &a, mem: mem, size: a.DType().Size()}
}

func (w words) len() int { return len(w.mem) / w.size }

// copy copies n elements of src, from from on, to element to and those after it.
func (w words) copy(to int, src words, from, n int) {
	conv.Copy(w.mem[to*w.size:(to+n)*w.size], src.mem[from*w.size:(from+n)*w.size], w.stream)
}

// fill sets n elements from to on to v.
func (w words) fill(to, n int, v []byte) {
	m := w.mem[to*w.size : (to+n)*w.size]
	if allZero(v) {
		clear(m)
		return
	}
	for done := copy(m, v); done < len(m); {
		done += copy(m[done:], m[:done])
	}
}

func allZero(v []byte) bool { return !slices.ContainsFunc(v, func(b byte) bool { return b != 0 }) }

// bits returns the bits of element i of a type of at most 8 bytes.
func (w words) bits(i int) uint64 {
	switch w.size {
	case 1:
		return uint64(w.mem[i])
	case 2:
		return uint64(binary.NativeEndian.Uint16(w.mem[2*i:]))
	case 4:
		return uint64(binary.NativeEndian.Uint32(w.mem[4*i:]))
	}
	return binary.NativeEndian.Uint64(w.mem[8*i:])
}

// int64s returns the elements of an int64 or int32 tensor.
func (w words) int64s(name string) []int64 {
	v := roomFor[int64](name, w.len())
	for i := range v {
		v[i] = int64(w.bits(i))
		if w.size == 4 {
			v[i] = int64(int32(v[i]))
		}
	}
	runtime.KeepAlive(w.of)
	return v
}

// places returns the elements of an int64 or int32 tensor as indices, which are those themselves of an
// int64: they are read only.
func (w words) places(name string) []int64 {
	if w.size == 8 {
		return order.Positions(w.mem)
	}
	return w.int64s(name)
}

// A transfer is a result made of elements of other tensors. What shapes decide is
// decided when it is made; fill looks at values and refuses the wrong ones before
// it writes, or on the way where the result is fresh, and then writes every element.
type transfer struct {
	name  string
	d     dtype.DType
	shape []int
	in    []tensor.Any
	orion bool
	picky bool  // fill looks at values of which some are wrong
	to    words // of a plan: see settle
	from  []words

	scratch, each float64 // how many bytes fill takes besides, and each thread of it
	fill          func(ctx context.Context, dst words, in []words)
}

// valued panics unless the values of input i are known.
func valued(name string, i int, a tensor.Any) {
	if a.IsSpec() {
		panic(unknown(name, i))
	}
}

// reason returns what an error of package tensor wraps.
func reason(err error) error {
	if e := errors.Unwrap(err); e != nil {
		return e
	}
	return tensor.ErrShape
}

// idle reports whether there is nothing to write and nothing to refuse: then operands aren't
// laid out and fill isn't called, as both may take what grows with extents.
func (m *transfer) idle() bool {
	if m.picky || !slices.Contains(m.shape, 0) {
		return false
	}
	for i, a := range m.in {
		valued(m.name, i, a)
	}
	return true
}

func (m *transfer) operands(dst words) (in []words, overlap bool) {
	in = make([]words, len(m.in))
	for i, a := range m.in {
		valued(m.name, i, a)
		in[i] = wordsOf(a)
		overlap = overlap || conv.Overlap(in[i].mem, dst.mem)
	}
	return in, overlap
}

// run computes a transfer to new memory.
func (m *transfer) run(ctx context.Context) tensor.Any {
	var out tensor.Any
	if err := tensor.Try(func() { out = tensor.EmptyOf(m.d, m.shape...) }); err != nil { // fill writes every element
		panic(fail(m.name, reason(err), "the result: %v", err))
	}
	if m.idle() {
		return out
	}
	in, _ := m.operands(words{})
	dst := wordsOf(out)
	dst.fresh = true
	m.compute(ctx, dst, in)
	m.drop(in)
	return out
}

func (m *transfer) compute(ctx context.Context, dst words, in []words) {
	dst.orion = m.orion
	dst.stream = conv.Streams[byte](len(dst.mem))
	m.fill(ctx, dst, in)
	simd.Fence()
	runtime.KeepAlive(in)
}

// write is into for a plan: an Into target is apart from all operands then, and the same in every run, as they are.
func (m *transfer) write(r *tensor.Any, opts []Option) {
	s := read(opts)
	if s.into == nil {
		*r = m.run(s.ctx())
		return
	}
	if m.to.of == nil && !m.settle(s.into) {
		m.into(r, opts)
		return
	}
	*r = *s.into
	if !m.idle() {
		m.compute(s.ctx(), m.to, m.from)
	}
}

// settle lays the operands and the target of a plan out, once. It reports false where the copy of an operand would be of
// today's elements.
func (m *transfer) settle(to *tensor.Any) bool {
	if !to.IsContiguous() || slices.ContainsFunc(m.in, func(a tensor.Any) bool { return !a.IsZero() && !a.IsContiguous() }) {
		return false
	}
	checkTarget(m.name, to.LayoutRef(), to.IsReadOnly(), m.shape)
	m.to = wordsOf(*to)
	if !m.idle() {
		m.from, _ = m.operands(m.to)
	}
	return true
}

// into makes r the result, where the options say.
func (m *transfer) into(r *tensor.Any, opts []Option) {
	must(m.name, m.d != dtype.Invalid, m.d)
	s := read(opts)
	m.orion = s.orion
	if s.into == nil {
		*r = m.run(s.ctx())
		return
	}
	aimShape(r, m.name, &s, m.d, m.shape)
	if m.idle() {
		return
	}
	var to words
	if r.IsContiguous() {
		to = wordsOf(*r)
	}
	in, overlap := m.operands(to)
	out := *r
	if overlap || !r.IsContiguous() {
		out = tensor.EmptyOf(m.d, m.shape...)
		to = wordsOf(out)
	}
	m.compute(s.ctx(), to, in)
	m.drop(in)
	if !out.SameData(*r) {
		r.CopyFrom(out)
		out.Close()
	}
}

// drop gives back the memory of copies of operands.
func (m *transfer) drop(in []words) {
	for i := range in {
		drop(in[i].of, &m.in[i])
	}
}

// wantInt panics unless an input holds indices.
func wantInt(name string, i int, a tensor.Any) {
	d := a.DType()
	must(name, d != dtype.Invalid, d)
	if !indices.has(d) {
		panic(fail(name, tensor.ErrDType, "input %d holds %v, want int64 or int32", i, d))
	}
}

// remap sets element (i, j, …) of dst to element (maps[0] at i, maps[1] at j, …) of src,
// whose shape is given, or to pad where a map has -1. A zero map is the identity.
func remap(name string, ctx context.Context, dst, src words, shape []int, maps []mapping, pad []byte) {
	inner, unit := len(shape)-1, 1 // the last axis that isn't the identity, and the elements of one step on it
	for inner >= 0 && maps[inner].at == nil {
		unit *= shape[inner]
		inner--
	}
	if dst.len() == 0 {
		return
	}
	if inner < 0 {
		dst.copy(0, src, 0, unit)
		return
	}
	stride := make([]int, inner+1)
	ext := make([]int, inner+1)
	lists := make([][]int64, inner)
	for i, n := inner, unit; i >= 0; i-- {
		stride[i], ext[i] = n, shape[i]
		n *= shape[i]
		if maps[i].at != nil {
			ext[i] = maps[i].n
			if i < inner {
				lists[i] = maps[i].list(name)
			}
		}
	}
	rows, row := 1, ext[inner]*unit
	for _, e := range ext[:inner] {
		rows *= e
	}
	alone := rows == 1 && !slices.ContainsFunc(lists, func(l []int64) bool { return l != nil })
	var runs []run
	for from := 0; from < ext[inner]; {
		if runs, from = maps[inner].runs(runs[:0], from); alone && len(runs) > 1 { // the runs are the work
			exec.Split(name, ctx, len(runs), 1+row/4/len(runs), func(from, to int) {
				for _, u := range runs[from:to] {
					dst.run(0, src, 0, u, unit, pad)
				}
			})
			continue
		}
		first, n := runs[0].to*unit, (from-runs[0].to)*unit
		exec.Split(name, ctx, rows, n/4+len(runs), func(from, to int) {
			for r := from; r < to; r++ {
				base, rest := 0, r
				for i := inner - 1; i >= 0; i-- {
					at := rest % ext[i]
					rest /= ext[i]
					if lists[i] != nil {
						at = int(lists[i][at])
					}
					if at < 0 {
						base = -1
						break
					}
					base += at * stride[i]
				}
				if base < 0 {
					dst.fill(r*row+first, n, pad)
					continue
				}
				for _, u := range runs {
					dst.run(r*row, src, base, u, unit, pad)
				}
			}
		})
	}
}

// A mapping says which entry of an axis stands at each of n places of a result: at returns the run that
// begins at a place, which may go on beyond n.
type mapping struct {
	n  int
	at func(place int) run
}

// A run is n places from to on: of the entries from from on, which go on by step, 1, 0 or -1,
// or of none where from is -1.
type run struct{ to, from, n, step int }

// mostRuns is how many runs are kept at a time.
const mostRuns = 1 << 13

// runs appends the runs from a place on, not too many of them, and returns the place after them.
func (m mapping) runs(to []run, place int) ([]run, int) {
	for place < m.n && len(to) < mostRuns {
		u := m.at(place)
		u.to, u.n = place, min(u.n, m.n-place)
		to = append(to, u)
		place += u.n
	}
	return to, place
}

// remapScratch returns how many bytes remap takes for maps.
func remapScratch(maps []mapping) (n float64) {
	inner := true
	for _, m := range slices.Backward(maps) {
		switch {
		case m.at == nil:
		case inner:
			n, inner = float64(96*min(m.n, mostRuns)), false // with what append leaves behind
		default:
			n += float64(8 * float64(m.n))
		}
	}
	return n
}

// run sets the places of u, counted from first, to entries counted from base. An entry has unit
// elements.
func (w words) run(first int, src words, base int, u run, unit int, pad []byte) {
	to := first + u.to*unit
	at := (base + u.from*unit) * w.size
	switch {
	case u.from < 0:
		w.fill(to, u.n*unit, pad)
	case u.step == 1 || u.n == 1:
		conv.Copy(w.mem[to*w.size:(to+u.n*unit)*w.size], src.mem[at:at+u.n*unit*w.size], w.stream)
	case unit == 1 && u.step == 0:
		conv.Each(w.mem[to*w.size:(to+u.n)*w.size], src.mem[at:at+w.size], w.size, u.n)
	case unit == 1:
		conv.Backward(w.mem[to*w.size:(to+u.n)*w.size], src.mem[at-(u.n-1)*w.size:at+w.size], w.size)
	default:
		for i := range u.n {
			w.copy(to+i*unit, src, base+(u.from+i*u.step)*unit, unit)
		}
	}
}

// mappingOf returns n places, each of which has its entry, -1 for none, as a mapping.
func mappingOf(n int, entry func(place int) int) mapping {
	return mapping{n, func(place int) run {
		u := run{from: entry(place), n: 1, step: 1}
		for ; place+u.n < n; u.n++ {
			at := entry(place + u.n)
			step := at - u.from - (u.n-1)*u.step
			switch {
			case at < 0 && u.from < 0:
			case at < 0 || u.from < 0:
				return u
			case u.n == 1 && step >= -1 && step <= 1:
				u.step = step
			case u.n == 1 || step != u.step:
				return u
			}
		}
		return u
	}}
}

// list returns the entry at each place.
func (m mapping) list(name string) []int64 {
	list := roomFor[int64](name, m.n)[:0]
	for len(list) < m.n {
		u := m.at(len(list))
		for i := range min(u.n, m.n-len(list)) {
			if u.from < 0 {
				list = append(list, -1)
			} else {
				list = append(list, int64(u.from+i*u.step))
			}
		}
	}
	return list
}

// steps returns how far apart neighbours along each axis are in row-major order.
func steps(shape []int) []int {
	s := make([]int, len(shape))
	for i, n := len(shape)-1, 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// around returns the number of elements before, on and after an axis: the sizes of
// a shape seen as three axes.
func around(shape []int, axis int) (before, n, after int) {
	before, after = 1, 1
	for i, e := range shape {
		switch {
		case i < axis:
			before *= e
		case i > axis:
			after *= e
		}
	}
	return before, shape[axis], after
}

// extent multiplies two extents.
func extent(name string, axis, a, b int) int {
	hi, lo := bits.Mul(uint(a), uint(b))
	if hi != 0 || int(lo) < 0 {
		panic(fail(name, tensor.ErrOverflow, "%d times %d elements on axis %d don't fit an int", a, b, axis))
	}
	return int(lo)
}
