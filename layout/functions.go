package layout

import (
	"math/bits"
	"strconv"
	"strings"
)

// A callable is a function of the expression language.
type callable struct {
	name string
	// args has a letter for each argument: A a layout, B a layout or a tiler, T a tuple,
	// n a number; after ? they may be left out, and + repeats the last.
	args string
	// rearranges says that f(A)(c) = A(g(c)) plus a fixed offset, so that A may have a
	// swizzle and an offset: f then acts on its inner layout.
	rearranges bool
	call       func(a []arg) (Layout, int, error)
}

// An arg is an argument as the function takes it.
type arg struct {
	lay   Layout
	tiler []Layout // by mode, not nil when a tiler was given
	tuple Tuple
	n     int
}

// function returns a function by its name, or nil.
func function(name string) *callable {
	for _, f := range callables() {
		if f.name == name {
			return &f
		}
	}
	return nil
}

// similar proposes functions for a name that is none: those whose name has it in it, in whatever case and without _.
func similar(name string) string {
	bare := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	var list []string
	for _, f := range callables() {
		if strings.Contains(bare(f.name), bare(name)) {
			list = append(list, f.name)
		}
	}
	if len(list) == 0 || len(list) > 5 {
		return ""
	}
	return "; did you mean " + strings.Join(list, ", ") + "?"
}

// callables is a function, so that programs without Eval don't link the table.
func callables() []callable {
	return []callable{
		{"row_major", "T", false, ofTuple(RowMajorOf)},
		{"col_major", "T", false, ofTuple(ColMajorOf)},
		{"ordered", "TT", false, func(a []arg) (Layout, int, error) { return still(Ordered(a[0].tuple, a[1].tuple)) }},
		{"coalesce", "A?T", true, func(a []arg) (Layout, int, error) {
			if len(a) == 1 {
				return a[0].lay.Coalesce(), 0, nil
			}
			return still(a[0].lay.CoalesceByMode(a[1].tuple))
		}},
		{"flatten", "A", true, ofOne((*Layout).Flatten)},
		{"filter", "A", false, ofOne((*Layout).Filter)},
		{"nullspace", "A", false, ofOne((*Layout).Nullspace)},
		{"compose", "AB", true, ofTwo(Compose, ComposeByMode)},
		{"complement", "An", false, func(a []arg) (Layout, int, error) { return still(Complement(a[0].lay, a[1].n)) }},
		{"left_inverse", "A", false, func(a []arg) (Layout, int, error) { return still(LeftInverse(a[0].lay)) }},
		{"right_inverse", "A", false, func(a []arg) (Layout, int, error) { return RightInverse(a[0].lay), 0, nil }},
		{"max_common_layout", "AA", false, func(a []arg) (Layout, int, error) { return MaxCommonLayout(a[0].lay, a[1].lay), 0, nil }},
		{"logical_divide", "AB", true, ofTwo(LogicalDivide, LogicalDivideByMode)},
		{"zipped_divide", "AB", true, ofTwo(ZippedDivide, ZippedDivideByMode)},
		{"tiled_divide", "AB", true, ofTwo(TiledDivide, TiledDivideByMode)},
		{"flat_divide", "AB", true, ofTwo(FlatDivide, FlatDivideByMode)},
		{"logical_product", "AB", false, ofTwo(LogicalProduct, LogicalProductByMode)},
		{"zipped_product", "AA", false, ofTwo(ZippedProduct, nil)},
		{"tiled_product", "AA", false, ofTwo(TiledProduct, nil)},
		{"flat_product", "AA", false, ofTwo(FlatProduct, nil)},
		{"blocked_product", "AA", false, ofTwo(BlockedProduct, nil)},
		{"raked_product", "AA", false, ofTwo(RakedProduct, nil)},
		{"tile_to_shape", "AT?T", false, func(a []arg) (Layout, int, error) {
			shape, err := flat("tile_to_shape", a[1].tuple)
			if err != nil {
				return Layout{}, 0, err
			}
			var order []int
			if len(a) == 3 {
				if order, err = flat("tile_to_shape", a[2].tuple); err != nil {
					return Layout{}, 0, err
				}
			}
			return still(TileToShape(a[0].lay, shape, order...))
		}},
		{"slice", "AT", true, func(a []arg) (Layout, int, error) { return a[0].lay.Fix(a[1].tuple) }},
		{"mode", "An", true, func(a []arg) (Layout, int, error) {
			if n := a[1].n; n < 0 || n >= a[0].lay.Rank() {
				return Layout{}, 0, fail("Mode", ErrAxis, "mode %d of %v, which has %d", n, a[0].lay, a[0].lay.Rank())
			}
			return a[0].lay.Mode(a[1].n), 0, nil
		}},
		{"join", "A+", false, func(a []arg) (Layout, int, error) {
			modes := make([]Layout, len(a))
			for i := range a {
				modes[i] = a[i].lay
			}
			return still(Join(modes...))
		}},
		{"permute", "AT", true, ofInts("permute", (*Layout).Permute)},
		{"view", "AT", true, ofInts("view", (*Layout).View)},
		{"broadcast_to", "AT", true, ofInts("broadcast_to", (*Layout).BroadcastTo)},
		{"upcast", "An", false, func(a []arg) (Layout, int, error) { return still(a[0].lay.Upcast(a[1].n)) }},
		{"downcast", "An", false, func(a []arg) (Layout, int, error) { return still(a[0].lay.Downcast(a[1].n)) }},
		{"recast", "Ann", false, func(a []arg) (Layout, int, error) { return still(a[0].lay.Recast(a[1].n, a[2].n)) }},
	}
}

