// Package pointwise runs operators that make each element of a result from the operands' elements at that place.
//
// Operator is a table of rows by element type and instruction set. One body serves typed calls, run-time calls and
// chains: an operand that is lazy makes the call a note, and a chain of notes is computed block by block in one pass.
// The bits are the same either way, as each note is the ordinary call on a block. Its callers are the files of package op.
package pointwise
