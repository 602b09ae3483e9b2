package tensortest_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// recorder is a testing.TB that keeps what it is told. Anything but Helper and
// Errorf panics.
type recorder struct {
	testing.TB
	text    string
	calls   int
	helpers int
}

func (r *recorder) Helper() { r.helpers++ }

func (r *recorder) Errorf(format string, args ...any) {
	r.text += fmt.Sprintf(format, args...)
	r.calls++
}

func ExampleEqual() {
	got := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	want := tensor.FromSlice([]float32{1, 2, 3.5, 4}, 2, 2)
	r := &recorder{} // in a test, its *testing.T
	tensortest.Equal(r, got.Any(), want.Any())
	fmt.Println(r.text)
	// Output:
	// tensortest.Equal: 1 of 4 elements of float32[2,2] differ in their bits
	// 	[1 0]: got 3, want 3.5, off by 0.5
}

func ExampleAllClose() {
	got := tensor.Linspace(0.0, 1, 9)
	want := tensor.New[float64](9)
	r := &recorder{}
	tensortest.AllClose(r, got.Any(), want.Any(), 0, 0.25)
	fmt.Println(r.text)
	// Output:
	// tensortest.AllClose: 6 of 9 elements of float64[9] differ by more than 0.25 + 0·|want|
	// 	[3]: got 0.375, want 0, off by 0.375
	// 	[4]: got 0.5, want 0, off by 0.5
	// 	[5]: got 0.625, want 0, off by 0.625
	// 	[6]: got 0.75, want 0, off by 0.75
	// 	[7]: got 0.875, want 0, off by 0.875
	// 	… 1 more; the largest difference is at
	// 	[8]: got 1, want 0, off by 1
}

func ExampleULP() {
	got := tensor.FromSlice([]float32{1, 0.1 + 0.2})
	want := tensor.FromSlice([]float32{math.Nextafter32(1, 2), 0.30000007})
	r := &recorder{}
	tensortest.ULP(r, got.Any(), want.Any(), 1)
	fmt.Println(r.text)
	// Output:
	// tensortest.ULP: 1 of 2 elements of float32[2] differ by more than 1 ulp
	// 	[1]: got 0.3, want 0.30000007, off by 2 ulp
}

type check func(r testing.TB, a, b tensor.Any) bool

func near(rtol, atol float64) check {
	return func(r testing.TB, a, b tensor.Any) bool { return tensortest.AllClose(r, a, b, rtol, atol) }
}

func ulp(n uint64) check {
	return func(r testing.TB, a, b tensor.Any) bool { return tensortest.ULP(r, a, b, n) }
}

