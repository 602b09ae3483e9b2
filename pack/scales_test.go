package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

func drawIntegers(t *rapid.T) Integers {
	o := Integers{Bits: rapid.SampledFrom([]int{4, 8}).Draw(t, "bits"), Unsigned: rapid.Bool().Draw(t, "unsigned")}
	shape := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 3, 4, 6}), 1, 3).Draw(t, "shape")
	switch axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis"); rapid.IntRange(0, 2).Draw(t, "kind") {
	case 1:
		o.Shape, o.Axis = shape, axis-len(shape)
	case 2:
		o.Shape, o.Axis = shape, axis
		o.Block = rapid.IntRange(1, 6).Filter(func(n int) bool { return shape[axis]%n == 0 }).Draw(t, "block")
	}
	return o
}

// With calibrated scales every value comes back within half a scale and rounding, and a description
// with its scales is read as what was written.
func TestCalibrate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawIntegers(t)
		shape := o.Shape
		if shape == nil {
			shape = []int{3, 5}
		}
		spread := rapid.SampledFrom([]float32{1e-44, 1e-30, 1, 1e30, math.MaxFloat32}).Draw(t, "spread")
		x := tensor.RandomUniform[float32](uint64(rapid.Uint32().Draw(t, "seed")), -1, 1, shape...)
		for i, v := range x.Elems() {
			x.Elems()[i] = v * spread
		}
		f, err := Calibrate(x, o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Pack(x.Any(), &Options{Format: f})
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range held[float32](a).Elems() {
			w := x.Elems()[i]
			s := float64(f.(*integers).scale[f.(*integers).of(i)])
			most := 0.51
			if spread == math.MaxFloat32 { // the scale may be less than the range asks for, lest a value become infinite
				most = 1
			}
			if got := math.Abs(float64(v) - float64(w)); !(got <= s*most+math.Abs(float64(w))*0x1p-20) {
				t.Fatalf("%v: %v comes back as %v by a scale of %v", p.Spec, w, v, s)
			}
		}

		text, err := p.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		if s.Bytes() != p.Bytes() || s.ScaleBytes() != p.ScaleBytes() || s.String() != p.String() || s.Identical(p.Spec) {
			t.Fatalf("%s reads as %v", text, s)
		}
		b := p.AppendScales([]byte{7})
		if len(b) != 1+p.ScaleBytes() {
			t.Fatalf("%d bytes of scales, not %d", len(b)-1, p.ScaleBytes())
		}
		if _, err := FromBytes(s, p.buf, 0); !errors.Is(err, tensor.ErrValue) {
			t.Fatalf("without scales: %v", err)
		}
		if _, err := Pack(x.Any(), &Options{Format: s.Format()}); !errors.Is(err, tensor.ErrValue) {
			t.Fatalf("without scales: %v", err)
		}
		if _, err := s.WithScales(b); !errors.Is(err, tensor.ErrShape) {
			t.Fatalf("with too many bytes: %v", err)
		}
		full, err := s.WithScales(b[1:])
		if err != nil {
			t.Fatal(err)
		}
		q, err := FromBytes(full, p.buf, 0)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := p.Equal(q); !same || err != nil || !q.Identical(p.Spec) {
			t.Fatalf("%v comes back as %v, %v", p.Spec, q.Spec, err)
		}
		again, ok := q.Integers()
		if !ok {
			t.Fatal("no integers")
		}
		if g, err := NewIntegers(again); err != nil || !sameFormat(f, g) {
			t.Fatalf("%v is made again as %v, %v", f, g, err)
		}
	})
}

