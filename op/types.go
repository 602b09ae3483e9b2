package op

import "github.com/ashlar-go/ashlar/dtype"

// types is a set of element types, a bit for each.
type types uint32

const (
	bools     = types(1 << dtype.Bool)
	float8s   = types(1<<dtype.Float8E4M3 | 1<<dtype.Float8E5M2)
	narrows   = float8s | 1<<dtype.Float16 | 1<<dtype.BFloat16
	floats    = narrows | 1<<dtype.Float32 | 1<<dtype.Float64
	bytes8    = types(1<<dtype.Int8 | 1<<dtype.Uint8) // integers of 8 bits
	indices   = types(1<<dtype.Int32 | 1<<dtype.Int64)
	integers  = bytes8 | indices | 1<<dtype.Int16 | 1<<dtype.Uint16 | 1<<dtype.Uint32 | 1<<dtype.Uint64
	tabular   = indices | 1<<dtype.Float32 | 1<<dtype.Float64 // what most operators of ai.onnx.ml take
	quantized = bytes8 | 1<<dtype.Int16 | 1<<dtype.Uint16 | 1<<dtype.Int32 | float8s | stored&^(1<<dtype.Float8E8M0)
	fixeds    = types(1<<dtype.FP8x23 | 1<<dtype.FP16x16 | 1<<dtype.FP32x32 | 1<<dtype.FP64x64)
	complexes = types(1<<dtype.Complex64 | 1<<dtype.Complex128)
	reals     = integers | floats // fixed point aside
	numbers   = reals | fixeds | complexes
	every     = bools | numbers
	stored    = types(1<<dtype.Int2 | 1<<dtype.Int4 | 1<<dtype.Uint2 | 1<<dtype.Uint4 | 1<<dtype.Float4E2M1 |
		1<<dtype.Float8E4M3FNUZ | 1<<dtype.Float8E5M2FNUZ | 1<<dtype.Float8E8M0) // moved and converted, not computed with
)

func (t types) has(d dtype.DType) bool { return t>>d&1 == 1 }