func TestComparisons(t *testing.T) {
	nan, other := float32(math.NaN()), math.Float32frombits(0xffc00001)
	inf, negZero := float32(math.Inf(1)), float32(math.Copysign(0, -1))
	v := func(x ...float32) tensor.Any { return tensor.FromSlice(x).Any() }
	bf := func(x float32) tensor.Any { return tensor.Full(num.FromFloat64[num.BF16](float64(x)), 2, 2).Any() }
	next := func(x float32, n int) float32 {
		for range n {
			x = math.Nextafter32(x, inf)
		}
		return x
	}
	spec, err := tensor.NewSpec(dtype.Float32, 1)
	if err != nil {
		t.Fatal(err)
	}
	closed := tensor.New[float32](1)
	closed.Close()
	equal := tensortest.Equal
	for _, c := range []struct {
		name      string
		f         check
		got, want tensor.Any
		fails     string // part of the message; "" passes
	}{
		{"same", equal, v(1, nan, inf, negZero), v(1, nan, inf, negZero), ""},
		{"NaN bits", equal, v(nan), v(other), "[0]: got NaN (bits 0x7fc00000), want NaN (bits 0xffc00001), off by 0"},
		{"zeros", equal, v(0), v(negZero), "[0]: got 0, want -0, off by 0"},
		{"NaN and a number", equal, v(nan), v(1), "off by +Inf"},
		{"infinities", equal, v(inf), v(-inf), "off by +Inf"},
		{"type", equal, v(1), tensor.FromSlice([]float64{1}).Any(), "got float32[1], want float64[1]"},
		{"shape", equal, v(1, 2), tensor.FromSlice([]float32{1, 2}, 2, 1).Any(), "got float32[2], want float32[2,1]"},
		{"rank 0", equal, tensor.Scalar(true).Any(), tensor.Scalar(false).Any(), "[]: got true, want false"},
		{"layout", equal, tensor.FromSlice([]int8{1, 2, 3, 4}, 2, 2).Transpose().Any(), tensor.FromSlice([]int8{1, 3, 2, 4}, 2, 2).Any(), ""},
		{"nested layout", equal, tensor.FromLayout([]int8{0, 1, 2, 3, 4, 5, 6, 7}, layout.MustParse("((2,2),2):((1,4),2)")).Any(), tensor.FromSlice([]int8{0, 2, 1, 3, 4, 6, 5, 7}, 4, 2).Any(), ""},
		{"wide integers", equal, tensor.FromSlice([]int64{1 << 60}).Any(), tensor.FromSlice([]int64{1<<60 + 1}).Any(), "got 1152921504606846976, want 1152921504606846977, off by 1"},
		{"bool", equal, tensor.FromSlice([]bool{true, false}).Any(), tensor.FromSlice([]bool{true, true}).Any(), "[1]: got false, want true, off by 1"},
		{"complex", equal, tensor.FromSlice([]complex64{1 + 2i}).Any(), tensor.FromSlice([]complex64{1 - 2i}).Any(), "got (1+2i), want (1-2i), off by 4"},
		{"complex parts", equal, tensor.FromSlice([]complex128{3 + 4i}).Any(), tensor.FromSlice([]complex128{0}).Any(), "off by 5"},
		{"complex NaN bits", equal, tensor.FromSlice([]complex64{complex(1, nan)}).Any(), tensor.FromSlice([]complex64{complex(1, other)}).Any(), "(bits 0x3f800000, 0x7fc00000)"},
		{"many", equal, tensor.New[uint8](3, 3).Any(), tensor.Full[uint8](1, 3, 3).Any(), "… 4 more; the largest difference is at\n\t[0 0]: got 0, want 1, off by 1"},
		{"two", equal, tensor.FromSlice([]uint8{1, 2, 3}).Any(), tensor.FromSlice([]uint8{1, 9, 0}).Any(), "the largest difference is at [1]"},
		{"empty", equal, tensor.New[float32](0, 3).Any(), tensor.New[float32](0, 3).Any(), ""},
		{"no tensor", equal, tensor.Any{}, v(1), "got is no tensor: it is the zero value"},
		{"no tensor wanted", equal, v(1), tensor.Any{}, "want is no tensor: it is the zero value"},
		{"a description", equal, v(1), spec.Any(), "want is a tensor.Spec, whose elements can't be read"},
		{"foreign", equal, reach.Foreign(&closed, dtype.Float32, v(1).Layout()), v(1), "got is a *tensor.Tensor[float32], whose elements can't be read"},
		{"closed", equal, closed.Any(), v(1), "got can't be read: tensor.Memory: the storage is closed, its memory is given back; close it after its last use"},
		{"closed, by ulp", ulp(1), v(1), closed.Any(), "want can't be read"},
		{"close", near(0.01, 0.001), v(1.005, nan, inf, negZero), v(1, other, inf, 0), ""},
		{"at the limit", near(0, 0.5), v(1.5), v(1), ""},
		{"absolute", near(0, 0.5), v(next(1.5, 1)), v(1), "[0]: got 1.5000001, want 1, off by 0.5000001"},
		{"relative to want", near(0.5, 0), v(1), v(2), ""},
		{"not to got", near(0.5, 0), v(2), v(1), "[0]"},
		{"infinite", near(0.5, 1e300), v(inf), v(1), "[0]"},
		{"infinite wanted", near(0.5, 1e300), v(1), v(inf), "[0]"},
		{"other infinity", near(0.5, 1e300), v(-inf), v(inf), "[0]"},
		{"overflowing difference", near(1, 0), tensor.Scalar(math.MaxFloat64).Any(), tensor.Scalar(-math.MaxFloat64).Any(), "off by +Inf"},
		{"NaN against a number", near(1, 1e300), v(1), v(nan), "[0]"},
		{"a number against NaN", near(1, 1e300), v(nan), v(1), "[0]"},
		{"imaginary part", near(0.01, 0), tensor.FromSlice([]complex128{1i}).Any(), tensor.FromSlice([]complex128{2i}).Any(), "[0]"},
		{"complex, by its size", near(0.1, 0), tensor.FromSlice([]complex128{100 + 5i}).Any(), tensor.FromSlice([]complex128{100}).Any(), ""},
		{"complex NaN", near(0.1, 0), tensor.FromSlice([]complex64{complex(1, nan)}).Any(), tensor.FromSlice([]complex64{complex(nan, 1)}).Any(), "[0]"},
		{"narrow", near(0, 0.01), bf(1), bf(1.0078125), ""},
		{"narrow, far", near(0, 0.01), bf(1), bf(1.015625), "4 of 4"},
		{"integers beyond 2^53", near(0, 0), tensor.FromSlice([]int64{1 << 60}).Any(), tensor.FromSlice([]int64{1<<60 + 1}).Any(), "off by 1"},
		{"integers at both ends", near(0, 1), tensor.FromSlice([]int64{math.MinInt64}).Any(), tensor.FromSlice([]int64{math.MaxInt64}).Any(), "off by 1.8446744073709552e+19"},
		{"unsigned", near(0, 2), tensor.FromSlice([]uint8{0, 255}).Any(), tensor.FromSlice([]uint8{2, 253}).Any(), ""},
		{"bools", near(1, 1), tensor.FromSlice([]bool{true}).Any(), tensor.FromSlice([]bool{false}).Any(), "[0]"},
		{"rtol below 0", near(-1, 0), v(1), v(1), "rtol -1 and atol 0"},
		{"atol NaN", near(0, math.NaN()), v(1), v(1), "atol NaN"},
		{"rtol infinite", near(math.Inf(1), 0), v(1), v(1), "rtol +Inf"},
		{"2 ulp", ulp(2), v(next(1, 2)), v(1), ""},
		{"3 ulp", ulp(2), v(next(1, 3)), v(1), "[0]: got 1.0000004, want 1, off by 3 ulp"},
		{"downwards", ulp(2), v(1), v(next(1, 3)), "off by 3 ulp"},
		{"across zero", ulp(2), v(math.SmallestNonzeroFloat32), v(-math.SmallestNonzeroFloat32), ""},
		{"further across zero", ulp(1), v(math.SmallestNonzeroFloat32), v(-math.SmallestNonzeroFloat32), "off by 2 ulp"},
		{"zeros by ulp", ulp(0), v(0), v(negZero), ""},
		{"infinity and the largest", ulp(1), v(inf), v(math.MaxFloat32), ""},
		{"ulp of NaN", ulp(0), v(nan), v(other), ""},
		{"ulp of NaN and a number", ulp(math.MaxUint64), v(nan), v(1), "off by +Inf"},
		{"all of float64", ulp(math.MaxUint64), tensor.Scalar(-math.MaxFloat64).Any(), tensor.Scalar(math.MaxFloat64).Any(), ""},
		{"ulp of complex", ulp(1), tensor.FromSlice([]complex64{complex(1, next(2, 1))}).Any(), tensor.FromSlice([]complex64{complex(next(1, 1), 2)}).Any(), ""},
		{"ulp of a part", ulp(1), tensor.FromSlice([]complex64{complex(1, next(2, 2))}).Any(), tensor.FromSlice([]complex64{1 + 2i}).Any(), "off by 2 ulp"},
		{"ulp of narrow", ulp(2), bf(1), tensor.Full(num.FromBits[num.BF16](0x3f83), 2, 2).Any(), "4 of 4"},
		{"ulp of integers", ulp(2), tensor.FromSlice([]int32{1}).Any(), tensor.FromSlice([]int32{1}).Any(), "int32[1] has no units in the last place"},
		{"ulp of no tensor", ulp(2), tensor.Any{}, v(1), "got is no tensor: it is the zero value"},
	} {
		r := &recorder{}
		if ok := c.f(r, c.got, c.want); ok != (r.text == "") || ok != (c.fails == "") || !strings.Contains(r.text, c.fails) {
			t.Errorf("%s: returned %t and said %q, want %q", c.name, ok, r.text, c.fails)
		}
		if r.calls > 1 || r.helpers == 0 {
			t.Errorf("%s: %d calls of Errorf and %d of Helper", c.name, r.calls, r.helpers)
		}
	}
}

