package tensor

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
)

// Spec describes a tensor without elements: its element type, its shape, and the
// shape its storage is padded to. Shape inference works on it. It has the
// shape's row-major layout: Any makes one of it, without the padding.
//
// The padded shape is at least as large as the shape along every axis, and may have
// more axes: the shape then counts as having extents of 1 in front. The contents of
// the padding mean nothing, and no operator reads them.
type Spec struct {
	dtype  dtype.DType
	lay    layout.Layout
	padded []int // nil: no padding
}

// NewSpec returns the description of a tensor without padding. It fails when an
// extent is negative or the size doesn't fit an int.
func NewSpec(d dtype.DType, shape ...int) (Spec, error) {
	lay, err := layout.RowMajor(shape...)
	if err != nil {
		return Spec{}, Wrap("tensor.NewSpec", err)
	}
	return Spec{dtype: d, lay: lay}, nil
}

// Any returns s without its padding as a tensor that has no elements.
func (s Spec) Any() Any { return Any{where: where{int(s.dtype), s.lay}} }

// DType returns the element type.
func (s Spec) DType() dtype.DType { return s.dtype }

// Rank returns the number of axes.
func (s Spec) Rank() int { return walk.Ref(&s.lay).Rank() }

// Dim returns the extent of an axis. Negative axes count from the end. It panics
// when there is no such axis.
func (s Spec) Dim(axis int) int {
	return walk.Ref(&s.lay).Dim(axisOf("tensor.Dim", axis, walk.Ref(&s.lay).Rank()))
}

// Shape returns the extents of the axes, without padding, in a new slice.
func (s Spec) Shape() []int { return s.lay.Shape() }

// Layout returns the row-major layout of the shape.
func (s Spec) Layout() layout.Layout { return s.lay }

// Len returns the number of elements, without padding.
func (s Spec) Len() int { return walk.Ref(&s.lay).Size() }

// Padded returns the description of a tensor without padding that has the padded
// shape: s itself where nothing is padded.
func (s Spec) Padded() Spec {
	if s.padded == nil {
		return s
	}
	lay, _ := layout.RowMajor(s.padded...) // WithPadded checked it
	return Spec{dtype: s.dtype, lay: lay}
}

// StorageLen returns the number of elements with the padding.
func (s Spec) StorageLen() int { return s.Padded().Len() }

// WithPadded returns s with another padded shape. It fails when that has fewer axes
// than the shape, an extent is smaller than the shape's, or the size doesn't fit an
// int.
func (s Spec) WithPadded(padded ...int) (Spec, error) {
	const op = "tensor.WithPadded"
	lay, err := layout.RowMajor(padded...)
	if err != nil {
		return Spec{}, Wrap(op, err)
	}
	more := len(padded) - s.Rank()
	if more < 0 {
		return Spec{}, &Error{op, sprintf("shape %s has %d axes, the padded shape %s has %d; it needs as many or more", s.lay.ShapeString(), s.Rank(), lay.ShapeString(), len(padded)), ErrShape}
	}
	for i, n := range padded {
		if want := s.extent(i - more); n < want {
			return Spec{}, &Error{op, sprintf("axis %d of the padded shape %s is %d, less than the %d of shape %s", i, lay.ShapeString(), n, want, s.lay.ShapeString()), ErrShape}
		}
	}
	s.padded = nil
	if !sameShape(&s.lay, &lay) {
		s.padded = slices.Clone(padded)
	}
	return s, nil
}

// extent is that of axis i, and 1 before the first.
func (s *Spec) extent(i int) int {
	if i < 0 {
		return 1
	}
	return walk.Ref(&s.lay).Dim(i)
}

// Align returns s padded so that the extents are multiples of align, whose last number is
// about the last axis. The last two are about the extents of a matrix, each padded by
// itself. A number before these is about the rows of all matrices up to its axis. Axes
// without a number keep their extents. Here 4·32 is a multiple of 128, so four matrices
// take the place of three:
//
//	[2,3,30,40] aligned to [128,32,32] → [2,4,32,64]
//
// It fails when a number isn't positive, doesn't divide the rows below its axis and isn't a
// multiple of them either, or the size doesn't fit an int.
func (s Spec) Align(align ...int) (Spec, error) {
	const op = "tensor.Align"
	rank := max(s.Rank(), len(align))
	padded := make([]int, rank)
	rows := 1 // of a padded matrix, and of all matrices further out
	for i := rank - 1; i >= 0; i-- {
		have, a := s.extent(i-(rank-s.Rank())), 1
		if k := i - (rank - len(align)); k >= 0 {
			a = align[k]
		}
		if a <= 0 {
			return Spec{}, &Error{op, sprintf("the alignment %d of axis %d is not positive; 1 keeps an extent", a, i), ErrShape}
		}
		if i < rank-2 {
			switch {
			case rows%a == 0:
				a = 1
			case a%rows == 0:
				a /= rows
			default:
				return Spec{}, &Error{op, sprintf("the alignment %d of axis %d and the %d rows below it don't divide each other; make one a multiple of the other", a, i, rows), ErrShape}
			}
		}
		if have > maxInt-(a-1) {
			return Spec{}, &Error{op, sprintf("axis %d of %d, aligned to %d, doesn't fit an int", i, have, a), ErrOverflow}
		}
		padded[i] = (have + a - 1) / a * a
		if i < rank-1 && padded[i] > 0 && rows > maxInt/padded[i] {
			return Spec{}, &Error{op, sprintf("the rows of shape %s, padded, don't fit an int", s.lay.ShapeString()), ErrOverflow}
		}
		if i < rank-1 {
			rows *= padded[i]
		}
	}
	out, err := s.WithPadded(padded...)
	if err != nil {
		return Spec{}, Wrap(op, err)
	}
	return out, nil
}

// ToRank returns s with n axes: with extents of 1 put in front, or taken away there.
// The padded shape gets n axes too, or keeps as many more as it has extents other
// than 1. It fails when an extent that isn't 1 would go.
func (s Spec) ToRank(n int) (Spec, error) {
	const op = "tensor.ToRank"
	const most = 1 << 16 // axes that a layout may have
	shape := toRank(s.Shape(), max(min(n, most), 0))
	if n < 0 || len(shape) != n {
		return Spec{}, &Error{op, sprintf("shape %s has no form with %d axes: only extents of 1 come and go, in front", s.lay.ShapeString(), n), ErrShape}
	}
	out, err := NewSpec(s.dtype, shape...)
	if err == nil && s.padded != nil {
		out, err = out.WithPadded(toRank(s.padded, n)...)
	}
	if err != nil {
		return Spec{}, Wrap(op, err)
	}
	return out, nil
}

func toRank(shape []int, n int) []int {
	for len(shape) > max(n, 0) && shape[0] == 1 {
		shape = shape[1:]
	}
	if more := n - len(shape); more > 0 {
		shape = append(slices.Repeat([]int{1}, more), shape...)
	}
	return shape
}

// Equal reports whether two descriptions have the same shape, whatever the padding.
func (s Spec) Equal(o Spec) bool { return sameShape(&s.lay, &o.lay) }

// Identical reports whether two descriptions have the same element type, shape and
// padded shape.
func (s Spec) Identical(o Spec) bool {
	return s.dtype == o.dtype && s.Equal(o) && slices.Equal(s.padded, o.padded)
}

// String writes float32[2,3].
func (s Spec) String() string { return describe(s.dtype, &s.lay) }
