package text

import (
	"bytes"
	"unicode/utf8"
)

// A pattern finds places in a text.
type pattern interface {
	// find appends matches that cover b: the places found and the parts between them.
	find(dst []match, b []byte, left *budget) ([]match, error)
}

// readPattern reads {"String": "..."} or {"Regex": "..."}.
func readPattern(v value) (pattern, error) {
	o, err := v.object("String", "Regex")
	if err != nil {
		return nil, err
	}
	if len(o.fields) != 1 {
		return nil, v.errorf("is neither a String nor a Regex")
	}
	if s, ok := o.fields["String"]; ok {
		text, err := s.str()
		if err == nil && text == "" {
			return compile("")
		}
		return literal(text), err
	}
	source, err := o.fields["Regex"].str()
	if err != nil {
		return nil, err
	}
	if p := knownPattern(source); p != nil {
		return p, nil
	}
	re, err := compile(source)
	if err != nil {
		return nil, o.fields["Regex"].errorf("%v", err)
	}
	return re, nil
}

// literal finds a text that isn't empty.
type literal []byte

func (l literal) find(dst []match, b []byte, _ *budget) ([]match, error) {
	if len(b) == 0 {
		return append(dst, match{}), nil
	}
	prev := 0
	for prev < len(b) {
		i := bytes.Index(b[prev:], l)
		if i < 0 {
			break
		}
		if i > 0 {
			dst = append(dst, match{prev, prev + i, false})
		}
		dst = append(dst, match{prev + i, prev + i + len(l), true})
		prev += i + len(l)
	}
	if prev < len(b) {
		dst = append(dst, match{prev, len(b), false})
	}
	return dst, nil
}

// runePattern finds single characters.
type runePattern func(r rune) bool

func (is runePattern) find(dst []match, b []byte, _ *budget) ([]match, error) {
	prev := 0
	for i := 0; i < len(b); {
		r, n := rune(b[i]), 1
		if r >= utf8.RuneSelf {
			r, n = decodeRune(b, i)
		}
		if is(r) {
			if prev < i {
				dst = append(dst, match{prev, i, false})
			}
			dst = append(dst, match{i, i + n, true})
			prev = i + n
		}
		i += n
	}
	if prev < len(b) {
		dst = append(dst, match{prev, len(b), false})
	}
	return dst, nil
}

// hasBits finds characters with a property.
func hasBits(bits uint64) runePattern {
	d := unicodeData()
	return func(r rune) bool { return d.has(r, bits) }
}

// Behaviors of a split: where the text that a pattern found goes.
const (
	removed = iota
	isolated
	mergedWithPrevious
	mergedWithNext
	contiguous
)

var behaviors = map[string]int{"Removed": removed, "Isolated": isolated, "MergedWithPrevious": mergedWithPrevious,
	"MergedWithNext": mergedWithNext, "Contiguous": contiguous}

func readBehavior(v value) (int, error) {
	s, err := v.str()
	if err != nil {
		return 0, err
	}
	b, ok := behaviors[s]
	if !ok {
		return 0, v.errorf("is the behavior %q, which is none of Removed, Isolated, MergedWithPrevious, MergedWithNext and Contiguous", s)
	}
	return b, nil
}

// join joins matches as a behavior wants, in place: the parts that stay.
func join(ms []match, behavior int) []match {
	out := ms[:0]
	switch behavior {
	case isolated:
		return ms
	case removed:
		for _, m := range ms {
			if !m.found {
				out = append(out, m)
			}
		}
	case mergedWithPrevious, contiguous:
		previous := false // whether the match before was found
		for _, m := range ms {
			merge := m.found && !previous
			if behavior == contiguous {
				merge = m.found == previous
			}
			previous = m.found
			if n := len(out); merge && n > 0 {
				out[n-1].end = m.end
			} else {
				out = append(out, m)
			}
		}
	case mergedWithNext:
		previous := false // whether the match behind was found
		at := len(ms)
		for i := len(ms) - 1; i >= 0; i-- {
			m := ms[i]
			merge := m.found && !previous
			previous = m.found
			if merge && at < len(ms) {
				ms[at].start = m.start
			} else {
				at--
				ms[at] = m
			}
		}
		return ms[at:]
	}
	return out
}
