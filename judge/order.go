package judge

import (
	"context"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
)

// An Order is the answer of SolveOrder.
type Order struct {
	Access   Access   `json:"-"`
	Text     string   `json:"access"`
	Vector   int      `json:"vector"` // elements of a load
	Traffic  *Traffic `json:"traffic"`
	Least    int      `json:"least"`    // no order of any kind touches fewer sectors
	Searched int      `json:"searched"` // orders looked at
	Space    int      `json:"space"`    // orders in all
	Why      string   `json:"why"`      // a sentence with the result that the search proved
}

// Proven reports whether no order of any kind touches fewer sectors.
func (o *Order) Proven() bool { return o.Traffic.Sectors == o.Least }

// maxModes bounds the coalesced modes whose orders SolveOrder tries.
const maxModes = 8

// SolveOrder finds the order in which threads take the elements of a layout with the fewest
// sectors, as [Transactions] counts them. The elements are walked mode by mode, any mode
// first. In a step each thread takes the next vector of them. A vector is one load for every
// base that align allows, or one element. Of two orders with as many sectors the one with
// fewer requests is better, then the one that walks shorter strides first.
//
// The modes are those of the coalesced inner layout. The space is every order of them,
// with every vector for which whole steps take all elements. It is searched whole, or
// until an order with the widest vector reaches a bound. The bound holds for all orders, as
// layouts or not. It has two parts: each sector of the layout is touched once, and
// a request touches no fewer sectors than its different elements fill.
//
// The result is an access of a thread–value layout. SolveOrder fails as Transactions does. It
// fails with layout.ErrDivide if the threads don't take all elements in whole steps. It fails
// with layout.ErrLimit for more than 8 modes, or after elements times bases exceed 2^30.
func SolveOrder(ctx context.Context, l layout.Composed, m Lines, align, elemBits, threads int) (*Order, error) {
	const op = "SolveOrder"
	if err := needContext(ctx, op); err != nil {
		return nil, err
	}
	if threads < 1 || threads > MaxThreads {
		return nil, fail(op, layout.ErrRange, "%d threads; want 1 to %d", threads, MaxThreads)
	}
	offs, err := movable(op, l, m, align, elemBits)
	if err != nil {
		return nil, err
	}
	if len(offs) == 0 || len(offs)%threads != 0 {
		return nil, fail(op, layout.ErrDivide, "%d threads don't take the %d elements of %s in whole steps", threads, len(offs), text(l))
	}
	in := l.Inner()
	modes := in.Coalesce()
	if modes.Leaves() > maxModes {
		return nil, fail(op, layout.ErrLimit, "%v has %d modes, more than %d", modes, modes.Leaves(), maxModes)
	}
	widths := vectors(m, align, elemBits, len(offs)/threads)
	s := search{ctx: ctx, m: m, align: align, bits: elemBits, threads: threads, offs: offs, layout: l}
	bases := len(newCounter(m, align, elemBits).bases)
	if err := affordable(op, len(offs), bases); err != nil {
		return nil, err
	}
	s.work = int64(len(offs)) * int64(bases) // of the bound
	list := orders(modes)
	s.best.Space = len(list) * len(widths)
	s.best.Least = least(offs, m, align, elemBits, threads, widths)
	for _, w := range slices.Backward(widths) {
		for _, order := range list {
			if err := s.try(order, w); err != nil {
				return nil, err
			}
			if s.found != nil && s.found.sectors == s.best.Least && s.found.vector == widths[len(widths)-1] {
				return s.answer()
			}
		}
	}
	return s.answer()
}

// vectors lists the elements that one load may have at most, from 1 on: those that divide the elements of a thread.
func vectors(m Lines, align, elemBits, each int) (list []int) {
	for w := 1; w == 1 || isPower(elemBits) && w*elemBits <= 8*min(m.Vector, align); w *= 2 {
		if each%w == 0 {
			list = append(list, w)
		}
	}
	return list
}

// orders lists the orders of the modes, the one by ascending strides first. Each is
// the layout from the place in the order to the linear coordinate.
func orders(modes layout.Layout) (list []layout.Layout) {
	type mode struct{ ext, str, weight int }
	var all []mode
	for k, weight := 0, 1; k < modes.Leaves(); k++ {
		e, d := modes.Leaf(k)
		all = append(all, mode{e, d, weight})
		weight *= e
	}
	slices.SortStableFunc(all, func(a, b mode) int { return max(a.str, -a.str) - max(b.str, -b.str) })
	var pick func(taken []mode, left []mode)
	pick = func(taken, left []mode) {
		if len(left) == 0 {
			var ext, str []int
			for _, t := range taken {
				ext, str = append(ext, t.ext), append(str, t.weight)
			}
			if l, err := layout.New(ext, str); err == nil {
				list = append(list, l)
			}
			return
		}
		for i := range left {
			rest := slices.Delete(slices.Clone(left), i, i+1)
			pick(append(taken[:len(taken):len(taken)], left[i]), rest)
		}
	}
	pick(nil, all)
	return list
}

