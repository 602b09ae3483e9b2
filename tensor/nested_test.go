package tensor_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

func TestFromNested(t *testing.T) {
	half := num.FromFloat64[num.F16](0.5)
	for _, c := range []struct {
		nest  any
		shape []int
		elems []float32
	}{
		{float32(7), []int{}, []float32{7}},
		{[]float32{1, 2}, []int{2}, []float32{1, 2}},
		{[][]float32{{1, 0.5, 1.3}, {2, 4.2, 6.7}}, []int{2, 3}, []float32{1, 0.5, 1.3, 2, 4.2, 6.7}},
		{[][][]float32{{{1}, {2}}}, []int{1, 2, 1}, []float32{1, 2}},
		{[]any{[]float32{1, 2}, []any{float32(3), float32(4)}}, []int{2, 2}, []float32{1, 2, 3, 4}},
		{[]any{[]any{[]any{[]any{[]any{[]any{[]any{[]any{[]any{[]float32{5}}}}}}}}}}, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, []float32{5}},
		{[]float32{}, []int{0}, nil},
		{[][]float32{{}, {}}, []int{2, 0}, nil},
		{[][][]float32{}, []int{0, 0, 0}, nil},
		{[]any{[][]float32{}}, []int{1, 0, 0}, nil},
		{[][]int{{1, 2}, {3, -4}}, []int{2, 2}, []float32{1, 2, 3, -4}},
		{[][]float64{{0.5}, {-math.MaxFloat32}}, []int{2, 1}, []float32{0.5, -math.MaxFloat32}},
		{[]any{1, 2.5, uint8(3)}, []int{3}, []float32{1, 2.5, 3}},
		{[]any{[]int64{1, 2}, []float32{3, 4}, []any{5, num.FromFloat64[num.F16](6)}}, []int{3, 2}, []float32{1, 2, 3, 4, 5, 6}},
		{[]any{num.FromFloat64[num.BF16](1), num.FromFloat64[num.F8E4M3](2), num.FromFloat64[num.F8E5M2](3), fixed.FP8x23FromBits(4 << 23)}, []int{4}, []float32{1, 2, 3, 4}},
		{[]any{fixed.FP16x16FromBits(-1 << 16), fixed.FP32x32FromBits(1), fixed.FP64x64FromBits(fixed.Int128{Hi: -1})}, []int{3}, []float32{-1, 0x1p-32, -1}},
		{[]complex128{3, -2}, []int{2}, []float32{3, -2}},
		{7, []int{}, []float32{7}},
	} {
		got := tensor.FromNested[float32](c.nest)
		if !slices.Equal(got.Shape(), c.shape) || !slices.Equal(got.Elems(), c.elems) {
			t.Errorf("%v: %v of shape %v", c.nest, got, got.Shape())
		}
	}
	if got := tensor.FromNested[num.F16]([][]num.F16{{half}}); got.At(0, 0) != half {
		t.Errorf("got %v", got)
	}
	rows := []int8{1, 2}
	if x := tensor.FromNested[int8]([][]int8{rows, rows}); true {
		x.Set(9, 0, 0)
		if rows[0] != 1 || x.At(1, 0) != 1 {
			t.Error("the tensor shares with the nest")
		}
	}
}

