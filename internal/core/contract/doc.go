// Package contract computes products of matrices, and convolutions.
//
// The sum over k goes by blocks of 256 in order, each block by fused steps from the first element to the last: the rule
// of sums that keeps bits equal on every machine. Panels are packed for the tiles of an instruction set; fixed point is
// exact and rounded once. The callers are the files of package op.
//
//   - contraction.go has the loop over blocks of a product, the rule of sums, and the panels; skinny.go the loops for few rows.
//   - narrow.go widens an operand of narrow floats.
//   - microkernels.go has the kernels that multiply tiles in registers, singles.go the loops that multiply without them.
//   - window.go and convolution.go have the geometry of a convolution, route.go the one table of ways to compute it. direct.go computes most from
//     packed weights (filter.go), windows.go few output channels.
//   - bytes.go and byteconv.go multiply 8-bit integers, exact.go fixed point. after.go adds a bias.
package contract
