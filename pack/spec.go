package pack

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// Options control the storage of a tensor. The zero value is rows without padding.
type Options struct {
	Tile   Tile   // the zero value: rows
	Format Format // nil: the elements unchanged
	Align  []int  // extents are padded to multiples of these; the last number is for the last axis
	Padded []int  // the padded shape itself; Align must then be empty
	// Padding is the value that Pack writes to padding, of rank 0 and the values' type; the zero value is 0. In block floats,
	// padding shares exponents with elements: a large value reduces the precision of elements at the edge.
	Padding tensor.Any
}

// Spec describes a tensor and its storage. Like a tensor.Spec it has no elements, and Any
// makes a run-time tensor of it. Its DType is the type of the values, float32 if there is a
// Format.
type Spec struct {
	tensor.Spec
	tile   Tile
	format Format
	align  []int
}

// NewSpec returns the description of a tensor. Options.Align follows TT-NN's rules. Missing
// numbers are the tile's sides, or 1 in rows. The numbers of a matrix are rounded up to
// multiples of the tile's sides. tensor.Spec.Align describes their effect. NewSpec fails if:
//   - an extent is negative, or a size doesn't fit an int
//   - the tile isn't one of TT-NN's
//   - the padded shape is smaller than the shape, or not of whole tiles
//   - alignments don't fit each other
//   - the format can't hold the tensor
func NewSpec(d dtype.DType, shape []int, opts *Options) (Spec, error) {
	const op = "pack.NewSpec"
	o := *cmp.Or(opts, new(Options))
	s := Spec{tile: o.Tile, format: o.Format}
	var err error
	if s.Spec, err = tensor.NewSpec(d, shape...); err != nil {
		return Spec{}, tensor.Wrap(op, err)
	}
	switch {
	case d.Size() == 0:
		return Spec{}, fail(op, tensor.ErrDType, "no tensor holds %v", d)
	case o.Format != nil && d != dtype.Float32:
		return Spec{}, fail(op, tensor.ErrDType, "%s holds float32 values, not %v", o.Format.Name(), d)
	case len(o.Align) > 0 && o.Padded != nil:
		return Spec{}, fail(op, tensor.ErrShape, "both an alignment and a padded shape are given; leave one out")
	}
	if err := o.Tile.check(op); err != nil {
		return Spec{}, err
	}
	s.align = o.Tile.align(o.Align)
	if o.Padded == nil {
		s.Spec, err = s.Spec.Align(s.align...)
	} else {
		s.Spec, err = s.Spec.WithPadded(o.Padded...)
	}
	if err != nil {
		return Spec{}, tensor.Wrap(op, err)
	}
	if t, padded := s.tile, s.paddedShape(); t != (Tile{}) {
		if k := len(padded) - 2; k < 0 || padded[k]%t.Height != 0 || padded[k+1]%t.Width != 0 {
			return Spec{}, fail(op, tensor.ErrShape, "the padded shape %s isn't made of whole tiles of %v", ints(padded), t)
		}
	}
	if n := s.StorageLen(); n > maxInt/max(16, d.Size()) { // so that Bytes fits
		return Spec{}, fail(op, tensor.ErrOverflow, "%d elements of %v don't fit an int of bytes", n, d)
	}
	if s.format != nil {
		if err := s.format.Check(&s); err != nil {
			return Spec{}, tensor.Wrap(op, err)
		}
	}
	return s, nil
}

// Tile returns the tile, or its zero value in rows.
func (s Spec) Tile() Tile { return s.tile }

// Format returns the encoding of elements; nil: they are stored unchanged.
func (s Spec) Format() Format { return s.format }

// TypeName returns the name of the format, such as bfloat8_b, or if there is none the
// name of the element type, such as float32.
func (s Spec) TypeName() string {
	if s.format != nil {
		return s.format.Name()
	}
	return s.DType().String()
}

// Alignment returns the numbers to multiples of which extents are padded, in a new slice;
// the last number is for the last axis.
func (s Spec) Alignment() []int { return slices.Clone(s.align) }

func (s *Spec) paddedShape() []int { return s.Spec.Padded().Shape() }

