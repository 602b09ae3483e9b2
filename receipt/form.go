package receipt

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/internal/core/jsontext"
)

// The form of a receipt: one description of the fields serves for reading and writing.

// A value of a field writes itself as canonical JSON, and reads itself.
type value interface {
	put(b []byte) []byte
	take(p *parser)
}

// fieldsOf is a JSON object: its fields in the order of RFC 8785, which is the order of their names.
type fieldsOf []field

type field struct {
	name  string
	value value
}

// An optional value may be left out.
type optional interface{ absent() bool }

// An object is a struct that is written as an object.
type object interface{ fields() fieldsOf }

// body returns the fields that the root covers.
func (r *Receipt) body() fieldsOf {
	return fieldsOf{
		{"ashlar_receipt", new(version)},
		{"inputs", list[Item, *Item]{&r.Inputs}},
		{"kind", (*text)(&r.Kind)},
		{"outputs", list[Item, *Item]{&r.Outputs}},
		{"profile", inner{&r.Profile}},
		{"program", inner{&r.Program}},
		{"rules", (*number)(&r.Rules)},
		{"sampling", maybe[Sampling, *Sampling]{&r.Sampling}},
		{"seeds", list[Seed, *Seed]{&r.Seeds}},
	}
}

func (r *Receipt) fields() fieldsOf {
	f := r.body()
	tail := f[6:]
	return append(append(f[:3:3], field{"nodes", nodes{r}}, f[3], f[4], f[5], field{"root", &r.root}), tail...)
}

func (p *Program) fields() fieldsOf {
	return fieldsOf{{"graph", &p.Graph}, {"weights", list[Item, *Item]{&p.Weights}}}
}

func (p *Profile) fields() fieldsOf {
	return fieldsOf{{"fixed", (*text)(&p.Fixed)}, {"mode", (*text)(&p.Mode)}, {"operators", texts{&p.Operators}}, {"opsets", list[Opset, *Opset]{&p.Opsets}}}
}

func (o *Opset) fields() fieldsOf {
	return fieldsOf{{"domain", (*text)(&o.Domain)}, {"version", (*number)(&o.Version)}}
}

func (i *Item) fields() fieldsOf {
	return fieldsOf{{"digest", &i.Digest}, {"name", (*text)(&i.Name)}, {"type", (*text)(&i.Type)}}
}

func (s *Seed) fields() fieldsOf {
	return fieldsOf{{"from", (*text)(&s.From)}, {"node", (*text)(&s.Node)}, {"seed", (*text)(&s.Seed)}}
}

func (s *Sampling) fields() fieldsOf {
	return fieldsOf{{"settings", &s.Settings}, {"tokens", &s.Tokens}}
}

func (n *Node) fields() fieldsOf {
	return fieldsOf{{"node", (*text)(&n.Node)}, {"results", list[Item, *Item]{&n.Results}}}
}

// nodes is the object of the nodes and their root.
type nodes struct{ r *Receipt }

func (n nodes) absent() bool { return len(n.r.Nodes) == 0 }

func (n nodes) both() fieldsOf {
	return fieldsOf{{"list", list[Node, *Node]{&n.r.Nodes}}, {"root", &n.r.tree}}
}

func (n nodes) put(b []byte) []byte { return put(b, n.both()) }

func (n nodes) take(p *parser) {
	if p.object(n.both()); p.err == nil && len(n.r.Nodes) == 0 {
		p.fail(`"nodes" lists none; a receipt without nodes leaves the field out`)
	}
}

// put appends an object.
func put(b []byte, f fieldsOf) []byte {
	b = append(b, '{')
	for i := range f {
		if o, ok := f[i].value.(optional); ok && o.absent() {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = f[i].value.put(append(appendText(b, f[i].name), ':'))
	}
	return append(b, '}')
}

// appendText appends a string in quotes, escaped according to RFC 8785, section 3.2.2.2. It takes the room for it at once, as a
// string may be the whole file.
func appendText(b []byte, s string) []byte {
	size := len(s) + 2
	for i := range len(s) {
		size += max(len(escapes[s[i]]), 1) - 1
	}
	b = append(slices.Grow(b, size), '"')
	for i := range len(s) {
		if e := escapes[s[i]]; e != "" {
			b = append(b, e...)
		} else {
			b = append(b, s[i])
		}
	}
	return append(b, '"')
}

// escapes has the characters that are escaped.
var escapes = func() (e [256]string) {
	for c := range ' ' {
		e[c] = fmt.Sprintf(`\u%04x`, c)
	}
	e['"'], e['\\'], e['\b'], e['\t'], e['\n'], e['\f'], e['\r'] = `\"`, `\\`, `\b`, `\t`, `\n`, `\f`, `\r`
	return e
}()

// A parser reads canonical JSON.
type parser struct {
	all, left []byte
	err       *Error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &Error{len(p.all) - len(p.left), fmt.Sprintf(format, args...)}
		p.left = nil
	}
}

