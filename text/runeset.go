package text

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A runeSet is a set of characters.
type runeSet struct {
	ranges [][2]rune // sorted, not touching, after sorted
	ascii  [2]uint64
	ready  bool
	cased  bool // another set where the case doesn't matter
}

func newSet() *runeSet { return &runeSet{} }

func (s *runeSet) add(lo, hi rune) *runeSet {
	s.ranges, s.ready = append(s.ranges, [2]rune{lo, hi}), false
	return s
}

func (s *runeSet) union(t *runeSet) {
	s.ranges, s.ready, s.cased = append(s.ranges, t.ranges...), false, s.cased || t.cased
}

// sorted joins ranges and fills the table of ASCII.
func (s *runeSet) sorted() {
	if s.ready {
		return
	}
	slices.SortFunc(s.ranges, func(a, b [2]rune) int { return int(a[0] - b[0]) })
	out := s.ranges[:0]
	for _, r := range s.ranges {
		if n := len(out); n > 0 && r[0] <= out[n-1][1]+1 {
			out[n-1][1] = max(out[n-1][1], r[1])
		} else {
			out = append(out, r)
		}
	}
	s.ranges, s.ascii = out, [2]uint64{}
	for _, r := range out {
		for c := r[0]; c <= r[1] && c < utf8.RuneSelf; c++ {
			s.ascii[c>>6] |= 1 << (c & 63)
		}
	}
	s.ready = true
}

func (s *runeSet) negate() *runeSet {
	s.sorted()
	var out [][2]rune
	next := rune(0)
	for _, r := range s.ranges {
		if r[0] > next {
			out = append(out, [2]rune{next, r[0] - 1})
		}
		next = r[1] + 1
	}
	if next <= utf8.MaxRune {
		out = append(out, [2]rune{next, utf8.MaxRune})
	}
	s.ranges, s.ready = out, false
	return s
}

func (s *runeSet) and(t *runeSet) *runeSet {
	a, b := *s, *t
	a.ranges, b.ranges = slices.Clone(s.ranges), slices.Clone(t.ranges)
	a.negate().union(b.negate())
	a.cased = s.cased || t.cased
	return a.negate()
}

func (s *runeSet) has(r rune) bool {
	s.sorted()
	if r < utf8.RuneSelf {
		return s.ascii[r>>6]>>(r&63)&1 != 0
	}
	lo, hi := 0, len(s.ranges)
	for lo < hi {
		m := (lo + hi) / 2
		if s.ranges[m][1] < r {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo < len(s.ranges) && s.ranges[lo][0] <= r
}

// onigSets has the sets of Oniguruma in tables.txt: of \\s as "\\s", of a property or a group of categories as plainName writes
// it, of a POSIX class also in brackets.
var onigSets = sync.OnceValue(func() map[string]*runeSet {
	sets := make(map[string]*runeSet)
	for line, items := range tableLines() {
		name, ok := strings.CutPrefix(line, "onig-")
		if !ok {
			continue
		}
		names := []string{plainName(name)}
		switch {
		case len(name) == 1:
			names[0] = `\` + name
		case len(name) == 2 && strings.Contains("LMNPSZC", name[:1]): // a category, and its group
			names = append(names, names[0][:1])
		case name[0] == '[':
			names = append(names, strings.Trim(name, "[]"))
		}
		for _, n := range names {
			if sets[n] == nil {
				sets[n] = &runeSet{cased: true}
			}
			ranges(items, func(lo, hi rune) { sets[n].add(lo, hi) })
		}
	}
	other := newSet() // C has the code points that aren't assigned, too
	for _, group := range []string{"l", "m", "n", "p", "s", "z"} {
		other.union(sets[group])
	}
	sets["c"] = other.negate()
	sets["c"].cased = true
	for long, short := range map[string]string{"other": "c", "letter": "l", "mark": "m", "number": "n", "punctuation": "p", "symbol": "s", "separator": "z"} {
		sets[long] = sets[short]
	}
	sets["word"], sets["punct"] = sets[`\w`], sets["p"] // not the POSIX classes of these names
	sets["any"] = &runeSet{cased: true}
	sets["any"].add(0, utf8.MaxRune)
	for _, s := range sets {
		s.sorted()
	}
	return sets
})

// plainName writes the name of a property as Oniguruma compares it.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", " ", "", "-", "").Replace(name))
}

// onigSet returns a copy of a set of onigSets, nil if there is none.
func onigSet(name string) *runeSet {
	known := onigSets()[name]
	if known == nil {
		return nil
	}
	set := *known
	set.ranges = slices.Clone(known.ranges)
	return &set
}

var wordSet = sync.OnceValue(func() *runeSet { return onigSets()[`\w`] })
