package text

import (
	"fmt"
	"strings"
)

// A processor adds special tokens around texts.
type processor interface {
	// process returns encodings that follow one another in the result; special says whether special tokens are added.
	process(w *work, list []*Encoding, special bool) ([]*Encoding, error)
	// added returns the number of special tokens of one text or of a pair.
	added(pair bool) int
}

func readProcessor(v value) (processor, error) {
	o, err := v.object()
	if err != nil {
		return nil, err
	}
	kind, err := required(o, "type", value.str)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "TemplateProcessing":
		return readTemplate(o)
	case "BertProcessing", "RobertaProcessing":
		p := &bertProcessing{roberta: kind[0] == 'R'}
		fields := []string{"sep", "cls"}
		if p.sep, err = required(o, "sep", readNamed); err == nil {
			p.cls, err = required(o, "cls", readNamed)
		}
		if p.roberta && err == nil {
			fields = append(fields, "trim_offsets", "add_prefix_space")
			if p.trim.on, err = required(o, "trim_offsets", value.bool); err == nil {
				p.trim.prefixSpace, err = required(o, "add_prefix_space", value.bool)
			}
		}
		if err == nil {
			err = o.knows(fields...)
		}
		return p, err
	case "ByteLevel":
		b := &byteLevel{}
		err := b.read(o)
		if err == nil {
			err = o.knows("add_prefix_space", "trim_offsets", "use_regex")
		}
		return trimming{b.trim, b.prefixSpace}, err
	case "Sequence":
		all, err := list(o, "processors", readProcessor)
		if err == nil {
			err = o.knows("processors")
		}
		return processors(all), err
	}
	return nil, v.errorf("is a post-processor %q, which this package doesn't know", kind)
}

// A named is a special token and its id.
type named struct {
	token string
	id    int64
}

func readNamed(v value) (n named, err error) {
	count := 0
	err = v.items(func(i int, item value) (err error) {
		switch count++; i {
		case 0:
			n.token, err = item.str()
		case 1:
			var id uint32
			id, err = item.id()
			n.id = int64(id)
		}
		return err
	})
	if err == nil && count != 2 {
		err = v.errorf("is no pair of a token and its id")
	}
	return n, err
}

type processors []processor

