package text

import (
	"fmt"
	"math"
)

// Options say how a text is encoded. The zero value does as the file says.
type Options struct {
	Pair           *string     // the second text of a pair
	WithoutSpecial bool        // leave out the tokens that the post-processor adds
	ReplaceInvalid bool        // put U+FFFD for each byte that isn't UTF-8; spans are then of the text with U+FFFD
	Truncation     *Truncation // in place of the file's
	Padding        *Padding    // in place of the file's
}

// Encode returns the tokens of a text. A text that isn't UTF-8 is an error that names the first such byte, unless the
// options replace it. Encoding takes time and memory in proportion to the text.
func (t *Tokenizer) Encode(text string, o Options) (Encoding, error) {
	var e Encoding
	err := t.EncodeInto(&e, text, o)
	return e, err
}

// EncodeInto is Encode into the memory of an encoding that isn't used any more.
func (t *Tokenizer) EncodeInto(e *Encoding, text string, o Options) error {
	w := t.works.Get().(*work)
	defer t.works.Put(w)
	texts := [2]string{text}
	n := 1
	if o.Pair != nil {
		texts[1], n = *o.Pair, 2
	}
	encodings := [2]*Encoding{&w.first, &w.second}
	w.list = w.list[:0]
	truncation, padding := t.truncation, t.padding
	if o.Truncation != nil {
		truncation = *o.Truncation
	}
	if o.Padding != nil {
		padding = *o.Padding
	}
	for i := range n {
		if k := invalidUTF8(texts[i]); k >= 0 {
			if !o.ReplaceInvalid {
				return fmt.Errorf("text: text %d isn't UTF-8 from byte %d on: set ReplaceInvalid, or convert it", i, k)
			}
			texts[i] = valid(texts[i])
		}
		encodings[i].reset()
		if err := t.encode(w, encodings[i], texts[i], i, truncation); err != nil {
			return fmt.Errorf("text: %w", err)
		}
		w.list = append(w.list, encodings[i])
	}
	w.left = newBudget(len(texts[0]) + len(texts[1]))
	if err := t.process(w, e, !o.WithoutSpecial, truncation, padding); err != nil {
		return fmt.Errorf("text: %w", err)
	}
	e.bytes(&[2]runeCounter{{text: texts[0], ascii: -1}, {text: texts[1], ascii: -1}})
	w.text = ""
	return nil
}

const maxText = math.MaxUint32 >> 4 // bytes of a text; its words may grow while they are normalized

// cut cuts a text into words.
func (t *Tokenizer) cut(w *work, text string) error {
	if len(text) > maxText {
		return fmt.Errorf("the text has %d bytes, more than %d", len(text), maxText)
	}
	w.text, w.same, w.left = text, true, newBudget(len(text))
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
	t.added.find(w, &t.added.plain, w.b, piece1)
	if failed == nil {
		failed = w.checkOverlap()
	}
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
		t.added.find(w, &t.added.changed, w.b[p.start:p.end], func(start, end int, id int64) {
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
	if failed == nil {
		failed = w.checkOverlap()
	}
	return failed
}

// checkOverlap refuses added tokens that overlap too much. One that is a space and takes the spaces behind it, over many
// spaces, is as many tokens as there are spaces, each up to their end.
func (w *work) checkOverlap() error {
	total := int64(0)
	for _, p := range w.pieces {
		if p.id >= 0 {
			total += int64(p.end - p.start)
		}
		if total > int64(w.left.bytes) {
			return fmt.Errorf("added tokens overlap at byte %d: together they have more than %d bytes, over a text of %d", p.origin.start, w.left.bytes, len(w.text))
		}
	}
	return nil
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
				name = t.words.token(int(k.number))
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

// tokenize makes w.tokens the tokens of a piece.
func (t *Tokenizer) tokenize(w *work, p piece) error {
	w.tokens = w.tokens[:0]
	if p.id >= 0 {
		w.tokens = append(w.tokens, token{uint32(p.id), 0, p.end - p.start, ownText})
		return nil
	}
	return t.model.tokenize(w, w.b[p.start:p.end])
}

// process truncates the encodings of w.list, adds special tokens, pads, and writes the result to e.
func (t *Tokenizer) process(w *work, e *Encoding, special bool, truncation Truncation, padding Padding) error {
	if truncation.MaxTokens > 0 || truncation.Empty {
		added := 0
		if special && t.processor != nil {
			added = t.processor.added(len(w.list) > 1)
		}
		if err := truncation.apply(w.list, added, &w.left); err != nil {
			return err
		}
	}
	list := w.list
	if t.processor != nil {
		var err error
		if list, err = t.processor.process(w, list, special); err != nil {
			return err
		}
	}
	e.reset()
	for _, x := range list {
		if err := e.merge(x, &w.left); err != nil {
			return err
		}
	}
	return padding.apply(e, &w.left)
}
