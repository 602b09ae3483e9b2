package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

type (
	ofTwo  = func(a, b layout.Layout) (layout.Layout, error)
	ofMany = func(a layout.Layout, tiler ...layout.Layout) (layout.Layout, error)
)

// layoutOps runs an operation. The error is the library's: it refused.
var layoutOps = map[string]func(c *layoutCase) (answer, error){
	"coalesce": func(c *layoutCase) (answer, error) { l := c.operand(); return gives(l.Coalesce()), nil },
	"coalesce_by_mode": func(c *layoutCase) (answer, error) {
		l := c.operand()
		return give(l.CoalesceByMode(c.tuple("profile")))
	},
	"mojo_coalesce_keep_rank":   keepRank,
	"filter":                    func(c *layoutCase) (answer, error) { l := c.operand(); return gives(l.Filter()), nil },
	"nullspace":                 func(c *layoutCase) (answer, error) { l := c.operand(); return gives(l.Nullspace()), nil },
	"complement":                complement,
	"mojo_complement":           complement,
	"composition":               composition,
	"composition_by_mode":       tiledBy(layout.ComposeByMode),
	"mojo_composition_list":     tiledBy(layout.ComposeByMode),
	"left_inverse":              leftInverse,
	"right_inverse":             rightInverse,
	"max_common_vector":         maxCommonVector,
	"upcast":                    func(c *layoutCase) (answer, error) { l := c.operand(); return give(l.Upcast(c.int("n"))) },
	"mojo_upcast":               func(c *layoutCase) (answer, error) { l := c.operand(); return give(l.Upcast(c.int("n"))) },
	"downcast":                  func(c *layoutCase) (answer, error) { l := c.operand(); return give(l.Downcast(c.int("n"))) },
	"row_major":                 dense(layout.RowMajorOf),
	"col_major":                 dense(layout.ColMajorOf),
	"mojo_col_major":            dense(layout.ColMajorOf),
	"ordered_layout":            func(c *layoutCase) (answer, error) { return give(layout.Ordered(c.tuple("shape"), c.tuple("order"))) },
	"tile_to_shape":             tileToShape,
	"mojo_tile_to_shape":        tileToShape,
	"mojo_sublayout":            sublayout,
	"prefix_product":            prefixProduct,
	"inner_product":             innerProduct,
	"shape_div":                 shapeDiv,
	"make_layout":               makeLayout,
	"eval":                      eval,
	"eval_past_end":             eval,
	"idx2crd":                   coordOf,
	"slice":                     fix,
	"swizzle":                   swizzle,
	"swizzle_apply":             swizzle,
	"composed_layout":           composed,
	"logical_divide":            tiled(layout.LogicalDivide),
	"zipped_divide":             tiled(layout.ZippedDivide),
	"tiled_divide":              tiled(layout.TiledDivide),
	"flat_divide":               tiled(layout.FlatDivide),
	"logical_product":           tiled(layout.LogicalProduct),
	"zipped_product":            tiled(layout.ZippedProduct),
	"tiled_product":             spread(layout.TiledProduct),
	"flat_product":              spread(layout.FlatProduct),
	"blocked_product":           tiled(layout.BlockedProduct),
	"raked_product":             tiled(layout.RakedProduct),
	"mojo_logical_divide":       tiled(layout.LogicalDivide),
	"mojo_blocked_product":      tiled(layout.BlockedProduct),
	"logical_divide_by_mode":    tiledBy(layout.LogicalDivideByMode),
	"zipped_divide_by_mode":     tiledBy(layout.ZippedDivideByMode),
	"tiled_divide_by_mode":      tiledBy(layout.TiledDivideByMode),
	"flat_divide_by_mode":       tiledBy(layout.FlatDivideByMode),
	"mojo_logical_divide_list":  tiledBy(layout.LogicalDivideByMode),
	"mojo_zipped_divide_list":   tiledBy(layout.ZippedDivideByMode),
	"mojo_logical_product_list": tiledBy(layout.LogicalProductByMode),
	"mojo_zipped_divide_layout": dividedByShape,
	"expand_modes_alike":        expandAlike,
}

// dividedByShape divides by mode, and uses only the shape of the tiler.
func dividedByShape(c *layoutCase) (answer, error) {
	shape := c.layout("tiler")
	var tiler []layout.Layout
	for i := range shape.Rank() {
		mode := shape.Mode(i)
		dense, err := layout.ColMajorOf(mode.Extents())
		if err != nil {
			return nil, err
		}
		tiler = append(tiler, dense)
	}
	return give(layout.ZippedDivideByMode(c.operand(), tiler...))
}

