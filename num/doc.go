// Package num holds the element types of tensors that Go lacks, the constraints of element types, and conversions. It knows
// nothing of tensors.
//
// # Narrow floats
//
// [BF16], [F16], [F8E4M3] and [F8E5M2] are storage formats: structs over their bits, so that + on them doesn't compile. Arithmetic
// widens to float32, which is exact, and narrows once:
//
//	sum := num.FromFloat64[num.BF16](float64(a.Float32() + b.Float32()))
//
// Every narrowing, from float32 or from float64, rounds once, to nearest, ties to even. A number that is too large becomes infinity,
// or NaN in F8E4M3, which has no infinity. A NaN becomes the canonical NaN of the target, without sign or payload. [WidenRow] and
// [NarrowRow] convert whole rows, with the same bits. Only NaNs differ: widening keeps their payload.
//
// # Formats that are only stored
//
// [Int4], [Uint4], [Int2], [Uint2], [F4E2M1], [F8E4M3FNUZ], [F8E5M2FNUZ] and [F8E8M0] are stored, moved and converted, and not computed
// in. Each is a byte in memory, whatever its bits. A [Format] converts any float of 16 bits or less where the type shows at run time.
//
// # Constraints
//
// [Elem] lists the types that a tensor may hold; the other constraints are parts of it. [Fixed] lists the types of package fixed.
//
// # Preconditions
//
// Functions of one number take every number. Functions of rows write len(dst) elements, and read as many of the other row: a row
// that is shorter panics with a runtime error. So does a nil receiver. Nothing is checked for each element.
//
// Every NaN these functions compute is the canonical one, [NaN32] or [NaN64], unless they say otherwise.
package num