// Numbers are converted exactly or not at all, from every type to every type.
func TestFromNestedConverts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom([]any{
			0, 1, -1, int8(127), int16(-32768), int32(1 << 24), int32(1<<24 + 1), int64(math.MaxInt64), int64(math.MinInt64), uint64(math.MaxUint64), uint8(200), uint16(65504), uint32(1 << 31),
			0.5, -0.25, 0.1, float32(0.1), 448.0, 57344.0, 65504.0, 65520.0, 0x1p-24, 0x1p-149, 0x1p-1074, math.MaxFloat64, float32(math.MaxFloat32), 0x1p63, 0x1p64, 256.0, 3.5,
			num.FromFloat64[num.F16](1.5), num.FromFloat64[num.BF16](0x1p100), num.FromFloat64[num.F8E4M3](448), num.FromFloat64[num.F8E5M2](-57344),
			fixed.FP8x23FromBits(math.MaxInt32), fixed.FP16x16FromBits(math.MinInt32), fixed.FP32x32FromBits(math.MaxInt64), fixed.FP64x64FromBits(fixed.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}),
			fixed.FP64x64FromBits(fixed.Int128{Hi: 3, Lo: 1 << 63}), complex64(2 + 1i), complex(0.1, -3), 5 + 0i,
		}).Draw(t, "number")
		n := 0
		n += converts[int8](t, v) + converts[int16](t, v) + converts[int32](t, v) + converts[int64](t, v) + converts[uint8](t, v) + converts[uint16](t, v) + converts[uint32](t, v) + converts[uint64](t, v)
		n += converts[float32](t, v) + converts[float64](t, v) + converts[num.F16](t, v) + converts[num.BF16](t, v) + converts[num.F8E4M3](t, v) + converts[num.F8E5M2](t, v)
		n += converts[complex64](t, v) + converts[complex128](t, v) + converts[fixed.FP8x23](t, v) + converts[fixed.FP16x16](t, v) + converts[fixed.FP32x32](t, v) + converts[fixed.FP64x64](t, v)
		if n == 0 {
			t.Errorf("%T %v fits no type", v, v)
		}
	})
	// Zeros keep their sign where there are two, and values that aren't finite stay where there are any.
	nan, inf, zero := math.NaN(), math.Inf(-1), math.Copysign(0, -1)
	x := tensor.FromNested[float32]([]float64{nan, inf, zero})
	if b := math.Float32bits(x.At(2)); !math.IsNaN(float64(x.At(0))) || !math.IsInf(float64(x.At(1)), -1) || b != 1<<31 {
		t.Error(x)
	}
	if x := tensor.FromNested[int8]([]float64{zero}); x.At(0) != 0 {
		t.Error(x)
	}
	if x := tensor.FromNested[complex64]([]any{nan, complex(1, inf)}); !math.IsNaN(float64(real(x.At(0)))) || imag(x.At(1)) != float32(inf) {
		t.Error(x)
	}
	if x := tensor.FromNested[num.F8E4M3]([]float64{nan}); !math.IsNaN(x.At(0).Float64()) {
		t.Error(x)
	}
	for name, f := range map[string]func(){
		"NaN": func() { tensor.FromNested[int32]([]float64{nan}) }, "infinity": func() { tensor.FromNested[int64]([]float64{inf}) },
		"infinity, E4M3": func() { tensor.FromNested[num.F8E4M3]([]float64{inf}) }, "NaN, fixed": func() { tensor.FromNested[fixed.FP16x16]([]float64{nan}) },
		"infinity, fixed": func() { tensor.FromNested[fixed.FP64x64]([]float64{inf}) }, "imaginary": func() { tensor.FromNested[float64]([]complex128{1i}) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// converts compares the conversion of v with that of its exact value, and returns 1 if
// there is one.
func converts[T num.Elem](t *rapid.T, v any) int {
	var x tensor.Tensor[T]
	err := tensor.Try(func() { x = tensor.FromNested[T]([]any{v}) })
	want, imaginary := rational(v)
	if err != nil {
		var zero T
		if !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "entry [0] is ") || fits(zero, want, imaginary) {
			t.Fatalf("%T %v to %T: %v", v, v, zero, err)
		}
		return 0
	}
	if re, im := rational(x.At(0)); re.Cmp(want) != 0 || im.Cmp(imaginary) != 0 {
		t.Fatalf("%T %v to %v: %v", v, v, x.DType(), x.At(0))
	}
	return 1
}

// rational returns the parts of a finite number.
func rational(v any) (re, im *big.Rat) {
	re, im = new(big.Rat), new(big.Rat)
	units := func(w fixed.Int128, frac uint) { re.SetFrac(w.Big(), new(big.Int).Lsh(big.NewInt(1), frac)) }
	switch v := v.(type) {
	case fixed.FP8x23:
		units(fixed.Bits(v), 23)
	case fixed.FP16x16:
		units(fixed.Bits(v), 16)
	case fixed.FP32x32:
		units(fixed.Bits(v), 32)
	case fixed.FP64x64:
		units(fixed.Bits(v), 64)
	case complex64:
		re.SetFloat64(float64(real(v)))
		im.SetFloat64(float64(imag(v)))
	case complex128:
		re.SetFloat64(real(v))
		im.SetFloat64(imag(v))
	case interface{ Float64() float64 }:
		re.SetFloat64(v.Float64())
	case float32:
		re.SetFloat64(float64(v))
	case float64:
		re.SetFloat64(v)
	default:
		re.SetString(fmt.Sprint(v))
	}
	return re, im
}

// fits reports whether a number is one of the type of zero, by the limits of the type.
func fits(zero any, re, im *big.Rat) bool {
	binary := func(digits, least, most int) bool { // ±n·2^k of so many digits, least ≤ k, below 2^most
		for _, v := range []*big.Rat{re, im} {
			n, d := new(big.Int).Abs(v.Num()), v.Denom()
			if d.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(d.BitLen()-1))) != 0 || n.BitLen()-int(n.TrailingZeroBits()) > digits || d.BitLen()-1 > -least || n.BitLen() > most {
				return false
			}
		}
		return true
	}
	whole := func(bits uint, signed bool, frac int) bool {
		n := new(big.Int).Lsh(re.Num(), uint(frac))
		n, rest := new(big.Int).QuoRem(n, re.Denom(), new(big.Int))
		low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), bits)
		if signed {
			high.Rsh(high, 1)
			low.Neg(high)
		}
		return rest.Sign() == 0 && im.Sign() == 0 && n.Cmp(low) >= 0 && n.Cmp(high) < 0
	}
	limit := func(most float64) bool {
		return new(big.Rat).Abs(re).Cmp(new(big.Rat).SetFloat64(most)) <= 0 && im.Sign() == 0
	}
	switch zero.(type) {
	case int8:
		return whole(8, true, 0)
	case int16:
		return whole(16, true, 0)
	case int32:
		return whole(32, true, 0)
	case int64:
		return whole(64, true, 0)
	case uint8:
		return whole(8, false, 0)
	case uint16:
		return whole(16, false, 0)
	case uint32:
		return whole(32, false, 0)
	case uint64:
		return whole(64, false, 0)
	case fixed.FP8x23:
		return whole(32, true, 23)
	case fixed.FP16x16:
		return whole(32, true, 16)
	case fixed.FP32x32:
		return whole(64, true, 32)
	case fixed.FP64x64:
		return whole(128, true, 64)
	case num.F16:
		return binary(11, -24, 16) && limit(65504)
	case num.BF16:
		return binary(8, -133, 128) && limit(math.MaxFloat32)
	case num.F8E4M3:
		return binary(4, -9, 9) && limit(448)
	case num.F8E5M2:
		return binary(3, -16, 16) && limit(57344)
	case float32:
		return binary(24, -149, 128) && im.Sign() == 0
	case float64:
		return binary(53, -1074, 1024) && im.Sign() == 0
	case complex64:
		return binary(24, -149, 128)
	}
	return binary(53, -1074, 1024)
}

