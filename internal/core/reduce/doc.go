// Package reduce runs operators along axes: one element of each line, as sums and extremes, or a new line, as Softmax.
//
// The order of a sum is fixed by the extents alone. Threads, strides and instruction sets don't change it. The callers are
// the files of package op.
//
//   - sumfloats.go has the rule of sums of floats, sumintegers.go and sumfixed.go those of integers and fixed point.
//   - extreme.go has the largest and the smallest element, and where it is.
//   - reduce.go is an operator that makes one element of a line, lines.go one that makes a line.
package reduce
