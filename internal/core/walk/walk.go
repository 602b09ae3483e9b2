// Package walk finds how to visit the elements of several layouts together: it
// finds the loops they have in common, drops and merges what it can, and puts
// the loop whose rows suit the first layout best innermost. Integers only.
package walk

import (
	"sync"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/modes"
	"github.com/ashlar-go/ashlar/layout"
)

// Max is the largest number of layouts in one nest.
const Max = 5

// Loop is one level of a nest: Ext steps, and for each layout the distance of a
// step. Where the layouts have no common leaves, Table[o][k] is the distance of
// step k from step 0 instead.
type Loop struct {
	Ext   int
	Str   [Max]int
	Table *[Max][]int
}

// Nest is the loops of a visit, the innermost first. Loops[0] and Loops[1]
// always exist and have no table, so a driver handles two levels itself and
// asks At for the rest. Get it from New and give it back with Free.
type Nest struct {
	Loops []Loop
	Base  [Max]int // the offset of the first element of each layout
	Size  int      // the number of elements
	n     int
	outer int                    // how often Loops[1] runs
	few   [modes.Inline + 2]Loop // where Loops begins
}

var pool = sync.Pool{New: func() any {
	p := new(Nest)
	p.Loops = p.few[:0]
	return p
}}

// Free gives a nest back for reuse.
func (p *Nest) Free() {
	clear(p.Loops[:cap(p.Loops)])
	pool.Put(p)
}

// New plans a visit of layouts of one shape, the written one first: its strides
// decide the order. Layouts of other shapes must have been broadcast before.
func New(ls ...*layout.Layout) *Nest {
	p := pool.Get().(*Nest)
	p.Loops, p.n, p.Base = p.Loops[:0], len(ls), [Max]int{}
	p.Size, p.outer = Ref(ls[0]).Size(), 0
	if p.Size == 0 { // no loops by the other extents, which may be huge
		p.Loops = append(p.Loops, Loop{}, Loop{Ext: 1})
		return p
	}
	flat := true
	for _, l := range ls {
		flat = flat && Ref(l).Flat()
	}
	for axis := Ref(ls[0]).Rank() - 1; axis >= 0; axis-- { // row-major: the last axis is fastest
		if flat {
			var loop Loop
			for o, l := range ls {
				loop.Ext, loop.Str[o] = Ref(l).Leaf(axis)
			}
			p.put(loop)
		} else {
			p.refine(ls, axis)
		}
	}
	p.forward()
	p.sort()
	p.merge()
	if len(p.Loops) == 0 || p.Loops[0].Table != nil {
		p.Loops = append(p.Loops, Loop{})
		copy(p.Loops[1:], p.Loops)
		p.Loops[0] = Loop{Ext: 1}
	}
	if len(p.Loops) == 1 || p.Loops[1].Table != nil {
		p.Loops = append(p.Loops, Loop{})
		copy(p.Loops[2:], p.Loops[1:])
		p.Loops[1] = Loop{Ext: 1}
	}
	p.outer = 1
	for _, l := range p.Loops[2:] {
		p.outer *= l.Ext
	}
	return p
}

func (p *Nest) put(l Loop) {
	if l.Ext != 1 {
		p.Loops = append(p.Loops, l)
	}
}

// refine cuts one axis into the leaves that all layouts have in common: the
// smallest remaining leaf must divide the others.
func (p *Nest) refine(ls []*layout.Layout, axis int) {
	var at, hi, left, step [Max]int
	for o, l := range ls {
		at[o], hi[o] = l.ModeLeaves(axis)
		left[o] = 1
	}
	from, rest := len(p.Loops), Ref(ls[0]).Dim(axis)
	if rest == 0 {
		p.Loops = append(p.Loops, Loop{})
		return
	}
	for rest > 1 {
		take := rest
		for o, l := range ls {
			for left[o] == 1 && at[o] < hi[o] {
				left[o], step[o] = Ref(l).Leaf(at[o])
				at[o]++
			}
			take = min(take, left[o])
		}
		var loop Loop
		loop.Ext = take
		for o := range ls {
			if left[o]%take != 0 {
				p.Loops = append(p.Loops[:from], table(ls, axis))
				return
			}
			loop.Str[o] = step[o]
			left[o] /= take
			step[o] *= take
		}
		p.put(loop)
		rest /= take
	}
}

