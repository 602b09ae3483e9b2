package judge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// basis reads a layout of coordinates as CuTe and its DSL print it: the strides are scaled bases. The axes of the coordinate
// are 0, 1 and so on:
//
//	(128,32):(1@0,1@1)
//	(0,8) o ((64,2),(8,4)):((1@0,64@0),(1@1,8@1))
//	ArithTuple(0,_0) o ((_64,_8),1):((_1@0,_1@1),_64@1)
//	!cute.layout<"(64,256):(1@0,1@1)">, !cute.coord_tensor<"(0,0)", "(64,1):(1@0,1@1)">
//
// The forms are those of NVIDIA/cutlass's cute/numeric/arithmetic_tuple.hpp and of the DSL's IR. A nested mode counts its first part
// fastest, as in CuTe. The elements are the coordinates of the modes, row-major, as of every Axes.
func basis(text string) (a Axes, err error) {
	const op = "ParseAxes"
	if strings.Contains(text, "?") {
		return a, fail(op, layout.ErrSyntax, "%s has dynamic numbers, ?, which aren't known", clip(text))
	}
	if inner, ok := strings.CutPrefix(text, "!cute."); ok {
		kind, body, _ := strings.Cut(inner, "<")
		parts := strings.Split(body, `"`)
		switch {
		case kind == "layout" && len(parts) == 3:
			text = parts[1]
		case kind == "coord_tensor" && len(parts) == 5:
			text = parts[1] + " o " + parts[3]
		default:
			return a, fail(op, layout.ErrSyntax, "want a layout in quotes, as in !cute.layout<\"(64,256):(1@0,1@1)\">, not %q", clip(text))
		}
	}
	p := &scanner{text: strings.ReplaceAll(strings.TrimPrefix(text, "ArithTuple"), "_", "")}
	first, err := p.nest(false)
	if err != nil {
		return a, err
	}
	if p.word("o ") {
		if !first.flat() {
			return a, fail(op, layout.ErrSyntax, "an offset of nested numbers in %q", clip(text))
		}
		for k, n := range first.list() {
			n.axis = strconv.Itoa(k)
			a.offset = append(a.offset, n)
		}
		if first, err = p.nest(false); err != nil {
			return a, err
		}
	}
	if !p.take(':') {
		return a, fail(op, layout.ErrSyntax, "want ':' and strides %s", p.here())
	}
	strides, err := p.nest(true)
	if err != nil {
		return a, err
	}
	if p.rest() != "" {
		return a, fail(op, layout.ErrSyntax, "want the end of the layout %s", p.here())
	}
	modes := []*nested{first}
	under := []*nested{strides}
	if first.parts != nil && strides.parts != nil {
		modes, under = first.parts, strides.parts
	}
	if len(modes) != len(under) {
		return a, fail(op, layout.ErrSyntax, "%d modes and %d strides in %q", len(modes), len(under), clip(text))
	}
	for k, m := range modes {
		if !m.like(under[k]) {
			return a, fail(op, layout.ErrSyntax, "mode %d of %q nests otherwise in the shape than in the strides", k, clip(text))
		}
		ext, str := m.list(), under[k].list()
		for i := range slices.Backward(ext) {
			a.shard = append(a.shard, iter{ext[i].stride, str[i].stride, str[i].axis})
		}
	}
	if len(a.shard) > maxIters {
		return a, fail(op, layout.ErrLimit, "more than %d extents", maxIters)
	}
	return a.tidy(op)
}

// nested is a number, or a tuple of them. A number is the stride of its leaf.
type nested struct {
	leaf  iter
	parts []*nested // nil of a number
}

// nest takes a number, or a tuple; with bases, numbers with an axis behind @.
func (p *scanner) nest(bases bool) (*nested, error) { return p.nestIn(bases, 0) }

func (p *scanner) nestIn(bases bool, depth int) (*nested, error) {
	const op = "ParseAxes"
	if !p.take('(') {
		n, ok := p.number()
		if !ok {
			return nil, fail(op, layout.ErrSyntax, "want a number or a tuple %s", p.here())
		}
		it := iter{1, n, memoryAxis}
		if bases && p.take('@') {
			axis, ok := p.number()
			if !ok || axis < 0 || axis >= maxIters || p.take('@') {
				return nil, fail(op, layout.ErrSyntax, "want one axis from 0 to %d behind @, %s", maxIters-1, p.here())
			}
			it.axis = strconv.Itoa(axis)
		}
		return &nested{leaf: it}, nil
	}
	if depth == maxIters {
		return nil, fail(op, layout.ErrLimit, "more than %d brackets in each other", maxIters)
	}
	t := &nested{parts: []*nested{}}
	for !p.take(')') {
		if len(t.parts) > 0 && !p.take(',') {
			return nil, fail(op, layout.ErrSyntax, "want ',' or ')' %s", p.here())
		}
		if len(t.parts) > 0 && p.take(')') {
			return t, nil
		}
		part, err := p.nestIn(bases, depth+1)
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, part)
	}
	return t, nil
}

func (t *nested) flat() bool {
	return !slices.ContainsFunc(t.parts, func(p *nested) bool { return p.parts != nil })
}

// like reports whether two nest alike.
func (t *nested) like(o *nested) bool {
	if (t.parts == nil) != (o.parts == nil) || len(t.parts) != len(o.parts) {
		return false
	}
	for i := range t.parts {
		if !t.parts[i].like(o.parts[i]) {
			return false
		}
	}
	return true
}

func (t *nested) list() (all []iter) {
	if t.parts == nil {
		return []iter{t.leaf}
	}
	for _, p := range t.parts {
		all = append(all, p.list()...)
	}
	return all
}
