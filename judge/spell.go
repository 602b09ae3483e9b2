package judge

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// maxText bounds the texts that Parse reads.
const maxText = 1 << 13

// Spellings are the notations that Print writes.
var Spellings = []string{"layout", "cute", "numpy", "mojo", "triton", "matrix", "ttnn", "go"}

// Parse reads a layout in one of these spellings, and every other text as [layout.Eval] does:
//
//	CuTe              make_layout(make_shape(_4{}, Int<5>{}), make_stride(5, 1))
//	CuTe's types      Layout<Shape<_4, _5>, Stride<_5, _1>>{}
//	CuTe's swizzles   composition(Swizzle<3, 3, 3>{}, make_layout(…)), Swizzle<3,3,3> o (8,64):(64,1)
//	CuTe's output     (_4,_5):(_5,_1), ptr[32b](0x7f00) o (2,4):(1,2)
//	CuTe's DSL        make_layout((4, 5), stride=(5, 1))
//	the DSL's output  S<3,4,3> o 0 o (8,64):(64,1), !cute.layout<"…">,
//	                  tensor<ptr<f32, gmem, align<16>> o (4,8):(8,1)>, !cute.memref<f16, smem, "…">
//	pycute            Layout((4,5),(5,1)), ComposedLayout(Swizzle(3,3,3),0,Layout((8,64),(64,1))),
//	                  SW_3_3_3 o 0 o (8, 64):(64, 1)
//	Mojo              Layout.row_major(4, 5), Layout(IntTuple(4, 5), IntTuple(5, 1))
//	NumPy             shape=(4, 5), strides=(20, 4), itemsize=4, offset=0
//	Triton            {dim0 = [[8], [16]], dim1 = [[1], [2]]}, as ParseLinear reads it
//	its encodings     #ttg.linear, shared_linear, blocked, swizzled_shared, nvmma_shared
//	Go                layout.MustParse("(4,5):(5,1)"), layout.Eval("Sw<3,3,3> o (8,64):(64,1)")
//
// CuTe's make_layout may have LayoutRight{} or LayoutLeft{} in place of the strides, or
// nothing, which is LayoutLeft{}. composition may have an offset between its arguments. The
// swizzle of a pointer counts bytes, and Parse makes it one of elements:
//
//	Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)
//	Sw<3,3,3> o (8,64):(64,1)
//
// NumPy's strides, itemsize and offset may be left out. With an itemsize, strides and offset
// count bytes; otherwise they count elements. Triton's encodings have all their attributes.
// swizzled_shared and nvmma_shared are the offsets of one block: of the smallest tile that has
// the swizzle, or of the shape in !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{…}>, …>.
func Parse(text string) (layout.Composed, error) {
	const op = "Parse"
	if len(text) > maxText {
		return layout.Composed{}, fail(op, layout.ErrLimit, "%d bytes, more than %d", len(text), maxText)
	}
	s := strings.TrimSpace(text)
	for _, of := range modules {
		s = strings.TrimPrefix(s, of)
	}
	p := &scanner{text: s}
	left := maxEntries
	switch {
	case strings.HasPrefix(s, "{"), strings.HasPrefix(s, "#"), strings.HasPrefix(s, "!ttg."):
		l, err := parseEncoding(s)
		if err != nil {
			return layout.Composed{}, err
		}
		return l.Layout()
	case strings.HasPrefix(s, "layout.MustParse("), strings.HasPrefix(s, "layout.Parse("), strings.HasPrefix(s, "layout.Eval("):
		name, quoted, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
		in, err := strconv.Unquote(quoted)
		if err != nil {
			return layout.Composed{}, fail(op, layout.ErrSyntax, "want a string in quotes, got %q", clip(quoted))
		}
		if name == "layout.Eval" {
			return layout.Eval(in)
		}
		l, err := layout.Parse(in)
		return Plain(l), err
	case strings.HasPrefix(s, "shape"):
		return p.numpy()
	case strings.HasPrefix(s, "composition"), strings.HasPrefix(s, "Swizzle<"), strings.HasPrefix(s, "make_"), strings.HasPrefix(s, "Layout"), strings.HasPrefix(s, "ComposedLayout("):
		c, err := p.layout(0, &left)
		if err == nil && p.rest() != "" {
			err = fail(op, layout.ErrSyntax, "want the end %s", p.here())
		}
		return c, err
	}
	return printed(s)
}

