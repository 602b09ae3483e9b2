package layout

import (
	"strconv"
	"strings"
)

// maxDepth bounds the nesting Parse accepts.
const maxDepth = 64

// String writes the layout in CuTe's notation without spaces: shape, colon,
// stride. A layout of one unnested mode is written 12:1, of none ():().
func (l Layout) String() string {
	ext, str := l.in.All()
	t := l.in.Tokens(nil)
	if len(ext) == 1 && t == nil {
		return strconv.Itoa(ext[0]) + ":" + strconv.Itoa(str[0])
	}
	return nestText(ext, t) + ":" + nestText(str, t)
}

// ShapeString writes the extents alone, nested as the layout is: ((2,2),4).
func (l Layout) ShapeString() string {
	ext, _ := l.in.All()
	return nestText(ext, l.in.Tokens(nil))
}

// nestText writes leaf values in the nesting of t.
func nestText(v []int, t []byte) string {
	if t == nil {
		return tupleText(v)
	}
	var b strings.Builder
	b.WriteByte('(')
	first, k := true, 0
	for _, c := range t {
		if c == close {
			b.WriteByte(')')
			first = false
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		if first = c == open; first {
			b.WriteByte('(')
			continue
		}
		b.WriteString(strconv.Itoa(v[k]))
		k++
	}
	b.WriteByte(')')
	return b.String()
}

// Parse reads a layout in CuTe's notation, shape:stride, spaces allowed:
//
//	(4,6):(6,1)
//	12:1
//	((2,2),4):((1,8),2)
//
// Shape and stride must nest alike, and both must be written. CuTe completes a bare
// shape column-major, and NumPy's users expect row-major, so here RowMajor or
// ColMajor says which. A tuple of one entry inside another is read as its entry.
// The error names the place.
func Parse(s string) (Layout, error) {
	p := parser{text: s, op: "Parse"}
	shape := p.skip()
	ext, nest, err := p.tuple()
	if err != nil {
		return Layout{}, err
	}
	if !p.take(':') {
		return Layout{}, p.fault("want ':' and the strides (RowMajor and ColMajor make dense ones)")
	}
	at := p.skip()
	str, other, err := p.tuple()
	if err != nil {
		return Layout{}, err
	}
	if p.skip(); p.at < len(s) {
		return Layout{}, p.fault("want the end")
	}
	if string(nest) != string(other) || (s[shape] == '(') != (s[at] == '(') {
		p.at = at
		return Layout{}, p.fault("the strides don't nest like the shape")
	}
	return build("Parse", ext, str, canonNest(nest))
}

// MustParse is Parse for constants: it panics on an error.
func MustParse(s string) Layout {
	l, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return l
}

// parser reads the texts of this package; at is the byte looked at.
type parser struct {
	text string
	at   int
	op   string
	each func(function string, args ...string) // of EvalEach, or nil
}

func (p *parser) fault(what string) error {
	if p.op == "Eval" {
		return &EvalError{p.text, p.at, &Error{p.op, what, ErrSyntax}}
	}
	return fail(p.op, ErrSyntax, "%s at byte %d: %s", quoteAround(p.text, p.at), p.at, what)
}

// quoteAround quotes the part of a text around a byte.
func quoteAround(text string, at int) string {
	const around = 35 // bytes shown on each side of the fault
	before, after := "", ""
	if at+around < len(text) {
		text, after = text[:at+around], "…"
	}
	if at > around {
		text, before = text[at-around:], "…"
	}
	return before + strconv.Quote(text) + after
}

func (p *parser) skip() int {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	return p.at
}

func (p *parser) take(c byte) bool {
	if p.skip(); p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// number reads an integer with an optional sign.
func (p *parser) number() (int, error) {
	from := p.skip()
	if p.at < len(p.text) && (p.text[p.at] == '-' || p.text[p.at] == '+') {
		p.at++
	}
	for p.at < len(p.text) && p.text[p.at]-'0' < 10 {
		p.at++
	}
	v, err := strconv.Atoi(p.text[from:p.at])
	if err != nil {
		word := p.text[from:p.at]
		p.at = from
		if word == "" || word == "-" || word == "+" {
			return 0, p.fault("want a number")
		}
		return 0, p.fault("the number doesn't fit an int")
	}
	return v, nil
}

// tuple reads a number, or a bracketed list of tuples, as leaves and tokens
// without the outermost pair of brackets.
func (p *parser) tuple() (v []int, nest []byte, err error) {
	if !p.take('(') {
		x, err := p.number()
		return []int{x}, []byte{leaf}, err
	}
	if p.take(')') {
		return nil, nil, nil
	}
	for depth := 1; depth > 0; {
		// An entry is due here.
		if p.take('(') {
			if depth++; depth > maxDepth {
				return nil, nil, p.fault("brackets nest deeper than " + strconv.Itoa(maxDepth))
			}
			nest = append(nest, open)
			continue
		}
		x, err := p.number()
		if err != nil {
			return nil, nil, err
		}
		if v, nest = append(v, x), append(nest, leaf); len(v) > maxRank {
			return nil, nil, p.fault("more than " + strconv.Itoa(maxRank) + " numbers")
		}
		for !p.take(',') {
			if !p.take(')') {
				return nil, nil, p.fault("want ',' or ')'")
			}
			if depth--; depth == 0 {
				break
			}
			nest = append(nest, close)
		}
	}
	return v, nest, nil
}
