package text

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// A piece is a part of the text on its way to a word. An added token has its id, any other piece noToken.
type piece struct {
	start, end uint32 // in work.b
	origin     span   // in the original text
	id         int64
}

const noToken = -1

// Work that one text may make: steps of searches for expressions and tokens, and bytes that the text may have once it is
// changed. NFKD makes a text 11 times as long, and the letters of bytes twice as long again.
const (
	baseSteps, byteSteps = 1 << 20, 1 << 9
	baseBytes, byteBytes = 1 << 22, 1 << 5
)

// Tokens that are copied for one encoding: into windows of Overflow, and as padding.
const baseTokens, byteTokens = 1 << 21, 1 << 4

// A budget is the work that a text may still make.
type budget struct {
	steps, tokens int64
	bytes         int
	text          int // bytes of the text
}

func newBudget(text int) budget {
	n := int64(text)
	return budget{baseSteps + byteSteps*n, baseTokens + byteTokens*n, int(min(baseBytes+byteBytes*n, math.MaxInt32)), text}
}

// take takes n steps.
func (b *budget) take(n int) error {
	if b.steps -= int64(n); b.steps < 0 {
		return b.tooMany()
	}
	return nil
}

func (b *budget) tooMany() error {
	return fmt.Errorf("the tokenizer takes too many steps over a text of %d bytes: cut it into shorter ones", b.text)
}

// copy takes n tokens.
func (b *budget) copy(n int) error {
	if b.tokens -= int64(n); b.tokens < 0 {
		return fmt.Errorf("a text of %d bytes makes more than %d tokens by windows and padding: take a smaller stride, or less padding", b.text, baseTokens+byteTokens*int64(b.text))
	}
	return nil
}

// fits says whether the text may have n bytes.
func (b *budget) fits(n int64) error {
	if n > int64(b.bytes) {
		return b.tooLong()
	}
	return nil
}

func (b *budget) tooLong() error {
	return fmt.Errorf("the tokenizer makes a text of %d bytes longer than %d bytes: cut it into shorter ones", b.text, b.bytes)
}

// work has the memory of one call of Encode. It is used again.
type work struct {
	text   string
	left   budget
	b      []byte // the pieces' text; the original where same
	spans  []span // of each byte of b in the original text, unless same
	same   bool
	pieces []piece

	nextB      []byte
	nextSpans  []span
	nextPieces []piece
	matches    []match
	places     []place
	a          aligned

	tokens  []token // of the word at work
	symbols []symbol
	heap    []candidate
	memos   []memo
	ways    []best
	spelled []token

	first, second Encoding
	list          []*Encoding
}

// part returns the span in the original text of b[start:end], which isn't empty.
func (w *work) part(start, end uint32) span {
	if !w.same {
		return span{w.spans[start].start, w.spans[end-1].end}
	}
	for !utf8.RuneStart(w.b[start]) { // a part of a character stands for all of it
		start--
	}
	for int(end) < len(w.b) && !utf8.RuneStart(w.b[end]) {
		end++
	}
	return span{start, end}
}

// appendPart appends the spans of b[start:end].
func (w *work) appendPart(spans []span, start, end uint32) []span {
	if w.same {
		return appendSpans(spans, w.b[start:end], start)
	}
	return append(spans, w.spans[start:end]...)
}

// load makes w.a a copy of a piece.
func (w *work) load(p piece) {
	w.a.b = append(w.a.b[:0], w.b[p.start:p.end]...)
	w.a.origin, w.a.same, w.a.left = p.origin, w.same, &w.left
	if !w.same {
		w.a.spans = append(w.a.spans[:0], w.spans[p.start:p.end]...)
	}
}

// swap makes b and spans the text of the pieces.
func (w *work) swap(b []byte, spans []span) error {
	w.b, w.nextB = b, w.b[:0]
	w.spans, w.nextSpans = spans, w.spans[:0]
	w.same = false
	return w.left.fits(int64(len(b)))
}

// change changes the pieces that are no tokens and for which want says so.
func (w *work) change(want func(p piece) bool, f func(a *aligned) error) error {
	b, spans := w.nextB[:0], w.nextSpans[:0]
	for i := range w.pieces {
		p := &w.pieces[i]
		start := uint32(len(b))
		if p.id < 0 && want(*p) {
			w.load(*p)
			if err := f(&w.a); err != nil {
				return err
			}
			w.a.explicit()
			b, spans = append(b, w.a.b...), append(spans, w.a.spans...)
		} else {
			b = append(b, w.b[p.start:p.end]...)
			spans = w.appendPart(spans, p.start, p.end)
		}
		if err := w.left.fits(int64(len(b))); err != nil {
			return err
		}
		p.start, p.end = start, uint32(len(b))
	}
	return w.swap(b, spans)
}

// addPart adds a part of a piece to the next pieces, unless it is empty.
func (w *work) addPart(p piece, start, end int) {
	if start < end {
		q := piece{start: p.start + uint32(start), end: p.start + uint32(end), id: noToken}
		q.origin = w.part(q.start, q.end)
		w.nextPieces = append(w.nextPieces, q)
	}
}