func TestFromNestedRefuses(t *testing.T) {
	for _, c := range []struct {
		nest any
		say  string
	}{
		{[][]float32{{1, 2}, {1}}, "entry [1] has 1 entries, others at its level have 2"},
		{[][][]float32{{{1}, {2}}, {{3}, {4, 5}}}, "entry [1][1] has 2 entries"},
		{[][]float32{{}, {1}}, "entry [1] has 1 entries, others at its level have 0"},
		{[]any{float32(1), []float32{2}}, "entry [1] is a slice, others at its level are elements"},
		{[]any{[]float32{2}, float32(1)}, "entry [1] is an element, others at its level are slices"},
		{[]any{float32(1), "2"}, "entry [1] is of type string, not of float32 or slices of it"},
		{[][]string{{"1"}}, "the nest is of type [][]string, not of float32"},
		{[]any{1, true}, "entry [1] is of type bool, not of float32"},
		{[]any{1, nil}, "entry [1] is of type <nil>, not of float32"},
		{[2]float32{1, 2}, "the nest is of type [2]float32, not of float32"},
		{[]any{1, []any{2}}, "entry [1] is a slice, others at its level are elements"},
		{[]any{[]int{1}, 2}, "entry [1] is an element, others at its level are slices"},
		{[]any{[]int{1}, "2"}, "entry [1] is of type string, not of float32"},
		{struct{}{}, "the nest is of type struct {}, not of float32"},
		{[]any{[][]float32{{1, 2}, {3, 4}}, []float32{5, 6}}, "entry [1][0] is an element, others at its level are slices"},
		{nil, "the nest is of type <nil>"},
	} {
		err := tensor.Try(func() { tensor.FromNested[float32](c.nest) })
		if !errors.Is(err, tensor.ErrShape) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%v: %v, want %q", c.nest, err, c.say)
		}
	}
	for _, c := range []struct {
		nest any
		say  string
	}{
		{0.1, "the nest is 0.1 of type float64, which is no float32; round it or take a wider type"},
		{[]int{1, 1<<24 + 1}, "entry [1] is 16777217 of type int, which is no float32"},
		{[][]float64{{1, 2}, {3, 1e300}}, "entry [1][1] is 1e+300 of type float64"},
		{[]any{1, 2.7}, "entry [1] is 2.7 of type float64"},
	} {
		err := tensor.Try(func() { tensor.FromNested[float32](c.nest) })
		if !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%v: %v, want %q", c.nest, err, c.say)
		}
	}
	for name, f := range map[string]func(){
		"a number as bool": func() { tensor.FromNested[bool]([]int{1}) }, "a bool as number": func() { tensor.FromNested[uint8]([]bool{true}) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nested and back, for ranks with Go types of their own and beyond.
func TestNested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 11).Draw(t, "shape")
		for size(shape) > 2000 {
			shape[slices.Index(shape, slices.Max(shape))] = 1
		}
		x := tensor.Arange[int32](0, int32(size(shape)), 1).View(shape...)
		v := x.Transpose()
		back := tensor.FromNested[int32](v.Any().Nested())
		if !slices.Equal(back.Shape(), v.Shape()) || !slices.Equal(back.Elems(), values(v)) {
			t.Fatalf("%v comes back as %v", v, back)
		}
	})
	x := tensor.Arange[int32](0, 6, 1).View(2, 3)
	if got := x.Any().Nested(); !reflect.DeepEqual(got, [][]int32{{0, 1, 2}, {3, 4, 5}}) {
		t.Errorf("got %v", got)
	}
	got := x.View(2, 1, 3).Any().Nested().([][][]int32)
	if got[1][0][2] != 5 {
		t.Errorf("got %v", got)
	}
	got[1][0] = append(got[1][0], 7)
	if got[0][0][0] = 9; x.At(0, 0) != 0 {
		t.Error("Nested shares")
	}
	if got := tensor.New[bool](2, 0).Any().Nested(); !reflect.DeepEqual(got, [][]bool{{}, {}}) {
		t.Errorf("got %v", got)
	}
	if got := tensor.Scalar(2.5).Any().Nested(); got != 2.5 {
		t.Errorf("got %v", got)
	}
}

