package tensor_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

func values[T num.Elem](t tensor.Tensor[T]) []T { return slices.Collect(t.Values()) }

func TestCreate(t *testing.T) {
	big := tensor.New[int16](600, 1000) // beyond the Go heap's share
	defer big.Close()
	for _, x := range []tensor.Tensor[int16]{tensor.New[int16](2, 3), tensor.New[int16](), tensor.New[int16](0, 3), tensor.New[int16](2, 0), big} {
		for v := range x.Values() {
			if v != 0 {
				t.Fatalf("New%v holds %v", x.Shape(), v)
			}
		}
		data, off := x.Data()
		if off != 0 || len(data) != x.Len() || !x.IsContiguous() || x.IsReadOnly() || x.IsZero() {
			t.Errorf("New%v: %d elements from %d on", x.Shape(), len(data), off)
		}
		if a := uintptr(unsafe.Pointer(unsafe.SliceData(data))) % 64; a != 0 && len(data) > 0 {
			t.Errorf("New%v starts %d bytes after a multiple of 64", x.Shape(), a)
		}
	}
	if x := tensor.Empty[bool](4, 5); x.Len() != 20 {
		t.Error(x.Len())
	}
	if x := tensor.Full(num.FromFloat64[num.BF16](1.5), 2, 2); x.At(1, 1).Float32() != 1.5 {
		t.Error(x)
	}
	if x := tensor.Scalar(3 + 4i); x.Rank() != 0 || x.Len() != 1 || x.Item() != 3+4i || x.At() != 3+4i {
		t.Error(x)
	}
	if x := tensor.Eye[num.F8E4M3](3); x.At(1, 1).Float32() != 1 || x.At(1, 2).Float32() != 0 {
		t.Error(x)
	}
	if x := tensor.Eye[int64](0); x.Len() != 0 {
		t.Error(x)
	}
}

// Eye has a case for every type.
func TestEyeTypes(t *testing.T) {
	one := func(name string, v any) {
		switch v := v.(type) {
		case interface{ Float64() float64 }:
			if v.Float64() != 1 {
				t.Errorf("%s: %v", name, v)
			}
		case complex64:
			if v != 1 {
				t.Errorf("%s: %v", name, v)
			}
		case complex128:
			if v != 1 {
				t.Errorf("%s: %v", name, v)
			}
		default:
			t.Errorf("%s: a type without a case: %T", name, v)
		}
	}
	one("F16", tensor.Eye[num.F16](1).Item())
	one("BF16", tensor.Eye[num.BF16](1).Item())
	one("F8E4M3", tensor.Eye[num.F8E4M3](1).Item())
	one("F8E5M2", tensor.Eye[num.F8E5M2](1).Item())
	one("complex64", tensor.Eye[complex64](1).Item())
	one("complex128", tensor.Eye[complex128](1).Item())
	if a, b, c, d := tensor.Eye[int8](1), tensor.Eye[int16](1), tensor.Eye[int32](1), tensor.Eye[int64](1); a.Item() != 1 || b.Item() != 1 || c.Item() != 1 || d.Item() != 1 {
		t.Error(a, b, c, d)
	}
	if a, b, c, d := tensor.Eye[uint8](1), tensor.Eye[uint16](1), tensor.Eye[uint32](1), tensor.Eye[uint64](1); a.Item() != 1 || b.Item() != 1 || c.Item() != 1 || d.Item() != 1 {
		t.Error(a, b, c, d)
	}
	if a, b := tensor.Eye[float32](1), tensor.Eye[float64](1); a.Item() != 1 || b.Item() != 1 {
		t.Error(a, b)
	}
}

func TestFromSlice(t *testing.T) {
	data := []float32{1, 2, 3, 4, 5, 6}
	x := tensor.FromSlice(data, 2, 3)
	x.Set(9, 1, 0)
	data[0] = 7
	if data[3] != 9 || x.At(0, 0) != 7 {
		t.Error("FromSlice copied")
	}
	if y := tensor.FromSlice(data); y.Rank() != 1 || y.Len() != 6 {
		t.Error(y.Shape())
	}
	if y := tensor.FromSlice(data[:1], []int{}...); y.Rank() != 0 || y.Item() != 7 {
		t.Error(y.Shape())
	}
	if y := tensor.FromSlice[float32](nil); y.Len() != 0 || y.IsZero() || len(y.Elems()) != 0 {
		t.Error(y.Shape())
	}
	if y := tensor.FromSlice[float32](nil, 3, 0); y.Len() != 0 || y.Rank() != 2 {
		t.Error(y.Shape())
	}
}