// swizzledInverse is the left or right inverse of w ∘ l, as a swizzle is its own: f(l) ∘ w, written as u ∘ f(l) with another swizzle u.
func swizzledInverse(w Swizzle, l Layout, f *callable) (Composed, error) {
	r, _, err := f.call([]arg{{lay: l}})
	if err != nil {
		return Composed{}, err
	}
	const most = 1 << 20 // offsets that are tried
	size := r.Size()
	if size > most {
		return Composed{}, fail("Eval", ErrLimit, "%s of %v ∘ %v has %d offsets; at most %d are tried for a swizzle", f.name, w, l, size, most)
	}
	// w flips the bits from to on by those from of on, and r takes each to a bit.
	of, to := w.base+max(0, w.shift), w.base+max(0, -w.shift)
	none := fail("Eval", ErrDivide, "%s of %v ∘ %v is %v after the swizzle, which is no swizzle after a layout", f.name, w, l, r)
	for ; w.bits > 0 && 1<<(of+w.bits-1) >= size; w.bits-- { // its highest bit of an offset below size is always 0
	}
	if w.bits == 0 {
		return NewComposed(Swizzle{}, 0, r)
	}
	if w.Size() > size {
		return Composed{}, none
	}
	p, q := bits.TrailingZeros(uint(r.at(1<<to))), bits.TrailingZeros(uint(r.at(1<<of)))
	u, err := NewSwizzle(w.bits, min(p, q), q-p)
	if err != nil {
		return Composed{}, none
	}
	for x := range size {
		if y := w.At(x); y >= size || u.At(r.at(x)) != r.at(y) {
			return Composed{}, none
		}
	}
	return NewComposed(u, 0, r)
}

// still adds the offset 0 to a result.
func still(l Layout, err error) (Layout, int, error) { return l, 0, err }

func ofTuple(f func(Tuple) (Layout, error)) func([]arg) (Layout, int, error) {
	return func(a []arg) (Layout, int, error) { return still(f(a[0].tuple)) }
}

func ofOne(f func(*Layout) Layout) func([]arg) (Layout, int, error) {
	return func(a []arg) (Layout, int, error) { return f(&a[0].lay), 0, nil }
}

