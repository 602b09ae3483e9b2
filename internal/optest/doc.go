// Package optest runs every operator on every element type. A result must have the same
// bits as that of contiguous operands, for all layouts, numbers of threads and
// instruction sets. Nothing outside an operand's elements may be read into it or
// written. Its tests check that on one machine. Digest compares machines.
//
// A new operator needs cases in cases.go or moves.go, or there a reason why it has
// none.
package optest