// table lists the offsets of every position of an axis.
func table(ls []*layout.Layout, axis int) Loop {
	n := Ref(ls[0]).Dim(axis)
	loop := Loop{Ext: n, Table: new([Max][]int)}
	for o, l := range ls {
		t := make([]int, n)
		lo, hi := l.ModeLeaves(axis)
		for i := range t {
			c := i
			for k := lo; k < hi; k++ {
				e, s := Ref(l).Leaf(k)
				t[i] += c % e * s
				c /= e
			}
		}
		loop.Table[o] = t
	}
	return loop
}

// forward turns loops that run backwards in the first layout.
func (p *Nest) forward() {
	for i := range p.Loops {
		l := &p.Loops[i]
		if l.Table != nil || l.Str[0] >= 0 || l.Ext == 0 {
			continue
		}
		for o := range p.n {
			p.Base[o] += (l.Ext - 1) * l.Str[o]
			l.Str[o] = -l.Str[o]
		}
	}
}

// before reports whether loop a belongs inside loop b: smaller steps in the
// first layout, then in the others, stay inside. Tables go outermost.
func (p *Nest) before(a, b *Loop) bool {
	if (a.Table != nil) != (b.Table != nil) {
		return b.Table != nil
	}
	for o := range p.n {
		x, y := magnitude(a.Str[o]), magnitude(b.Str[o])
		if x != y {
			if x == 0 || y == 0 { // a repeated operand says nothing about order
				continue
			}
			return x < y
		}
	}
	return false
}

func magnitude(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

// sort is an insertion sort: few loops, mostly in order, and no allocation.
func (p *Nest) sort() {
	for i := 1; i < len(p.Loops); i++ {
		for k := i; k > 0 && p.before(&p.Loops[k], &p.Loops[k-1]); k-- {
			p.Loops[k], p.Loops[k-1] = p.Loops[k-1], p.Loops[k]
		}
	}
}

// merge joins neighbouring loops that every layout runs through evenly.
func (p *Nest) merge() {
	n := 0
	for i := range p.Loops {
		l := p.Loops[i]
		if n > 0 && p.even(&p.Loops[n-1], &l) {
			p.Loops[n-1].Ext *= l.Ext
			continue
		}
		p.Loops[n] = l
		n++
	}
	p.Loops = p.Loops[:n]
}

func (p *Nest) even(in, out *Loop) bool {
	if in.Table != nil || out.Table != nil || in.Ext == 0 || out.Ext == 0 {
		return false
	}
	for o := range p.n {
		if in.Str[o]*in.Ext != out.Str[o] {
			return false
		}
	}
	return true
}

// Outer returns how many times the two inner loops run.
func (p *Nest) Outer() int { return p.outer }

// At returns the offset in layout o of the first element of pass k of the two
// inner loops, 0 ≤ k < Outer.
func (p *Nest) At(o, k int) int {
	off := p.Base[o]
	for i := 2; i < len(p.Loops); i++ {
		l := &p.Loops[i]
		c := k % l.Ext
		k /= l.Ext
		if l.Table != nil {
			off += l.Table[o][c]
		} else {
			off += c * l.Str[o]
		}
	}
	return off
}

// Within reports whether the elements that lay reaches, of size bytes and with offset 0
// at byte off, are among n bytes.
func Within(lay *layout.Layout, off, n, size int) bool {
	lo, hi := lay.Span()
	return off >= 0 && off <= n && lo >= -(off/size) && hi < (n-off)/size
}

// Ref returns the modes of a layout by its address, without a copy. They must not be changed.
func Ref(l *layout.Layout) *modes.Ref { return (*modes.Ref)(unsafe.Pointer(l)) }
