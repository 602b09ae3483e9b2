package text

import (
	"errors"
	"unicode/utf8"
)

// A span is a part of the original text, in bytes.
type span struct{ start, end uint32 }

// An aligned text is a part of the original text after some changes. Each of its bytes knows the part of the original that
// it stands for, the whole of the character it comes from. The rules come from the reference's NormalizedString, odd
// cases included, as they decide the spans of tokens.
type aligned struct {
	b      []byte
	spans  []span // of each byte, unless same
	same   bool   // the text is its original
	origin span   // of the whole in the original text
	left   *budget

	otherB     []byte // the next text while a change runs
	otherSpans []span
	changes    []change
	matches    []match
	pos, end   int // in b while a change runs: the next character that is replaced, and the end of the replaced part
}

// errAlignment is the reference's panic at a text that one change left without a span for its last character.
var errAlignment = errors.New("the parts of the normalizer don't fit: a character has no place in the original text")

// set makes a the part of the original text at origin.
func (a *aligned) set(text string, origin span, left *budget) {
	a.b = append(a.b[:0], text[origin.start:origin.end]...)
	a.same = true
	a.origin, a.left = origin, left
}

// explicit gives each byte its span.
func (a *aligned) explicit() {
	if a.same {
		a.spans, a.same = appendSpans(a.spans[:0], a.b, a.origin.start), false
	}
}

// appendSpans appends the spans of a text that is its original, which begins at start.
func appendSpans(spans []span, b []byte, start uint32) []span {
	for i := 0; i < len(b); {
		n := 1
		if b[i] >= utf8.RuneSelf {
			_, n = decodeRune(b, i)
		}
		s := span{start + uint32(i), start + uint32(i+n)}
		for range n {
			spans = append(spans, s)
		}
		i += n
	}
	return spans
}

// plain says that a change that replaces every character by itself leaves the text as it is.
func (a *aligned) plain() bool {
	return a.same || len(a.b) == 0 || a.spans[0].start != a.spans[0].end
}

// whole returns the part that a change of the whole text replaces: from the first byte that stands for something.
func (a *aligned) whole() (start, end int, any bool) {
	if a.origin.start == a.origin.end {
		return 0, 0, true
	}
	if len(a.b) == 0 {
		return 0, 0, false
	}
	a.explicit()
	for i, s := range a.spans {
		if s.start != s.end {
			return i, len(a.b), true
		}
	}
	return len(a.b), len(a.b), true
}

// begin starts a change of b[start:end], of which the first removed characters have no successor.
func (a *aligned) begin(start, end, removed int) {
	a.explicit()
	a.otherB = append(a.otherB[:0], a.b[:start]...)
	a.otherSpans = append(a.otherSpans[:0], a.spans[:start]...)
	a.pos, a.end = start, end
	a.skip(removed)
}

// skip goes over n characters of the replaced part.
func (a *aligned) skip(n int) {
	for ; n > 0 && a.pos < a.end; n-- {
		_, size := decodeRune(a.b, a.pos)
		a.pos += size
	}
}

// put appends a character, as change says.
func (a *aligned) put(r rune, n int) error {
	if err := a.left.fits(int64(len(a.otherB))); err != nil {
		return err
	}
	var s span
	switch {
	case n <= 0:
		if a.pos >= len(a.spans) {
			return errAlignment
		}
		s = a.spans[a.pos]
		a.skip(1 - n)
	case a.pos < 1:
		s = span{a.origin.start, a.origin.start}
	default:
		s = a.spans[a.pos-1]
	}
	if r < utf8.RuneSelf {
		a.otherB = append(a.otherB, byte(r))
		a.otherSpans = append(a.otherSpans, s)
		return nil
	}
	from := len(a.otherB)
	a.otherB = utf8.AppendRune(a.otherB, r)
	for range len(a.otherB) - from {
		a.otherSpans = append(a.otherSpans, s)
	}
	return nil
}

// finish ends a change: the text behind the replaced part follows.
func (a *aligned) finish() {
	a.otherB = append(a.otherB, a.b[a.end:]...)
	a.otherSpans = append(a.otherSpans, a.spans[a.end:]...)
	a.b, a.otherB = a.otherB, a.b
	a.spans, a.otherSpans = a.otherSpans, a.spans
}

// transform replaces the whole text.
func (a *aligned) transform(changes []change, removed int) error {
	start, end, any := a.whole()
	if !any {
		return nil
	}
	a.begin(start, end, removed)
	for _, c := range changes {
		if err := a.put(c.r, c.n); err != nil {
			return err
		}
	}
	a.finish()
	return nil
}

// filter removes the characters that have one of the bits.
func (a *aligned) filter(remove func(r rune) bool) error {
	any := false
	for i := 0; i < len(a.b) && !any; {
		r, n := decodeRune(a.b, i)
		any = remove(r)
		i += n
	}
	if !any && a.plain() {
		return nil
	}
	a.changes = a.changes[:0]
	removed, behind := 0, 0 // at the beginning, and behind the last character kept
	for i := 0; i < len(a.b); {
		r, n := decodeRune(a.b, i)
		i += n
		switch {
		case !remove(r):
			if k := len(a.changes); k > 0 {
				a.changes[k-1].n = -behind
			}
			a.changes, behind = append(a.changes, change{r: r}), 0
		case len(a.changes) == 0:
			removed++
		default:
			behind++
		}
	}
	if k := len(a.changes); k > 0 {
		a.changes[k-1].n = -behind
	}
	return a.transform(a.changes, removed)
}

// prepend puts a text before the first character.
func (a *aligned) prepend(s string) error {
	if len(a.b) == 0 {
		return nil
	}
	first, n := decodeRune(a.b, 0)
	a.begin(0, n, 0)
	k := 0
	for _, r := range s {
		if err := a.put(r, min(k, 1)); err != nil {
			return err
		}
		k++
	}
	if err := a.put(first, 1); err != nil {
		return err
	}
	a.finish()
	return nil
}

// A match is a part of a text, and whether a pattern found it there or it lies between two places found.
type match struct {
	start, end int
	found      bool
}

// replace puts content for each place found; matches cover the text.
func (a *aligned) replace(matches []match, content string) error {
	n := int64(len(a.b))
	for _, m := range matches {
		if m.found {
			n += int64(len(content))
		}
	}
	if err := a.left.fits(n); err != nil {
		return err
	}
	a.explicit()
	b, spans := a.otherB[:0], a.otherSpans[:0]
	last := 0
	for _, m := range matches {
		if !m.found {
			continue
		}
		b = append(append(b, a.b[last:m.start]...), content...)
		spans = append(spans, a.spans[last:m.start]...)
		s := span{a.origin.start, a.origin.start}
		if m.end > 0 {
			s = a.spans[m.end-1]
		}
		for range len(content) {
			spans = append(spans, s)
		}
		last = m.end
	}
	a.otherB, a.otherSpans = append(b, a.b[last:]...), append(spans, a.spans[last:]...)
	a.b, a.otherB = a.otherB, a.b
	a.spans, a.otherSpans = a.otherSpans, a.spans
	return nil
}
