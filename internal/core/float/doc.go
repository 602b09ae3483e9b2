// Package float holds functions of float32 and float64 whose results are the same bits on every machine.
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
// Every NaN is the canonical one, num.NaN32 or num.NaN64, unless a function says otherwise.
package float
