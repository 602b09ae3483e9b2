// Package text holds the strings of a run, and the rules by which operators on strings read and write them.
//
// A tensor of strings is one of int32 that holds numbers of a Table. An operator that moves elements, or compares them for equality,
// works on the numbers; only an operator that looks at a string asks the table for it. Package onnx, whose operators call this one,
// gives errors their places.
package text
