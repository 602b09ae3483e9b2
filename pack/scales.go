package pack

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/tensor"
)

// Integers returns the Integers of a format that NewIntegers or Calibrate made, with
// copies of Scale and Zero. It returns false for another format, or one without its scales.
func (s Spec) Integers() (Integers, bool) {
	f, ok := s.format.(*integers)
	if !ok || f.bare {
		return Integers{}, false
	}
	o := Integers{Bits: f.bits, Unsigned: f.least == 0, Shape: slices.Clone(f.shape), Axis: f.at,
		Scale: tensor.FromSlice(slices.Clone(f.scale), f.scales...), Zero: tensor.FromSlice(slices.Clone(f.zero), f.scales...)}
	if !f.list {
		o.Block = f.block
	}
	return o, true
}

// same reports whether two formats have the same integers, scales and zero points.
func (f *integers) same(g *integers) bool {
	return f.name == g.name && f.bare == g.bare && f.zeros == g.zeros && f.list == g.list && f.block == g.block && f.at == g.at &&
		slices.Equal(f.shape, g.shape) && slices.Equal(f.scales, g.scales) && slices.Equal(f.scale, g.scale) && slices.Equal(f.zero, g.zero)
}

// whole returns an error if scales are missing.
func (s *Spec) whole() error {
	if f, ok := s.format.(*integers); ok && f.bare {
		return fail("pack.NewSpec", tensor.ErrValue, "%v has no scales; WithScales gives them", *s)
	}
	return nil
}

// ScaleBytes returns the bytes of the scales and zero points of integers in a file, 0 for
// any other format. The scales are float32. The zero points are as many int32, left out if
// all are 0.
func (s Spec) ScaleBytes() int {
	f, ok := s.format.(*integers)
	switch {
	case !ok:
		return 0
	case f.zeros:
		return 8 * f.count()
	}
	return 4 * f.count()
}

// AppendScales appends the scales to b, then the zero points, little-endian: ScaleBytes
// bytes, as a file has them.
func (s Spec) AppendScales(b []byte) []byte {
	f, ok := s.format.(*integers)
	if !ok {
		return b
	}
	for _, v := range f.scale {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	if f.zeros {
		for _, v := range f.zero {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	return b
}

// WithScales returns the description with the scales and zero points that AppendScales
// wrote to b. It fails if b doesn't have ScaleBytes bytes, and for numbers that NewIntegers
// refuses.
func (s Spec) WithScales(b []byte) (Spec, error) {
	const op = "pack.WithScales"
	if len(b) != s.ScaleBytes() {
		return Spec{}, fail(op, tensor.ErrShape, "%d bytes for the scales of %v, which have %d", len(b), s, s.ScaleBytes())
	}
	old, ok := s.format.(*integers)
	if !ok {
		return s, nil
	}
	f := *old
	n := f.count()
	f.bare, f.zeros, f.scale, f.zero = false, false, make([]float32, n), make([]int32, n)
	for i := range n {
		f.scale[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		if old.zeros {
			f.zero[i] = int32(binary.LittleEndian.Uint32(b[4*(n+i):]))
		}
	}
	if err := f.check(op); err != nil {
		return Spec{}, err
	}
	s.format = &f
	return s, nil
}

// integers returns the format of a description, without scales.
func (t *specText) integers() (*integers, error) {
	o := Integers{Shape: t.Shape, Axis: t.Axis, Block: t.Block}
	switch t.Format {
	case "int4", "int8":
		o.Bits = int(t.Format[3] - '0')
	case "uint4", "uint8":
		o.Bits, o.Unsigned = int(t.Format[4]-'0'), true
	default:
		return nil, fail("pack.ParseSpec", tensor.ErrSyntax, "%q has no scales; int4, uint4, int8 and uint8 have", t.Format)
	}
	f, err := arrange("pack.ParseSpec", o, *t.Scales)
	if err != nil {
		return nil, err
	}
	f.bare, f.zeros = true, t.Zeros
	return f, nil
}

// Calibrate returns the format of o with scales for the values of x: the smallest scales
// with which all finite values are in range. Scale and Zero of o must be empty. Without a
// Shape there is one scale. A Shape must be x's; then Axis and Block determine the number of
// scales.
//
// Signed integers are symmetric: the largest absolute value becomes 7 or 127, and zero
// points are 0. The range of unsigned integers covers 0 and all values from the least to
// the largest. If all values are 0, or none is finite, the scale is 1. Near the largest
// float32 a scale is a little smaller, so that no value is decoded as an infinity.
// Calibrate fails as NewIntegers does.
func Calibrate(x tensor.Tensor[float32], o Integers) (Format, error) {
	const op = "pack.Calibrate"
	var scales []int
	switch {
	case !o.Scale.IsZero() || !o.Zero.IsZero():
		return nil, fail(op, tensor.ErrValue, "it makes scales and zeros, and both are to be left out; NewIntegers takes them")
	case o.Shape != nil && !slices.Equal(o.Shape, x.Shape()):
		return nil, fail(op, tensor.ErrShape, "shape %s for a tensor of %s", ints(o.Shape), ints(x.Shape()))
	case o.Shape != nil:
		axis := o.Axis
		if axis < 0 {
			axis += len(o.Shape)
		}
		scales = []int{0} // arrange refuses it
		if axis >= 0 && axis < len(o.Shape) {
			scales = []int{o.Shape[axis]}
			if o.Block > 0 {
				scales = slices.Clone(o.Shape)
				scales[axis] /= o.Block
			}
		}
	}
	f, err := arrange(op, o, scales)
	if err != nil {
		return nil, err
	}
	n := f.count()
	least, most := make([]float64, n), make([]float64, n)
	err = tensor.Try(func() {
		i := 0
		for v := range x.Values() {
			if w := float64(v); !math.IsNaN(w) && !math.IsInf(w, 0) {
				k := f.of(i)
				least[k], most[k] = min(least[k], w), max(most[k], w)
			}
			i++
		}
	})
	if err != nil {
		return nil, tensor.Wrap(op, err)
	}
	f.scale, f.zero = make([]float32, n), make([]int32, n)
	for k := range n {
		f.scale[k] = 1
		lo, hi, steps := least[k], most[k], float64(f.most())
		if f.least < 0 {
			lo, hi = 0, max(hi, -lo)
		}
		if hi > lo {
			f.scale[k] = max(float32((hi-lo)/steps), math.SmallestNonzeroFloat32)
			zero := min(math.RoundToEven(-lo/float64(f.scale[k])), steps)
			f.zero[k] = int32(zero)
			for float64(f.scale[k])*max(zero, steps-zero) > math.MaxFloat32 { // it would decode as an infinity
				f.scale[k] = min(math.Nextafter32(f.scale[k], 0), float32(math.MaxFloat32/max(zero, steps-zero)))
			}
		}
	}
	if err := f.check(op); err != nil {
		return nil, err
	}
	return f, nil
}