// The result of Nested stays when the tensor is gone, also when that was large and a copy
// had to be made.
func TestNestedStays(t *testing.T) {
	var all [][][]int64
	for range 4 {
		x := tensor.Full[int64](7, 300, 200)
		all = append(all, x.Any().Nested().([][]int64), x.Transpose().Any().Nested().([][]int64))
		x.Close()
		runtime.GC()
		tensor.Full[int64](-1, 300, 200)
	}
	for _, rows := range all {
		for _, row := range rows {
			for _, v := range row {
				if v != 7 {
					t.Fatal(v)
				}
			}
		}
	}
}

// Extents before one of 0, and slices that hold themselves, don't take memory without end.
func TestNestedLimits(t *testing.T) {
	x := tensor.New[float32](1<<21, 0, 3)
	for name, f := range map[string]func(){
		"Nested": func() { x.Any().Nested() }, "WriteNested": func() { x.Any().WriteNested(io.Discard) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := x.MarshalJSON(); !errors.Is(err, tensor.ErrMemory) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if b, err := x.S(":2").MarshalJSON(); err != nil || string(b) != "[[],[]]" {
		t.Errorf("%s, %v", b, err)
	}
	if b, err := x.Transpose().MarshalJSON(); err != nil || string(b) != "[[],[],[]]" {
		t.Errorf("%s, %v", b, err)
	}
	self := make([]any, 1)
	self[0] = self
	if err := tensor.Try(func() { tensor.FromNested[float32](self) }); !errors.Is(err, tensor.ErrShape) {
		t.Error(err)
	}
}
