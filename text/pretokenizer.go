package text

import (
	"bytes"
	"unicode/utf8"
)

// A preTokenizer cuts pieces of a text into smaller ones, down to words.
type preTokenizer interface {
	cut(w *work) error
}

func readPreTokenizer(v value) (preTokenizer, error) {
	o, err := v.object()
	if err != nil {
		return nil, err
	}
	kind, err := required(o, "type", value.str)
	if err != nil {
		return nil, err
	}
	var fields []string
	var p preTokenizer
	switch kind {
	case "BertPreTokenizer":
		p = preTokenizers{&split{hasBits(rustSpace), removed, false}, &split{hasBits(punctuation), isolated, false}}
	case "Whitespace":
		p = &split{wordPattern{unicodeData()}, removed, true}
	case "WhitespaceSplit":
		p = &split{hasBits(rustSpace), removed, false}
	case "UnicodeScripts":
		p = unicodeScripts{}
	case "ByteLevel":
		p, fields = &byteLevel{}, []string{"add_prefix_space", "trim_offsets", "use_regex"}
	case "Metaspace":
		p, fields = &metaspace{}, []string{"replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"}
	case "CharDelimiterSplit":
		fields = []string{"delimiter"}
		var r rune
		if r, err = required(o, "delimiter", value.char); err == nil {
			p = &split{literal(string(r)), removed, false}
		}
	case "Punctuation":
		fields = []string{"behavior"}
		var b int
		if b, err = field(o, "behavior", readBehavior, isolated); err == nil {
			p = &split{hasBits(punctuation), b, false}
		}
	case "Digits":
		fields = []string{"individual_digits"}
		var single bool
		if single, err = required(o, "individual_digits", value.bool); err == nil {
			b := contiguous
			if single {
				b = isolated
			}
			p = &split{hasBits(numeric), b, false}
		}
	case "Split":
		fields = []string{"pattern", "behavior", "invert"}
		s := &split{}
		if s.pattern, err = required(o, "pattern", readPattern); err == nil {
			if s.behavior, err = required(o, "behavior", readBehavior); err == nil {
				s.invert, err = required(o, "invert", value.bool)
			}
		}
		p = s
	case "FixedLength":
		fields = []string{"length"}
		var n int
		if n, err = field(o, "length", value.length, 5); err == nil && n == 0 {
			err = o.errorf("has the length 0")
		}
		p = fixedLength(n)
	case "Sequence":
		fields = []string{"pretokenizers"}
		var all []preTokenizer
		all, err = list(o, "pretokenizers", readPreTokenizer)
		p = preTokenizers(all)
	default:
		return nil, v.errorf("is a pre-tokenizer %q, which this package doesn't know", kind)
	}
	if err != nil {
		return nil, err
	}
	if err := o.knows(fields...); err != nil {
		return nil, err
	}
	if r, ok := p.(interface{ read(object) error }); ok {
		return p, r.read(o)
	}
	return p, nil
}

type preTokenizers []preTokenizer

func (s preTokenizers) cut(w *work) error {
	for _, p := range s {
		if err := w.left.take(len(w.b)); err != nil {
			return err
		}
		if err := p.cut(w); err != nil {
			return err
		}
	}
	return nil
}

// split cuts at the places of a pattern.
type split struct {
	pattern  pattern
	behavior int
	invert   bool // the pattern finds the words, not the gaps
}

func (s *split) cut(w *work) error {
	w.nextPieces = w.nextPieces[:0]
	for _, p := range w.pieces {
		if p.id >= 0 {
			w.nextPieces = append(w.nextPieces, p)
			continue
		}
		var err error
		if w.matches, err = s.pattern.find(w.matches[:0], w.b[p.start:p.end], &w.left); err != nil {
			return err
		}
		if s.invert {
			for i := range w.matches {
				w.matches[i].found = !w.matches[i].found
			}
		}
		for _, m := range join(w.matches, s.behavior) {
			w.addPart(p, m.start, m.end)
		}
	}
	w.pieces, w.nextPieces = w.nextPieces, w.pieces
	return nil
}

// wordPattern has the matches of the crate regex by \w+|[^\w\s]+.
type wordPattern struct{ d *database }

func (p wordPattern) find(dst []match, b []byte, _ *budget) ([]match, error) {
	const space = regexSpace
	last := ^uint64(0) // the kind of the character before: regexWord, regexSpace or 0
	start := 0
	for i := 0; i < len(b); {
		r, n := decodeRune(b, i)
		kind := p.d.props(r) & (regexWord | regexSpace)
		if kind != last && i > 0 {
			dst = append(dst, match{start, i, last != space})
			start = i
		}
		last = kind
		i += n
	}
	if start < len(b) {
		dst = append(dst, match{start, len(b), last != space})
	}
	return dst, nil
}

// unicodeScripts cuts where the script changes; a space and other characters without a script belong to any.
type unicodeScripts struct{}

const anyScript = 255