// static removes the underscores of static numbers; no digit follows the underscore of a hole.
var static = strings.NewReplacer("_0", "0", "_1", "1", "_2", "2", "_3", "3", "_4", "4", "_5", "5", "_6", "6", "_7", "7", "_8", "8", "_9", "9")

// layout takes a layout in CuTe's or Mojo's spelling.
func (p *scanner) layout(depth int, left *int) (layout.Composed, error) {
	const op = "Parse"
	none := layout.Composed{}
	if *left--; depth > maxNest || *left < 0 {
		return none, fail(op, layout.ErrLimit, "layouts nest deeper than %d", maxNest)
	}
	name := p.name()
	for _, of := range modules {
		name = strings.TrimPrefix(name, of)
	}
	switch name {
	case "ComposedLayout", "make_composed_layout":
		if !p.take('(') {
			break
		}
		return p.composed(depth, left)
	case "composition":
		if !p.take('(') || !p.word("Swizzle<") {
			return none, fail(op, layout.ErrSyntax, "want composition(Swizzle<B, M, S>{}, LAYOUT); layout.Eval composes layouts: A o B")
		}
		w, err := p.swizzle()
		if err != nil {
			return none, err
		}
		if !p.take(',') {
			return none, fail(op, layout.ErrSyntax, "want ',' %s", p.here())
		}
		base := 0
		if rest := p.rest(); strings.HasPrefix(rest, "Int<") || strings.HasPrefix(rest, "C<") || rest != "" && strings.IndexByte("_-0123456789", rest[0]) >= 0 {
			t, err := p.tuple(0, left)
			if err != nil {
				return none, err
			}
			if base, _ = t.Int(); !p.take(',') {
				return none, fail(op, layout.ErrSyntax, "want ',' %s", p.here())
			}
		}
		return p.under(w, base, ')', depth, left)
	case "Swizzle":
		if !p.take('<') {
			break
		}
		w, err := p.swizzle()
		if err != nil {
			return none, err
		}
		if !p.word("o") && !p.word("∘") {
			return none, fail(op, layout.ErrSyntax, "want o and a layout after the swizzle, not %q", clip(p.rest()))
		}
		rest := p.rest()
		if strings.HasPrefix(rest, "(") || rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			in, err := layout.Parse(static.Replace(rest))
			if err != nil {
				return none, err
			}
			p.at = len(p.text)
			return layout.NewComposed(w, 0, in)
		}
		return p.under(w, 0, 0, depth, left)
	case "Layout.row_major", "Layout.col_major", "row_major", "col_major":
		t, err := p.tuple(0, left)
		if err != nil {
			return none, err
		}
		p.empty()
		return dense(t, strings.HasSuffix(name, "row_major"))
	case "Layout", "make_layout":
		end := byte(')')
		if p.take('<') {
			end = '>'
		} else if !p.take('(') {
			break
		}
		c, err := p.parts(end, depth, left)
		if end == '>' {
			p.empty()
		}
		return c, err
	}
	return none, fail(op, layout.ErrSyntax, "want a layout, got %q %s", clip(name), p.here())
}

// modules are the prefixes of names in C++ and Python.
var modules = []string{"cute::", "cutlass.", "cute.", "pycute."}

// composed takes Swizzle(B, M, S), OFFSET, LAYOUT) as pycute writes it. In place of the swizzle may stand make_swizzle(B, M, S) of
// CuTe's DSL, or a layout.
func (p *scanner) composed(depth int, left *int) (layout.Composed, error) {
	const op = "Parse"
	none := layout.Composed{}
	var outer layout.Map
	for _, of := range modules {
		p.word(of)
	}
	if p.word("Swizzle(") || p.word("make_swizzle(") {
		w, err := p.swizzle()
		if err != nil {
			return none, err
		}
		outer = w
	} else {
		c, err := p.layout(depth+1, left)
		if err != nil {
			return none, err
		}
		l, ok := c.Plain()
		if !ok {
			return none, fail(op, layout.ErrSyntax, "a swizzle in the outer layout of another")
		}
		outer = l
	}
	var base int
	ok := p.take(',')
	if ok {
		base, ok = p.number()
	}
	if !ok || !p.take(',') {
		return none, fail(op, layout.ErrSyntax, "want an offset and a layout %s", p.here())
	}
	c, err := p.layout(depth+1, left)
	if err != nil {
		return none, err
	}
	in, ok := c.Plain()
	if !ok || !p.take(')') {
		return none, fail(op, layout.ErrSyntax, "want a layout without a swizzle, and ')' %s", p.here())
	}
	return layout.NewComposed(outer, base, in)
}

