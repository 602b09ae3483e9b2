package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// sequence enumerates elements in a row-major order, whatever the memory, by loops in
// which neighbours that continue each other are one. There is always a first loop.
type sequence struct {
	n    int // elements
	rank int // loops
	few  [layout.Inline]loop
	more []loop // those beyond the few
}

type loop struct{ ext, str int }

// clear leaves the sequence of one element.
func (s *sequence) clear() { s.n, s.rank, s.few[0], s.more = 1, 0, loop{1, 1}, nil }

// of makes s the elements of a layout.
func (s *sequence) of(lay *layout.Layout) {
	s.clear()
	for i := lay.Rank() - 1; i >= 0; i-- {
		s.mode(lay, i)
	}
}

// mode puts a mode of a layout around what there is.
func (s *sequence) mode(lay *layout.Layout, i int) {
	from, to := lay.ModeLeaves(i)
	for k := from; k < to; k++ {
		s.around(lay.Leaf(k))
	}
}

func (s *sequence) around(ext, str int) {
	s.n *= ext
	switch {
	case s.n == 0:
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
func (s *sequence) at(k int) *loop {
	if k < len(s.few) {
		return &s.few[k]
	}
	return &s.more[k-len(s.few)]
}

// run reports whether the elements lie side by side.
func (s *sequence) run() bool { return s.rank <= 1 && s.few[0].str == 1 }

// offset returns where element i is, counted from the first.
func (s *sequence) offset(i int) int {
	if s.rank <= 1 {
		return i * s.few[0].str
	}
	return s.loops(i)
}

// loops is offset for any loops.
func (s *sequence) loops(i int) int {
	off := 0
	for k := range s.rank - 1 {
		l := s.at(k)
		off += i % l.ext * l.str
		i /= l.ext
	}
	return off + i*s.at(max(0, s.rank-1)).str
}

// gather copies elements [from, from+len(dst)) of the sequence that starts at base.
func gather[T num.Elem](s *sequence, dst, data []T, base, from int) {
	e, step := s.few[0].ext, s.few[0].str
	for len(dst) > 0 {
		in := from % e
		n := min(e-in, len(dst))
		conv.Pack(dst[:n], data, conv.Block{Off: base + s.offset(from), Rows: 1, Cols: n, Col: step})
		dst, from = dst[n:], from+n
	}
}

// scatter is the inverse of gather.
func scatter[T num.Elem](s *sequence, data, src []T, base, from int) {
	e, step := s.few[0].ext, s.few[0].str
	for len(src) > 0 {
		in := from % e
		n := min(e-in, len(src))
		off := base + s.offset(from)
		if step == 1 {
			copy(data[off:off+n], src)
		} else {
			for i := range n {
				data[off+i*step] = src[i]
			}
		}
		src, from = src[n:], from+n
	}
}

func ended(ctx context.Context) bool { return exec.Ended(ctx) }
