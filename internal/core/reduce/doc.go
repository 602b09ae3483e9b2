// Package reduce runs operators along axes. They make one element of each line, as sums and extremes, or a new line, as
// Softmax.
//
// The order of a sum is fixed by the extents alone. Threads, strides and instruction sets don't change it. The callers are
// the files of package op.
//
//   - sumfloats.go has the rule of sums of floats; sumintegers.go and sumfixed.go have the rules of integers and fixed
//     point.
//   - extreme.go has the largest and the smallest element, and its place.
//   - reduce.go has operators that make one element of a line, and lines.go operators that make a line.
package reduce
