package text

import (
	"slices"
	"unicode/utf8"
)

// A normalizer changes a text before it is cut into words.
type normalizer interface {
	normalize(a *aligned) error
}

func readNormalizer(v value) (normalizer, error) {
	o, err := v.object()
	if err != nil {
		return nil, err
	}
	kind, err := required(o, "type", value.str)
	if err != nil {
		return nil, err
	}
	var fields []string
	var n normalizer
	switch kind {
	case "BertNormalizer":
		n, fields = &bertNormalizer{}, []string{"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}
	case "NFC":
		n = normalForm{compose: true}
	case "NFD":
		n = normalForm{}
	case "NFKC":
		n = normalForm{compose: true, compatible: true}
	case "NFKD":
		n = normalForm{compatible: true}
	case "Lowercase":
		n = lowercase{}
	case "StripAccents":
		n = stripAccents{}
	case "Nmt":
		n = nmt{}
	case "ByteLevel":
		n = byteNormalizer{}
	case "Strip":
		n, fields = &strip{}, []string{"strip_left", "strip_right"}
	case "Replace":
		n, fields = &replace{}, []string{"pattern", "content"}
	case "Prepend":
		n, fields = new(prepend), []string{"prepend"}
	case "Precompiled":
		n, fields = &precompiled{}, []string{"precompiled_charsmap"}
	case "Sequence":
		n, fields = new(normalizers), []string{"normalizers"}
	default:
		return nil, v.errorf("is a normalizer %q, which this package doesn't know", kind)
	}
	if err := o.knows(fields...); err != nil {
		return nil, err
	}
	if r, ok := n.(interface{ read(object) error }); ok {
		return n, r.read(o)
	}
	return n, nil
}

type normalizers []normalizer

func (s *normalizers) read(o object) (err error) {
	*s, err = list(o, "normalizers", readNormalizer)
	return err
}

// list reads an array of parts.
func list[T any](o object, name string, read func(value) (T, error)) (all []T, err error) {
	v, ok := o.fields[name]
	if !ok {
		return nil, o.errorf("has no %q", name)
	}
	return all, v.items(func(_ int, item value) error {
		part, err := read(item)
		all = append(all, part)
		return err
	})
}

func (s *normalizers) normalize(a *aligned) error {
	for _, n := range *s {
		if err := a.left.take(len(a.b)); err != nil {
			return err
		}
		if err := n.normalize(a); err != nil {
			return err
		}
	}
	return nil
}

func (f normalForm) normalize(a *aligned) error {
	if f.unchanged(a.b) && a.plain() {
		return nil
	}
	a.changes = f.changes(unicodeData(), a.changes[:0], a.b)
	return a.transform(a.changes, 0)
}

type lowercase struct{}

func (lowercase) normalize(a *aligned) error {
	if ascii(a.b) && a.plain() {
		for i, c := range a.b {
			if 'A' <= c && c <= 'Z' {
				a.b[i] = c + 'a' - 'A'
			}
		}
		return nil
	}
	d := unicodeData()
	start, end, any := a.whole()
	if !any {
		return nil
	}
	a.begin(start, end, 0)
	for i := 0; i < len(a.b); {
		r, n := decodeRune(a.b, i)
		i += n
		if !d.has(r, hasLower) {
			if err := a.put(r, 0); err != nil {
				return err
			}
			continue
		}
		for k, l := range d.lower[r] {
			if err := a.put(l, min(k, 1)); err != nil {
				return err
			}
		}
	}
	a.finish()
	return nil
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

type stripAccents struct{}

func (stripAccents) normalize(a *aligned) error {
	d := unicodeData()
	return a.filter(func(r rune) bool { return d.has(r, combining) })
}

// A bertNormalizer cleans as BERT does.
type bertNormalizer struct{ clean, chinese, accents, lower bool }

func (n *bertNormalizer) read(o object) (err error) {
	for _, b := range []struct {
		name string
		to   *bool
	}{{"clean_text", &n.clean}, {"handle_chinese_chars", &n.chinese}, {"lowercase", &n.lower}} {
		if *b.to, err = required(o, b.name, value.bool); err != nil {
			return err
		}
	}
	n.accents, err = nullable(o, "strip_accents", value.bool, n.lower)
	return err
}

func (n *bertNormalizer) normalize(a *aligned) error {
	d := unicodeData()
	if n.clean {
		if err := a.filter(func(r rune) bool { return d.has(r, bertRemoved) }); err != nil {
			return err
		}
		if err := a.mapRunes(func(r rune) rune {
			if d.has(r, rustSpace) {
				return ' '
			}
			return r
		}); err != nil {
			return err
		}
	}
	if n.chinese {
		if err := n.spaceChinese(d, a); err != nil {
			return err
		}
	}
	if n.accents {
		if err := (normalForm{}).normalize(a); err != nil {
			return err
		}
		if err := a.filter(func(r rune) bool { return d.has(r, accent) }); err != nil {
			return err
		}
	}
	if n.lower {
		return lowercase{}.normalize(a)
	}
	return nil
}

// spaceChinese puts spaces around ideographs.
func (n *bertNormalizer) spaceChinese(d *database, a *aligned) error {
	if (ascii(a.b) || !anyRune(a.b, func(r rune) bool { return d.has(r, chinese) })) && a.plain() {
		return nil
	}
	start, end, any := a.whole()
	if !any {
		return nil
	}
	a.begin(start, end, 0)
	for i := 0; i < len(a.b); {
		r, size := decodeRune(a.b, i)
		i += size
		around := []change{{r: r}}
		if d.has(r, chinese) {
			around = []change{{r: ' '}, {r: r, n: 1}, {r: ' ', n: 1}}
		}
		for _, c := range around {
			if err := a.put(c.r, c.n); err != nil {
				return err
			}
		}
	}
	a.finish()
	return nil
}

func anyRune(b []byte, is func(rune) bool) bool {
	for i := 0; i < len(b); {
		r, n := decodeRune(b, i)
		if is(r) {
			return true
		}
		i += n
	}
	return false
}

// mapRunes replaces each character by another.
func (a *aligned) mapRunes(f func(rune) rune) error {
	if a.plain() && !anyRune(a.b, func(r rune) bool { return f(r) != r }) {
		return nil
	}
	if a.plain() && ascii(a.b) { // f keeps ASCII in ASCII
		for i, c := range a.b {
			a.b[i] = byte(f(rune(c)))
		}
		return nil
	}
	start, end, any := a.whole()
	if !any {
		return nil
	}
	a.begin(start, end, 0)
	for i := 0; i < len(a.b); {
		r, n := decodeRune(a.b, i)
		i += n
		if err := a.put(f(r), 0); err != nil {
			return err
		}
	}
	a.finish()
	return nil
}

// nmt is the cleaning of SentencePiece's rule nmt.
type nmt struct{}

func (nmt) normalize(a *aligned) error {
	err := a.filter(func(r rune) bool {
		return r >= 1 && r <= 8 || r == 0xb || r >= 0xe && r <= 0x1f || r == 0x7f || r == 0x8f || r == 0x9f
	})
	if err != nil {
		return err
	}
	return a.mapRunes(func(r rune) rune {
		switch r {
		case '\t', '\n', '\f', '\r', 0x1680, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x2581, 0xfeff, 0xfffd:
			return ' '
		}
		return r
	})
}

// strip removes white space at the ends.
type strip struct{ left, right bool }

func (n *strip) read(o object) (err error) {
	if n.left, err = required(o, "strip_left", value.bool); err == nil {
		n.right, err = required(o, "strip_right", value.bool)
	}
	return err
}

func (n *strip) normalize(a *aligned) error {
	if n.left && n.right {
		return a.strip(true, true)
	}
	if err := a.strip(n.left, false); err != nil {
		return err
	}
	return a.strip(false, n.right)
}

func (a *aligned) strip(left, right bool) error {
	d := unicodeData()
	start, end, before, behind := 0, len(a.b), 0, 0
	for left && start < len(a.b) {
		r, n := decodeRune(a.b, start)
		if !d.has(r, rustSpace) {
			break
		}
		start, before = start+n, before+1
	}
	for right && end > 0 {
		r, n := utf8.DecodeLastRune(a.b[:end])
		if !d.has(r, rustSpace) {
			break
		}
		end, behind = end-n, behind+1
	}
	if before == 0 && behind == 0 {
		return nil
	}
	a.changes = a.changes[:0]
	for i := start; i < end; {
		r, n := decodeRune(a.b, i)
		i += n
		c := change{r: r}
		if i == end {
			c.n = -behind
		}
		a.changes = append(a.changes, c)
	}
	return a.transform(a.changes, before)
}

type prepend string

func (n *prepend) read(o object) error {
	s, err := required(o, "prepend", value.str)
	*n = prepend(s)
	return err
}

func (n *prepend) normalize(a *aligned) error { return a.prepend(string(*n)) }

// replace puts content in place of the matches of a pattern.
type replace struct {
	pattern pattern
	content string
}

func (n *replace) read(o object) (err error) {
	if n.pattern, err = required(o, "pattern", readPattern); err == nil {
		n.content, err = required(o, "content", value.str)
	}
	return err
}

func (n *replace) normalize(a *aligned) error {
	matches, err := n.pattern.find(a.matches[:0], a.b, a.left)
	a.matches = matches
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(matches, func(m match) bool { return m.found }) {
		return nil
	}
	return a.replace(matches, n.content)
}

// byteLetters has the letter that stands for each byte, as GPT-2 has it: printable characters of Latin-1 for themselves.
var byteLetters = func() (letters [256]rune) {
	next := rune(256)
	for i := range letters {
		if r := rune(i); '!' <= r && r <= '~' || 0xa1 <= r && r <= 0xac || 0xae <= r {
			letters[i] = r
		} else {
			letters[i], next = next, next+1
		}
	}
	return letters
}()

// letterByte returns the byte that a letter stands for.
func letterByte(r rune) (byte, bool) {
	switch {
	case '!' <= r && r <= '~' || 0xa1 <= r && r <= 0xff && r != 0xad:
		return byte(r), true
	case r >= 256 && r < 256+rune(len(otherBytes)):
		return otherBytes[r-256], true
	}
	return 0, false
}

// otherBytes has the bytes whose letters are not themselves, in order.
var otherBytes = func() (others []byte) {
	for i, r := range byteLetters {
		if r >= 256 {
			others = append(others, byte(i))
		}
	}
	return others
}()

type byteNormalizer struct{}

func (byteNormalizer) normalize(a *aligned) error {
	if len(a.b) == 0 {
		return nil
	}
	start, end, any := a.whole()
	if !any {
		return nil
	}
	a.begin(start, end, 0)
	for i := 0; i < len(a.b); {
		_, n := decodeRune(a.b, i)
		for k, c := range a.b[i : i+n] {
			if err := a.put(byteLetters[c], min(k, 1)); err != nil {
				return err
			}
		}
		i += n
	}
	a.finish()
	return nil
}
