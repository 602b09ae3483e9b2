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

// work has the memory of one call of Encode. It is used again.
type work struct {
	text   string
	b      []byte // the pieces' text; the original where same
	spans  []span // of each byte of b in the original text, unless same
	same   bool
	pieces []piece

	nextB      []byte
	nextSpans  []span
	nextPieces []piece
	matches    []match
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
	w.a.origin, w.a.same = p.origin, w.same
	if !w.same {
		w.a.spans = append(w.a.spans[:0], w.spans[p.start:p.end]...)
	}
}

// swap makes b and spans the text of the pieces.
func (w *work) swap(b []byte, spans []span) {
	w.b, w.nextB = b, w.b[:0]
	w.spans, w.nextSpans = spans, w.spans[:0]
	w.same = false
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
		p.start, p.end = start, uint32(len(b))
	}
	w.swap(b, spans)
	return nil
}

const maxText = math.MaxUint32 >> 4 // bytes of a text; its words may grow while they are normalized

// cut cuts a text into words.
func (t *Tokenizer) cut(w *work, text string) error {
	if len(text) > maxText {
		return fmt.Errorf("the text has %d bytes, more than %d", len(text), maxText)
	}
	w.text, w.same = text, true
	w.b = append(w.b[:0], text...)
	w.pieces = w.pieces[:0]
	var failed error
	piece1 := func(start, end int, id int64) {
		if start > end {
			failed = fmt.Errorf("two added tokens overlap at byte %d", end)
		} else if start < end {
			o := span{uint32(start), uint32(end)}
			w.pieces = append(w.pieces, piece{o.start, o.end, o, id})
		}
	}
	t.added.find(&t.added.plain, w.b, piece1)
	if failed == nil {
		failed = t.normalize(w)
	}
	if failed != nil || t.preTokenizer == nil {
		return failed
	}
	return t.preTokenizer.cut(w)
}

// normalize normalizes the pieces, and finds the added tokens that are normalized, too.
func (t *Tokenizer) normalize(w *work) error {
	switch n := t.normalizer; {
	case n == nil:
	case len(w.pieces) == 1 && w.pieces[0].id < 0: // without a copy
		p := &w.pieces[0]
		w.load(*p)
		if err := n.normalize(&w.a); err != nil {
			return err
		}
		if w.a.same { // letters may have changed
			copy(w.b[p.start:p.end], w.a.b)
			break
		}
		w.b, w.a.b = w.a.b, w.b
		w.spans, w.a.spans = w.a.spans, w.spans
		w.same = false
		p.start, p.end = 0, uint32(len(w.b))
	default:
		if err := w.change(func(piece) bool { return true }, n.normalize); err != nil {
			return err
		}
	}
	w.nextPieces = w.nextPieces[:0]
	var failed error
	for _, p := range w.pieces {
		if p.id >= 0 {
			w.nextPieces = append(w.nextPieces, p)
			continue
		}
		t.added.find(&t.added.changed, w.b[p.start:p.end], func(start, end int, id int64) {
			if start > end {
				failed = fmt.Errorf("two added tokens overlap at byte %d", p.origin.start)
				return
			}
			if n := len(w.nextPieces); start < end {
				w.addPart(p, start, end)
				w.nextPieces[n].id = id
			}
		})
	}
	w.pieces, w.nextPieces = w.nextPieces, w.pieces
	return failed
}

// encode appends the tokens of a text to an empty encoding. With truncation it reads words, from the end with Left, until
// there are as many tokens as that allows, and leaves the others out, as the reference does.
func (t *Tokenizer) encode(w *work, e *Encoding, text string, number int, cut Truncation) error {
	if err := t.cut(w, text); err != nil {
		return err
	}
	pieces, limit := w.pieces, math.MaxInt
	if (cut.MaxTokens > 0 || cut.Empty) && (cut.Strategy != "OnlySecond" || number == 1) {
		limit = cut.MaxTokens
	}
	count := 0 // of tokens; only a word ends the reading
	if cut.Left && limit < math.MaxInt {
		from, done := len(pieces), false
		for from > 0 && !done {
			from--
			if err := t.tokenize(w, pieces[from]); err != nil {
				return err
			}
			count += len(w.tokens)
			done = count >= limit && pieces[from].id < 0
		}
		pieces, limit = pieces[from:], math.MaxInt
	}
	at := runeCounter{text: text, ascii: -1}
	for i, p := range pieces {
		if err := t.tokenize(w, p); err != nil {
			return err
		}
		length := p.end - p.start
		for _, k := range w.tokens {
			o := span{p.origin.start + k.start, p.origin.start + k.end} // of an empty token, as there
			if k.start < k.end {
				if k.end <= length {
					o = w.part(p.start+k.start, p.start+k.end)
				} else {
					o = span{k.start, k.end} // beyond the word, as there
				}
			}
			var name string
			if k.number == ownText {
				name = string(w.b[p.start+k.start : p.start+min(k.end, length)])
			} else {
				name = t.names[k.number]
			}
			e.IDs = append(e.IDs, int64(k.id))
			e.Types = append(e.Types, int64(number))
			e.Attention = append(e.Attention, 1)
			e.Special = append(e.Special, false)
			e.Tokens = append(e.Tokens, name)
			e.Spans = append(e.Spans, at.convert(o))
			e.Words = append(e.Words, i)
			e.Texts = append(e.Texts, number)
		}
		if len(e.IDs) >= limit && p.id < 0 {
			break
		}
	}
	return nil
}

// tokenize makes w.tokens those of a piece.
func (t *Tokenizer) tokenize(w *work, p piece) error {
	w.tokens = w.tokens[:0]
	if p.id >= 0 {
		w.tokens = append(w.tokens, token{uint32(p.id), 0, p.end - p.start, ownText})
		return nil
	}
	return t.model.tokenize(w, w.b[p.start:p.end])
}
