package dtype_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

func Example() {
	d, _ := dtype.Parse("bf16")
	fmt.Println(d, d.Size(), d.IsFloat(), dtype.Of[num.BF16]() == d)
	// Output: bfloat16 2 true true
}

func check[T num.Elem](t *testing.T, name string) {
	t.Helper()
	var x T
	d := dtype.Of[T]()
	if d.String() != name || d.Size() != int(unsafe.Sizeof(x)) {
		t.Errorf("Of[%T] = %v of %d bytes, want %s of %d", x, d, d.Size(), name, unsafe.Sizeof(x))
	}
	if p, err := dtype.Parse(name); err != nil || p != d {
		t.Errorf("Parse(%q) = %v, %v", name, p, err)
	}
	seen[d]++
}

var seen = map[dtype.DType]int{}

func TestOf(t *testing.T) {
	check[bool](t, "bool")
	check[int8](t, "int8")
	check[int16](t, "int16")
	check[int32](t, "int32")
	check[int64](t, "int64")
	check[uint8](t, "uint8")
	check[uint16](t, "uint16")
	check[uint32](t, "uint32")
	check[uint64](t, "uint64")
	check[num.F8E4M3](t, "float8_e4m3")
	check[num.F8E5M2](t, "float8_e5m2")
	check[num.F16](t, "float16")
	check[num.BF16](t, "bfloat16")
	check[float32](t, "float32")
	check[float64](t, "float64")
	check[complex64](t, "complex64")
	check[complex128](t, "complex128")
	check[fixed.FP8x23](t, "fp8x23")
	check[fixed.FP16x16](t, "fp16x16")
	check[fixed.FP32x32](t, "fp32x32")
	check[fixed.FP64x64](t, "fp64x64")
	check[num.Int2](t, "int2")
	check[num.Int4](t, "int4")
	check[num.Uint2](t, "uint2")
	check[num.Uint4](t, "uint4")
	check[num.F4E2M1](t, "float4_e2m1")
	check[num.F8E4M3FNUZ](t, "float8_e4m3fnuz")
	check[num.F8E5M2FNUZ](t, "float8_e5m2fnuz")
	check[num.F8E8M0](t, "float8_e8m0")
	for _, d := range dtype.All() {
		if seen[d] != 1 {
			t.Errorf("%v is the type of %d Go types, want 1", d, seen[d])
		}
	}
}

func TestClasses(t *testing.T) {
	for _, d := range dtype.All() {
		n := 0
		for _, in := range []bool{d == dtype.Bool, d.IsInteger(), d.IsFloat(), d.IsComplex(), d.IsFixed()} {
			if in {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%v is in %d classes", d, n)
		}
		if p, err := dtype.Parse(d.Short()); err != nil || p != d || len(d.Short()) > 5 {
			t.Errorf("Parse(%q) = %v, %v", d.Short(), p, err)
		}
		if packed := d.Bits() < 8; packed != (d.Packed(8) < 8) || !packed && d.Bits() != 8*d.Size() {
			t.Errorf("%v has %d bits, and 8 of them %d bytes in a file", d, d.Bits(), d.Packed(8))
		}
		if f := d.Format(); (f != 0) != (d.IsFloat() && d.Size() <= 2) || f != 0 && f.Bits() != d.Bits() {
			t.Errorf("%v has format %d", d, f)
		}
	}
	if dtype.Uint8.IsSigned() || !dtype.Int8.IsSigned() || !dtype.Float16.IsSigned() || dtype.Bool.IsSigned() {
		t.Error("IsSigned")
	}
	if _, err := dtype.Parse("float"); err == nil {
		t.Error("Parse(float) should fail")
	}
	if dtype.DType(200).Size() != 0 || dtype.DType(200).String() != "DType(200)" {
		t.Error("an unknown DType must print and have no size")
	}
}
