// Package optest runs every operator on every element type: a result must be, bit
// for bit, that of contiguous operands, whatever the layouts, the number of threads
// and the instruction set, and nothing outside an operand's elements may be read
// into it or written. Its tests check that on one machine; Digest is for comparing
// machines.
//
// A new operator needs cases in cases.go or moves.go, or a reason there why it has
// none.
package optest
