package expr

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/layout"
)

// The longest expression, in bytes, and the deepest nesting.
const (
	maxExpr = 1 << 14
	maxDeep = 100
)

// Parse returns the tree of a text. The error is an *Error that wraps ErrSyntax.
func Parse(text string) (Node, error) {
	p := &parser{text: text}
	if len(text) > maxExpr {
		return Node{}, wrong(0, "%d bytes; an expression has at most %d", len(text), maxExpr)
	}
	n, err := p.expression(0)
	if err == nil && p.skip() < len(p.text) {
		err = wrong(p.at, "%s doesn't belong here", p.next())
	}
	return n, err
}

type parser struct {
	text string
	at   int
	deep int
}

func wrong(at int, format string, args ...any) error {
	return Wrong(at, ErrSyntax, format, args...)
}

// skip skips spaces.
func (p *parser) skip() int {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	return p.at
}

// next returns the next text for an error.
func (p *parser) next() string {
	if p.at >= len(p.text) {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return strconv.QuoteRune(r)
}

// take skips a sign if it comes next.
func (p *parser) take(sign string) bool {
	p.skip()
	ok := strings.HasPrefix(p.text[p.at:], sign)
	if ok {
		p.at += len(sign)
	}
	return ok
}

func (p *parser) want(sign string, of int) error {
	if !p.take(sign) {
		return wrong(p.at, "%s, where %q of column %d is to end or go on", p.next(), sign, utf8.RuneCountInString(p.text[:of])+1)
	}
	return nil
}

// The operators of two operands: levels from the lowest precedence to the highest, and all operators, the longest first.
var (
	levels = [][]string{{"==", "!=", "<", "<=", ">", ">="}, {"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"}}
	signs  = []string{"**", "//", "<<", ">>", "==", "!=", "<=", ">=", "<", ">", "|", "^", "&", "+", "-", "*", "/", "%", "@"}
)

// sign returns the operator that comes next, or "".
func (p *parser) sign() string {
	p.skip()
	for _, s := range signs {
		if strings.HasPrefix(p.text[p.at:], s) {
			return s
		}
	}
	return ""
}

func (p *parser) expression(level int) (Node, error) {
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.expression(level + 1)
	for n := 0; err == nil; n++ {
		at, sign := p.skip(), p.sign()
		if !slices.Contains(levels[level], sign) {
			break
		}
		if level == 0 && n > 0 {
			return left, wrong(at, "comparisons don't chain: join two with &, each in parentheses")
		}
		p.at += len(sign)
		var right Node
		right, err = p.expression(level + 1)
		left = Node{Kind: Sign, At: at, Text: sign, In: []Node{left, right}}
	}
	return left, err
}

// unary reads signs, a term, and its power.
func (p *parser) unary() (Node, error) {
	if p.deep++; p.deep > maxDeep {
		return Node{}, wrong(p.at, "it nests deeper than %d", maxDeep)
	}
	defer func() { p.deep-- }()
	at := p.skip()
	for _, sign := range []string{"-", "+", "~"} {
		if p.take(sign) {
			n, err := p.unary()
			return Node{Kind: Sign, At: at, Text: sign, In: []Node{n}}, err
		}
	}
	n, err := p.postfix()
	if err == nil && p.sign() == "**" {
		at = p.at
		p.at += 2
		var by Node
		by, err = p.unary()
		n = Node{Kind: Sign, At: at, Text: "**", In: []Node{n, by}}
	}
	return n, err
}

// postfix reads a term and its suffixes: a part, .T, or a function's name behind a point.
func (p *parser) postfix() (Node, error) {
	n, err := p.atom()
	for err == nil {
		at := p.skip()
		switch {
		case p.take("["):
			n, err = p.part(at, n)
		case n.Kind >= Name && p.take("."):
			at = p.skip()
			name := p.name()
			if name == "T" {
				n = Node{Kind: Transposed, At: at, In: []Node{n}}
			} else if name == "" {
				return n, wrong(at, "%s, where the name of a function is wanted", p.next())
			} else if !p.take("(") {
				return n, wrong(at, "%q isn't .T and has no parentheses, as a function has", name)
			} else {
				n, err = p.call(at, name, n)
			}
		default:
			return n, nil
		}
	}
	return n, err
}

// part reads indices up to the bracket that ends them.
func (p *parser) part(at int, n Node) (Node, error) {
	end := strings.IndexByte(p.text[p.at:], ']')
	if end < 0 {
		return n, wrong(at, "the bracket isn't closed")
	}
	text, inside := "", p.text[p.at:p.at+end] // with its numbers in base 10
	last := 0
	for _, m := range inParts.FindAllStringIndex(inside, -1) {
		i, err := numeralOf(p.at+m[0], inside[m[0]:m[1]])
		if err == nil && !i.IsInteger() {
			err = wrong(i.At, "%.40s isn't an integer, as an index is", inside[m[0]:m[1]])
		}
		if err != nil {
			return n, err
		}
		text, last = text+inside[last:m[0]]+i.Integer().String(), m[1]
	}
	idx, err := layout.ParseSlice(text + inside[last:])
	if err != nil {
		return n, &Error{p.at, fmt.Errorf("%w: %w", ErrSyntax, err)}
	}
	p.at += end + 1
	return Node{Kind: Part, At: at, In: []Node{n}, Index: idx}, nil
}

// call reads the arguments of a function behind its opening parenthesis. first has the operand before its name.
func (p *parser) call(at int, name string, first ...Node) (Node, error) {
	n := Node{Kind: Call, At: at, Text: name, In: first}
	open, named := p.at-1, false
	for !p.take(")") {
		begin := p.skip()
		key := p.name()
		if key != "" && p.sign() == "" && p.take("=") {
			named = true
		} else if p.at, key = begin, ""; named {
			return n, wrong(begin, "an argument without a name after one with a name")
		}
		arg, err := p.expression(0)
		if err != nil {
			return n, err
		}
		if key != "" {
			arg = Node{Kind: Argument, At: begin, Text: key, In: []Node{arg}}
		}
		n.In = append(n.In, arg)
		if !p.take(",") {
			return n, p.want(")", open)
		}
	}
	return n, nil
}

// name reads a name.
func (p *parser) name() string {
	begin := p.skip()
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		if r != '_' && !unicode.IsLetter(r) && (p.at == begin || !unicode.IsDigit(r)) {
			break
		}
		p.at += n
	}
	return p.text[begin:p.at]
}

