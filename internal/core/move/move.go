package move

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/order"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operators that move elements don't depend on their meaning. So one body serves all element types: it moves words of their
// size.

// Words has the elements of a tensor in row-major order, one after the other.
type Words struct {
	Of     *tensor.Any // contiguous; it holds the memory
	Mem    []byte
	Size   int  // of an element, in bytes
	Last   bool // the order is that of channels last, and Of is [N, D1, …, C]
	Orion  bool // of a result: see Orion
	Stream bool // of a result: see conv.Streams
	Fresh  bool // of a result: nobody sees it after a panic, so values may be checked on the way
}

// WordsOf returns the elements of a: its own memory if it is contiguous, else a copy.
func WordsOf(a tensor.Any) Words {
	mem, ok := tensor.Bytes(a)
	if !ok {
		c, err := tensor.Contiguous(a)
		if err != nil {
			panic(err)
		}
		a = c
		mem, _ = tensor.Bytes(a)
	}
	return Words{Of: &a, Mem: mem, Size: a.DType().Size()}
}

// Lies says how operands and the result of a Transfer may lie.
type Lies uint8

const (
	RowMajor  Lies = iota
	EachLast       // each may lie channels last,
	AlikeLast      // or all of the result's rank do
)

// Len returns the number of elements.
func (w Words) Len() int { return len(w.Mem) / w.Size }

// Copy copies n elements of src, from element from on, to the elements from to on.
func (w Words) Copy(to int, src Words, from, n int) {
	conv.Copy(w.Mem[to*w.Size:(to+n)*w.Size], src.Mem[from*w.Size:(from+n)*w.Size], w.Stream)
}

// Fill sets n elements to v, from element to on.
func (w Words) Fill(to, n int, v []byte) {
	m := w.Mem[to*w.Size : (to+n)*w.Size]
	if allZero(v) {
		clear(m)
		return
	}
	for done := copy(m, v); done < len(m); {
		done += copy(m[done:], m[:done])
	}
}

func allZero(v []byte) bool { return !slices.ContainsFunc(v, func(b byte) bool { return b != 0 }) }

// Bits returns the bits of element i of a type of at most 8 bytes.
func (w Words) Bits(i int) uint64 {
	switch w.Size {
	case 1:
		return uint64(w.Mem[i])
	case 2:
		return uint64(binary.NativeEndian.Uint16(w.Mem[2*i:]))
	case 4:
		return uint64(binary.NativeEndian.Uint32(w.Mem[4*i:]))
	}
	return binary.NativeEndian.Uint64(w.Mem[8*i:])
}

// Int64s returns the elements of an int64 or int32 tensor.
func (w Words) Int64s(name string) []int64 {
	v := plan.RoomFor[int64](name, w.Len())
	for i := range v {
		v[i] = int64(w.Bits(i))
		if w.Size == 4 {
			v[i] = int64(int32(v[i]))
		}
	}
	runtime.KeepAlive(w.Of)
	return v
}

// Places returns the elements of an int64 or int32 tensor as indices. For an int64 tensor they are its own memory, which must
// only be read.
func (w Words) Places(name string) []int64 {
	if w.Size == 8 {
		return order.Positions(w.Mem)
	}
	return w.Int64s(name)
}

// A Transfer is a result made from elements of other tensors. It is made from shapes. Fill then looks at values and refuses
// wrong ones before it writes, or on the way where the result is fresh. Then it writes every element.
type Transfer struct {
	Name  string
	D     dtype.DType
	Shape []int
	In    []tensor.Any
	Lies  Lies
	orion bool
	Picky bool  // Fill refuses some values of the only operand, or of those after the first
	to    Words // of a plan: see layOut
	from  []Words

	plan.Price       // what Fill takes
	Keeps      int64 // bytes of packed weights that Fill keeps
	Fill       func(ctx context.Context, dst Words, in []Words)
	Last       func(a tensor.Any) *Transfer // the same move of a, which is the first operand as [N, D1, …, C]; nil if there is none
	aside      *Transfer                    // of a plan: what Last gave
	Maps       []Mapping                    // of a Remap, whose places without an entry get Outside
	Outside    func() []byte
}

func (m *Transfer) Planned(p *plan.Draft, c *plan.Use, move func(c *plan.Use) plan.Mover) {
	m.orion = c.Orion()
	p.Gives(m.D, m.Shape...)
	p.Last = m.Last != nil || m.Lies != RowMajor
	p.ByInput = p.Last && m.Lies != EachLast
	p.By(c, 0, func(r *tensor.Any, opts []plan.Option) { m.write(r, opts) })
	if c.Fixed == nil {
		return
	}
	vague := *c // it doesn't know the elements that may change
	vague.Inputs = slices.Clone(c.Inputs)
	for i, a := range c.Inputs {
		if !a.IsZero() && !c.Known(i) {
			vague.Inputs[i] = plan.Spec(m.Name, a.DType(), a.Shape()...)
		}
	}
	var always *Transfer
	if p.Steady = tensor.Try(func() { always = move(&vague).(*Transfer) }) == nil; p.Steady {
		m.Fill, m.Shape, p.Keeps = always.Fill, always.Shape, always.Keeps
	}
}