// LogicalMatrix returns the shape as one matrix. The height is the product of all extents
// but the last, and the width is the last extent. For missing extents they are 1.
func (s Spec) LogicalMatrix() (height, width int) { return matrix(s.Shape()) }

// PhysicalShape returns the padded shape as one matrix.
func (s Spec) PhysicalShape() (height, width int) { return matrix(s.paddedShape()) }

func matrix(shape []int) (height, width int) {
	height, width = 1, 1
	for i, n := range shape {
		if i == len(shape)-1 {
			width = n
		} else {
			height *= n
		}
	}
	return height, width
}

// PageShape returns the shape of a page, which stays together when a tensor is
// distributed: a tile, or a row of the physical matrix. As in TT-NN, rows of an empty
// tensor count as four bytes.
func (s Spec) PageShape() (height, width int) {
	switch _, width = s.PhysicalShape(); {
	case s.tile != (Tile{}):
		return s.tile.Height, s.tile.Width
	case s.StorageLen() == 0:
		return 1, max(4/s.DType().Size(), 1)
	}
	return 1, width
}

// PageBytes returns the bytes of a page.
func (s Spec) PageBytes() int {
	h, w := s.PageShape()
	return s.size(h * w)
}

// Bytes returns the bytes of the storage.
func (s Spec) Bytes() int {
	n := s.StorageLen()
	if s.tile == (Tile{}) {
		return s.size(n)
	}
	page := s.tile.Len()
	return n / page * s.size(page)
}

func (s *Spec) size(n int) int {
	if s.format != nil {
		return s.format.Size(n)
	}
	return n * s.DType().Size()
}

// Storage returns the layout of the padded shape in storage. It is row-major without
// tiles. With tiles, each matrix has the layout of Tile.Layout, and the matrices follow
// each other in row-major order.
func (s Spec) Storage() layout.Layout {
	shape := s.paddedShape()
	lay, err := s.storage(shape)
	if err != nil {
		panic(tensor.Wrap("pack.Storage", err)) // NewSpec has checked the tile and the size
	}
	return lay
}

func (s *Spec) storage(shape []int) (layout.Layout, error) {
	if s.tile == (Tile{}) || s.StorageLen() == 0 {
		return layout.RowMajor(shape...)
	}
	lead := len(shape) - 2
	last, err := s.tile.Layout(shape[lead], shape[lead+1])
	if err != nil || lead == 0 {
		return last, err
	}
	modes := make([]layout.Layout, len(shape))
	modes[lead], modes[lead+1] = last.Mode(0), last.Mode(1)
	step := last.Size()
	for i := lead - 1; i >= 0; i-- {
		if modes[i], err = layout.New(shape[i:i+1], []int{step}); err != nil {
			return layout.Layout{}, err
		}
		step *= shape[i]
	}
	return layout.Join(modes...)
}

// Identical reports whether two descriptions agree in everything.
func (s Spec) Identical(o Spec) bool {
	return s.Spec.Identical(o.Spec) && s.tile == o.tile && sameFormat(s.format, o.format)
}

// String describes the tensor for people. For integers with several scales, it adds their
// places:
//
//	bfloat8_b[14,28] in tiles of 32×32, padded to [32,32]
//	int4[64,64], scales for 32 along axis 1
func (s Spec) String() string {
	text := s.TypeName() + ints(s.Shape())
	if s.tile != (Tile{}) {
		text += " in tiles of " + s.tile.String()
	}
	if padded := s.paddedShape(); !slices.Equal(padded, s.Shape()) {
		text += ", padded to " + ints(padded)
	}
	switch f, ok := s.format.(*integers); {
	case !ok:
	case f.list:
		text += fmt.Sprintf(", scales along axis %d", f.at)
	case f.shape != nil:
		text += fmt.Sprintf(", scales for %d along axis %d", f.block, f.at)
	default:
		text += ", one scale"
	}
	return text
}

// ints writes [14,28].
func ints(v []int) string {
	text := "["
	for i, n := range v {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprint(n)
	}
	return text + "]"
}

const maxInt = int(^uint(0) >> 1)

func fail(op string, err error, format string, args ...any) *tensor.Error {
	return &tensor.Error{Op: op, Text: fmt.Sprintf(format, args...), Err: err}
}
