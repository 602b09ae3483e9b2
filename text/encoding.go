package text

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// An Encoding is a text, or a pair of texts, as tokens. Its slices have an element for each token.
type Encoding struct {
	IDs       []int64
	Types     []int64    // 0 for the first text, 1 for the second, or as the post-processor says
	Attention []int64    // 1, and 0 for padding
	Special   []bool     // tokens that the post-processor added, and padding
	Tokens    []string   // as the vocabulary has them; an unknown token reads as its text where the model is Unigram
	Spans     []Span     // the part of its text that the token stands for; empty at 0 where Special
	Words     []int      // the number of the word in its text, −1 where Special
	Texts     []int      // 0 in the first text, 1 in the second, −1 in none
	Overflow  []Encoding // the tokens that truncation cut off, in windows as the file or the Options say
}

// A Span is a part of a text: text[Start:End] in bytes, and []rune(text)[RuneStart:RuneEnd] in characters.
type Span struct {
	Start, End         int
	RuneStart, RuneEnd int
}

// reset empties e and keeps its memory.
func (e *Encoding) reset() {
	*e = Encoding{IDs: e.IDs[:0], Types: e.Types[:0], Attention: e.Attention[:0], Special: e.Special[:0], Tokens: e.Tokens[:0],
		Spans: e.Spans[:0], Words: e.Words[:0], Texts: e.Texts[:0]}
}

// add appends a token that is no part of a text.
func (e *Encoding) add(id, typeID int64, token string, attention int64) {
	e.IDs = append(e.IDs, id)
	e.Types = append(e.Types, typeID)
	e.Attention = append(e.Attention, attention)
	e.Special = append(e.Special, true)
	e.Tokens = append(e.Tokens, token)
	e.Spans = append(e.Spans, Span{})
	e.Words = append(e.Words, -1)
	e.Texts = append(e.Texts, -1)
}

// slice returns a copy of some tokens.
func (e *Encoding) slice(start, end int) Encoding {
	var s Encoding
	s.append(e, start, end)
	return s
}

func (e *Encoding) append(x *Encoding, start, end int) {
	e.IDs = append(e.IDs, x.IDs[start:end]...)
	e.Types = append(e.Types, x.Types[start:end]...)
	e.Attention = append(e.Attention, x.Attention[start:end]...)
	e.Special = append(e.Special, x.Special[start:end]...)
	e.Tokens = append(e.Tokens, x.Tokens[start:end]...)
	e.Spans = append(e.Spans, x.Spans[start:end]...)
	e.Words = append(e.Words, x.Words[start:end]...)
	e.Texts = append(e.Texts, x.Texts[start:end]...)
}

func (e *Encoding) clone() Encoding {
	c := e.slice(0, len(e.IDs))
	for i := range e.Overflow {
		c.Overflow = append(c.Overflow, e.Overflow[i].clone())
	}
	return c
}

// size returns the number of tokens, those of Overflow included, and of windows.
func (e *Encoding) size() int {
	n := len(e.IDs) + 1
	for i := range e.Overflow {
		n += e.Overflow[i].size()
	}
	return n
}

// merge appends x, and pairs the overflows of both. An overflow has none of its own.
func (e *Encoding) merge(x *Encoding, left *budget) error {
	var overflow []Encoding
	err := left.copy(len(x.IDs))
	with := func(a, b *Encoding) {
		if err == nil {
			err = left.copy(len(a.IDs) + len(b.IDs) + 1)
		}
		if err == nil {
			c := a.slice(0, len(a.IDs))
			c.append(b, 0, len(b.IDs))
			overflow = append(overflow, c)
		}
	}
	for i := 0; i < len(e.Overflow) && err == nil; i++ {
		with(&e.Overflow[i], x)
		for j := 0; j < len(x.Overflow) && err == nil; j++ {
			with(&e.Overflow[i], &x.Overflow[j])
		}
	}
	for j := range x.Overflow {
		with(e, &x.Overflow[j])
	}
	if err != nil {
		return err
	}
	e.append(x, 0, len(x.IDs))
	e.Overflow = overflow
	return nil
}

// bytes gives each span its bytes, of the runes that it has.
func (e *Encoding) bytes(counters *[2]runeCounter) {
	for i, s := range e.Spans {
		if k := e.Texts[i]; k >= 0 {
			s.Start, s.End = counters[k].bytes(s.RuneStart), counters[k].bytes(s.RuneEnd)
			e.Spans[i] = s
		}
	}
	for i := range e.Overflow {
		e.Overflow[i].bytes(counters)
	}
}

// A runeCounter converts between bytes and runes of a text. Places near the last one are found fast.
type runeCounter struct {
	text  string
	ascii int // whether the text is ASCII: -1 not known yet
	byte  int // a place,
	rune  int // in bytes and in runes
	marks []int32
}

// markBytes are the bytes from a mark to the next. A mark has the number of characters that begin before it.
const markBytes = 1 << 12

// far says whether a mark is nearer than a place so many bytes or characters away.
func far(distance int) bool { return distance > 2*markBytes || distance < -2*markBytes }

// jump goes to the last mark that isn't behind a place.
func (c *runeCounter) jump(behind func(mark int) bool) {
	if c.marks == nil {
		n := 0
		for i := range len(c.text) {
			if i%markBytes == 0 {
				c.marks = append(c.marks, int32(n))
			}
			if utf8.RuneStart(c.text[i]) {
				n++
			}
		}
	}
	k := sort.Search(len(c.marks), behind) - 1
	c.byte, c.rune = k*markBytes, int(c.marks[k])
	for c.byte < len(c.text) && !utf8.RuneStart(c.text[c.byte]) {
		c.byte++
	}
}

func (c *runeCounter) isASCII() bool {
	if c.ascii < 0 {
		c.ascii = 1
		for i := range len(c.text) {
			if c.text[i] >= utf8.RuneSelf {
				c.ascii = 0
				break
			}
		}
	}
	return c.ascii == 1
}

// runes returns the number of characters that begin before a byte; a place within a character is that of its beginning.
func (c *runeCounter) runes(i int) int {
	i = min(i, len(c.text))
	if c.isASCII() {
		return i
	}
	for i < len(c.text) && !utf8.RuneStart(c.text[i]) {
		i--
	}
	if far(i - c.byte) {
		c.jump(func(k int) bool { return k*markBytes > i })
	}
	if i < c.byte {
		c.rune -= utf8.RuneCountInString(c.text[i:c.byte])
	} else {
		c.rune += utf8.RuneCountInString(c.text[c.byte:i])
	}
	c.byte = i
	return c.rune
}

// bytes returns the place of a character.
func (c *runeCounter) bytes(n int) int {
	if c.isASCII() {
		return min(n, len(c.text))
	}
	if far(n - c.rune) {
		c.jump(func(k int) bool { return int(c.marks[k]) > n })
	}
	for c.rune < n && c.byte < len(c.text) {
		_, size := utf8.DecodeRuneInString(c.text[c.byte:])
		c.byte, c.rune = c.byte+size, c.rune+1
	}
	for c.rune > n {
		_, size := utf8.DecodeLastRuneInString(c.text[:c.byte])
		c.byte, c.rune = c.byte-size, c.rune-1
	}
	return c.byte
}

// convert returns a span in runes.
func (c *runeCounter) convert(o span) Span {
	start := c.runes(int(o.start))
	return Span{RuneStart: start, RuneEnd: c.runes(int(o.end))}
}

// valid returns s with each byte that is no part of a character in UTF-8 replaced by U+FFFD.
func valid(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		b.WriteRune(r)
		i += n
	}
	return b.String()
}
