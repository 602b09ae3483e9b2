// Package move makes results from elements of other tensors, independent of the meaning of these elements.
//
// A Transfer has the result's type and shape, and fills words of the element size. Numeric reads and writes the same
// words as numbers, for operators of any type whose speed doesn't matter. The callers are package reduce and the files of
// package op.
package move
