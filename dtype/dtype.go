// Package dtype names the element types of tensors at run time: what a file's
// header, a graph or a command line says where a Go program says T.
package dtype

import (
	"fmt"

	"github.com/ashlar-go/ashlar/num"
)

// DType is an element type. The zero value is Invalid. The numbers are no file
// format's: each format owns its own names and codes.
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
	count
)

// Count is one more than the largest DType, the length of a table indexed by it.
const Count = int(count)

var table = [Count]struct {
	name string
	size int
}{
	Invalid: {"invalid", 0}, Bool: {"bool", 1},
	Int8: {"int8", 1}, Int16: {"int16", 2}, Int32: {"int32", 4}, Int64: {"int64", 8},
	Uint8: {"uint8", 1}, Uint16: {"uint16", 2}, Uint32: {"uint32", 4}, Uint64: {"uint64", 8},
	Float8E4M3: {"float8_e4m3", 1}, Float8E5M2: {"float8_e5m2", 1},
	Float16: {"float16", 2}, BFloat16: {"bfloat16", 2}, Float32: {"float32", 4}, Float64: {"float64", 8},
	Complex64: {"complex64", 8}, Complex128: {"complex128", 16},
	FP8x23: {"fp8x23", 4}, FP16x16: {"fp16x16", 4}, FP32x32: {"fp32x32", 8}, FP64x64: {"fp64x64", 16},
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

// Size returns the bytes of one element; 0 for Invalid.
func (d DType) Size() int {
	if d >= count {
		return 0
	}
	return table[d].size
}

// IsFloat reports whether d is a real floating-point type of any width.
func (d DType) IsFloat() bool { return d >= Float8E4M3 && d <= Float64 }

// IsNarrow reports whether d is a floating-point type that is computed in
// float32 and rounded once: float16, bfloat16 and the two float8.
func (d DType) IsNarrow() bool { return d >= Float8E4M3 && d <= BFloat16 }

// IsInteger reports whether d is an integer, signed or not; bool is none.
func (d DType) IsInteger() bool { return d >= Int8 && d <= Uint64 }

// IsSigned reports whether d has negative values.
func (d DType) IsSigned() bool { return d >= Int8 && d <= Int64 || d >= Float8E4M3 && d < count }

// IsComplex reports whether d is complex64 or complex128.
func (d DType) IsComplex() bool { return d == Complex64 || d == Complex128 }

// IsFixed reports whether d is a fixed-point type: fp8x23, fp16x16, fp32x32 or fp64x64.
func (d DType) IsFixed() bool { return d >= FP8x23 && d <= FP64x64 }

// Parse returns the type with the given name, as String writes it, or one of
// the short names f16 bf16 f32 f64 i8 … u64, or the names FP8x23 … FP64x64 of package num.
func Parse(name string) (DType, error) {
	for d := Bool; d < count; d++ {
		if table[d].name == name {
			return d, nil
		}
	}
	short := map[string]DType{"f16": Float16, "bf16": BFloat16, "f32": Float32, "f64": Float64,
		"i8": Int8, "i16": Int16, "i32": Int32, "i64": Int64, "u8": Uint8, "u16": Uint16, "u32": Uint32, "u64": Uint64,
		"FP8x23": FP8x23, "FP16x16": FP16x16, "FP32x32": FP32x32, "FP64x64": FP64x64}
	if d, ok := short[name]; ok {
		return d, nil
	}
	return Invalid, fmt.Errorf("dtype.Parse: no element type is called %q; there are %v", name, All())
}

// Of returns the DType of T.
func Of[T num.Elem]() DType { return of((*T)(nil)) }

// of is apart from Of so that there is one switch, not one wherever Of is used.
//
//go:noinline
func of(p any) DType {
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
	case *num.FP8x23:
		return FP8x23
	case *num.FP16x16:
		return FP16x16
	case *num.FP32x32:
		return FP32x32
	case *num.FP64x64:
		return FP64x64
	}
	return Invalid
}
