package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
)

// Strided is an array in NumPy's description: a stride in bytes for each axis.
type Strided struct {
	Shape, Strides []int
	Offset         int // bytes before the first element
	Item           int // bytes of an element
}

// String writes shape=…, strides=…, itemsize=…, and offset=… unless it is 0.
func (s Strided) String() string {
	text := "shape=" + python(s.Shape) + ", strides=" + python(s.Strides) + fmt.Sprintf(", itemsize=%d", s.Item)
	if s.Offset != 0 {
		text += fmt.Sprintf(", offset=%d", s.Offset)
	}
	return text
}

// python writes a tuple as Python does: (4,) for one entry.
func python(v []int) string {
	if len(v) == 1 {
		return fmt.Sprintf("(%d,)", v[0])
	}
	return tupleText(v)
}

// StridedOf returns a layout as NumPy's strides, for elements of item bytes. Axis k is mode
// k. If NumPy can't express the layout, the error is a *Mismatch. NumPy has one stride for
// each axis, so a nested mode would need an axis for each of its leaves. A swizzle has no
// strides at all.
func StridedOf(c layout.Composed, item int) (Strided, error) {
	const op = "StridedOf"
	if item < 1 || item > 1<<12 {
		return Strided{}, fail(op, layout.ErrRange, "elements of %d bytes", item)
	}
	in := c.Inner()
	s := Strided{Shape: in.Shape(), Item: item}
	weight := 1
	w, swizzled := c.Outer().(layout.Swizzle)
	if swizzled = swizzled && w.Bits() == 0; swizzled { // strides alone
		s.Offset = c.Base()
		for k := range in.Rank() {
			str, ok := in.Stride(k)
			if !ok {
				mode := in.Mode(k)
				whole := mode.Coalesce()
				e, d := whole.Leaf(0)
				got, err := whole.Offset(e)
				if err != nil {
					return Strided{}, err
				}
				return Strided{}, &Mismatch{op, weight * e, coordOf(s.Shape, weight*e), e * d, got,
					fmt.Sprintf("mode %d, %v, has no single stride: after %d steps of %d it goes to %d; flatten gives each leaf an axis", k, mode, e-1, d, got)}
			}
			s.Strides = append(s.Strides, str)
			weight *= in.Dim(k)
		}
	} else {
		offs, err := offsets(op, c)
		if err != nil {
			return Strided{}, err
		}
		s.Strides = make([]int, len(s.Shape))
		if len(offs) > 0 {
			s.Offset = offs[0]
			for k, e := range s.Shape {
				if e > 1 {
					s.Strides[k] = offs[weight] - offs[0]
				}
				weight *= e
			}
			for i, off := range offs {
				got := offs[0]
				for k, x := range coordOf(s.Shape, i) {
					got += x * s.Strides[k]
				}
				if got != off {
					return Strided{}, &Mismatch{op, i, coordOf(s.Shape, i), got, off, fmt.Sprintf("strides give offset %d, the layout %d", got, off)}
				}
			}
		}
	}
	const most = math.MaxInt / 2
	for _, str := range append(slices.Clone(s.Strides), s.Offset) {
		if str > most/item || str < -most/item {
			return Strided{}, fail(op, layout.ErrOverflow, "a stride of %d elements of %d bytes doesn't fit an int", str, item)
		}
	}
	for k := range s.Strides {
		s.Strides[k] *= item
	}
	s.Offset *= item
	return s, nil
}

// Layout returns the layout of the array. It fails if strides and offset aren't whole
// elements.
func (s Strided) Layout() (layout.Composed, error) {
	const op = "Strided.Layout"
	if s.Item < 1 || len(s.Shape) != len(s.Strides) {
		return layout.Composed{}, fail(op, layout.ErrShape, "%v: want as many strides as axes, and elements of at least one byte", s)
	}
	str := make([]int, len(s.Strides))
	for k, b := range s.Strides {
		if b%s.Item != 0 {
			return layout.Composed{}, fail(op, layout.ErrDivide, "stride %d of axis %d is no whole number of elements of %d bytes", b, k, s.Item)
		}
		str[k] = b / s.Item
	}
	if s.Offset%s.Item != 0 {
		return layout.Composed{}, fail(op, layout.ErrDivide, "offset %d is no whole number of elements of %d bytes", s.Offset, s.Item)
	}
	l, err := layout.New(s.Shape, str)
	if err != nil {
		return layout.Composed{}, err
	}
	return layout.NewComposed(layout.Swizzle{}, s.Offset/s.Item, l)
}
