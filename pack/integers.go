package pack

import (
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// Integers describes a format of scaled integers, as ONNX's QuantizeLinear makes them.
// x ÷ Scale is rounded to nearest, ties to even. Then Zero is added, and the sum is clamped
// to the range of the integers. The decoded value is (integer − Zero) · Scale. NaN becomes
// Zero, whose value is 0. Two integers of four bits share a byte, the first in its low half.
//
// A single Scale suits any tensor. Several scales suit only rows of one Shape without
// padding. Without a Block, Scale is a list with a number per position of Axis. With a
// Block, it has the shape of the tensor, but along Axis, Block neighbours share a number.
type Integers struct {
	Bits     int // 4 or 8
	Unsigned bool
	Scale    tensor.Tensor[float32]
	Zero     tensor.Tensor[int32] // as many numbers as Scale; the zero value: all 0
	Shape    []int                // of the tensor; not needed for one Scale
	Axis     int                  // negative counts from the end
	Block    int                  // 0: none
}

// NewIntegers returns the format. It copies Scale and Zero. It fails if Bits isn't 4 or 8,
// a scale isn't positive and finite, a zero point isn't in the range of the integers, or
// the shapes don't fit each other.
func NewIntegers(o Integers) (Format, error) {
	const op = "pack.NewIntegers"
	if o.Scale.IsZero() {
		return nil, fail(op, tensor.ErrValue, "there is no scale; Calibrate makes them")
	}
	f, err := arrange(op, o, o.Scale.Shape())
	if err != nil {
		return nil, err
	}
	err = tensor.Try(func() {
		if o.Zero.IsZero() {
			o.Zero = tensor.New[int32](o.Scale.Shape()...)
		}
		f.scale, f.zero = slices.Collect(o.Scale.Values()), slices.Collect(o.Zero.Values())
	})
	if err != nil {
		return nil, tensor.Wrap(op, err)
	}
	if got := o.Zero.Shape(); !slices.Equal(got, o.Scale.Shape()) {
		return nil, fail(op, tensor.ErrShape, "zeros of shape %s for scales of %s", ints(got), ints(o.Scale.Shape()))
	}
	if err := f.check(op); err != nil {
		return nil, err
	}
	return f, nil
}

// integers is a checked Integers. Element i of the storage is at coordinate
// i/inner%axis of the axis, along which block elements share a scale. outer is the
// number of scales from one outer index to the next.
type integers struct {
	name        string
	bits        int
	least       int32
	bare        bool // read from a description: scale and zero are still missing
	zeros       bool // a zero point isn't 0; if bare, zero points are missing, too
	scale       []float32
	zero        []int32
	scales      []int // the shape of both
	shape       []int // nil: one scale
	at          int   // which axis of shape
	inner, axis int
	block       int
	list        bool // a scale per position of the axis, for all positions of other axes
}

// arrange returns the format without its scales; their shape is scales.
func arrange(op string, o Integers, scales []int) (*integers, error) {
	f := &integers{bits: o.Bits, name: fmt.Sprintf("int%d", o.Bits), scales: append([]int{}, scales...)}
	if o.Bits != 4 && o.Bits != 8 {
		return nil, fail(op, tensor.ErrDType, "integers of %d bits; there are 4 and 8", o.Bits)
	}
	f.least = -1 << (o.Bits - 1)
	if o.Unsigned {
		f.least, f.name = 0, "u"+f.name
	}
	if len(scales) == 0 {
		return f, nil
	}
	axis := o.Axis
	if axis < 0 {
		axis += len(o.Shape)
	}
	if axis < 0 || axis >= len(o.Shape) {
		return nil, fail(op, tensor.ErrAxis, "axis %d of shape %s: give the tensor's shape, and one of its axes", o.Axis, ints(o.Shape))
	}
	s, err := tensor.NewSpec(dtype.Float32, o.Shape...)
	if err != nil {
		return nil, tensor.Wrap(op, err)
	}
	want := []int{o.Shape[axis]}
	switch f.block = o.Block; {
	case o.Block < 0 || o.Block > 0 && o.Shape[axis]%o.Block != 0:
		return nil, fail(op, tensor.ErrShape, "blocks of %d along axis %d of shape %s; they must divide it", o.Block, axis, ints(o.Shape))
	case o.Block > 0:
		want = slices.Clone(o.Shape)
		want[axis] /= o.Block
	default:
		f.block, f.list = 1, true
	}
	if !slices.Equal(scales, want) {
		return nil, fail(op, tensor.ErrShape, "scales of shape %s; of shape %s along axis %d they have %s", ints(scales), ints(o.Shape), axis, ints(want))
	}
	if n := o.Shape[axis]; max(n, s.Len()) > maxInt/16 { // so that ScaleBytes fits
		return nil, fail(op, tensor.ErrOverflow, "the scales of shape %s don't fit an int of bytes", ints(o.Shape))
	}
	f.shape, f.at, f.axis, f.inner = slices.Clone(o.Shape), axis, o.Shape[axis], 1
	for _, n := range o.Shape[axis+1:] {
		f.inner *= n
	}
	return f, nil
}

// check returns an error for invalid scales and zero points.
func (f *integers) check(op string) error {
	for i, v := range f.scale {
		if !(v > 0) || math.IsInf(float64(v), 1) {
			return fail(op, tensor.ErrValue, "scale %d is %v; it must be positive and finite", i, v)
		}
		if z := f.zero[i]; z < f.least || z > f.most() {
			return fail(op, tensor.ErrValue, "zero %d is %d, which %s doesn't hold", i, z, f.name)
		}
		f.zeros = f.zeros || f.zero[i] != 0
	}
	return nil
}

// count returns the number of scales.
func (f *integers) count() int {
	n := 1
	for _, e := range f.scales {
		n *= e
	}
	return n
}

func (f *integers) most() int32 { return f.least + 1<<f.bits - 1 }

func (f *integers) Name() string { return f.name }

func (f *integers) Group() int { return 8 / f.bits }

func (f *integers) Size(n int) int { return n/f.Group() + n%f.Group() }

func (f *integers) Check(s *Spec) error {
	const text = "the scales are for rows without padding of shape %s, not for %s"
	switch {
	case s == nil:
		return noSpec()
	case f.shape == nil:
		return nil
	case s.tile != (Tile{}):
		return fail("pack.NewSpec", tensor.ErrShape, text+" in tiles; one scale is for any tensor", ints(f.shape), ints(s.Shape()))
	case !slices.Equal(s.Shape(), f.shape):
		return fail("pack.NewSpec", tensor.ErrShape, text, ints(f.shape), ints(s.Shape()))
	case s.Len() != s.StorageLen():
		return fail("pack.NewSpec", tensor.ErrShape, text+" padded to %s; one scale is for any tensor", ints(f.shape), ints(s.Shape()), ints(s.paddedShape()))
	}
	return nil
}

// covers panics unless the format has scales for n elements from number first on.
func (f *integers) covers(what string, first, n int) {
	most := maxInt
	if f.shape != nil {
		most = 1
		for _, e := range f.shape {
			most *= e
		}
	}
	switch {
	case n == 0:
	case f.bare:
		panic(fail("pack.Format."+what, tensor.ErrValue, "%s has no scales yet; Spec.WithScales gives it some", f.name))
	case first < 0 || n > most || first > most-n:
		panic(fail("pack.Format."+what, tensor.ErrIndex, "%d elements from number %d; the scales are for %d", n, first, most))
	}
}

// of returns the index of element i's scale.
func (f *integers) of(i int) int {
	if f.shape == nil {
		return 0
	}
	at := i / f.inner % f.axis / f.block
	if f.list {
		return at
	}
	return (i/f.inner/f.axis*(f.axis/f.block)+at)*f.inner + i%f.inner
}

func (f *integers) Encode(dst []byte, src []float32, first int) {
	fits(f, "Encode", len(dst), len(src))
	f.covers("Encode", first, len(src))
	if f.bits == 4 {
		clear(dst)
	}
	most := float64(f.most())
	for i, v := range src {
		k := f.of(first + i)
		q := float64(f.zero[k])
		if v == v {
			q = min(max(math.RoundToEven(float64(v/f.scale[k]))+q, float64(f.least)), most)
		}
		if f.bits == 8 {
			dst[i] = byte(int32(q))
		} else {
			dst[i/2] |= byte(int32(q)) & 15 << (i % 2 * 4)
		}
	}
}

func (f *integers) Decode(dst []float32, src []byte, first int) {
	fits(f, "Decode", len(src), len(dst))
	f.covers("Decode", first, len(dst))
	for i := range dst {
		k := f.of(first + i)
		q := int32(src[i*f.bits/8])
		if f.bits == 4 {
			q = q >> (i % 2 * 4) & 15
		}
		if q > f.most() { // a sign
			q -= 1 << f.bits
		}
		dst[i] = float32(q-f.zero[k]) * f.scale[k]
	}
}
