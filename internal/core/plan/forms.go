package plan

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// Forms of operators for certain calls, and facts about operators for listings.

// Rectified returns the run-time form of Conv or Gemm under the option Rectify, and whether
// o is one of them.
func Rectified(o *Op) (rectified *Op, ok bool) {
	if o == nil || !o.says.Rectifies {
		return o, false
	}
	return VariantOf(o, dtype.Invalid, nil, func(c *Use, p *Draft) {
		d := *c
		d.Flags |= Rectify
		Planned(o, &d, p)
	}), true
}

// WithWeights returns a form of o for calls that have the same weights: the inputs of c that are not zero, whose elements
// stay as they are. The form packs them in its first call, and the later ones find them packed; a call with other inputs
// is as one of o. bytes is the size of the packed weights. LSTM, GRU and RNN of float32 or float64 have such a form: their
// inputs 1 and 2 are the weights. Conv, MatMul and Gemm have one for input 1. The products and convolutions of integers of 8 bits have one for their
// weights: QLinearConv, QLinearMatMul, QGemm, ConvInteger, MatMulInteger, MatMulIntegerToFloat and DynamicQuantizeMatMul.
// All but LSTM, GRU and RNN pack them for the plans of calls that keep them (Call.Fixed), if that is faster for their shapes:
// Plan.Keeps says the bytes then. Of other operators it returns o and 0.
func WithWeights(o *Op, c *Call) (form *Op, bytes int64) {
	if o == nil || c == nil || len(c.Inputs) < 2 || o.says.Kept == nil {
		return o, 0
	}
	return o.says.Kept(o, c)
}

// Why says in a few words why an operator isn't defined for an element type of its
// deciding operand, and the way out. It is empty where the operator is.
func Why(o *Op, d dtype.DType) string {
	if Supports(Some("Why", o), d) {
		return ""
	}
	if why := o.says.Why; why != "" && !d.IsComplex() && d != dtype.Bool {
		return why
	}
	switch {
	case d.IsComplex():
		return "complex numbers have arithmetic, equality, sums and products of matrices; no order, and no functions here"
	case d == dtype.Bool:
		return "truth values are no numbers: Cast them first"
	case !Supports(o, dtype.Float32) && !Supports(o, dtype.Int32):
		return "of truth values alone: compare with 0 first"
	case d.IsInteger():
		return "of floats alone: Cast first"
	case d.IsFixed() && Supports(o, dtype.Float32):
		return "not of fixed point: Cast first"
	}
	return "of integers alone: Cast first"
}

// Kernels returns the levels of instructions, besides plain Go, that an operator has
// rows of its own for, such as [avx2 avx512], for an element type of its deciding
// operand. Narrow floats are computed by the rows of float32.
func Kernels(o *Op, d dtype.DType) (levels []string) {
	if !Supports(Some("Kernels", o), d) {
		return nil
	}
	for l := cpu.Generic + 1; l <= simd.Top; l++ {
		if FastFor(o, d, l) {
			levels = append(levels, l.String())
		}
	}
	return levels
}
