package num

import "github.com/ashlar-go/ashlar/num/fixed"

// The constraints name exact types, without ~: a defined type such as time.Duration is not a number to compute with, and code that
// switches on the type of an element has no other cases.

// Int is the signed integers.
type Int interface{ int8 | int16 | int32 | int64 }

// Uint is the unsigned integers.
type Uint interface {
	uint8 | uint16 | uint32 | uint64
}

// Integer is the integers.
type Integer interface{ Int | Uint }

// Float is the floats that Go computes with.
type Float interface{ float32 | float64 }

// Narrow is the floats that are stored in 8 or 16 bits and computed in float32.
type Narrow interface{ F16 | BF16 | F8E4M3 | F8E5M2 }

// Fixed is the fixed-point numbers.
type Fixed interface{ fixed.Number }

// Complex is the complex numbers.
type Complex interface{ complex64 | complex128 }

// Native is the real numbers that have Go's operators, and an order.
type Native interface{ Integer | Float }

// Floating is the floats of all widths.
type Floating interface{ Float | Narrow }

// Fractional is the numbers that have fractions: floats and fixed point.
type Fractional interface{ Floating | Fixed }

// Real is the real numbers.
type Real interface{ Native | Narrow | Fixed }

// Number is everything that has sums and products.
type Number interface {
	Native | Narrow | Complex | Fixed
}

// Stored is the numbers that are stored, moved and converted, and not computed with.
type Stored interface {
	Int2 | Int4 | Uint2 | Uint4 | F4E2M1 | F8E4M3FNUZ | F8E5M2FNUZ | F8E8M0
}

// Elem is everything a tensor may hold.
type Elem interface{ bool | Number | Stored }