func TestFromLayout(t *testing.T) {
	data := []int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	for _, c := range []struct {
		layout string
		n      int
		want   []int8
	}{
		{"((2,2),4):((1,8),2)", 16, []int8{0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15}},
		{"(2,3):(-3,1)", 6, []int8{3, 4, 5, 0, 1, 2}},
		{"(2,2):(0,1)", 2, []int8{0, 1, 0, 1}},
		{"(3,0):(1,100)", 0, nil},
		{"():()", 1, []int8{0}},
	} {
		lay := layout.MustParse(c.layout)
		x := tensor.FromLayout(data[:c.n], lay)
		if got := values(x); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.layout, got, c.want)
		}
		if c.n == 0 {
			continue
		}
		if err := tensor.Try(func() { tensor.FromLayout(data[:c.n-1], lay) }); !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s over one element less: %v", c.layout, err)
		}
	}
	if x := tensor.FromLayout[int8](nil, layout.MustParse("(0):(1)")); x.IsZero() || x.Len() != 0 {
		t.Error(x)
	}
}

func TestArange(t *testing.T) {
	check := func(got, want any, equal bool) {
		t.Helper()
		if !equal {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	ints := func(x tensor.Tensor[int8], want ...int8) { t.Helper(); check(x, want, slices.Equal(values(x), want)) }
	ints(tensor.Arange[int8](0, 5, 2), 0, 2, 4)
	ints(tensor.Arange[int8](5, 0, -2), 5, 3, 1)
	ints(tensor.Arange[int8](5, 0, 1))
	ints(tensor.Arange[int8](0, 5, -1))
	ints(tensor.Arange[int8](-128, 127, 127), -128, -1, 126) // the distance is more than an int8
	ints(tensor.Arange[int8](127, -128, -128), 127, -1)
	if x := tensor.Arange[uint64](math.MaxUint64-2, math.MaxUint64, 1); !slices.Equal(values(x), []uint64{math.MaxUint64 - 2, math.MaxUint64 - 1}) {
		t.Error(x)
	}
	if x := tensor.Arange[uint8](9, 3, 1); x.Len() != 0 {
		t.Error(x)
	}
	// ⌈(1.3-1)/0.1⌉ is 4, as the quotient rounds to just above 3; NumPy gives 4 as well.
	if x := tensor.Arange(1, 1.3, 0.1); x.Len() != 4 || x.At(3) != 1.3 {
		t.Error(x)
	}
	if x := tensor.Arange[float32](0, 1, 0.25); !slices.Equal(values(x), []float32{0, 0.25, 0.5, 0.75}) {
		t.Error(x)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range [][3]float64{{0, 1, 0}, {0, 1, nan}, {nan, 1, 1}, {0, nan, 1}, {0, inf, 1}, {-inf, 0, 1}, {0, 1, inf}, {0, 1e300, 1e-300}} {
		if err := tensor.Try(func() { tensor.Arange(c[0], c[1], c[2]) }); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("Arange%v: %v", c, err)
		}
	}
	if err := tensor.Try(func() { tensor.Arange[int64](0, 1, 0) }); !errors.Is(err, tensor.ErrValue) {
		t.Error(err)
	}
}

func TestLinspace(t *testing.T) {
	if x := tensor.Linspace[float32](0, 1, 5); !slices.Equal(values(x), []float32{0, 0.25, 0.5, 0.75, 1}) {
		t.Error(x)
	}
	if x := tensor.Linspace(2.0, 1, 3); !slices.Equal(values(x), []float64{2, 1.5, 1}) {
		t.Error(x)
	}
	if x := tensor.Linspace(2.0, 7, 1); !slices.Equal(values(x), []float64{2}) {
		t.Error(x)
	}
	if x := tensor.Linspace(2.0, 7, 0); x.Len() != 0 {
		t.Error(x)
	}
	// The end is exact even where the steps' sum isn't.
	if x := tensor.Linspace(0, 0.7, 8); x.At(7) != 0.7 {
		t.Error(x.At(7))
	}
	for _, c := range [][2]float64{{0, math.Inf(1)}, {math.NaN(), 0}, {-math.MaxFloat64, math.MaxFloat64}} {
		if err := tensor.Try(func() { tensor.Linspace(c[0], c[1], 2) }); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("Linspace%v: %v", c, err)
		}
	}
}

// Sizes that can't be had are errors, whatever the platform's int is.
func TestTooLarge(t *testing.T) {
	for name, c := range map[string]struct {
		make func()
		want error
	}{
		"product": {func() { tensor.New[int8](math.MaxInt, 2) }, tensor.ErrOverflow},
		"bytes":   {func() { tensor.New[int64](math.MaxInt / 2) }, tensor.ErrMemory},
		"memory":  {func() { tensor.Empty[int8](math.MaxInt - 1) }, tensor.ErrMemory},
		"extent":  {func() { tensor.New[int8](2, -1) }, tensor.ErrShape},
	} {
		if err := tensor.Try(c.make); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