func (s processors) process(w *work, list []*Encoding, special bool) (_ []*Encoding, err error) {
	for _, p := range s {
		for _, e := range list {
			if err := w.left.copy(e.size()); err != nil {
				return nil, err
			}
		}
		if list, err = p.process(w, list, special); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (s processors) added(pair bool) (n int) {
	for _, p := range s {
		n += p.added(pair)
	}
	return n
}

// trimming leaves spaces out of the spans of tokens.
type trimming struct{ on, prefixSpace bool }

func (p trimming) process(_ *work, list []*Encoding, _ bool) ([]*Encoding, error) {
	for _, e := range list {
		p.trim(e)
		for i := range e.Overflow {
			p.trim(&e.Overflow[i])
		}
	}
	return list, nil
}

func (p trimming) added(bool) int { return 0 }

func (p trimming) trim(e *Encoding) {
	if !p.on {
		return
	}
	d := unicodeData()
	isSpace := func(r rune) bool { return r == byteLetters[' '] || d.has(r, rustSpace) }
	for i, token := range e.Tokens {
		rest := strings.TrimLeftFunc(token, isSpace)
		if len(rest) == len(token) && strings.TrimRightFunc(token, isSpace) == token {
			continue
		}
		leading := runeCount(token[:len(token)-len(rest)])
		trailing := runeCount(token[len(strings.TrimRightFunc(token, isSpace)):])
		s := &e.Spans[i]
		if leading > 0 {
			if (i == 0 || s.RuneStart == 0) && p.prefixSpace && leading == 1 {
				leading = 0 // the space that the pre-tokenizer added
			}
			s.RuneStart = min(s.RuneStart+leading, s.RuneEnd)
		}
		if trailing > 0 && s.RuneEnd >= trailing {
			s.RuneEnd = max(s.RuneEnd-trailing, s.RuneStart)
		}
	}
}

func runeCount(s string) (n int) {
	for range s {
		n++
	}
	return n
}

// bertProcessing puts cls before the first text, and sep behind each; with roberta, sep before the second, too.
type bertProcessing struct {
	cls, sep named
	roberta  bool
	trim     trimming
}

func (p *bertProcessing) added(pair bool) int {
	switch {
	case !pair:
		return 2
	case p.roberta:
		return 4
	}
	return 3
}

func (p *bertProcessing) process(w *work, list []*Encoding, special bool) ([]*Encoding, error) {
	if p.roberta {
		list, _ = p.trim.process(w, list, special)
		for _, e := range list {
			for k := range e.Types {
				e.Types[k] = 0
			}
		}
	}
	if !special {
		return list, nil
	}
	out := make([]*Encoding, len(list))
	for i, e := range list {
		r := new(Encoding)
		p.around(r, e, i)
		for k := range e.Overflow {
			var o Encoding
			p.around(&o, &e.Overflow[k], i)
			r.Overflow = append(r.Overflow, o)
		}
		out[i] = r
	}
	return out, nil
}

func (p *bertProcessing) around(r, e *Encoding, i int) {
	typeID, text := int64(min(i, 1)), min(i, 1)
	if p.roberta {
		typeID = 0
	}
	switch {
	case text == 0:
		r.add(p.cls.id, typeID, p.cls.token, 1)
	case p.roberta:
		r.add(p.sep.id, typeID, p.sep.token, 1)
	}
	start := len(r.IDs)
	r.append(e, 0, len(e.IDs))
	for k := start; k < len(r.IDs); k++ {
		r.Special[k], r.Attention[k] = false, 1
		if p.roberta || text == 1 {
			r.Types[k] = typeID
		}
	}
	r.add(p.sep.id, typeID, p.sep.token, 1)
}

// A template lists special tokens and texts.
type template struct {
	single, pair []templatePart
}

type templatePart struct {
	text   int // the number of the text, −1 for special tokens
	typeID int64
	tokens []named
}

func readTemplate(o object) (processor, error) {
	if err := o.knows("single", "pair", "special_tokens"); err != nil {
		return nil, err
	}
	tokens := make(map[string][]named)
	s, ok := o.fields["special_tokens"]
	if !ok {
		return nil, o.errorf(`has no "special_tokens"`)
	}
	err := s.members(func(key []byte, member value) error {
		list, err := readSpecial(member)
		tokens[string(key)] = list
		return err
	})
	if err != nil {
		return nil, err
	}
	read := func(v value) (templatePart, error) { return readTemplatePart(v, tokens) }
	t := &template{}
	if t.single, err = list(o, "single", read); err != nil {
		return nil, err
	}
	if t.pair, err = list(o, "pair", read); err != nil {
		return nil, err
	}
	for _, p := range t.single {
		if p.text == 1 {
			return nil, o.errorf("has the second text in its template for one")
		}
	}
	return t, nil
}

func readSpecial(v value) ([]named, error) {
	o, err := v.object("id", "ids", "tokens")
	if err != nil {
		return nil, err
	}
	ids, err := list(o, "ids", value.id)
	if err != nil {
		return nil, err
	}
	tokens, err := list(o, "tokens", value.str)
	if err == nil && len(ids) != len(tokens) {
		err = v.errorf("has %d ids, but %d tokens", len(ids), len(tokens))
	}
	if err != nil {
		return nil, err
	}
	var all []named
	for i, id := range ids {
		all = append(all, named{tokens[i], int64(id)})
	}
	return all, nil
}

func readTemplatePart(v value, tokens map[string][]named) (p templatePart, err error) {
	o, err := v.object("Sequence", "SpecialToken")
	if err != nil {
		return p, err
	}
	if len(o.fields) != 1 {
		return p, v.errorf("is neither a Sequence nor a SpecialToken")
	}
	inner, isText := o.fields["Sequence"]
	if !isText {
		inner = o.fields["SpecialToken"]
	}
	in, err := inner.object("id", "type_id")
	if err != nil {
		return p, err
	}
	id, err := required(in, "id", value.str)
	if err != nil {
		return p, err
	}
	typeID, err := required(in, "type_id", value.id)
	if err != nil {
		return p, err
	}
	p.typeID = int64(typeID)
	if isText {
		if p.text = strings.Index("AB", id); len(id) != 1 || p.text < 0 {
			return p, inner.errorf("is the text %q, which is neither A nor B", id)
		}
		return p, nil
	}
	var ok bool
	if p.tokens, ok = tokens[id]; !ok {
		return p, inner.errorf("is %q, which special_tokens lacks", id)
	}
	p.text = -1
	return p, nil
}

func (t *template) added(pair bool) (n int) {
	parts := t.single
	if pair {
		parts = t.pair
	}
	for _, p := range parts {
		n += len(p.tokens)
	}
	return n
}

func (t *template) process(w *work, list []*Encoding, special bool) ([]*Encoding, error) {
	parts := t.single
	switch len(list) {
	case 1:
	case 2:
		parts = t.pair
	default:
		return nil, fmt.Errorf("a TemplateProcessing gets %d parts of another, where it knows one or two", len(list))
	}
	var out []*Encoding
	used := [2]bool{}
	for _, p := range parts {
		switch {
		case p.text >= 0:
			e := list[p.text]
			if used[p.text] { // a second time in the template
				if err := w.left.copy(e.size()); err != nil {
					return nil, err
				}
				c := e.clone()
				e = &c
			}
			used[p.text] = true
			for k := range e.Types {
				e.Types[k] = p.typeID
			}
			out = append(out, e)
		case special:
			e := new(Encoding)
			for _, n := range p.tokens {
				e.add(n.id, p.typeID, n.token, 1)
			}
			out = append(out, e)
		}
	}
	return out, nil
}
