// Package num holds the element types of tensors that Go lacks, and functions of numbers whose results are the same bits on every
// machine. It knows nothing of tensors.
//
// # Narrow floats
//
// [BF16], [F16], [F8E4M3] and [F8E5M2] are storage formats: structs over their bits, so that + on them doesn't compile. Arithmetic
// widens to float32, which is exact, and narrows once:
//
//	sum := num.BF16FromFloat32(a.Float32() + b.Float32())
//
// Every narrowing, from float32 or from float64, rounds once, to nearest, ties to even. What is too large becomes infinity, and NaN in
// F8E4M3, which has no infinity. A NaN becomes the canonical NaN of the target, without sign or payload. Whole rows are converted by the
// Widen and Narrow functions, which give the same bits for everything but the payload of a NaN when widening.
//
// # Formats that are only stored
//
// [Int4], [Uint4], [Int2], [Uint2], [F4E2M1], [F8E4M3FNUZ], [F8E5M2FNUZ] and [F8E8M0] are stored, moved and converted, and not computed
// in. Each is a byte in memory, whatever its bits. A [Format] converts any float of 16 bits or less where the type shows at run time.
//
// # Constraints
//
// [Elem] is what a tensor may hold, and the others are parts of it. [Fixed] is the numbers of package fixed.
//
// # Functions
//
// The functions of one float32 ([Exp32], [Sin32], ...) return the float32 nearest to the true value, ties to even, for every one of the 2^32
// arguments: conformance/verify checks them all. Its digests.txt lists those that have been through; the others have been on one input in 255, without a
// fault. Most evaluate in float64 without fused steps and compute more bits only where those don't settle the rounding. [Hypot32] and, wherever tested, [Atan2x32] are correctly rounded too, and [Pow32] is for
// all but about one pair in 10^9.
//
// Those of float64 are one fixed sequence of IEEE operations whose error is at most 0.501 units in the last place wherever measured: Exp64 0.5003, Log64
// 0.5002, Tanh64 0.5002, Sigmoid64 0.5003, Erf64 0.5002, Pow64 0.5005, each the worst of a million random arguments, of which fewer than 100 were not
// rounded correctly; the others at most 0.5003, that of Sinh64 and Cosh64, in 200,000, and fewer than 15. No result depends on the machine: nothing here relies on the compiler fusing a multiplication and an addition or not, and
// [FMA32] and [FMA64] are the fused steps where one is meant.
//
// A name that ends in a digit has an x before the size: [Exp2x32] is 2 to the power x in float32.
//
// # Preconditions
//
// Functions of one number take every number. Functions of rows write len(dst) elements, or len(acc), and read as many of each other row: a row
// that is shorter panics with a runtime error. So does a nil receiver. Nothing is checked for each element.
//
// Every NaN these functions compute is the canonical one, [NaN32] or [NaN64], unless they say otherwise.
package num
