package layout

// A Ref is a layout by its address. Methods of Layout take a value, so that they chain; a Layout has 144 bytes, too many to copy for code that
// asks it dozens of times in a call. A method of Ref means the same as the method of Layout with its name.
type Ref Layout

// Ref returns l by its address.
func (l *Layout) Ref() *Ref { return (*Ref)(l) }

func (r *Ref) of() *Layout { return (*Layout)(r) }

// Rank is [Layout.Rank].
func (r *Ref) Rank() int {
	if r.deep != nil {
		return r.deep.rank
	}
	return int(r.rank)
}

// Leaves is [Layout.Leaves].
func (r *Ref) Leaves() int {
	if r.deep != nil {
		return len(r.deep.ext)
	}
	return int(r.n)
}

// Flat is [Layout.Flat].
func (r *Ref) Flat() bool { return r.Leaves() == r.Rank() }

// Leaf is [Layout.Leaf].
func (r *Ref) Leaf(i int) (ext, str int) {
	if uint(i) < uint(r.n) { // n is 0 where there is deep
		return r.ext[i], r.str[i]
	}
	return r.of().leaf(i)
}

// Dim is [Layout.Dim].
func (r *Ref) Dim(i int) int {
	if r.n == r.rank && uint(i) < uint(r.n) {
		return r.ext[i]
	}
	return r.of().dim(i)
}

// Stride is [Layout.Stride].
func (r *Ref) Stride(i int) (int, bool) {
	if r.n == r.rank && uint(i) < uint(r.n) {
		return r.str[i&7], true
	}
	r.of().checkMode("Stride", i)
	ext, str := r.of().modeLeaves(i)
	if len(ext) == 1 {
		return str[0], true
	}
	if product(ext) == 0 {
		return 0, true
	}
	step, count := 0, 1
	for k, e := range ext {
		switch {
		case e == 1:
			continue
		case count == 1:
			step = str[k]
		case !follows(count, step, str[k]):
			return 0, false
		}
		count *= e
	}
	return step, true
}

// Size is [Layout.Size].
func (r *Ref) Size() int {
	ext, _ := r.of().leaves()
	return product(ext)
}

// IsRowMajor is [Layout.IsRowMajor].
func (r *Ref) IsRowMajor() bool {
	want := 1
	if r.deep == nil && r.n == r.rank {
		for i := int(r.n) - 1; i >= 0; i-- {
			e := r.ext[i&7]
			if e == 0 {
				return true
			}
			if e != 1 && r.str[i&7] != want {
				return r.Size() == 0
			}
			want *= e
		}
		return true
	}
	if r.Size() == 0 {
		return true
	}
	for i := r.Rank() - 1; i >= 0; i-- {
		lo, hi := r.of().ModeLeaves(i)
		for k := lo; k < hi; k++ {
			e, s := r.Leaf(k)
			if e != 1 && s != want {
				return false
			}
			want *= e
		}
	}
	return true
}

// Equal is [Layout.Equal]. No layout equals nil.
func (r *Ref) Equal(m *Layout) bool {
	if m == nil {
		return false
	}
	if r.deep == nil && m.deep == nil {
		return r.n == m.n && r.rank == m.rank && r.nest == m.nest && r.ext == m.ext && r.str == m.str
	}
	if r.Rank() != m.Ref().Rank() || r.Leaves() != m.Ref().Leaves() || string(r.of().tokens()) != string(m.tokens()) {
		return false
	}
	for i := range r.Leaves() {
		e, s := r.Leaf(i)
		if f, t := m.Ref().Leaf(i); e != f || s != t {
			return false
		}
	}
	return true
}

// Plain returns the leaves of a flat layout of 1 to Inline modes, and their number, for
// code that can't afford a call; the arrays must not be changed. For other layouts rank
// is 0 or more than Inline, and the arrays say nothing.
func (r *Ref) Plain() (ext, str *[Inline]int, rank int) {
	return &r.ext, &r.str, int(r.n) + int(r.n^r.rank)<<8 // n is 0 where there is deep
}
