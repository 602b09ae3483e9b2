// Package dtype names the element types of tensors at run time. Files' headers, graphs
// and command lines use them where a Go program has a type parameter T.
package dtype

import (
	"fmt"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// DType is an element type. The zero value is Invalid. The numbers belong to no file
// format: each format has its own names and codes.
type DType uint8

// The element types.
const (
	Invalid DType = iota
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float8E4M3
	Float8E5M2
	Float16
	BFloat16
	Float32
	Float64
	Complex64
	Complex128
	FP8x23
	FP16x16
	FP32x32
	FP64x64
	Int2
	Int4
	Uint2
	Uint4
	Float4E2M1
	Float8E4M3FNUZ
	Float8E5M2FNUZ
	Float8E8M0
	count
)

// Count is one more than the largest DType, the length of a table indexed by it.
const Count = int(count)

// A kind is a set of properties.
type kind uint8

const (
	integer kind = 1 << iota
	float
	signed
	complexes
	fixedPoint
	narrow // computed in float32
	stored // not computed with
)

var table = [Count]struct {
	name, short string
	size, bits  uint8
	kind        kind
	format      num.Format
}{
	Invalid:        {name: "invalid"},
	Bool:           {"bool", "bool", 1, 8, 0, 0},
	Int8:           {"int8", "i8", 1, 8, integer | signed, 0},
	Int16:          {"int16", "i16", 2, 16, integer | signed, 0},
	Int32:          {"int32", "i32", 4, 32, integer | signed, 0},
	Int64:          {"int64", "i64", 8, 64, integer | signed, 0},
	Uint8:          {"uint8", "u8", 1, 8, integer, 0},
	Uint16:         {"uint16", "u16", 2, 16, integer, 0},
	Uint32:         {"uint32", "u32", 4, 32, integer, 0},
	Uint64:         {"uint64", "u64", 8, 64, integer, 0},
	Float8E4M3:     {"float8_e4m3", "f8e4", 1, 8, float | signed | narrow, num.FormatF8E4M3},
	Float8E5M2:     {"float8_e5m2", "f8e5", 1, 8, float | signed | narrow, num.FormatF8E5M2},
	Float16:        {"float16", "f16", 2, 16, float | signed | narrow, num.FormatF16},
	BFloat16:       {"bfloat16", "bf16", 2, 16, float | signed | narrow, num.FormatBF16},
	Float32:        {"float32", "f32", 4, 32, float | signed, 0},
	Float64:        {"float64", "f64", 8, 64, float | signed, 0},
	Complex64:      {"complex64", "c64", 8, 64, complexes | signed, 0},
	Complex128:     {"complex128", "c128", 16, 128, complexes | signed, 0},
	FP8x23:         {"fp8x23", "8x23", 4, 32, fixedPoint | signed, 0},
	FP16x16:        {"fp16x16", "16x16", 4, 32, fixedPoint | signed, 0},
	FP32x32:        {"fp32x32", "32x32", 8, 64, fixedPoint | signed, 0},
	FP64x64:        {"fp64x64", "64x64", 16, 128, fixedPoint | signed, 0},
	Int2:           {"int2", "i2", 1, 2, integer | signed | stored, 0},
	Int4:           {"int4", "i4", 1, 4, integer | signed | stored, 0},
	Uint2:          {"uint2", "u2", 1, 2, integer | stored, 0},
	Uint4:          {"uint4", "u4", 1, 4, integer | stored, 0},
	Float4E2M1:     {"float4_e2m1", "f4", 1, 4, float | signed | stored, num.FormatF4E2M1},
	Float8E4M3FNUZ: {"float8_e4m3fnuz", "f8e4z", 1, 8, float | signed | stored, num.FormatF8E4M3FNUZ},
	Float8E5M2FNUZ: {"float8_e5m2fnuz", "f8e5z", 1, 8, float | signed | stored, num.FormatF8E5M2FNUZ},
	Float8E8M0:     {"float8_e8m0", "f8e8", 1, 8, float | stored, num.FormatF8E8M0},
}

// All returns every element type in the order of the constants.
func All() []DType {
	all := make([]DType, 0, Count-1)
	for d := Bool; d < count; d++ {
		all = append(all, d)
	}
	return all
}

// String returns the name: float32, bfloat16, float8_e4m3, fp16x16.
func (d DType) String() string {
	if d >= count {
		return fmt.Sprintf("DType(%d)", uint8(d))
	}
	return table[d].name
}

// Short returns a name of at most five characters: f32, bf16, f8e4, 16x16. Parse reads it.
func (d DType) Short() string {
	if d >= count {
		return d.String()
	}
	return table[d].short
}

// Size returns the bytes of one element in memory; 0 for Invalid.
func (d DType) Size() int {
	if d >= count {
		return 0
	}
	return int(table[d].size)
}

// Bits returns the bits of one element in a file: 8 for each byte of Size. Types of 4 or 2
// bits are the exception: files hold them packed. See Pack.
func (d DType) Bits() int {
	if d >= count {
		return 0
	}
	return int(table[d].bits)
}

// Format returns the format of a float of 16 bits or less, which converts its elements; 0
// for other types.
func (d DType) Format() num.Format {
	if d >= count {
		return 0
	}
	return table[d].format
}

func (d DType) is(k kind) bool { return d < count && table[d].kind&k != 0 }

// IsFloat reports whether d is a real floating-point type of any width.
func (d DType) IsFloat() bool { return d.is(float) }

// IsNarrow reports whether d is a floating-point type that is computed in
// float32 and rounded once: float16, bfloat16, float8_e4m3 and float8_e5m2.
func (d DType) IsNarrow() bool { return d.is(narrow) }

// IsStored reports whether d is a type that is stored, moved and converted, but not
// computed with: a type of 2 or 4 bits, float8_e4m3fnuz, float8_e5m2fnuz or float8_e8m0.
func (d DType) IsStored() bool { return d.is(stored) }

// IsInteger reports whether d is an integer type, signed or not. bool isn't one.
func (d DType) IsInteger() bool { return d.is(integer) }

// IsSigned reports whether d has negative values.
func (d DType) IsSigned() bool { return d.is(signed) }

// IsComplex reports whether d is complex64 or complex128.
func (d DType) IsComplex() bool { return d.is(complexes) }

// IsFixed reports whether d is a fixed-point type: fp8x23, fp16x16, fp32x32 or fp64x64.
func (d DType) IsFixed() bool { return d.is(fixedPoint) }

// Parse returns the type with the given name, as String and Short write it. It also reads
// package num's names of fixed point: FP8x23 … FP64x64.
func Parse(name string) (DType, error) {
	for d := Bool; d < count; d++ {
		if t := &table[d]; t.name == name || t.short == name || d.IsFixed() && "FP"+t.short == name {
			return d, nil
		}
	}
	return Invalid, fmt.Errorf("dtype.Parse: no element type is called %q; there are %v", name, All())
}

// Of returns the DType of T.
func Of[T num.Elem]() DType { return At((*T)(nil)) }

// At returns the DType of the element that p points to, Invalid if p is no pointer to an
// element. p may be a nil *T. This is the only switch over element types.
//
//go:noinline
func At(p any) DType {
	switch p.(type) {
	case *bool:
		return Bool
	case *int8:
		return Int8
	case *int16:
		return Int16
	case *int32:
		return Int32
	case *int64:
		return Int64
	case *uint8:
		return Uint8
	case *uint16:
		return Uint16
	case *uint32:
		return Uint32
	case *uint64:
		return Uint64
	case *num.F8E4M3:
		return Float8E4M3
	case *num.F8E5M2:
		return Float8E5M2
	case *num.F16:
		return Float16
	case *num.BF16:
		return BFloat16
	case *float32:
		return Float32
	case *float64:
		return Float64
	case *complex64:
		return Complex64
	case *complex128:
		return Complex128
	case *fixed.FP8x23:
		return FP8x23
	case *fixed.FP16x16:
		return FP16x16
	case *fixed.FP32x32:
		return FP32x32
	case *fixed.FP64x64:
		return FP64x64
	case *num.Int2:
		return Int2
	case *num.Int4:
		return Int4
	case *num.Uint2:
		return Uint2
	case *num.Uint4:
		return Uint4
	case *num.F4E2M1:
		return Float4E2M1
	case *num.F8E4M3FNUZ:
		return Float8E4M3FNUZ
	case *num.F8E5M2FNUZ:
		return Float8E5M2FNUZ
	case *num.F8E8M0:
		return Float8E8M0
	}
	return Invalid
}