// Every type: a tensor is equal to itself and close, and one other bit is seen.
func TestTypes(t *testing.T) {
	for _, d := range dtype.All() {
		a, err := tensor.Make(d, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		b, err := tensor.Clone(a)
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{}
		if !tensortest.Equal(r, a, b) || !tensortest.AllClose(r, a, b, 0, 0) {
			t.Errorf("%v: %s", d, r.text)
		}
		raw, ok := tensor.Bytes(b)
		if !ok {
			t.Fatal(d)
		}
		raw[len(raw)-d.Size()] = 1
		for name, f := range map[string]check{"Equal": tensortest.Equal, "AllClose": near(0, 0), "ULP": ulp(0)} {
			r := &recorder{}
			if f(r, a, b) || !strings.Contains(r.text, d.String()+"[2,3]") {
				t.Errorf("%v: %s said %q", d, name, r.text)
			}
			if (d.IsFloat() || d.IsComplex() || name != "ULP") && !strings.Contains(r.text, "[1 2]: got ") {
				t.Errorf("%v: %s said %q", d, name, r.text)
			}
		}
	}
}

func ExampleDigest() {
	got := tensor.Arange[float32](0, 6, 1).View(2, 3)
	r := &recorder{}
	fmt.Println(tensortest.Digest(r, got.Any(), "00f8acf6823e57cc6a4e4661d7a8e3189eea47e388ef627209d7f76426c02058"))
	tensortest.Digest(r, got.Transpose().Any(), "00f8acf6823e57cc6a4e4661d7a8e3189eea47e388ef627209d7f76426c02058")
	tensortest.Digest(r, tensor.Any{}, "")
	fmt.Println(r.calls)
	fmt.Println(strings.SplitAfter(r.text, " has the digest ")[0], len(r.text) > 200)
	// Output:
	// true
	// 2
	// tensortest.Digest: float32[3,2] has the digest  true
}
