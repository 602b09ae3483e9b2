package exec

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/modes"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
)

// Sequence enumerates elements in a row-major order, whatever the memory, by loops in
// which neighbours that continue each other are one. There is always a first loop.
type Sequence struct {
	N    int // elements
	rank int // loops
	few  [modes.Inline]loop
	more []loop // those beyond the few
}

type loop struct{ ext, str int }

// Clear leaves the sequence of one element.
func (s *Sequence) Clear() { s.N, s.rank, s.few[0], s.more = 1, 0, loop{1, 1}, nil }

// Of makes s the elements of a layout.
func (s *Sequence) Of(lay *layout.Layout) { s.lines(lay, 0, 0) }

// lines makes s the elements of a layout with the tail axes from axis on the fastest.
func (s *Sequence) lines(lay *layout.Layout, axis, tail int) {
	s.Clear()
	for i := axis + tail - 1; i >= axis; i-- {
		s.mode(lay, i)
	}
	for i := walk.Ref(lay).Rank() - 1; i >= 0; i-- {
		if i < axis || i >= axis+tail {
			s.mode(lay, i)
		}
	}
}

// mode puts a mode of a layout around the loops that are there.
func (s *Sequence) mode(lay *layout.Layout, i int) {
	from, to := lay.ModeLeaves(i)
	for k := from; k < to; k++ {
		s.Around(walk.Ref(lay).Leaf(k))
	}
}

// Around puts a loop around the loops that are there.
func (s *Sequence) Around(ext, str int) {
	s.N *= ext
	switch {
	case s.N == 0:
		s.rank, s.few[0] = 1, loop{0, 1}
		return
	case ext == 1:
		return
	case s.rank > 0:
		if last := s.at(s.rank - 1); last.ext*last.str == str {
			last.ext *= ext
			return
		}
	}
	if s.rank < len(s.few) {
		s.few[s.rank] = loop{ext, str}
	} else {
		s.more = append(s.more, loop{ext, str})
	}
	s.rank++
}

// at returns loop k, of which 0 is the fastest.
func (s *Sequence) at(k int) *loop {
	if k < len(s.few) {
		return &s.few[k]
	}
	return &s.more[k-len(s.few)]
}

// Single reports whether the elements are one step apart each.
func (s *Sequence) Single() bool { return s.rank <= 1 }

// run reports whether the elements lie side by side.
func (s *Sequence) run() bool { return s.rank <= 1 && s.few[0].str == 1 }

// Offset returns where element i is, counted from the first.
func (s *Sequence) Offset(i int) int {
	if s.rank <= 1 {
		return i * s.few[0].str
	}
	return s.loops(i)
}

// loops is Offset for any loops.
func (s *Sequence) loops(i int) int {
	off := 0
	for k := range s.rank - 1 {
		l := s.at(k)
		off += i % l.ext * l.str
		i /= l.ext
	}
	return off + i*s.at(max(0, s.rank-1)).str
}

// gather copies elements from on of the sequence that starts at element base of data, as
// many as dst has room for.
func (s *Sequence) gather(dst, data []byte, d dtype.DType, base, from int) {
	s.each(len(dst)>>shifts[d], from, func(at int, b conv.Block) {
		b.Off += base
		pack(dst[at<<shifts[d]:(at+b.Cols)<<shifts[d]], data, b, d)
	})
}

// scatter is the inverse of gather.
func (s *Sequence) scatter(data, src []byte, d dtype.DType, base, from int) {
	s.each(len(src)>>shifts[d], from, func(at int, b conv.Block) {
		b.Off += base
		spread(data, src[at<<shifts[d]:(at+b.Cols)<<shifts[d]], b, d)
	})
}

// each calls f for each stretch of n elements from on that are one step apart; at counts
// the elements before it.
func (s *Sequence) each(n, from int, f func(at int, b conv.Block)) {
	e, step := s.few[0].ext, s.few[0].str
	for at := 0; at < n; {
		m := min(e-(from+at)%e, n-at)
		f(at, conv.Block{Off: s.Offset(from + at), Rows: 1, Cols: m, Col: step})
		at += m
	}
}