func (p *parser) atom() (Node, error) {
	at := p.skip()
	if at == len(p.text) {
		return Node{}, wrong(at, "the end, where an array or a number is wanted")
	}
	switch c := p.text[at]; {
	case c >= '0' && c <= '9' || c == '.':
		return p.numeral()
	case c == '"' || c == '\'':
		n := strings.IndexByte(p.text[at+1:], c)
		if n < 0 {
			return Node{}, wrong(at, "the quotation mark isn't closed")
		}
		p.at = at + n + 2
		return Node{Kind: Text, At: at, Text: p.text[at+1 : at+1+n]}, nil
	case c == '(' || c == '[':
		return p.list(at)
	}
	name := p.name()
	switch {
	case name == "":
		return Node{}, wrong(at, "%s, where an array or a number is wanted", p.next())
	case p.take("("):
		return p.call(at, name)
	}
	return Node{Kind: Name, At: at, Text: name}, nil
}

// list reads the terms in parentheses or brackets. A single term in parentheses is the term itself.
func (p *parser) list(at int) (Node, error) {
	end := ")"
	if p.text[at] == '[' {
		end = "]"
	}
	p.at++
	t := Node{Kind: List, At: at}
	comma := end == "]"
	for !p.take(end) {
		item, err := p.expression(0)
		if err != nil {
			return t, err
		}
		t.In = append(t.In, item)
		if !p.take(",") {
			if err := p.want(end, at); err != nil {
				return t, err
			}
			break
		}
		comma = true
	}
	if len(t.In) == 1 && !comma {
		return t.In[0], nil
	}
	return t, nil
}

func (p *parser) numeral() (Node, error) {
	at := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		exponent := (c == '+' || c == '-') && p.text[p.at-1]|0x20 == 'e' && !strings.HasPrefix(p.text[at:], "0x")
		if c != '.' && c != '_' && !(c >= '0' && c <= '9') && !(c|0x20 >= 'a' && c|0x20 <= 'z') && !(p.at > at && exponent) {
			break
		}
		p.at++
	}
	return numeralOf(at, p.text[at:p.at])
}

// numeralOf reads a number that stands at a place.
func numeralOf(at int, text string) (Node, error) {
	switch {
	case integers.MatchString(text):
		i, _ := new(big.Int).SetString(text, 0)
		n, err := whole(at, i)
		if err != nil {
			return n, wrong(at, "%.40s is too large: an integer has at most %d bits", text, maxBits)
		}
		return n, nil
	case reals.MatchString(text):
		v, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
		if err != nil {
			return Node{}, wrong(at, "%.40s is too large", text)
		}
		return Node{Kind: Float, At: at, Float: v}, nil
	case strings.Trim(text, "0123456789_") == "" && text[0] == '0':
		digits := strings.TrimLeft(text, "0_")
		return Node{}, wrong(at, "%.40s has a 0 before its digits; it is %.40s, or 0o%.40s in base 8", text, digits, digits)
	}
	return Node{}, wrong(at, "%.40s isn't a number", text)
}

// The numbers of Python, The Python Language Reference, 2.6: single underscores between digits and behind the base, no 0 before
// the digits of an integer.
var (
	integers = regexp.MustCompile(`^(0(_?0)*|[1-9](_?[0-9])*|0[xX](_?[0-9a-fA-F])+|0[oO](_?[0-7])+|0[bB](_?[01])+)$`)
	inParts  = regexp.MustCompile(`\b[0-9][\w.]*`)
	reals    = regexp.MustCompile(strings.ReplaceAll(`^((D\.|D?\.D)([eE][+-]?D)?|D[eE][+-]?D)$`, "D", `([0-9](_?[0-9])*)`))
)
