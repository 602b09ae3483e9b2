package layout

import "github.com/ashlar-go/ashlar/internal/core/modes"

// leaves collects leaves, up to Inline of them without allocating. Slices stored
// through a pointer would move their arrays to the heap.
type leaves struct {
	ext, str [modes.Inline]int
	n        int
	allExt   []int // all of them, once there are more than Inline
	allStr   []int
}

func (p *leaves) reset() { p.n, p.allExt, p.allStr = 0, nil, nil }

func (p *leaves) add(e, s int) {
	if p.n < modes.Inline {
		p.ext[p.n], p.str[p.n] = e, s
	} else {
		if p.n == modes.Inline {
			p.allExt, p.allStr = append([]int(nil), p.ext[:]...), append([]int(nil), p.str[:]...)
		}
		p.allExt, p.allStr = append(p.allExt, e), append(p.allStr, s)
	}
	p.n++
}

// merge adds a leaf, or lengthens the last one when it continues that.
func (p *leaves) merge(e, s int) {
	ext, str := p.slices()
	if k := p.n - 1; k >= 0 && modes.Follows(ext[k], str[k], s) {
		ext[k] *= e
		return
	}
	p.add(e, s)
}

// coalesce adds leaves, the first fastest, and merges leaves that continue each
// other. A single element leaves nothing, and an empty layout 0:0.
func (p *leaves) coalesce(ext, str []int) {
	for i, e := range ext {
		switch e {
		case 0:
			p.reset()
			p.add(0, 0)
			return
		case 1:
		default:
			p.merge(e, str[i])
		}
	}
}

// slices returns the leaves; writes to the slices last until the next add.
func (p *leaves) slices() (ext, str []int) {
	if p.n > modes.Inline {
		return p.allExt, p.allStr
	}
	return p.ext[:p.n], p.str[:p.n]
}

// A writer puts a layout together mode by mode. Its tokens are canonical, unless
// tuple writes them.
type writer struct {
	leaves
	nest   [maxTokens]byte
	tokens int
	all    []byte // all of them, once there are more than maxTokens
}

// maxTokens is how many tokens a writer holds without allocating: all that fit a
// Layout inline.
const maxTokens = 20

func (w *writer) token(c byte) {
	if w.tokens < maxTokens {
		w.nest[w.tokens] = c
	} else {
		if w.tokens == maxTokens {
			w.all = append([]byte(nil), w.nest[:]...)
		}
		w.all = append(w.all, c)
	}
	w.tokens++
}

func (w *writer) open()  { w.token(open) }
func (w *writer) close() { w.token(close) }

func (w *writer) leaf(e, s int) {
	w.add(e, s)
	w.token(leaf)
}

// part appends leaves in the nesting of tokens, nil for a flat list.
func (w *writer) part(ext, str []int, tokens []byte) {
	if tokens == nil {
		for i, e := range ext {
			w.leaf(e, str[i])
		}
		return
	}
	for i, e := range ext {
		w.add(e, str[i])
	}
	for _, c := range tokens {
		w.token(c)
	}
}

// mode appends mode i of l as it is.
func (w *writer) mode(l *Layout, i int) {
	ext, str := l.in.RunOf(i)
	if len(ext) == 1 {
		w.leaf(ext[0], str[0])
		return
	}
	var buf [maxTokens]byte
	w.part(ext, str, l.in.TokensOf(buf[:0], i))
}

// modes appends the modes of l.
func (w *writer) modes(l *Layout) {
	ext, str := l.in.All()
	var buf [maxTokens]byte
	w.part(ext, str, l.in.Tokens(buf[:0]))
}

// join appends a layout as one mode; one of rank 0 is 1:0.
func (w *writer) join(l *Layout) {
	switch l.Rank() {
	case 0:
		w.leaf(1, 0)
	case 1:
		w.mode(l, 0)
	default:
		w.open()
		w.modes(l)
		w.close()
	}
}

// joinAll appends a mode for each layout, or a single mode nesting them.
func (w *writer) joinAll(modes []Layout, nest bool) {
	nest = nest && len(modes) > 1
	if nest {
		w.open()
	}
	for i := range modes {
		w.join(&modes[i])
	}
	if nest {
		w.close()
	}
}

// group appends leaves as one mode, the first one fastest; none are 1:0.
func (w *writer) group(ext, str []int) {
	if len(ext) == 0 {
		w.leaf(1, 0)
		return
	}
	if len(ext) == 1 {
		w.leaf(ext[0], str[0])
		return
	}
	w.open()
	w.part(ext, str, nil)
	w.close()
}

// layout returns the layout that was written; the tokens must be canonical.
func (w *writer) layout(op string) (Layout, error) {
	ext, str := w.slices()
	if w.tokens == w.n {
		return build(op, ext, str, nil)
	}
	return build(op, ext, str, w.nesting())
}

// canonical is layout for any tokens.
func (w *writer) canonical(op string) (Layout, error) {
	ext, str := w.slices()
	return build(op, ext, str, canonNest(w.nesting()))
}

func (w *writer) nesting() []byte {
	if w.tokens > maxTokens {
		return w.all
	}
	return w.nest[:w.tokens]
}