// expandAlike gives both layouts the shape of the one with more leaves.
func expandAlike(c *layoutCase) (answer, error) {
	a, b := c.layout("a"), c.layout("b")
	finer := a.Extents()
	if b.Leaves() > a.Leaves() {
		finer = b.Extents()
	}
	dense, err := layout.ColMajorOf(finer)
	if err != nil {
		return nil, err
	}
	return func(want *layoutExpect) error {
		for _, x := range []struct {
			l    layout.Layout
			text string
		}{{a, want.A}, {b, want.B}} {
			got, err := layout.Compose(x.l, dense)
			if err != nil {
				return err
			}
			if got.String() != x.text {
				return fmt.Errorf("%v as %v is %v, want %s", x.l, finer, got, x.text)
			}
		}
		return nil
	}, nil
}

func tiled(f ofTwo) func(c *layoutCase) (answer, error) {
	return func(c *layoutCase) (answer, error) { return give(f(c.operand(), c.layout("tiler"))) }
}

func tiledBy(f ofMany) func(c *layoutCase) (answer, error) {
	return func(c *layoutCase) (answer, error) { return give(f(c.operand(), c.layouts("tiler")...)) }
}

// spread puts the parts of the last mode side by side when the tiler is written
// without brackets. Such a tiler is one mode here, and stays one when composition
// splits it; the references make each part a mode. (6):(1) isn't meant.
func spread(f ofTwo) func(c *layoutCase) (answer, error) {
	return func(c *layoutCase) (answer, error) {
		l, err := f(c.operand(), c.layout("tiler"))
		if err != nil || strings.HasPrefix(c.text("tiler"), "(") {
			return give(l, err)
		}
		var modes []layout.Layout
		for i := range l.Rank() - 1 {
			modes = append(modes, l.Mode(i))
		}
		last := l.Mode(l.Rank() - 1)
		for i := range last.Rank() {
			modes = append(modes, last.Mode(i))
		}
		return give(layout.Join(modes...))
	}
}

// composition has one mode for a b without brackets here, its parts in the
// references.
func composition(c *layoutCase) (answer, error) {
	l, err := layout.Compose(c.layout("a"), c.layout("b"))
	if err == nil && !strings.HasPrefix(c.text("b"), "(") {
		l = l.Mode(0)
	}
	return give(l, err)
}

func keepRank(c *layoutCase) (answer, error) {
	l := c.operand()
	return give(l.CoalesceByMode(layout.Ints(make([]int, l.Rank())...)))
}

func complement(c *layoutCase) (answer, error) {
	return give(layout.Complement(c.operand(), c.int("cosize")))
}

// dense compares the modes with the shape itself: the table alone doesn't show
// them, and the data doesn't name them.
func dense(f func(layout.Tuple) (layout.Layout, error)) func(c *layoutCase) (answer, error) {
	return func(c *layoutCase) (answer, error) {
		shape := c.tuple("shape")
		l, err := f(shape)
		if err != nil {
			return nil, err
		}
		return func(want *layoutExpect) error {
			for i := range max(shape.Rank(), l.Rank()) {
				if n, err := shape.Entry(i).Product(); err != nil || shape.Rank() != l.Rank() || l.Dim(i) != n {
					return fmt.Errorf("%v doesn't have the shape %v", l, shape)
				}
			}
			return gives(l)(want)
		}, nil
	}
}

func tileToShape(c *layoutCase) (answer, error) {
	shape, err := c.tuple("target").Flatten()
	if err != nil {
		c.fail(err)
	}
	var order []int
	if c.has("order") {
		if order, err = c.tuple("order").Flatten(); err != nil {
			c.fail(err)
		}
	}
	return give(layout.TileToShape(c.operand(), shape, order...))
}

func sublayout(c *layoutCase) (answer, error) {
	l := c.operand()
	var modes []layout.Layout
	for _, i := range c.ints("modes") {
		modes = append(modes, l.Mode(i))
	}
	return give(layout.Join(modes...))
}

// leftInverse judges by the property: R takes offsets of the layout back to a
// coordinate of the same offset, and the very same one if there is only one.
func leftInverse(c *layoutCase) (answer, error) {
	l := c.operand()
	r, err := layout.LeftInverse(l)
	if err != nil {
		return nil, err
	}
	return func(*layoutExpect) error {
		table, err := tableOf(&l)
		if err != nil {
			return err
		}
		times := map[int]int{}
		for _, o := range table {
			times[o]++
		}
		for i, o := range table {
			back, err := r.Offset(o)
			if err != nil {
				return fmt.Errorf("%v at %d: %w", r, o, err)
			}
			again, err := l.Offset(back)
			if err != nil || again != o || len(times) == len(table) && back != i {
				return fmt.Errorf("%v takes offset %d of coordinate %d to %d", r, o, i, back)
			}
		}
		return nil
	}, nil
}

