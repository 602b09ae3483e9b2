// Package reduce runs operators along axes: one element of each line, as sums and extremes, or a new line, as Softmax.
//
// The order of a sum is fixed by the extents alone: summation.go states it. Threads, strides and instruction sets don't
// change it. The callers are the files of package op.
package reduce
