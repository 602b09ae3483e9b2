package modes

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
	Entry = '.'
	Open  = '('
	Close = ')'
)

// Pack packs tokens into 32 bits.
func Pack(t []byte) (packed uint32, ok bool) {
	at := 0
	for _, c := range t {
		switch c {
		case Entry:
			at++
		case Open:
			if at < 32 {
				packed |= 1 << at
			}
			at += 2
		case Close:
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
		return Entry, v >> 1
	case v&2 == 0:
		return Open, v >> 2
	}
	return Close, v >> 2
}

// Tokens returns the nesting, nil when it is flat. t is a buffer of length 0 for them, or nil.
func (r *Ref) Tokens(t []byte) []byte {
	if r.Deep != nil {
		return r.Deep.Nest
	}
	if r.N == r.Modes {
		return nil
	}
	depth, leaves := 0, 0
	for v := r.Nest; leaves < int(r.N) || depth > 0; {
		var c byte
		c, v = unpack(v)
		t = append(t, c)
		switch c {
		case Open:
			depth++
		case Close:
			depth--
		default:
			leaves++
		}
	}
	return t
}

// Marks finds where the modes of tokens begin, and the end.
func Marks(t []byte, rank int) []Mark {
	m := make([]Mark, 0, rank+1)
	depth, leaves := 0, 0
	for k, c := range t {
		if depth == 0 {
			m = append(m, Mark{leaves, k})
		}
		switch c {
		case Open:
			depth++
		case Close:
			depth--
		default:
			leaves++
		}
	}
	return append(m, Mark{leaves, len(t)})
}

// ModeLeaves returns the leaves of mode i, lo ≤ leaf < hi. It panics unless
// 0 ≤ i < Rank.
func (r *Ref) ModeLeaves(i int) (lo, hi int) {
	r.CheckMode("ModeLeaves", i)
	if r.Deep != nil && r.Deep.Modes != nil {
		return r.Deep.Modes[i].Leaf, r.Deep.Modes[i+1].Leaf
	}
	if r.Deep != nil || r.N == r.Modes {
		return i, i + 1
	}
	depth, mode, leaves := 0, -1, 0
	for v := r.Nest; leaves < int(r.N) || depth > 0; {
		var c byte
		if c, v = unpack(v); depth == 0 {
			if mode == i {
				break
			}
			mode, lo = mode+1, leaves
		}
		switch c {
		case Open:
			depth++
		case Close:
			depth--
		default:
			leaves++
		}
	}
	return lo, leaves
}

// TokensOf returns the tokens of mode i, brackets included, nil when l is flat;
// t is a buffer as for Tokens.
func (r *Ref) TokensOf(t []byte, i int) []byte {
	if t = r.Tokens(t); t == nil {
		return nil
	}
	if r.Deep != nil {
		return t[r.Deep.Modes[i].Token:r.Deep.Modes[i+1].Token]
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
		case Open:
			depth++
		case Close:
			depth--
		}
	}
	return t[from:]
}
