package plan

import "github.com/ashlar-go/ashlar/dtype"

// Types is a set of element types, a bit for each.
type Types uint32

// The sets that operators take.
const (
	Bools     = Types(1 << dtype.Bool)
	Float8s   = Types(1<<dtype.Float8E4M3 | 1<<dtype.Float8E5M2)
	Narrows   = Float8s | 1<<dtype.Float16 | 1<<dtype.BFloat16
	Floats    = Narrows | 1<<dtype.Float32 | 1<<dtype.Float64
	Bytes8    = Types(1<<dtype.Int8 | 1<<dtype.Uint8) // integers of 8 bits
	Indices   = Types(1<<dtype.Int32 | 1<<dtype.Int64)
	Integers  = Bytes8 | Indices | 1<<dtype.Int16 | 1<<dtype.Uint16 | 1<<dtype.Uint32 | 1<<dtype.Uint64
	Tabular   = Indices | 1<<dtype.Float32 | 1<<dtype.Float64 // the types of most operators of ai.onnx.ml
	Quantized = Bytes8 | 1<<dtype.Int16 | 1<<dtype.Uint16 | 1<<dtype.Int32 | Float8s | Stored&^(1<<dtype.Float8E8M0)
	Fixeds    = Types(1<<dtype.FP8x23 | 1<<dtype.FP16x16 | 1<<dtype.FP32x32 | 1<<dtype.FP64x64)
	Complexes = Types(1<<dtype.Complex64 | 1<<dtype.Complex128)
	Reals     = Integers | Floats // fixed point aside
	Numbers   = Reals | Fixeds | Complexes
	Every     = Bools | Numbers
	Stored    = Types(1<<dtype.Int2 | 1<<dtype.Int4 | 1<<dtype.Uint2 | 1<<dtype.Uint4 | 1<<dtype.Float4E2M1 |
		1<<dtype.Float8E4M3FNUZ | 1<<dtype.Float8E5M2FNUZ | 1<<dtype.Float8E8M0) // moved and converted, not computed with
)

// Has reports whether d is in the set.
func (t Types) Has(d dtype.DType) bool { return t>>d&1 == 1 }
