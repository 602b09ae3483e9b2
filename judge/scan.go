package judge

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// A scanner reads the spellings of layouts.
type scanner struct {
	text string
	at   int
}

func (p *scanner) skip() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *scanner) rest() string {
	p.skip()
	return p.text[p.at:]
}

// here says where an error is: before the text that is left, or at the end.
func (p *scanner) here() string {
	if rest := p.rest(); rest != "" {
		return fmt.Sprintf("before %q", clip(rest))
	}
	return "at the end"
}

func (p *scanner) take(c byte) bool {
	p.skip()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *scanner) word(s string) bool {
	p.skip()
	if strings.HasPrefix(p.text[p.at:], s) {
		p.at += len(s)
		return true
	}
	return false
}

func nameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '.' || c >= '0' && c <= '9'
}

// name takes a name with dots in it, in quotes or without.
func (p *scanner) name() string {
	p.skip()
	quote := p.take('"') || p.take('\'')
	from := p.at
	for p.at < len(p.text) && nameByte(p.text[p.at]) {
		p.at++
	}
	name := p.text[from:p.at]
	if quote && !p.take('"') {
		p.take('\'')
	}
	return name
}

func (p *scanner) number() (int, bool) {
	p.skip()
	from := p.at
	if p.at < len(p.text) && p.text[p.at] == '-' {
		p.at++
	}
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	n, err := strconv.Atoi(p.text[from:p.at])
	return n, err == nil
}

// maxNest bounds the nesting of tuples, maxEntries the numbers of one.
const (
	maxNest    = 32
	maxEntries = 256
)

// tuple takes a tuple as CuTe, CuTe DSL, Mojo and Python write it: numbers, _4, _4{},
// Int<4>{} or C<4> in brackets of any kind. Before the brackets may stand make_shape,
// IntTuple, Shape and similar names.
func (p *scanner) tuple(depth int, left *int) (layout.Tuple, error) {
	const op = "Parse"
	if *left--; depth > maxNest || *left < 0 {
		return layout.Tuple{}, fail(op, layout.ErrLimit, "tuples nest deeper than %d or have more than %d numbers", maxNest, maxEntries)
	}
	p.skip()
	if p.at < len(p.text) && (p.text[p.at] == '-' || p.text[p.at] >= '0' && p.text[p.at] <= '9') {
		n, ok := p.number()
		if !ok {
			return layout.Tuple{}, fail(op, layout.ErrSyntax, "a number that doesn't fit an int %s", p.here())
		}
		return layout.Int(n), nil
	}
	if name := p.name(); name != "" {
		name = name[strings.LastIndexByte(name, '.')+1:]
		if digits, ok := strings.CutPrefix(name, "_"); ok {
			n, err := strconv.Atoi(digits)
			if err != nil {
				return layout.Tuple{}, fail(op, layout.ErrSyntax, "want a number, got %q", clip(name))
			}
			p.empty()
			return layout.Int(n), nil
		}
		switch name {
		case "Int", "C":
			if !p.take('<') {
				return layout.Tuple{}, fail(op, layout.ErrSyntax, "want < after %s", name)
			}
			n, ok := p.number()
			if !ok || !p.take('>') {
				return layout.Tuple{}, fail(op, layout.ErrSyntax, "want %s<NUMBER>", name)
			}
			p.empty()
			return layout.Int(n), nil
		case "make_shape", "make_stride", "make_tuple", "make_coord", "Shape", "Stride", "tuple", "IntTuple", "Index":
		default:
			return layout.Tuple{}, fail(op, layout.ErrSyntax, "want a tuple, got %q", clip(name))
		}
	}
	var end byte
	for _, b := range []string{"()", "<>", "[]", "{}"} {
		if p.take(b[0]) {
			end = b[1]
			break
		}
	}
	if end == 0 {
		return layout.Tuple{}, fail(op, layout.ErrSyntax, "want a tuple %s", p.here())
	}
	var entries []layout.Tuple
	for !p.take(end) {
		if len(entries) > 0 {
			if !p.take(',') {
				return layout.Tuple{}, fail(op, layout.ErrSyntax, "want ',' or %q %s", string(end), p.here())
			}
			if p.take(end) { // (4,)
				break
			}
		}
		t, err := p.tuple(depth+1, left)
		if err != nil {
			return layout.Tuple{}, err
		}
		entries = append(entries, t)
	}
	if end == '>' {
		p.empty()
	}
	return layout.List(entries...), nil
}

// empty takes {} or ().
func (p *scanner) empty() {
	if !p.word("{}") {
		p.word("()")
	}
}