// rightInverse judges by the property, and by how far it must reach.
func rightInverse(c *layoutCase) (answer, error) {
	l := c.operand()
	r := layout.RightInverse(l)
	return func(want *layoutExpect) error {
		least := max(c.MinSize, want.MinSize)
		if least == 0 {
			return errors.New("the case doesn't say how long the inverse must be")
		}
		if r.Size() < least {
			return fmt.Errorf("%v is shorter than %d", r, least)
		}
		return inverts(&l, &r)
	}, nil
}

// inverts returns an error unless l(r(i)) = i for all of r.
func inverts(l, r *layout.Layout) error {
	table, err := tableOf(r)
	if err != nil {
		return err
	}
	for i, x := range table {
		if o, err := l.Offset(x); err != nil || o != i {
			return fmt.Errorf("%v takes %d to %d, of offset %d (%v)", r, i, x, o, err)
		}
	}
	return nil
}

func maxCommonVector(c *layoutCase) (answer, error) {
	a, b := c.layout("a"), c.layout("b")
	n, r := layout.MaxCommonVector(a, b), layout.MaxCommonLayout(a, b)
	return func(want *layoutExpect) error {
		if want.Value == nil || n != *want.Value || r.Size() != n {
			return fmt.Errorf("%d elements, in the layout %v", n, r)
		}
		return errors.Join(inverts(&a, &r), inverts(&b, &r))
	}, nil
}

func prefixProduct(c *layoutCase) (answer, error) {
	return giveTuple(layout.PrefixProduct(c.tuple("shape")))
}

func shapeDiv(c *layoutCase) (answer, error) {
	return giveTuple(layout.ShapeDiv(c.tuple("a"), c.tuple("b")))
}

func giveTuple(t layout.Tuple, err error) (answer, error) {
	if err != nil {
		return nil, err
	}
	return func(want *layoutExpect) error {
		if t.String() != want.Tuple {
			return fmt.Errorf("%v, want %s", t, want.Tuple)
		}
		return nil
	}, nil
}

func innerProduct(c *layoutCase) (answer, error) {
	n, err := layout.InnerProduct(c.tuple("a"), c.tuple("b"))
	if err != nil {
		return nil, err
	}
	return func(want *layoutExpect) error {
		if want.Value == nil || n != *want.Value {
			return fmt.Errorf("%d", n)
		}
		return nil
	}, nil
}

// makeLayout has no tables: the layout it makes must have the shape, and where the data
// leaves open whether it may be made, no elements.
func makeLayout(c *layoutCase) (answer, error) {
	shape := c.tuple("shape")
	var l layout.Layout
	var err error
	if c.has("stride") {
		l, err = layout.Of(shape, c.tuple("stride"))
	} else {
		l, err = layout.ColMajorOf(shape)
	}
	if err != nil {
		return nil, err
	}
	return func(want *layoutExpect) error {
		if n, err := shape.Product(); err != nil || n != 0 || l.Size() != 0 {
			return fmt.Errorf("made %v", l)
		}
		return nil
	}, nil
}

// eval compares each offset that isn't refused.
func eval(c *layoutCase) (answer, error) {
	l := c.operand()
	var coords []any
	c.arg("coords", &coords)
	want := c.Expect.Values
	if c.Verdict != "reject" && (len(coords) == 0 || len(want) != len(coords)) {
		c.fail(errors.New("not a value for each coordinate"))
	}
	var refused error
	for i, v := range coords {
		o, err := l.OffsetAt(c.nested(v))
		switch {
		case err != nil:
			refused = err
		case c.bad == nil && c.Verdict != "reject" && o != want[i]:
			return nil, &wrong{fmt.Sprintf("%v at %v is %d, want %d", l, v, o, want[i])}
		}
	}
	if refused != nil {
		return nil, refused
	}
	if c.Op == "eval_past_end" {
		return right, nil
	}
	return func(want *layoutExpect) error {
		if want.Rank != nil && *want.Rank != l.Rank() {
			return fmt.Errorf("%v has rank %d, want %d", l, l.Rank(), *want.Rank)
		}
		if _, hi := l.Span(); want.MaxPlusOne != nil && hi+1 != *want.MaxPlusOne {
			return fmt.Errorf("%v reaches up to %d, want %d", l, hi, *want.MaxPlusOne-1)
		}
		return gives(l)(want)
	}, nil
}

