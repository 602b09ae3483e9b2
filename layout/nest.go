package layout

// The nesting of a layout is a string of tokens in preorder, without the
// outermost pair of brackets: one leaf token per leaf, open and close around
// each nested mode. A mode in brackets holds at least two entries; a tuple of
// one entry is its entry. Flat layouts have no tokens at all.
//
// Inline layouts keep the tokens in 32 bits, the first token lowest. In binary, a
// leaf is 0, an opening bracket 01 and a closing bracket 11. Every closing bracket
// is there, so the leaf count says where the string ends. Longer strings go to
// deep.
const (
	leaf  = '.'
	open  = '('
	close = ')'
)

// packNest packs tokens into 32 bits.
func packNest(t []byte) (packed uint32, ok bool) {
	at := 0
	for _, c := range t {
		switch c {
		case leaf:
			at++
		case open:
			if at < 32 {
				packed |= 1 << at
			}
			at += 2
		case close:
			if at < 31 {
				packed |= 3 << at
			}
			at += 2
		}
	}
	return packed, at <= 32
}

// unpack splits packed tokens into the first and the others.
func unpack(v uint32) (token byte, rest uint32) {
	switch {
	case v&1 == 0:
		return leaf, v >> 1
	case v&2 == 0:
		return open, v >> 2
	}
	return close, v >> 2
}

// tokens returns the nesting of l, nil when it is flat.
func (l *Layout) tokens() []byte { return l.appendTokens(nil) }

// appendTokens is tokens into a buffer of length 0, if l has none at hand.
func (l *Layout) appendTokens(t []byte) []byte {
	if l.deep != nil {
		return l.deep.nest
	}
	if l.n == l.rank {
		return nil
	}
	depth, leaves := 0, 0
	for v := l.nest; leaves < int(l.n) || depth > 0; {
		var c byte
		c, v = unpack(v)
		t = append(t, c)
		switch c {
		case open:
			depth++
		case close:
			depth--
		default:
			leaves++
		}
	}
	return t
}

// tokenRank counts the modes of tokens.
func tokenRank(t []byte) int {
	depth, rank := 0, 0
	for _, c := range t {
		switch c {
		case open:
			if depth == 0 {
				rank++
			}
			depth++
		case close:
			depth--
		default:
			if depth == 0 {
				rank++
			}
		}
	}
	return rank
}

// marks finds where the modes of tokens begin, and the end.
func marks(t []byte, rank int) []mark {
	m := make([]mark, 0, rank+1)
	depth, leaves := 0, 0
	for k, c := range t {
		if depth == 0 {
			m = append(m, mark{leaves, k})
		}
		switch c {
		case open:
			depth++
		case close:
			depth--
		default:
			leaves++
		}
	}
	return append(m, mark{leaves, len(t)})
}

// ModeLeaves returns the leaves of mode i, lo ≤ leaf < hi. It panics unless
// 0 ≤ i < Rank.
func (l Layout) ModeLeaves(i int) (lo, hi int) {
	l.checkMode("ModeLeaves", i)
	if l.deep != nil && l.deep.modes != nil {
		return l.deep.modes[i].leaf, l.deep.modes[i+1].leaf
	}
	if l.deep != nil || l.n == l.rank {
		return i, i + 1
	}
	depth, mode, leaves := 0, -1, 0
	for v := l.nest; leaves < int(l.n) || depth > 0; {
		var c byte
		if c, v = unpack(v); depth == 0 {
			if mode == i {
				break
			}
			mode, lo = mode+1, leaves
		}
		switch c {
		case open:
			depth++
		case close:
			depth--
		default:
			leaves++
		}
	}
	return lo, leaves
}

// modeTokens returns the tokens of mode i, brackets included, nil when l is flat;
// t is a buffer as for appendTokens.
func (l *Layout) modeTokens(t []byte, i int) []byte {
	if t = l.appendTokens(t); t == nil {
		return nil
	}
	if l.deep != nil {
		return t[l.deep.modes[i].token:l.deep.modes[i+1].token]
	}
	depth, mode, from := 0, -1, 0
	for k, c := range t {
		if depth == 0 {
			if mode == i {
				return t[from:k]
			}
			mode, from = mode+1, k
		}
		switch c {
		case open:
			depth++
		case close:
			depth--
		}
	}
	return t[from:]
}

// canonNest drops brackets around a single entry, and gives nil for a flat string.
func canonNest(t []byte) []byte {
	out := make([]byte, 0, len(t))
	var starts []int // where each open bracket stands in out
	var counts []int // entries seen inside it
	flat := true
	enter := func() {
		if n := len(counts); n > 0 {
			counts[n-1]++
		}
	}
	for _, c := range t {
		switch c {
		case open:
			enter()
			starts, counts = append(starts, len(out)), append(counts, 0)
			out = append(out, c)
		case close:
			s, n := starts[len(starts)-1], counts[len(counts)-1]
			starts, counts = starts[:len(starts)-1], counts[:len(counts)-1]
			if n == 1 {
				out = append(out[:s], out[s+1:]...)
			} else {
				out = append(out, c)
				flat = false
			}
		default:
			enter()
			out = append(out, c)
		}
	}
	if flat {
		return nil
	}
	return out
}

// Mode returns mode i as a layout of its own: of rank 1 when it is a leaf, else
// with its entries as modes. It panics unless 0 ≤ i < Rank.
func (l Layout) Mode(i int) Layout {
	l.checkMode("Mode", i)
	lo, hi := l.ModeLeaves(i)
	ext, str := l.leaves()
	var nest []byte
	if hi-lo > 1 {
		t := l.modeTokens(nil, i)
		nest = canonNest(t[1 : len(t)-1])
	}
	return must(build("Mode", ext[lo:hi], str[lo:hi], nest)) // a part of a layout that fits
}

// must is for results that can't fail, because a layout exists with their size and
// offsets.
func must(l Layout, err error) Layout {
	if err != nil {
		panic(err)
	}
	return l
}
