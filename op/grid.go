package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// Why says in a few words why an operator isn't defined for an element type of its
// deciding operand, and what to do instead. It is empty where the operator is.
func Why(o *Op, d dtype.DType) string {
	if plan.Some("Why", o).Supports(d) {
		return ""
	}
	if why := plan.AboutOf(o).Why; why != "" && !d.IsComplex() && d != dtype.Bool {
		return why
	}
	switch {
	case d.IsComplex():
		return "complex numbers have arithmetic, equality, sums and products of matrices; no order, and no functions here"
	case d == dtype.Bool:
		return "truth values are no numbers: Cast them first"
	case !o.Supports(dtype.Float32) && !o.Supports(dtype.Int32):
		return "of truth values alone: compare with 0 first"
	case d.IsInteger():
		return "of floats alone: Cast first"
	case d.IsFixed() && o.Supports(dtype.Float32):
		return "not of fixed point: Cast first"
	}
	return "of integers alone: Cast first"
}

// Kernels returns the levels of instructions, besides plain Go, that an operator has
// rows of its own for, such as [avx2 avx512], for an element type of its deciding
// operand. Narrow floats are computed by the rows of float32.
func Kernels(o *Op, d dtype.DType) (levels []string) {
	if !plan.Some("Kernels", o).Supports(d) {
		return nil
	}
	for l := cpu.Generic + 1; l <= simd.Top; l++ {
		if plan.FastFor(o, d, l) {
			levels = append(levels, l.String())
		}
	}
	return levels
}

// What has rows for which type, of the operators without a table of rows.

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
