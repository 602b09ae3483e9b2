package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// The element types with rows in package simd, for operators without a table of rows.

func productFast(d dtype.DType, l cpu.Level) bool {
	if d == dtype.Float64 {
		return simd.Product64.At(l) != nil
	}
	return d.IsFloat() && simd.Product32.At(l) != nil
}

func bytesFast(_ dtype.DType, l cpu.Level) bool { return simd.ByteProducts.At(l) != nil }

func quantizeFast(d dtype.DType, l cpu.Level) bool { return d == dtype.Float32 && simd.Has(l) }

func dequantizeFast(d dtype.DType, l cpu.Level) bool {
	return (d == dtype.Int8 || d == dtype.Uint8) && simd.Has(l)
}

func extremeFast(d dtype.DType, l cpu.Level) bool {
	return (d == dtype.Float32 || d == dtype.Float64) && simd.Has(l)
}

func softmaxFast(d dtype.DType, l cpu.Level) bool { return d.IsFloat() && simd.Has(l) }

func geluFast(d dtype.DType, l cpu.Level) bool {
	return d.IsFloat() && d != dtype.Float64 && simd.Gelu.At(l) != nil
}
