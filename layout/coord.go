package layout

import "github.com/ashlar-go/ashlar/internal/core/modes"

// Extents returns the extents, nested as the layout is: an integer for a layout of
// one unnested mode, as String writes it.
func (l Layout) Extents() Tuple {
	ext, _ := l.in.All()
	return nested(ext, l.in.Tokens(nil))
}

// Strides returns the strides, nested as the layout is.
func (l Layout) Strides() Tuple {
	_, str := l.in.All()
	return nested(str, l.in.Tokens(nil))
}

// nested arranges leaf values by tokens, nil for a flat layout.
func nested(v []int, tokens []byte) Tuple {
	if tokens == nil {
		if len(v) == 1 {
			return Int(v[0])
		}
		return Ints(v...)
	}
	lists := []Tuple{{kind: listTuple}} // the open ones
	for _, c := range tokens {
		last := len(lists) - 1
		switch c {
		case open:
			lists = append(lists, Tuple{kind: listTuple})
		case close:
			lists[last-1].entries = append(lists[last-1].entries, lists[last])
			lists = lists[:last]
		default:
			lists[last].entries = append(lists[last].entries, Int(v[0]))
			v = v[1:]
		}
	}
	return lists[0]
}

// Of returns the layout of a shape and its strides. A list of one entry inside
// another is its entry, and an integer is a layout of one mode. It fails when they
// don't nest alike, have a hole or an inner list without entries, an extent is
// negative, or the size or an offset does not fit an int.
func Of(shape, stride Tuple) (Layout, error) {
	if !Congruent(shape, stride) {
		return Layout{}, fail("Of", ErrShape, "%v and %v don't nest alike", shape, stride)
	}
	var w writer
	if !shape.IsList() {
		shape, stride = List(shape), List(stride)
	}
	for i := range shape.entries {
		if err := w.tuple("Of", shape.entries[i], stride.entries[i], 1); err != nil {
			return Layout{}, err
		}
	}
	return w.canonical("Of")
}

// tuple appends one mode; the tokens may need canonNest.
func (w *writer) tuple(op string, shape, stride Tuple, depth int) error {
	switch {
	case shape.IsHole() || stride.IsHole():
		return fail(op, ErrShape, "a hole stands where an integer is wanted")
	case !shape.IsList():
		w.leaf(shape.n, stride.n)
		return nil
	case len(shape.entries) == 0:
		return fail(op, ErrShape, "a list without entries stands inside a shape; write 1")
	case depth == maxDepth:
		return fail(op, ErrLimit, "lists nest deeper than %d", maxDepth)
	}
	w.open()
	for i := range shape.entries {
		if err := w.tuple(op, shape.entries[i], stride.entries[i], depth+1); err != nil {
			return err
		}
	}
	w.close()
	return nil
}

// OffsetAt returns the offset of a coordinate. An integer counts through the leaves
// at its place in colexicographic order, the first entry fastest. So an element has
// several coordinates:
//
//	((2,2),4):((1,8),2) at 7, (3,1) or ((1,1),1) → 11
//
// It fails when a list doesn't fit the nesting at its place, or an integer is
// outside its extent.
func (l Layout) OffsetAt(coord Tuple) (int, error) {
	f := fixing{l: &l}
	if err := f.fix("OffsetAt", coord, l.Extents(), l.Strides()); err != nil {
		return 0, err
	}
	if f.w.n > 0 {
		return 0, fail("OffsetAt", ErrShape, "%v has a hole; Fix keeps the mode there", coord)
	}
	return f.offset, nil
}

// CoordOf returns linear coordinate i, in colexicographic order, as a coordinate
// nested as the layout is: OffsetAt(CoordOf(i)) is Offset(i). It fails unless
// 0 ≤ i < Size.
func (l Layout) CoordOf(i int) (Tuple, error) {
	if n := l.Size(); i < 0 || i >= n {
		return Tuple{}, fail("CoordOf", ErrRange, "coordinate %d is outside the %d of %v", i, n, l)
	}
	ext, _ := l.in.All()
	c := make([]int, len(ext))
	for k, e := range ext {
		c[k], i = i%e, i/e
	}
	return nested(c, l.in.Tokens(nil)), nil
}

// Fix returns the layout of the modes where coord has a hole, one mode per hole
// from left to right, and the offset that its integers fix: CuTe's slice.
//
//	((2,2),3):((1,4),8) at (_,1)     → ((2,2)):((1,4)) from 8
//	((2,2),3):((1,4),8) at ((_,1),_) → (2,3):(1,8) from 4
//
// So for every coordinate c of the holes, the offset of coord with c filled in is
// the returned offset plus that of c. It fails as OffsetAt does.
func (l Layout) Fix(coord Tuple) (kept Layout, offset int, err error) {
	if coord.IsHole() {
		return l, 0, nil
	}
	f := fixing{l: &l}
	if err := f.fix("Fix", coord, l.Extents(), l.Strides()); err != nil {
		return Layout{}, 0, err
	}
	if kept, err = f.w.canonical("Fix"); err != nil {
		return Layout{}, 0, err
	}
	if kept.Size() == 0 {
		f.offset = 0
	}
	return kept, f.offset, nil
}

// fixing walks a coordinate and a layout together.
type fixing struct {
	l      *Layout
	w      writer // the modes at the holes
	offset int
}

func (f *fixing) fix(op string, coord, ext, str Tuple) error {
	for coord.IsList() && len(coord.entries) == 1 && !ext.IsList() {
		coord = coord.entries[0]
	}
	switch {
	case coord.IsHole():
		return f.w.tuple(op, ext, str, 0)
	case coord.IsList():
		if !ext.IsList() || len(ext.entries) != len(coord.entries) {
			return fail(op, ErrShape, "coordinate %v doesn't fit %v in %v", coord, ext, *f.l)
		}
		for i, c := range coord.entries {
			if err := f.fix(op, c, ext.entries[i], str.entries[i]); err != nil {
				return err
			}
		}
		return nil
	}
	e, _ := ext.appendInts(nil)
	s, _ := str.appendInts(nil)
	if n := modes.Product(e); coord.n < 0 || coord.n >= n {
		return fail(op, ErrRange, "coordinate %d is outside the %d of %v in %v", coord.n, n, ext, *f.l)
	}
	f.offset += offsetAt(e, s, coord.n)
	return nil
}