// at skips the text s if it comes next.
func (p *parser) at(s string) bool {
	rest, ok := bytes.CutPrefix(p.left, []byte(s))
	if ok && p.err == nil {
		p.left = rest
	}
	return ok && p.err == nil
}

func (p *parser) want(s string) {
	if !p.at(s) {
		p.fail("want %s: the form is canonical JSON (RFC 8785), without spaces", s)
	}
}

// object reads an object. It must have the fields f and no others.
func (p *parser) object(f fieldsOf) {
	p.want("{")
	first := true
	for i := range f {
		if p.err != nil {
			return
		}
		mark := p.left
		if !first {
			p.at(",")
		}
		var name text
		if len(p.left) > 0 && p.left[0] == '"' {
			name.take(p)
		}
		switch _, left := f[i].value.(optional); {
		case p.err != nil:
		case string(name) == f[i].name && (first || mark[0] == ','):
			p.want(":")
			f[i].value.take(p)
			first = false
		case left:
			p.left = mark
		default:
			p.left = mark
			p.misplaced(f, string(name), f[i].name)
		}
	}
	if p.at(",") {
		var name text
		name.take(p)
		p.misplaced(f, string(name), "")
	}
	p.want("}")
}

// misplaced notes the error about the field name in place of the field due; due is "" behind the last field.
func (p *parser) misplaced(f fieldsOf, name, due string) {
	at := func(name string) int { return slices.IndexFunc(f, func(f field) bool { return f.name == name }) }
	switch i := at(name); {
	case name == "" || due != "" && i > at(due):
		p.fail("the field %q is missing", due)
	case i >= 0:
		p.fail("the field %q stands twice or out of order; RFC 8785 orders by name", name)
	default:
		p.fail("there is no field %.100q in receipts of version %d", name, Version)
	}
}

type text string

func (s *text) put(b []byte) []byte { return appendText(b, string(*s)) }

func (s *text) take(p *parser) {
	from := p.left
	p.want(`"`)
	end := 0
	for end < len(p.left) && p.left[end] != '"' {
		if p.left[end] == '\\' {
			end++
		}
		end++
	}
	if p.err != nil {
		return
	}
	var b strings.Builder
	b.Grow(min(end, len(p.left)))
	canonical := true
	for p.err == nil && !p.at(`"`) {
		var r rune
		var n int
		switch {
		case len(p.left) == 0:
			p.fail("the file ends within a string")
		case p.left[0] == '\\':
			if r, n = jsontext.Escape(p.left); n == 0 {
				p.fail("no escape of JSON")
				return
			}
			canonical = canonical && r <= '\\' && escapes[r] == string(p.left[:n])
			b.WriteRune(r)
		default:
			if r, n = utf8.DecodeRune(p.left); r == utf8.RuneError && n == 1 {
				p.fail("the string isn't UTF-8")
				return
			}
			canonical = canonical && r >= ' '
			b.Write(p.left[:n])
		}
		p.left = p.left[n:]
	}
	if p.err == nil && !canonical {
		p.left = from
		p.fail("the string isn't escaped as RFC 8785 wants it")
	}
	*s = text(b.String())
}

type number int64

func (n *number) put(b []byte) []byte { return strconv.AppendInt(b, int64(*n), 10) }

func (n *number) take(p *parser) {
	k := jsontext.Number(p.left)
	v, err := strconv.ParseInt(string(p.left[:k]), 10, 64)
	if *n = number(v); err != nil || v < 0 || v >= 1<<53 || string(n.put(nil)) != string(p.left[:k]) {
		p.fail("want a whole number from 0 to 2^53 - 1")
		return
	}
	p.left = p.left[k:]
}

// version is the number of the form.
type version struct{}

func (version) put(b []byte) []byte { return strconv.AppendInt(b, Version, 10) }

func (version) take(p *parser) {
	var n number
	mark := p.left
	if n.take(p); p.err == nil && n != Version {
		p.left = mark
		p.fail("the receipt is of version %d; this program reads version %d", n, Version)
	}
}

func (d *Digest) put(b []byte) []byte { return append(hex.AppendEncode(append(b, '"'), d[:]), '"') }