// least bounds the sectors from below, for any order with one of the vectors.
func least(offs []int, m Lines, align, elemBits, threads int, widths []int) int {
	whole := newCounter(m, align, elemBits)
	different := whole.add(offs) / elemBits
	bound := 0
	for _, w := range widths {
		// Every request of a step has as many elements; repeated ones fill no sector of their own.
		n := 0
		for from := 0; from < threads; from += m.Threads {
			elements := min(m.Threads, threads-from) * w
			if different == len(offs) {
				n += len(offs) / (threads * w) * whole.needed(elements*elemBits)
			}
		}
		if bound == 0 || n < bound {
			bound = n
		}
	}
	return max(bound, slices.Max(whole.sectors))
}

// A search keeps the best order so far.
type search struct {
	ctx                  context.Context
	m                    Lines
	align, bits, threads int
	offs                 []int
	layout               layout.Composed
	work                 int64
	best                 Order
	found                *found
}

type found struct {
	access                    Access
	vector, sectors, requests int
}

// try looks at an order with a vector.
func (s *search) try(order layout.Layout, vector int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	s.best.Searched++
	tile, err := layout.New([]int{s.threads, vector, len(s.offs) / s.threads / vector}, []int{vector, 1, s.threads * vector})
	if err != nil {
		return err
	}
	walk, err := layout.Compose(order, tile)
	if err != nil { // the vectors, or the threads, cross a mode unevenly: no thread–value layout
		return nil
	}
	tv, err := layout.Join(walk.Mode(0), joined(walk.Mode(1), walk.Mode(2)))
	if err != nil {
		return err
	}
	a := ThreadValues(tv, vector)
	in := s.layout.Inner()
	p, err := a.over("SolveOrder", in.Shape(), s.bits)
	if err != nil {
		return err
	}
	c := newCounter(s.m, s.align, s.bits)
	if s.work += int64(len(p.coords)) * int64(len(c.bases)); s.work > trafficWork {
		return fail("SolveOrder", layout.ErrLimit, "%d of %d orders were looked at, with %d elements at %d bases of a line: more than %d; a larger alignment leaves fewer", s.best.Searched-1, s.best.Space, len(p.coords), len(c.bases), trafficWork)
	}
	mem := make([]int, len(p.coords))
	for i, x := range p.coords {
		mem[i] = s.offs[x]
	}
	if w, _ := p.widest(mem, s.m, s.align, s.bits); vector > max(w, 1) {
		return nil
	}
	f := found{access: a, vector: vector}
	p.requests(s.m, mem, func(_, _, _ int, offs []int) {
		c.add(offs)
		f.requests++
	})
	f.sectors = slices.Max(c.sectors)
	if b := s.found; b == nil || f.sectors < b.sectors || f.sectors == b.sectors && f.requests < b.requests {
		s.found = &f
	}
	return nil
}

// joined is two modes as one.
func joined(a, b layout.Layout) layout.Layout {
	l, err := layout.Join(a, b)
	if err != nil {
		panic(err) // can't happen: both are modes of one layout
	}
	return l
}

// answer counts the best order.
func (s *search) answer() (*Order, error) {
	if s.found == nil {
		return nil, fail("SolveOrder", ErrNone, "%d threads cross every mode of %s unevenly; no order of the modes is a thread–value layout", s.threads, text(s.layout))
	}
	t, err := Transactions(s.layout, s.m, s.align, s.bits, s.found.access)
	if err != nil {
		return nil, err
	}
	o := s.best
	o.Access, o.Text, o.Vector, o.Traffic = s.found.access, s.found.access.String(), s.found.vector, t
	if o.Why = fmt.Sprintf("no order of any kind touches fewer than %d sectors, by counting; %d of %d orders were looked at", o.Least, o.Searched, o.Space); !o.Proven() {
		o.Why = fmt.Sprintf("the best of all %d orders of the modes with all vectors; an order of another kind touches at least %d sectors", o.Space, o.Least)
	}
	return &o, nil
}