// under takes a layout up to end, and returns it under a swizzle.
func (p *scanner) under(w layout.Swizzle, base int, end byte, depth int, left *int) (layout.Composed, error) {
	c, err := p.layout(depth+1, left)
	if err != nil {
		return layout.Composed{}, err
	}
	if end != 0 && !p.take(end) {
		return layout.Composed{}, fail("Parse", layout.ErrSyntax, "want %q %s", string(end), p.here())
	}
	in, ok := c.Plain()
	if !ok {
		return layout.Composed{}, fail("Parse", layout.ErrSyntax, "a swizzle over a swizzle")
	}
	return layout.NewComposed(w, base, in)
}

// swizzle takes B, M, S>{} or B, M, S).
func (p *scanner) swizzle() (layout.Swizzle, error) {
	var n [3]int
	for i, end := range []byte(",,>") {
		v, ok := p.number()
		if !ok || !p.take(end) && !(i == 2 && p.take(')')) {
			return layout.Swizzle{}, fail("Parse", layout.ErrSyntax, "want Swizzle<B, M, S>")
		}
		n[i] = v
	}
	p.empty()
	return layout.NewSwizzle(n[0], n[1], n[2])
}

// parts takes the arguments of make_layout: a shape, and strides or an order; or layouts.
func (p *scanner) parts(end byte, depth int, left *int) (layout.Composed, error) {
	const op = "Parse"
	none := layout.Composed{}
	if rest := p.rest(); strings.HasPrefix(rest, "make_layout") || strings.HasPrefix(rest, "cute.make_layout") || strings.HasPrefix(rest, "Layout<") {
		var modes []layout.Layout
		for {
			c, err := p.layout(depth+1, left)
			if err != nil {
				return none, err
			}
			in, ok := c.Plain()
			if !ok {
				return none, fail(op, layout.ErrSyntax, "a layout with a swizzle is no mode of another")
			}
			modes = append(modes, in)
			if p.take(end) {
				l, err := layout.Join(modes...)
				if err != nil {
					return none, err
				}
				return Plain(l), nil
			}
			if !p.take(',') {
				return none, fail(op, layout.ErrSyntax, "want ',' or %q %s", string(end), p.here())
			}
		}
	}
	shape, err := p.tuple(0, left)
	if err != nil {
		return none, err
	}
	if p.take(end) {
		return dense(shape, false)
	}
	if !p.take(',') {
		return none, fail(op, layout.ErrSyntax, "want ',' or %q %s", string(end), p.here())
	}
	for _, o := range []string{"LayoutRight", "GenRowMajor", "LayoutLeft", "GenColMajor"} {
		if p.word(o) {
			p.empty()
			if !p.take(end) {
				return none, fail(op, layout.ErrSyntax, "want %q %s", string(end), p.here())
			}
			return dense(shape, o == "LayoutRight" || o == "GenRowMajor")
		}
	}
	p.word("stride=")
	stride, err := p.tuple(0, left)
	if err != nil {
		return none, err
	}
	if !p.take(end) {
		return none, fail(op, layout.ErrSyntax, "want %q %s", string(end), p.here())
	}
	l, err := layout.Of(shape, stride)
	return Plain(l), err
}

func dense(shape layout.Tuple, rows bool) (layout.Composed, error) {
	of := layout.ColMajorOf
	if rows {
		of = layout.RowMajorOf
	}
	l, err := of(shape)
	return Plain(l), err
}