func (d *Digest) take(p *parser) {
	n := 2*len(d) + 2
	if len(p.left) >= n {
		_, err := hex.Decode(d[:], p.left[1:n-1])
		if err == nil && bytes.Equal(d.put(nil), p.left[:n]) {
			p.left = p.left[n:]
			return
		}
	}
	p.fail("want a digest, 64 hexadecimal digits in lower case between quotes")
}

// inner is a struct as a field.
type inner struct{ object }

func (v inner) put(b []byte) []byte { return put(b, v.fields()) }
func (v inner) take(p *parser)      { p.object(v.fields()) }

// maybe is a struct that may be left out.
type maybe[T any, P interface {
	*T
	object
}] struct{ to *P }

func (v maybe[T, P]) absent() bool        { return *v.to == nil }
func (v maybe[T, P]) put(b []byte) []byte { return put(b, (*v.to).fields()) }

func (v maybe[T, P]) take(p *parser) {
	*v.to = new(T)
	p.object((*v.to).fields())
}

// list is a list of structs.
type list[T any, P interface {
	*T
	object
}] struct{ to *[]T }

func (v list[T, P]) put(b []byte) []byte {
	b = append(b, '[')
	for i := range *v.to {
		if i > 0 {
			b = append(b, ',')
		}
		b = put(b, P(&(*v.to)[i]).fields())
	}
	return append(b, ']')
}

func (v list[T, P]) take(p *parser) {
	p.items(func() {
		var item T
		p.object(P(&item).fields())
		*v.to = append(*v.to, item)
	})
}

// texts is a list of strings.
type texts struct{ to *[]string }

func (v texts) put(b []byte) []byte {
	b = append(b, '[')
	for i, s := range *v.to {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, s)
	}
	return append(b, ']')
}

func (v texts) take(p *parser) {
	p.items(func() {
		var s text
		s.take(p)
		*v.to = append(*v.to, string(s))
	})
}

// items reads the items of a list.
func (p *parser) items(item func()) {
	p.want("[")
	for n := 0; p.err == nil && !p.at("]"); n++ {
		if n > 0 {
			p.want(",")
		}
		if n == MaxNodes {
			p.fail("a list has more than %d items", MaxNodes)
		}
		if p.err == nil {
			item()
		}
	}
}

// Parse reads a receipt. It refuses more than MaxSize bytes, bytes that aren't canonical JSON, and unknown fields and
// versions. It accepts one newline at the end. It doesn't check the roots; Check does.
func Parse(b []byte) (*Receipt, error) {
	r := &Receipt{parsed: true}
	err := parse(b, "receipt", r.fields())
	if err == nil {
		err = r.known()
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// parse reads all of a file as one object.
func parse(b []byte, what string, f fieldsOf) error {
	if len(b) > MaxSize {
		return fail("it has %d bytes, more than %d", len(b), MaxSize)
	}
	b = bytes.TrimSuffix(b, []byte("\n"))
	p := &parser{all: b, left: b}
	p.object(f)
	if p.err == nil && len(p.left) > 0 {
		p.fail("something follows the %s", what)
	}
	if p.err != nil {
		return p.err
	}
	return nil
}

// known refuses kinds and modes that this version doesn't know.
func (r *Receipt) known() error {
	switch {
	case r.Kind != Model && r.Kind != Plan:
		return fail("the kind %.100q isn't known; want %q or %q", r.Kind, Model, Plan)
	case r.Profile.Mode != Exact && r.Profile.Mode != Integers:
		return fail("the mode %.100q isn't known; want %q or %q", r.Profile.Mode, Exact, Integers)
	case r.Profile.Mode == Integers && (r.Kind != Model || r.Profile.Fixed != ""):
		return fail("the mode %q is of models, and has no fixed-point format", Integers)
	}
	return nil
}

// Encode returns the bytes of a file, with the roots of the contents. It fails for names that aren't UTF-8, and for receipts
// that Parse would refuse.
func (r *Receipt) Encode() ([]byte, error) {
	w := *r
	w.root, w.tree = r.Root(), r.NodesRoot()
	b := put(nil, w.fields())
	switch {
	case !utf8.Valid(b):
		return nil, fail("a name in it isn't UTF-8, and JSON holds no other text")
	case len(r.Nodes) > MaxNodes:
		return nil, fail("it would have %d nodes, more than %d: leave the nodes out", len(r.Nodes), MaxNodes)
	case len(b) > MaxSize:
		return nil, fail("it would have %d bytes, more than %d: leave the nodes out", len(b), MaxSize)
	}
	if _, err := Parse(b); err != nil {
		return nil, err
	}
	return b, nil
}