func TestCalibrateErrors(t *testing.T) {
	x := tensor.New[float32](2, 3)
	closed := tensor.New[float32](3)
	closed.Close()
	for _, c := range []struct {
		x    tensor.Tensor[float32]
		o    Integers
		is   error
		want string
	}{
		{x, Integers{Bits: 3}, tensor.ErrDType, "pack.Calibrate: integers of 3 bits; there are 4 and 8"},
		{x, Integers{Bits: 4, Scale: tensor.Scalar(float32(1))}, tensor.ErrValue, "pack.Calibrate: it makes scales and zeros, and both are to be left out; NewIntegers takes them"},
		{x, Integers{Bits: 4, Shape: []int{3, 2}}, tensor.ErrShape, "pack.Calibrate: shape [3,2] for a tensor of [2,3]"},
		{x, Integers{Bits: 4, Shape: []int{2, 3}, Axis: 2}, tensor.ErrAxis, "pack.Calibrate: axis 2 of shape [2,3]: give the tensor's shape, and one of its axes"},
		{x, Integers{Bits: 4, Shape: []int{2, 3}, Axis: 1, Block: 2}, tensor.ErrShape, "pack.Calibrate: blocks of 2 along axis 1 of shape [2,3]; they must divide it"},
		{tensor.Tensor[float32]{}, Integers{Bits: 4}, tensor.ErrClosed, ""},
		{closed, Integers{Bits: 4}, tensor.ErrClosed, "pack.Calibrate: the storage is closed, its memory is given back; close it after its last use"},
	} {
		if _, err := Calibrate(c.x, c.o); !errors.Is(err, c.is) || c.want != "" && err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	f, err := Calibrate(tensor.FromSlice([]float32{nan, inf, -inf, -3, 2}), Integers{Bits: 8, Unsigned: true})
	if err != nil || f.(*integers).scale[0] != 5./255 || f.(*integers).zero[0] != 153 {
		t.Errorf("%+v, %v", f, err)
	}
}

// q8 is a format of another package: blocks of 32 bytes behind a float16 scale, as GGUF
// has them under the name Q8_0. It isn't comparable, and looks at the number of the
// first element.
type q8 struct{ calls *[]int }

func (q8) Name() string { return "q8" }
func (q8) Group() int   { return 32 }
func (q8) Check(s *Spec) error {
	if n := s.StorageLen(); n%32 != 0 {
		return fmt.Errorf("%d elements", n)
	}
	return nil
}
func (q8) Size(n int) int { return n / 32 * 34 }
func (f q8) Encode(dst []byte, src []float32, first int) {
	*f.calls = append(*f.calls, first)
	for ; len(src) > 0; dst, src = dst[34:], src[32:] {
		most := float32(0)
		for _, v := range src[:32] {
			most = max(most, v, -v)
		}
		scale := num.FromFloat64[num.F16](float64(most / 127))
		binary.LittleEndian.PutUint16(dst, scale.Bits())
		for i, v := range src[:32] {
			if scale.Float32() > 0 {
				v /= scale.Float32()
			}
			dst[2+i] = byte(int8(min(max(math.RoundToEven(float64(v)), -127), 127)))
		}
	}
}
func (q8) Decode(dst []float32, src []byte, first int) {
	for ; len(dst) > 0; dst, src = dst[32:], src[34:] {
		scale := num.FromBits[num.F16](binary.LittleEndian.Uint16(src)).Float32()
		for i := range 32 {
			dst[i] = float32(int8(src[2+i])) * scale
		}
	}
}

// A format of another package is used as those of this one.
func TestFormatOfAnotherPackage(t *testing.T) {
	x := tensor.RandomNormal[float32](1, 0, 1, 64, 64)
	for _, tile := range []Tile{{}, TileOf(32, 32), TileOf(1, 32)} {
		f := q8{new([]int)}
		p, err := Pack(x.Any(), &Options{Tile: tile, Format: f})
		if err != nil {
			t.Fatal(err)
		}
		if want := []int{0, 1024, 2048, 3072}; tile == TileOf(32, 32) && !slices.Equal(*f.calls, want) {
			t.Errorf("encoded from elements %v, want %v", *f.calls, want)
		}
		q, err := Pack(x.Any(), &Options{Tile: tile, Format: q8{new([]int)}})
		if err != nil {
			t.Fatal(err)
		}
		if same, err := p.Equal(q); !same || err != nil || !p.Identical(q.Spec) || p.Bytes() != 64*64/32*34 {
			t.Errorf("%v: %d bytes, the same %v, %v", p.Spec, p.Bytes(), same, err)
		}
		rows := tensor.New[float32](20, 64)
		if err := p.UnpackRows(rows, 30); err != nil {
			t.Fatal(err)
		}
		for idx, v := range rows.All() {
			w := x.At(30+idx[0], idx[1])
			one, err := p.At(30+idx[0], idx[1])
			if math.Abs(float64(v-w)) > 0.02 || one != float64(v) || err != nil {
				t.Fatalf("%v: %v is %v, by At %v, want %v", p.Spec, idx, v, one, w)
			}
		}
		if _, err := p.MarshalText(); !errors.Is(err, tensor.ErrDType) {
			t.Errorf("it has a text: %v", err)
		}
	}
	if _, err := Pack(x.S(":3, :3").Any(), &Options{Format: q8{new([]int)}}); err == nil {
		t.Error("nine elements are a block")
	}
}

// Integers that a float64 rounds are written as they are.
func TestTextOfLongIntegers(t *testing.T) {
	for want, x := range map[string]tensor.Any{
		"[9223372036854775807, -9223372036854775808, 9007199254740993]": tensor.FromSlice([]int64{math.MaxInt64, math.MinInt64, 1<<53 + 1}).Any(),
		"[18446744073709551615,     7]":                                 tensor.FromSlice([]uint64{math.MaxUint64, 7}).Any(),
	} {
		got, err := Text(x, nil)
		if want := "ttnn.Tensor(" + want + ", "; err != nil || len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("%s, %v", got, err)
		}
	}
	if s, err := Text(tensor.Scalar(math.SmallestNonzeroFloat64).Any(), &TextOptions{Precision: math.MaxInt, Notation: Positional}); err != nil || len(s) > 1200 {
		t.Errorf("%d bytes, %v", len(s), err)
	}
}
