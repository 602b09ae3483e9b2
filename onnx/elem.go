package onnx

import (
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
)

// ElemType is ONNX's code for the type of a tensor's elements (TensorProto.DataType in onnx.proto).
type ElemType int32

// The element types of ONNX.
const (
	ElemUndefined      ElemType = 0
	ElemFloat32        ElemType = 1
	ElemUint8          ElemType = 2
	ElemInt8           ElemType = 3
	ElemUint16         ElemType = 4
	ElemInt16          ElemType = 5
	ElemInt32          ElemType = 6
	ElemInt64          ElemType = 7
	ElemString         ElemType = 8
	ElemBool           ElemType = 9
	ElemFloat16        ElemType = 10
	ElemFloat64        ElemType = 11
	ElemUint32         ElemType = 12
	ElemUint64         ElemType = 13
	ElemComplex64      ElemType = 14
	ElemComplex128     ElemType = 15
	ElemBFloat16       ElemType = 16
	ElemFloat8E4M3     ElemType = 17 // E4M3FN: the OCP format, no infinities
	ElemFloat8E4M3FNUZ ElemType = 18
	ElemFloat8E5M2     ElemType = 19
	ElemFloat8E5M2FNUZ ElemType = 20
	ElemUint4          ElemType = 21
	ElemInt4           ElemType = 22
	ElemFloat4E2M1     ElemType = 23
	ElemFloat8E8M0     ElemType = 24
	ElemUint2          ElemType = 25
	ElemInt2           ElemType = 26
)

// elems says of each code its name and the tensor type that holds it; Invalid where there is none.
var elems = [...]struct {
	name string
	d    dtype.DType
}{
	ElemUndefined:      {"undefined", dtype.Invalid},
	ElemFloat32:        {"float32", dtype.Float32},
	ElemUint8:          {"uint8", dtype.Uint8},
	ElemInt8:           {"int8", dtype.Int8},
	ElemUint16:         {"uint16", dtype.Uint16},
	ElemInt16:          {"int16", dtype.Int16},
	ElemInt32:          {"int32", dtype.Int32},
	ElemInt64:          {"int64", dtype.Int64},
	ElemString:         {"string", dtype.Invalid},
	ElemBool:           {"bool", dtype.Bool},
	ElemFloat16:        {"float16", dtype.Float16},
	ElemFloat64:        {"float64", dtype.Float64},
	ElemUint32:         {"uint32", dtype.Uint32},
	ElemUint64:         {"uint64", dtype.Uint64},
	ElemComplex64:      {"complex64", dtype.Complex64},
	ElemComplex128:     {"complex128", dtype.Complex128},
	ElemBFloat16:       {"bfloat16", dtype.BFloat16},
	ElemFloat8E4M3:     {"float8_e4m3", dtype.Float8E4M3},
	ElemFloat8E4M3FNUZ: {"float8_e4m3fnuz", dtype.Float8E4M3FNUZ},
	ElemFloat8E5M2:     {"float8_e5m2", dtype.Float8E5M2},
	ElemFloat8E5M2FNUZ: {"float8_e5m2fnuz", dtype.Float8E5M2FNUZ},
	ElemUint4:          {"uint4", dtype.Uint4},
	ElemInt4:           {"int4", dtype.Int4},
	ElemFloat4E2M1:     {"float4_e2m1", dtype.Float4E2M1},
	ElemFloat8E8M0:     {"float8_e8m0", dtype.Float8E8M0},
	ElemUint2:          {"uint2", dtype.Uint2},
	ElemInt2:           {"int2", dtype.Int2},
}

// String returns the name, as dtype writes it where both know the type.
func (e ElemType) String() string {
	if e < 0 || int(e) >= len(elems) {
		return fmt.Sprintf("element type %d", int32(e))
	}
	return elems[e].name
}

// DType returns the element type of a tensor of these elements; false for strings.
func (e ElemType) DType() (dtype.DType, bool) {
	if e < 0 || int(e) >= len(elems) {
		return dtype.Invalid, false
	}
	d := elems[e].d
	return d, d != dtype.Invalid
}

// ElemOf returns ONNX's code for d, ElemUndefined if it has none.
func ElemOf(d dtype.DType) ElemType {
	for e := range elems {
		if d != dtype.Invalid && elems[e].d == d {
			return ElemType(e)
		}
	}
	return ElemUndefined
}