// coordOf compares coordinates, and takes them back to their index.
func coordOf(c *layoutCase) (answer, error) {
	l, err := layout.ColMajorOf(c.tuple("shape"))
	if err != nil {
		return nil, err
	}
	indices := c.ints("indices")
	return func(want *layoutExpect) error {
		if len(indices) == 0 || len(want.Coords) != len(indices) {
			return errors.New("not a coordinate for each index")
		}
		for i, x := range indices {
			got, err := l.CoordOf(x)
			if err != nil {
				return err
			}
			w := c.nested(want.Coords[i])
			a, errA := got.Flatten()
			b, errB := w.Flatten()
			if errA != nil || errB != nil || !slices.Equal(a, b) {
				return fmt.Errorf("index %d of %v is at %v, want %v", x, l, got, w)
			}
			if o, err := l.OffsetAt(w); err != nil || o != x {
				return fmt.Errorf("%v of %v is index %d (%v), want %d", w, l, o, err, x)
			}
		}
		return nil
	}, nil
}

func fix(c *layoutCase) (answer, error) {
	l := c.operand()
	var v any
	c.arg("coord", &v)
	kept, offset, err := l.Fix(c.nested(v))
	if err != nil {
		return nil, err
	}
	return func(want *layoutExpect) error {
		if offset != want.Offset {
			return fmt.Errorf("%v from %d, want from %d", kept, offset, want.Offset)
		}
		return gives(kept)(want)
	}, nil
}

// swizzle compares a swizzle's results for some values and for single bits.
func swizzle(c *layoutCase) (answer, error) {
	bits, base, shift := c.int("bits"), c.int("base"), c.int("shift")
	var values []int
	if c.has("values") {
		values = c.ints("values")
	}
	w, err := layout.NewSwizzle(bits, base, shift)
	if err != nil {
		return nil, err
	}
	return func(want *layoutExpect) error {
		to := map[int]int{}
		for i, x := range want.Table {
			to[i] = x
		}
		for _, s := range want.Samples {
			to[s[0]] = s[1]
		}
		if len(values) != len(want.Values) {
			return errors.New("not a result for each value")
		}
		for i, x := range values {
			to[x] = want.Values[i]
		}
		if len(to) == 0 {
			return errors.New("the case has no values")
		}
		for _, x := range slices.Sorted(maps.Keys(to)) {
			if w.At(x) != to[x] {
				return fmt.Errorf("%v takes %d to %d, want %d", w, x, w.At(x), to[x])
			}
		}
		if want.Size != nil && *want.Size != w.Size() {
			return fmt.Errorf("%v permutes %d offsets, want %d", w, w.Size(), *want.Size)
		}
		y, z := 0, 0 // the bits that flip others, and the flipped bits
		for b := 1; b < w.Size(); b <<= 1 {
			if flipped := w.At(b) ^ b; flipped != 0 {
				y, z = y|b, z|flipped
			}
		}
		if want.YMask != nil && *want.YMask != y || want.ZMask != nil && *want.ZMask != z {
			return fmt.Errorf("%v flips bits %b by bits %b", w, z, y)
		}
		return nil
	}, nil
}

func composed(c *layoutCase) (answer, error) {
	var outer layout.Map
	if c.has("swizzle") {
		n := c.ints("swizzle")
		if len(n) != 3 {
			c.fail(errors.New("a swizzle has three numbers"))
			return nil, nil
		}
		w, err := layout.NewSwizzle(n[0], n[1], n[2])
		if err != nil {
			return nil, err
		}
		outer = w
	} else {
		outer = c.layout("outer")
	}
	m, err := layout.NewComposed(outer, c.int("offset"), c.layout("layout"))
	if err != nil {
		return nil, err
	}
	return func(want *layoutExpect) error {
		table := want.Table
		if table == nil {
			table = want.TablePrefix
		} else if m.Size() != len(table) || want.Size != nil && m.Size() != *want.Size {
			return fmt.Errorf("%v has %d coordinates, want %d", m, m.Size(), len(table))
		}
		if len(table) == 0 {
			return errors.New("the case has no table")
		}
		for i, x := range table {
			if o, err := m.Offset(i); err != nil || o != x {
				return fmt.Errorf("%v at %d is %d (%v), want %d", m, i, o, err, x)
			}
		}
		return nil
	}, nil
}