// valued panics unless the values of input i are known.
func valued(name string, i int, a tensor.Any) {
	if a.IsSpec() {
		panic(plan.Unknown(name, i))
	}
}

// Reason returns the error that an error of package tensor wraps, or tensor.ErrShape.
func Reason(err error) error {
	if e := errors.Unwrap(err); e != nil {
		return e
	}
	return tensor.ErrShape
}

// idle reports whether there is nothing to write and nothing to refuse, which is in the only operand or in those after the first.
// Then operands aren't laid out and Fill isn't called, as both may take time and memory that grow with extents.
func (m *Transfer) idle() bool {
	if !slices.Contains(m.Shape, 0) {
		return false
	}
	for i, a := range m.In {
		valued(m.Name, i, a)
		if m.Picky && (i > 0 || len(m.In) == 1) && !a.IsZero() && a.Len() > 0 {
			return false
		}
	}
	return true
}

// lies returns the elements of a where it lies as the transfer can take it. It reports false if only a copy does.
func (m *Transfer) lies(a *tensor.Any) (w Words, ok bool) {
	if a.IsContiguous() {
		return WordsOf(*a), true
	}
	if m.Lies == RowMajor || !plan.LiesLast(a) {
		return w, false
	}
	turned := plan.Last(*a, a.Rank())
	if ok = turned.IsContiguous(); ok {
		w = WordsOf(turned)
		w.Last = true
	}
	return w, ok
}

// wordsOf returns the elements of an operand: its own memory, or a copy. last says how the result lies.
func (m *Transfer) wordsOf(a tensor.Any, last bool) Words {
	alike := m.Lies == AlikeLast && last && a.Rank() == len(m.Shape)
	if w, ok := m.lies(&a); ok && (m.Lies == EachLast || w.Last == last || !alike && !w.Last) {
		return w
	}
	if !alike {
		return WordsOf(a)
	}
	w := WordsOf(plan.Last(a, a.Rank()))
	w.Last = true
	return w
}

func (m *Transfer) operands(dst Words) (in []Words, overlap bool) {
	in = make([]Words, len(m.In))
	for i, a := range m.In {
		valued(m.Name, i, a)
		in[i] = m.wordsOf(a, dst.Last)
		overlap = overlap || conv.Overlap(in[i].Mem, dst.Mem)
	}
	return in, overlap
}

// Run computes a transfer to new memory.
func (m *Transfer) Run(ctx context.Context) tensor.Any {
	var out tensor.Any
	if err := tensor.Try(func() { out = tensor.EmptyOf(m.D, m.Shape...) }); err != nil { // Fill writes every element
		panic(plan.Fail(m.Name, Reason(err), "the result: %v", err))
	}
	if m.idle() {
		return out
	}
	in, _ := m.operands(Words{})
	dst := WordsOf(out)
	dst.Fresh = true
	m.compute(ctx, dst, in)
	m.drop(in)
	return out
}

func (m *Transfer) compute(ctx context.Context, dst Words, in []Words) {
	dst.Orion = m.orion
	dst.Stream = conv.Streams[byte](len(dst.Mem))
	m.Fill(ctx, dst, in)
	simd.Fence()
	runtime.KeepAlive(in)
}

// write is Into for a plan. Then an Into target doesn't overlap the operands, and all stay the same in every run.
func (m *Transfer) write(r *tensor.Any, opts []plan.Option) {
	s := plan.Read(m.Name, opts)
	if s.Into == nil {
		*r = m.Run(s.Ctx())
		return
	}
	if m.Last != nil && plan.LiesLast(s.Into) && plan.LiesLast(&m.In[0]) {
		m.lastly(s.Into, &s)
		*r = *s.Into
		return
	}
	if m.to.Of == nil && !m.layOut(s.Into) {
		m.Into(r, opts)
		return
	}
	*r = *s.Into
	if !m.idle() {
		m.compute(s.Ctx(), m.to, m.from)
	}
}

