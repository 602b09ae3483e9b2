// Package fixed holds fixed-point numbers: [FP8x23], [FP16x16], [FP32x32] and [FP64x64] are integers in units of a power of two.
//
// Their arithmetic and functions work for all four formats. They need integers alone, so every machine computes the same results:
//
//	y, err := fixed.Exp(x)                // any format
//	p, err := fixed.Mul(a, b, fixed.Saturate)
//
// Every result is the true value rounded once, to nearest with ties to even, or toward zero on request, in the wide formats too. A result
// beyond the format is an error, unless a [Mode] says otherwise; one below half a unit is 0. A [Sum] adds numbers and products at full
// width, so that sums, means and inner products are rounded once, too. docs/fixed-point.md says how that is checked.
//
// Tensors hold these numbers: package num counts them among its constraints, and package op calls these functions.
//
// Functions of rows work on len(x) elements. If another row is shorter, they panic with a runtime error.
package fixed