func (unicodeScripts) cut(w *work) error {
	d := unicodeData()
	w.nextPieces = w.nextPieces[:0]
	for _, p := range w.pieces {
		if p.id >= 0 {
			w.nextPieces = append(w.nextPieces, p)
			continue
		}
		b := w.b[p.start:p.end]
		start, script := -1, -1 // characters before the first with a script fall away, as there
		for i := 0; i < len(b); {
			r, n := decodeRune(b, i)
			if s := int(uint8(d.props(r) >> scriptShift)); s != anyScript && s != script {
				if start >= 0 {
					w.addPart(p, start, i)
				}
				start, script = i, s
			}
			i += n
		}
		if start >= 0 {
			w.addPart(p, start, len(b))
		}
	}
	w.pieces, w.nextPieces = w.nextPieces, w.pieces
	return nil
}

// fixedLength cuts into pieces of so many characters.
type fixedLength int

func (length fixedLength) cut(w *work) error {
	w.nextPieces = w.nextPieces[:0]
	for _, p := range w.pieces {
		if p.id >= 0 {
			w.nextPieces = append(w.nextPieces, p)
			continue
		}
		b := w.b[p.start:p.end]
		start, count := 0, 0
		for i := 0; i < len(b); {
			_, n := decodeRune(b, i)
			i += n
			if count++; count == int(length) || i == len(b) {
				w.addPart(p, start, i)
				start, count = i, 0
			}
		}
	}
	w.pieces, w.nextPieces = w.nextPieces, w.pieces
	return nil
}

// byteLevel writes each byte as a letter, for models of bytes such as GPT-2's.
type byteLevel struct{ prefixSpace, trim, regex bool }

func (p *byteLevel) read(o object) (err error) {
	if p.prefixSpace, err = required(o, "add_prefix_space", value.bool); err != nil {
		return err
	}
	if p.trim, err = required(o, "trim_offsets", value.bool); err != nil {
		return err
	}
	p.regex, err = field(o, "use_regex", value.bool, true)
	return err
}

var gpt2Split = &split{gpt2Pattern{}, isolated, false}

func (p *byteLevel) cut(w *work) error {
	if p.prefixSpace {
		err := w.change(func(q piece) bool { return w.b[q.start] != ' ' }, func(a *aligned) error { return a.prepend(" ") })
		if err != nil {
			return err
		}
	}
	if p.regex {
		if err := gpt2Split.cut(w); err != nil {
			return err
		}
	}
	return w.spellBytes()
}

// spellBytes writes the bytes of each piece as letters.
func (w *work) spellBytes() error {
	b, spans := w.nextB[:0], w.nextSpans[:0]
	for i := range w.pieces {
		p := &w.pieces[i]
		start := uint32(len(b))
		text := w.b[p.start:p.end]
		switch {
		case p.id >= 0:
			b = append(b, text...)
			spans = w.appendPart(spans, p.start, p.end)
		case !w.same && w.spans[p.start].start == w.spans[p.start].end || p.origin.start == p.origin.end:
			w.load(*p)
			if err := (byteNormalizer{}).normalize(&w.a); err != nil {
				return err
			}
			w.a.explicit()
			b, spans = append(b, w.a.b...), append(spans, w.a.spans...)
		default:
			for k := 0; k < len(text); {
				n := 1
				if text[k] >= utf8.RuneSelf {
					_, n = decodeRune(text, k)
				}
				s := w.part(p.start+uint32(k), p.start+uint32(k+n))
				for _, c := range text[k : k+n] {
					if l := byteLetters[c]; l < utf8.RuneSelf {
						b, spans = append(b, byte(l)), append(spans, s)
					} else {
						b, spans = append(b, 0xc0|byte(l>>6), 0x80|byte(l&0x3f)), append(spans, s, s)
					}
				}
				k += n
			}
		}
		p.start, p.end = start, uint32(len(b))
	}
	return w.swap(b, spans)
}

// metaspace writes spaces as another character, and cuts before them.
type metaspace struct {
	replacement rune
	prepend     string // always, never or first
	split       bool
	mark        literal // the replacement
	before      *split  // cuts before it
}

var spaceText = literal(" ")

func (p *metaspace) read(o object) (err error) {
	if p.replacement, err = required(o, "replacement", value.char); err != nil {
		return err
	}
	if p.prepend, err = field(o, "prepend_scheme", value.str, "always"); err != nil {
		return err
	}
	if p.prepend != "always" && p.prepend != "never" && p.prepend != "first" {
		return o.fields["prepend_scheme"].errorf("is %q, not always, never or first", p.prepend)
	}
	add, err := nullable(o, "add_prefix_space", value.bool, true)
	if err != nil {
		return err
	}
	if !add && p.prepend != "never" {
		return o.errorf("has add_prefix_space false, which contradicts prepend_scheme %q", p.prepend)
	}
	p.split, err = nullable(o, "split", value.bool, true)
	p.mark = literal(string(p.replacement))
	p.before = &split{p.mark, mergedWithNext, false}
	return err
}

func (p *metaspace) cut(w *work) error {
	err := w.change(func(q piece) bool { return true }, func(a *aligned) (err error) {
		if a.matches, err = spaceText.find(a.matches[:0], a.b, a.left); err != nil {
			return err
		}
		if len(a.matches) > 1 || a.matches[0].found {
			if err := a.replace(a.matches, string(p.mark)); err != nil {
				return err
			}
		}
		if !bytes.HasPrefix(a.b, p.mark) && (p.prepend == "always" || p.prepend == "first" && a.origin.start == 0) {
			return a.prepend(string(p.mark))
		}
		return nil
	})
	if err != nil || !p.split {
		return err
	}
	return p.before.cut(w)
}
