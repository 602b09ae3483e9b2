package safetensors

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// types are the format's element types in the order of its reference, by
// increasing alignment; Write stores the last ones first.
var types = []struct {
	name string
	bits int
	d    dtype.DType // Invalid: no tensor holds the elements
}{
	{"BOOL", 8, dtype.Bool},
	{"F4", 4, dtype.Float4E2M1},
	{"F6_E2M3", 6, dtype.Invalid}, // of a pack.Tensor
	{"F6_E3M2", 6, dtype.Invalid},
	{"U8", 8, dtype.Uint8},
	{"I8", 8, dtype.Int8},
	{"F8_E5M2", 8, dtype.Float8E5M2},
	{"F8_E4M3", 8, dtype.Float8E4M3},
	{"F8_E8M0", 8, dtype.Float8E8M0},
	{"F8_E4M3FNUZ", 8, dtype.Float8E4M3FNUZ},
	{"F8_E5M2FNUZ", 8, dtype.Float8E5M2FNUZ},
	{"I16", 16, dtype.Int16},
	{"U16", 16, dtype.Uint16},
	{"F16", 16, dtype.Float16},
	{"BF16", 16, dtype.BFloat16},
	{"I32", 32, dtype.Int32},
	{"U32", 32, dtype.Uint32},
	{"F32", 32, dtype.Float32},
	{"C64", 64, dtype.Complex64},
	{"F64", 64, dtype.Float64},
	{"I64", 64, dtype.Int64},
	{"U64", 64, dtype.Uint64},
}

// typeNamed returns the index in types, or -1.
func typeNamed(name string) int {
	for i := range types {
		if types[i].name == name {
			return i
		}
	}
	return -1
}

// sixes are the formats of pack.Tensors by the names of their types in a file.
var sixes = map[string]string{"F6_E2M3": "float6_e2m3", "F6_E3M2": "float6_e3m2"}

// sixOf returns the name of the type that holds a packed tensor without a description, or "".
func sixOf(t tensor.Any) string {
	if p, ok := t.Foreign().(pack.Tensor); ok && p.Len() == p.StorageLen() && p.Tile() == (pack.Tile{}) {
		for name, format := range sixes {
			if p.TypeName() == format {
				return name
			}
		}
	}
	return ""
}

// typeIn returns the index in types of the type as which t is written, or -1.
func typeIn(t tensor.Any) int {
	if name := sixOf(t); name != "" {
		return typeNamed(name)
	}
	return typeOf(t.DType())
}

// words are the integers that hold fixed point; a number of fp64x64 takes two.
var words = [dtype.Count]dtype.DType{dtype.FP8x23: dtype.Int32, dtype.FP16x16: dtype.Int32, dtype.FP32x32: dtype.Int64, dtype.FP64x64: dtype.Int64}

// typeOf returns the index in types of d, or of the words of fixed point, or -1.
func typeOf(d dtype.DType) int {
	if d.IsFixed() {
		d = words[d]
	}
	for i := range types {
		if types[i].d == d && d != dtype.Invalid {
			return i
		}
	}
	return -1
}
