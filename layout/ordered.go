package layout

import (
	"cmp"
	"slices"
)

// RowMajorOf returns the dense layout of a nested shape whose last leaf is fastest:
// the offsets of coordinates in lexicographic order, all brackets aside, are 0, 1, ….
// It fails as Of does.
//
//	((2,3),4) → ((2,3),4):((12,4),1)
func RowMajorOf(shape Tuple) (Layout, error) { return ordered("RowMajorOf", shape, lastFirst) }

// ColMajorOf returns the dense layout of a nested shape whose first leaf is fastest:
// Offset(i) is i. It fails as Of does.
//
//	((2,3),4) → ((2,3),4):((1,2),6)
func ColMajorOf(shape Tuple) (Layout, error) { return ordered("ColMajorOf", shape, firstFirst) }

// Ordered returns the dense layout of a shape whose leaves are taken in the order
// of the numbers of order, the smallest number fastest; of equal ones the leftmost
// is. The numbers need not be consecutive. Order nests as shape does, or is
// coarser: one number for a nested mode takes its leaves from the left.
//
//	(2,3,4) by (2,0,1) → (2,3,4):(12,1,3)
//
// It fails when order doesn't fit shape, and as Of does.
func Ordered(shape, order Tuple) (Layout, error) {
	rank, ok := spread(nil, shape, order)
	if !ok {
		return Layout{}, fail("Ordered", ErrShape, "order %v doesn't fit shape %v", order, shape)
	}
	return ordered("Ordered", shape, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
}

// spread gives every leaf of shape its number of order.
func spread(rank []int, shape, order Tuple) ([]int, bool) {
	if n, isInt := order.Int(); isInt {
		leaves, ok := shape.appendInts(nil)
		for range leaves {
			rank = append(rank, n)
		}
		return rank, ok
	}
	if !order.IsList() || !shape.IsList() || len(order.entries) != len(shape.entries) {
		return nil, false
	}
	ok := true
	for i := range shape.entries {
		if rank, ok = spread(rank, shape.entries[i], order.entries[i]); !ok {
			break
		}
	}
	return rank, ok
}

func firstFirst(a, b int) int { return cmp.Compare(a, b) }
func lastFirst(a, b int) int  { return cmp.Compare(b, a) }

// ordered makes a dense layout, the leaves in the order of less fastest first.
func ordered(op string, shape Tuple, order func(a, b int) int) (Layout, error) {
	if !shape.IsList() {
		shape = List(shape)
	}
	var w writer
	for _, e := range shape.entries {
		if err := w.tuple(op, e, e, 1); err != nil {
			return Layout{}, err
		}
	}
	ext, str := w.slices()
	if _, err := shapeSize(op, ext); err != nil {
		return Layout{}, err
	}
	places := make([]int, len(ext))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, order)
	step := 1
	for _, i := range places {
		str[i] = step
		step *= max(ext[i], 1)
	}
	return w.canonical(op)
}

// Join returns the layout whose modes are the given layouts, in order: a layout of
// one unnested mode becomes a leaf, one of several a nested mode. The offset of
// (c0,c1,…) is the sum of the offsets of c0, c1, …. It fails when a layout of rank 0
// is among them, or the size or an offset does not fit an int.
func Join(modes ...Layout) (Layout, error) {
	var w writer
	for i := range modes {
		if modes[i].Rank() == 0 {
			return Layout{}, fail("Join", ErrShape, "layout %d has rank 0; 1:0 is the mode of one element", i)
		}
		w.join(&modes[i])
	}
	return w.layout("Join")
}

// Flatten returns the layout of the leaves, all brackets gone.
func (l Layout) Flatten() Layout {
	ext, str := l.in.All()
	return must(build("Flatten", ext, str, nil))
}
