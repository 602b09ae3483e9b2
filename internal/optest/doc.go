// Package optest holds the test that runs every operator on every element type
// from every kind of memory: a result must be, bit for bit, that of contiguous
// operands, whatever the layouts, the number of threads and the instruction set,
// and nothing outside an operand's elements may be read into it or written.
//
// A new operator needs cases in ops_test.go, or a reason there why it has none.
package optest
