package layout

import "github.com/ashlar-go/ashlar/internal/core/modes"

// LogicalProduct returns (a, a* ∘ b), where a* = Complement(a, Size(a)·n) and n is
// one more than the largest offset of b: the layout of rank 2 whose first mode is a
// and whose second mode lays copies of a into its gaps and beyond, in the order of b.
//
//	(2,2):(4,1) × 6:1 → ((2,2),(2,3)):((4,1),(2,8))
//
// It fails when a has no complement, b a negative offset, the composition has no
// layout, or an offset does not fit an int. An empty a gives a mode of strides 0.
func LogicalProduct(a, b Layout) (Layout, error) { return multiply("LogicalProduct", a, b) }

// ZippedProduct is LogicalProduct.
func ZippedProduct(a, b Layout) (Layout, error) { return multiply("ZippedProduct", a, b) }

// TiledProduct is LogicalProduct with the modes of the second side by side:
// (a, b0, b1, …).
func TiledProduct(a, b Layout) (Layout, error) {
	c, err := placed("TiledProduct", &a, &b)
	if err != nil {
		return Layout{}, err
	}
	var w writer
	w.join(&a)
	w.modes(&c)
	return w.layout("TiledProduct")
}

// FlatProduct is LogicalProduct with all modes side by side: (a0, a1, …, b0, b1, …).
func FlatProduct(a, b Layout) (Layout, error) {
	c, err := placed("FlatProduct", &a, &b)
	if err != nil {
		return Layout{}, err
	}
	var w writer
	w.modes(&a)
	w.modes(&c)
	return w.layout("FlatProduct")
}

// LogicalProductByMode multiplies mode i of a by tiler[i] with LogicalProduct, so
// that it becomes (mode, copies); modes beyond the tiler are kept. It fails when
// the tiler has more modes than a, or a product fails.
func LogicalProductByMode(a Layout, tiler ...Layout) (Layout, error) {
	var w writer
	err := w.byMode("LogicalProductByMode", &a, tiler, func(mode, tile *Layout) error {
		p, err := multiply("LogicalProductByMode", *mode, *tile)
		if err == nil {
			w.join(&p)
		}
		return err
	})
	if err != nil {
		return Layout{}, err
	}
	return w.layout("LogicalProductByMode")
}

// BlockedProduct is LogicalProduct with mode i of a beside mode i of the copies, so
// that each copy of a is a block: mode i is (a_i, b_i). The shorter of the two gets
// modes 1:0 at its end. It fails as LogicalProduct does.
//
//	(2,5):(5,1) × (3,4):(1,3) → ((2,3),(5,4)):((5,10),(1,30))
func BlockedProduct(a, b Layout) (Layout, error) { return zip("BlockedProduct", a, b, false) }

// RakedProduct is BlockedProduct with the copies interleaved: mode i is (b_i, a_i).
//
//	(2,5):(5,1) × (3,4):(1,3) → ((3,2),(4,5)):((10,5),(30,1))
func RakedProduct(a, b Layout) (Layout, error) { return zip("RakedProduct", a, b, true) }

// TileToShape returns the layout of the given shape made of copies of block, whose
// mode i is (block_i, copies along axis i). The copies are counted in the order of
// the numbers of order, the smallest first, or of the axes when there is none; the
// block gets modes 1:0 at its end when it has fewer than the shape.
//
//	(2,5):(5,1) to (6,20)          → ((2,3),(5,4)):((5,10),(1,30))
//	(2,5):(5,1) to (6,20) by (1,0) → ((2,3),(5,4)):((5,40),(1,10))
//
// It fails when the block has more modes than the shape, doesn't divide it, or is
// empty, when order has another length, and as BlockedProduct does.
func TileToShape(block Layout, shape []int, order ...int) (Layout, error) {
	if block.Rank() > len(shape) || len(order) > 0 && len(order) != len(shape) {
		return Layout{}, fail("TileToShape", ErrShape, "%v to %s by %s: the ranks differ", block, tupleText(shape), tupleText(order))
	}
	copies := make([]int, len(shape))
	for i, n := range shape {
		d := 1
		if i < block.Rank() {
			d = block.Dim(i)
		}
		if d == 0 || n < 0 || n%d != 0 {
			return Layout{}, fail("TileToShape", ErrDivide, "%v to %s: axis %d is no whole number of blocks, %d / %d", block, tupleText(shape), i, n, d)
		}
		copies[i] = n / d
	}
	if len(order) == 0 {
		order = make([]int, len(shape))
	}
	tiles, err := Ordered(Ints(copies...), Ints(order...))
	if err != nil {
		return Layout{}, renamed("TileToShape", err)
	}
	return zip("TileToShape", block, tiles, false)
}

// multiply is LogicalProduct under another name.
func multiply(op string, a, b Layout) (Layout, error) {
	c, err := placed(op, &a, &b)
	if err != nil {
		return Layout{}, err
	}
	var w writer
	w.join(&a)
	w.join(&c)
	return w.layout(op)
}

// placed returns a* ∘ b.
func placed(op string, a, b *Layout) (Layout, error) {
	var w writer
	if a.Size() == 0 {
		w.modes(b)
		w.still(0)
		return w.layout(op)
	}
	_, hi := b.Span()
	n, fits := modes.Mul(a.Size(), hi+1)
	if !fits {
		return Layout{}, fail(op, ErrOverflow, "%s: the size doesn't fit an int", times(a, b))
	}
	gaps, err := Complement(*a, n)
	if err != nil {
		return Layout{}, renamed(op, err, times(a, b))
	}
	if err := w.compose(op, &gaps, b); err != nil {
		return Layout{}, renamed(op, err, times(a, b))
	}
	return w.layout(op)
}

func times(a, b *Layout) string { return clip(a.String()) + " × " + clip(b.String()) }

// zip is the product with mode i of both in one mode.
func zip(op string, a, b Layout, copiesFirst bool) (Layout, error) {
	c, err := placed(op, &a, &b)
	if err != nil {
		return Layout{}, err
	}
	one := Layout{in: modes.Ref{N: 1, Modes: 1}}
	one.in.Ext[0] = 1
	var w writer
	for i := range max(a.Rank(), c.Rank()) {
		x, y := one, one
		if i < a.Rank() {
			x = a.Mode(i)
		}
		if i < c.Rank() {
			y = c.Mode(i)
		}
		if copiesFirst {
			x, y = y, x
		}
		w.joinAll([]Layout{x, y}, true)
	}
	return w.layout(op)
}