func ofTwo(f func(a, b Layout) (Layout, error), byMode func(Layout, ...Layout) (Layout, error)) func([]arg) (Layout, int, error) {
	return func(a []arg) (Layout, int, error) {
		if a[1].tiler != nil {
			return still(byMode(a[0].lay, a[1].tiler...))
		}
		return still(f(a[0].lay, a[1].lay))
	}
}

func ofInts(name string, f func(*Layout, ...int) (Layout, error)) func([]arg) (Layout, int, error) {
	return func(a []arg) (Layout, int, error) {
		n, err := flat(name, a[1].tuple)
		if err != nil {
			return Layout{}, 0, err
		}
		return still(f(&a[0].lay, n...))
	}
}

// flat is a tuple without inner lists as its integers.
func flat(name string, t Tuple) ([]int, error) {
	if t.Depth() > 1 {
		return nil, fail("Eval", ErrShape, "%s: want a tuple without inner brackets, got %v", name, t)
	}
	return t.Flatten()
}

// call applies the function that stands at a byte.
func (p *parser) call(at int, f *callable, args []value) (value, error) {
	kinds, optional, _ := strings.Cut(f.args, "?")
	least, most := len(kinds), len(kinds)+len(optional)
	kinds += optional
	wanted := strconv.Itoa(least)
	switch {
	case f.args == "A+":
		least, most, wanted = 1, len(args), "one or more"
		kinds = strings.Repeat("A", len(args))
	case most > least:
		wanted += " or " + strconv.Itoa(most)
	}
	if len(args) < least || len(args) > most {
		p.at = at
		return value{}, p.fault(f.name + " takes " + wanted + " arguments, " + strconv.Itoa(len(args)) + " given")
	}
	if p.each != nil {
		texts := make([]string, len(args))
		for i := range args {
			texts[i] = args[i].text()
		}
		p.each(f.name, texts...)
	}
	if c := &args[0].lay; strings.HasSuffix(f.name, "_inverse") && args[0].kind == layoutValue && c.offset == 0 {
		if w, ok := c.outer.(Swizzle); ok && w.bits > 0 {
			r, err := swizzledInverse(w, c.inner, f)
			if err != nil {
				return value{}, p.failed(at, err)
			}
			return value{lay: r, at: at}, nil
		}
	}
	list := make([]arg, len(args))
	for i := range args {
		v, a := &args[i], &list[i]
		var err error
		switch kind := kinds[i]; {
		case kind == 'T' && v.kind != tupleValue:
			err = v.wrong(p, "want a tuple")
		case kind == 'T':
			a.tuple = v.tuple
		case kind == 'n':
			var ok bool
			if a.n, ok = v.tuple.Int(); !ok || v.kind != tupleValue {
				err = v.wrong(p, "want a number")
			}
		case kind == 'B' && v.kind == tilerValue:
			a.tiler = v.tiler
		case i > 0 || !f.rearranges:
			a.lay, err = v.layout(p)
		}
		if err != nil {
			return value{}, err
		}
	}
	if f.rearranges {
		return p.rearrange(at, &args[0], func(l *Layout) (Layout, int, error) {
			list[0].lay = *l
			return f.call(list)
		})
	}
	l, _, err := f.call(list)
	if err != nil {
		return value{}, p.failed(at, err)
	}
	return value{lay: plain(l), at: at}, nil
}

// rearrange applies a function to the inner layout of a value.
func (p *parser) rearrange(at int, v *value, f func(*Layout) (Layout, int, error)) (value, error) {
	c, err := v.composed(p)
	if err != nil {
		return value{}, err
	}
	l, offset, err := f(&c.inner)
	if err != nil {
		return value{}, p.failed(at, err)
	}
	sum, fits := add(c.offset, offset)
	if !fits {
		return value{}, p.failed(at, fail("Eval", ErrOverflow, "the offset doesn't fit an int"))
	}
	if c, err = NewComposed(c.outer, sum, l); err != nil {
		return value{}, p.failed(at, err)
	}
	return value{lay: c, at: at}, nil
}
