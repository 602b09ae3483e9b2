package text

import (
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

// addPart adds a part of a piece to the next pieces, unless it is empty.
func (w *work) addPart(p piece, start, end int) {
	if start < end {
		q := piece{start: p.start + uint32(start), end: p.start + uint32(end), id: noToken}
		q.origin = w.part(q.start, q.end)
		w.nextPieces = append(w.nextPieces, q)
	}
}