// layOut lays out the operands and the target of a plan, once. It reports false where it would copy an operand, as the copy
// would keep today's elements.
func (m *Transfer) layOut(to *tensor.Any) bool {
	w, ok := m.lies(to)
	if !ok {
		return false
	}
	for i := range m.In {
		a := &m.In[i]
		if v, ok := m.lies(a); !ok || m.Lies == AlikeLast && v.Last != w.Last && a.Rank() == len(m.Shape) {
			return false
		}
	}
	plan.CheckTarget(m.Name, to, m.Shape)
	m.to = w
	if !m.idle() {
		m.from, _ = m.operands(m.to)
	}
	return true
}

// Into makes r the result, in the target of the options if they have one.
func (m *Transfer) Into(r *tensor.Any, opts []plan.Option) {
	plan.Must(m.Name, m.D != dtype.Invalid, m.D)
	s := plan.Read(m.Name, opts)
	m.orion = s.Orion
	if s.Into == nil {
		*r = m.Run(s.Ctx())
		return
	}
	plan.AimShape(r, m.Name, &s, m.D, m.Shape)
	if m.idle() {
		return
	}
	to, ok := m.lies(r)
	in, overlap := m.operands(to)
	out := *r
	if overlap || !ok {
		out = tensor.EmptyOf(m.D, m.Shape...)
		if to.Last {
			m.drop(in)
			in, _ = m.operands(Words{})
		}
		to = WordsOf(out)
	}
	m.compute(s.Ctx(), to, in)
	m.drop(in)
	if !out.SameData(*r) {
		r.CopyFrom(out)
		out.Close()
	}
}

// drop releases the memory of copies of operands.
func (m *Transfer) drop(in []Words) {
	for i := range in {
		plan.Drop(in[i].Of, &m.In[i])
	}
}

// WantInt panics unless an input holds indices.
func WantInt(name string, i int, a tensor.Any) {
	d := a.DType()
	plan.Must(name, d != dtype.Invalid, d)
	if !plan.Indices.Has(d) {
		panic(plan.Fail(name, tensor.ErrDType, "input %d holds %v, want int64 or int32", i, d))
	}
}

// Remap sets element (i, j, …) of dst to element (maps[0] at i, maps[1] at j, …) of src, whose shape is given, or to pad where
// a map has -1. A zero map is the identity.
func Remap(name string, ctx context.Context, dst, src Words, shape []int, maps []Mapping, pad []byte) {
	inner, unit := len(shape)-1, 1 // the last axis that isn't the identity, and the elements of one step on it
	for inner >= 0 && maps[inner].At == nil {
		unit *= shape[inner]
		inner--
	}
	if dst.Len() == 0 {
		return
	}
	if inner < 0 {
		dst.Copy(0, src, 0, unit)
		return
	}
	stride := make([]int, inner+1)
	ext := make([]int, inner+1)
	lists := make([][]int64, inner)
	for i, n := inner, unit; i >= 0; i-- {
		stride[i], ext[i] = n, shape[i]
		n *= shape[i]
		if maps[i].At != nil {
			ext[i] = maps[i].N
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
	var pieces []Piece
	for from := 0; from < ext[inner]; {
		if pieces, from = maps[inner].pieces(pieces[:0], from); alone && len(pieces) > 1 { // the pieces are the work
			exec.Split(name, ctx, len(pieces), 1+row/4/len(pieces), func(from, to int) {
				for _, u := range pieces[from:to] {
					dst.piece(0, src, 0, u, unit, pad)
				}
			})
			continue
		}
		first, n := pieces[0].To*unit, (from-pieces[0].To)*unit
		at := each(pieces, n, unit)
		exec.Split(name, ctx, rows, n/4+len(pieces), func(from, to int) {
			was, size := -1, dst.Size
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
					dst.Fill(r*row+first, n, pad)
					was = -1
					continue
				}
				switch to := (r*row + first) * size; {
				case base == was && r > from && !dst.Stream: // the same as in the row before
					copy(dst.Mem[to:to+n*size], dst.Mem[to-row*size:])
				case at != nil:
					conv.Take(dst.Mem[to:], src.Mem, size, at, conv.Axis{First: base, Stride: 1})
				default:
					for _, u := range pieces {
						dst.piece(r*row, src, base, u, unit, pad)
					}
				}
				was = base
			}
		})
	}
}

// shortPiece is the length up to which elements are taken one by one.
const shortPiece = 16

// each returns the places of n elements of entries of unit elements. It returns nil where pieces are long on average, or one
// has no entry.
func each(pieces []Piece, n, unit int) []int64 {
	if n > shortPiece*len(pieces) || slices.ContainsFunc(pieces, func(u Piece) bool { return u.From < 0 }) {
		return nil
	}
	at := make([]int64, 0, n)
	for _, u := range pieces {
		for i := range u.N {
			for k := range unit {
				at = append(at, int64((u.From+i*u.Step)*unit+k))
			}
		}
	}
	return at
}

