// Package float holds functions of float32 and float64 whose results are the same bits on every machine.
//
// The functions of one float32 ([Exp32], [Sin32], ...) return the float32 nearest to the true value, ties to even, for every one of the 2^32
// arguments. conformance/verify checks them. Its digests.txt lists the functions checked on all arguments. The others were checked on one
// argument in 255, without a fault. Most functions evaluate in float64 without fused steps. They compute more bits only where these don't
// settle the rounding. [Hypot32] is correctly rounded too, and so is [Atan2x32] wherever tested. [Pow32] is so except for about one pair in 10^9.
//
// The functions of float64 are one fixed sequence of IEEE operations. Their error is at most 0.501 units in the last place wherever measured.
// The largest errors of a million random arguments, of which fewer than 100 were not rounded correctly:
//
//	Pow64                 0.5005
//	Exp64, Sigmoid64      0.5003
//	Log64, Tanh64, Erf64  0.5002
//
// The largest error of the other functions is 0.5003, of Sinh64 and Cosh64. It is that of 200,000 arguments, of which fewer than 15 were not
// rounded correctly.
//
// No result depends on the machine. Nothing here relies on whether the compiler fuses a multiplication and an addition. [FMA32] and [FMA64]
// are the fused steps where one is meant.
//
// A name that ends in a digit has an x before the size: [Exp2x32] is 2 to the power x in float32.
//
// Every NaN is the canonical one, num.NaN32 or num.NaN64, unless a function says otherwise.
package float