// numpy takes NumPy's notation:
//
//	shape=(4, 5), strides=(20, 4), itemsize=4, offset=0
func (p *scanner) numpy() (layout.Composed, error) {
	const op = "Parse"
	s := Strided{Item: 1}
	left := maxEntries
	for first := true; p.rest() != ""; first = false {
		if !first {
			p.take(',')
		}
		name := p.name()
		if !p.take('=') {
			p.take(':')
		}
		t, err := p.tuple(0, &left)
		if err != nil {
			return layout.Composed{}, err
		}
		v, err := t.Flatten()
		switch one := len(v) == 1; {
		case err != nil:
			return layout.Composed{}, err
		case t.Depth() > 1:
			return layout.Composed{}, fail(op, layout.ErrSyntax, "%s: NumPy's tuples don't nest", clip(name))
		case name == "shape":
			s.Shape = v
		case name == "strides":
			s.Strides = v
		case name == "itemsize" && one:
			s.Item = v[0]
		case name == "offset" && one:
			s.Offset = v[0]
		default:
			return layout.Composed{}, fail(op, layout.ErrSyntax, "want shape=, strides=, itemsize= or offset=, got %q", clip(name))
		}
	}
	if s.Strides == nil {
		l, err := layout.RowMajor(s.Shape...)
		return Plain(l), err
	}
	return s.Layout()
}

// Print writes a layout in one of the Spellings. item is the bytes of an element, for
// NumPy's strides. If a notation can't express the layout exactly, the error is a
// *Mismatch.
func Print(c layout.Composed, spelling string, item int) (string, error) {
	const op = "Print"
	in := c.Inner()
	w, ok := c.Outer().(layout.Swizzle)
	l, plain := c.Plain()
	switch spelling {
	case "layout":
		return text(c), nil
	case "cute":
		text := "make_layout(" + cute(in.Extents(), "make_shape") + ", " + cute(in.Strides(), "make_stride") + ")"
		switch {
		case plain:
			return text, nil
		case !ok:
			return "", fail(op, ErrNone, "%v: the outer part is no swizzle", c)
		}
		return fmt.Sprintf("composition(Swizzle<%d, %d, %d>{}, Int<%d>{}, %s)", w.Bits(), w.Base(), w.Shift(), c.Base(), text), nil
	case "numpy":
		s, err := StridedOf(c, item)
		if err != nil {
			return "", err
		}
		return s.String(), nil
	case "mojo":
		if !plain {
			return "", fail(op, ErrNone, "%v: Mojo's Layout has no swizzle and no offset", c)
		}
		if t := l.Extents(); t.Depth() <= 1 {
			if rows, err := layout.RowMajorOf(t); err == nil && rows.Equal(l) {
				return "Layout.row_major(" + spaced(t, false) + ")", nil
			}
			if cols, err := layout.ColMajorOf(t); err == nil && cols.Equal(l) {
				return "Layout.col_major(" + spaced(t, false) + ")", nil
			}
		}
		return "Layout(" + mojo(l.Extents()) + ", " + mojo(l.Strides()) + ")", nil
	case "triton", "matrix":
		f, err := LinearOf(c)
		if err != nil {
			return "", err
		}
		if spelling == "matrix" {
			return f.Matrix(), nil
		}
		return f.String(), nil
	case "ttnn":
		if !plain {
			return "", fail(op, ErrNone, "%v: TT-NN's tiles have no swizzle and no offset", c)
		}
		t, err := TiledOf(l)
		if err != nil {
			return "", err
		}
		return t.String(), nil
	case "go":
		if plain {
			return "layout.MustParse(" + strconv.Quote(l.String()) + ")", nil
		}
		return "layout.Eval(" + strconv.Quote(c.String()) + ")", nil
	}
	return "", fail(op, layout.ErrSyntax, "no notation %q; there are %s", clip(spelling), strings.Join(Spellings, ", "))
}

// spaced writes a tuple with spaces after the commas, in brackets or without.
func spaced(t layout.Tuple, brackets bool) string {
	s := strings.ReplaceAll(t.String(), ",", ", ")
	if !brackets && t.IsList() {
		s = s[1 : len(s)-1]
	}
	return s
}

// cute writes a tuple of CuTe's static numbers.
func cute(t layout.Tuple, name string) string {
	if n, ok := t.Int(); ok {
		return fmt.Sprintf("Int<%d>{}", n)
	}
	parts := make([]string, t.Rank())
	for i := range parts {
		parts[i] = cute(t.Entry(i), name)
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

func mojo(t layout.Tuple) string {
	if _, ok := t.Int(); ok {
		return "IntTuple(" + t.String() + ")"
	}
	parts := make([]string, t.Rank())
	for i := range parts {
		if e := t.Entry(i); e.IsList() {
			parts[i] = mojo(e)
		} else {
			parts[i] = e.String()
		}
	}
	return "IntTuple(" + strings.Join(parts, ", ") + ")"
}