// A Mapping gives the entry of an axis for each of the N places of a result. At returns the piece that begins at a place. The
// piece may go on beyond N.
type Mapping struct {
	N  int
	At func(place int) Piece
}

// A Piece is N places from To on. Their entries begin at From and go on by Step, which is 1, 0 or -1. Where From is -1 they
// have no entry.
type Piece struct{ To, From, N, Step int }

// mostPieces is the most pieces that are kept at a time.
const mostPieces = 1 << 13

// pieces appends the pieces from a place on, up to mostPieces, and returns the place after them.
func (m Mapping) pieces(to []Piece, place int) ([]Piece, int) {
	for place < m.N && len(to) < mostPieces {
		u := m.At(place)
		u.To, u.N = place, min(u.N, m.N-place)
		to = append(to, u)
		place += u.N
	}
	return to, place
}

// RemapScratch returns the number of bytes that Remap takes for maps.
func RemapScratch(maps []Mapping) (n float64) {
	inner := true
	for _, m := range slices.Backward(maps) {
		switch {
		case m.At == nil:
		case inner:
			n, inner = float64((96+8*shortPiece)*min(m.N, mostPieces)), false // with the memory that append no longer uses
		default:
			n += float64(8 * float64(m.N))
		}
	}
	return n
}

// piece sets the places of u, counted from first, to entries counted from base. An entry has unit elements.
func (w Words) piece(first int, src Words, base int, u Piece, unit int, pad []byte) {
	to := first + u.To*unit
	at := (base + u.From*unit) * w.Size
	switch {
	case u.From < 0:
		w.Fill(to, u.N*unit, pad)
	case u.Step == 1 || u.N == 1:
		conv.Copy(w.Mem[to*w.Size:(to+u.N*unit)*w.Size], src.Mem[at:at+u.N*unit*w.Size], w.Stream)
	case unit == 1 && u.Step == 0:
		conv.Each(w.Mem[to*w.Size:(to+u.N)*w.Size], src.Mem[at:at+w.Size], w.Size, u.N)
	case unit == 1:
		conv.Backward(w.Mem[to*w.Size:(to+u.N)*w.Size], src.Mem[at-(u.N-1)*w.Size:at+w.Size], w.Size)
	default:
		for i := range u.N {
			w.Copy(to+i*unit, src, base+(u.From+i*u.Step)*unit, unit)
		}
	}
}

// MappingOf returns n places as a mapping. entry gives the entry of each place, -1 for none.
func MappingOf(n int, entry func(place int) int) Mapping {
	return Mapping{N: n, At: func(place int) Piece {
		u := Piece{From: entry(place), N: 1, Step: 1}
		for ; place+u.N < n; u.N++ {
			at := entry(place + u.N)
			step := at - u.From - (u.N-1)*u.Step
			switch {
			case at < 0 && u.From < 0:
			case at < 0 || u.From < 0:
				return u
			case u.N == 1 && step >= -1 && step <= 1:
				u.Step = step
			case u.N == 1 || step != u.Step:
				return u
			}
		}
		return u
	}}
}

// list returns the entry at each place.
func (m Mapping) list(name string) []int64 {
	list := plan.RoomFor[int64](name, m.N)[:0]
	for len(list) < m.N {
		u := m.At(len(list))
		for i := range min(u.N, m.N-len(list)) {
			if u.From < 0 {
				list = append(list, -1)
			} else {
				list = append(list, int64(u.From+i*u.Step))
			}
		}
	}
	return list
}

// Steps returns the distance of neighbours along each axis, in row-major order.
func Steps(shape []int) []int {
	s := make([]int, len(shape))
	for i, n := len(shape)-1, 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// Around returns the number of elements before, on and after an axis: the extents of a shape seen as three axes.
func Around(shape []int, axis int) (before, n, after int) {
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

// Int64s returns the elements of an input of int64 or int32.
func Int64s(name string, c *plan.Use, i int) []int64 {
	a := c.Values(name, i)
	WantInt(name, i, *a)
	return WordsOf(*a).Int64s(name)
}

// Ints returns the elements of an integer input in row-major order: int64 or
// int32, of any rank. ok is false when the input is absent.
func Ints(name string, c *plan.Use, i int) (v []int, ok bool) {
	if c.In(i).IsZero() {
		return nil, false
	}
	whole := Int64s(name, c, i)
	v = make([]int, plan.Fits(name, len(whole), 8))
	for k, x := range whole {
		if v[k] = int(x); int64(v[k]) != x {
			panic(plan.Fail(name, tensor.ErrOverflow, "value %d of input %d doesn't fit an int", x, i))
		}
	}
	return v, true
}
