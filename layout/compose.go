package layout

import "github.com/ashlar-go/ashlar/internal/core/modes"

// Compose returns a ∘ b, the layout R with the modes of b and
//
//	R(c) = a(b(c)) for every coordinate c of b.
//
// The leaves of b may split. Offsets of b are taken as linear coordinates of a, in
// colexicographic order; past its end a goes on as its last leaf does. Often there
// is no such R: an offset of b is negative, a leaf of b crosses the end of a leaf
// of a unevenly, or two leaves of b together carry over an end that neither
// reaches alone:
//
//	(6,2):(8,2) ∘ (4,3):(3,1) = ((2,2),3):((24,2),8)
//	(6,2):(8,2) ∘ 3:4 has the offsets 0, 32, 18: no layout
//	(6,2):(1,7) ∘ (3,2):(2,3) has 4 and 3, but 8 at (2,1): no layout
//
// Compose fails then, and in the rare cases where a carry over one end undoes a
// carry over another. It never returns another function. An empty b gives b with
// strides 0; with another b, an empty a fails. The definition is CuTe's; see
// progression.go for the method.
func Compose(a, b Layout) (Layout, error) {
	var w writer
	if err := w.compose("Compose", &a, &b); err != nil {
		return Layout{}, err
	}
	return w.layout("Compose")
}

// ComposeByMode composes mode i of a with tiler[i]; modes beyond the tiler are
// kept. It fails when the tiler has more modes than a, or a composition fails.
//
//	(8,6):(6,1) by 2:4, 3:2 → (2,3):(24,2)
func ComposeByMode(a Layout, tiler ...Layout) (Layout, error) {
	var w writer
	err := w.byMode("ComposeByMode", &a, tiler, func(mode, tile *Layout) error {
		var part writer
		if err := part.compose("ComposeByMode", mode, tile); err != nil {
			return err
		}
		l, err := part.layout("ComposeByMode")
		w.join(&l)
		return err
	})
	if err != nil {
		return Layout{}, err
	}
	return w.layout("ComposeByMode")
}

// byMode calls each for the modes of a that the tiler covers, and keeps the others.
func (w *writer) byMode(op string, a *Layout, tiler []Layout, each func(mode, tile *Layout) error) error {
	if len(tiler) > a.Rank() {
		return fail(op, ErrShape, "a tiler of %d modes for %v of rank %d", len(tiler), *a, a.Rank())
	}
	for i := range tiler {
		mode := a.Mode(i)
		if err := each(&mode, &tiler[i]); err != nil {
			return err
		}
	}
	for i := len(tiler); i < a.Rank(); i++ {
		w.mode(a, i)
	}
	return nil
}

// compose appends the modes of a ∘ b.
func (w *writer) compose(op string, a, b *Layout) error {
	ext, str := b.in.All()
	if b.Size() == 0 {
		from := w.n
		w.modes(b)
		w.still(from)
		return nil
	}
	size := a.Size()
	lo, hi := b.Span()
	switch {
	case size == 0:
		return fail(op, ErrRange, "%v ∘ %v: the first is empty, the second isn't", *a, *b)
	case lo < 0:
		return fail(op, ErrRange, "%v ∘ %v: the second has offset %d; coordinates aren't negative", *a, *b, lo)
	}
	var left leaves
	left.coalesce(a.in.All())
	if hi >= size {
		if err := left.extend(op, a, b, hi); err != nil {
			return err
		}
	}
	aExt, aStr := left.slices()
	var buf [modes.Inline + 1]uint
	room := buf[:0]
	for n := uint(1); len(room) < len(aExt); {
		room = append(room, n-1)
		n *= uint(aExt[len(room)-1])
	}
	var nest [maxTokens]byte
	var part leaves
	t, k := b.in.Tokens(nest[:0]), 0
	for i := 0; k < len(ext) || i < len(t); i++ {
		if t != nil && t[i] != leaf {
			w.token(t[i])
			continue
		}
		e, s := ext[k], str[k]
		if k++; e == 1 || s == 0 {
			w.leaf(e, 0)
			continue
		}
		bad, carry := part.progression(aExt, aStr, room, 0, e, s)
		switch {
		case carry:
			return fail(op, ErrDivide, "%v ∘ %v: leaf %d:%d of the second and those before it together carry over leaf %d:%d of the first", *a, *b, e, s, aExt[bad], aStr[bad])
		case bad >= 0:
			return fail(op, ErrDivide, "%v ∘ %v: leaf %d:%d of the second crosses leaf %d:%d of the first unevenly", *a, *b, e, s, aExt[bad], aStr[bad])
		}
		w.group(part.slices())
	}
	return nil
}

// still sets the strides to 0 from a leaf on.
func (w *writer) still(from int) {
	_, str := w.slices()
	clear(str[from:])
}

// extend prepares the coalesced leaves of a for coordinates past the end, up to hi:
// there the last leaf goes on, even when its extent is 1 and coalescing has dropped
// it.
func (p *leaves) extend(op string, a, b *Layout, hi int) error {
	ext, str := a.in.All()
	switch n := len(ext) - 1; {
	case n < 0:
		p.add(1, 0)
	case ext[n] == 1:
		p.merge(1, str[n])
	}
	ext, str = p.slices()
	last := len(ext) - 1
	ext[last] = max(ext[last], hi/modes.Product(ext[:last])+1)
	if _, _, fits := span(ext, str); !fits {
		return fail(op, ErrOverflow, "%v ∘ %v: an offset doesn't fit an int", *a, *b)
	}
	return nil
}
