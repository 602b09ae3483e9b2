package op

import "github.com/ashlar-go/ashlar/dtype"

// types is a set of element types, a bit for each.
type types uint32

const (
	bools     = types(1 << dtype.Bool)
	narrows   = types(1<<dtype.Float8E4M3 | 1<<dtype.Float8E5M2 | 1<<dtype.Float16 | 1<<dtype.BFloat16)
	floats    = narrows | 1<<dtype.Float32 | 1<<dtype.Float64
	bytes8    = types(1<<dtype.Int8 | 1<<dtype.Uint8) // integers of 8 bits
	indices   = types(1<<dtype.Int32 | 1<<dtype.Int64)
	integers  = bytes8 | indices | 1<<dtype.Int16 | 1<<dtype.Uint16 | 1<<dtype.Uint32 | 1<<dtype.Uint64
	tabular   = indices | 1<<dtype.Float32 | 1<<dtype.Float64 // what most operators of ai.onnx.ml take
	quantized = bytes8 | 1<<dtype.Int16 | 1<<dtype.Uint16 | 1<<dtype.Int32 | 1<<dtype.Float8E4M3 | 1<<dtype.Float8E5M2
	fixeds    = types(1<<dtype.FP8x23 | 1<<dtype.FP16x16 | 1<<dtype.FP32x32 | 1<<dtype.FP64x64)
	complexes = types(1<<dtype.Complex64 | 1<<dtype.Complex128)
	reals     = integers | floats // fixed point aside
	numbers   = reals | fixeds | complexes
	every     = bools | numbers
)

func (t types) has(d dtype.DType) bool { return t>>d&1 == 1 }
