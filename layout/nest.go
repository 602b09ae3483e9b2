package layout

import "github.com/ashlar-go/ashlar/internal/core/modes"

// The tokens of a nesting.
const (
	leaf  = modes.Entry
	open  = modes.Open
	close = modes.Close
)

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

// ModeLeaves returns the leaves of mode i, lo ≤ leaf < hi. It panics unless
// 0 ≤ i < Rank.
func (l Layout) ModeLeaves(i int) (lo, hi int) { return l.in.ModeLeaves(i) }

// Mode returns mode i as a layout of its own: of rank 1 when it is a leaf, else
// with its entries as modes. It panics unless 0 ≤ i < Rank.
func (l Layout) Mode(i int) Layout {
	l.in.CheckMode("Mode", i)
	lo, hi := l.in.ModeLeaves(i)
	ext, str := l.in.All()
	var nest []byte
	if hi-lo > 1 {
		t := l.in.TokensOf(nil, i)
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
