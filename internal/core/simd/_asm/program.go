package main

import "math"

// A row kernel is a short program of vector operations, written once against the interface machine. A machine, such as x86, lowers each call
// to instructions for some lanes of the row. The machine also writes the loops around the program and the tails of a row, and places the
// constants.

// kind is the type of the elements of a value.
type kind uint8

const (
	B8 kind = iota // bool
	I8
	I16
	I32
	I64
	U8
	U16
	U32
	U64
	F32
	F64
)

func (k kind) size() int    { return [...]int{1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8}[k] }
func (k kind) float() bool  { return k >= F32 }
func (k kind) signed() bool { return k >= I8 && k <= I64 }

// top returns the bit of the sign.
func (k kind) top() uint64 { return 1 << (8*k.size() - 1) }

// golang returns the element type of the slices that hold the kind.
func (k kind) golang() string {
	return [...]string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"}[k]
}

func (k kind) String() string {
	return [...]string{"Bool", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64", "F32", "F64"}[k]
}

// pred is a comparison of two elements. With a NaN only ne and unordered are true.
type pred uint8

const (
	eq pred = iota
	lt
	le
	ne
	ge
	gt
	unordered
)

// rounding is a way to round a float to an integer.
type rounding uint8

const (
	toEven rounding = iota // the nearest, the even one of two
	down
	up
	toZero
)

// value is a vector of elements, or of truth values: the results of cmp and mask.
type value struct {
	kind kind
	op   interface{ Asm() string } // the operand of the machine
}

// machine is an instruction set. Values don't change once made. The operations list their requirements. All follow IEEE 754 and round to
// nearest, even on a tie. NaNs have any sign and payload.
type machine interface {
	load(arg int) value // elements of a slice; of a number, the number in every lane
	store(arg int, v value)
	constant(k kind, bits uint64) value

	add(a, b value) value
	sub(a, b value) value
	mul(a, b value) value // not of 8-bit integers; of 64-bit ones in AVX-512 alone
	div(a, b value) value
	sqrt(a value) value
	round(a value, how rounding) value
	accumulate(sum, a value) value   // sum + a: of floats
	fma(a, b, c value) value         // a·b + c, rounded once
	fnma(a, b, c value) value        // c − a·b, rounded once
	fms(a, b, c value) value         // a·b − c, rounded once
	max(a, b value) value            // +0 of two zeros; with a NaN, anything
	min(a, b value) value            // −0 of two zeros; with a NaN, anything
	peak(a, b value, up bool) value  // max (up) or min; with a NaN, some NaN: of floats
	limit(a, b value, up bool) value // the larger (up) or smaller of a and b, of zeros either, b where one is a NaN: of floats

	magnitude(a, most value) value // the absolute value of a, but most where it is larger or NaN: of floats
	signed(v, a value) value       // v with the sign of a; v has the sign bit only where a has it: of floats

	and(a, b value) value
	or(a, b value) value
	xor(a, b value) value
	shl(a value, n int) value // not of 8 bits
	shr(a value, n int) value // shifts in zeros

	cmp(p pred, a, b value) value
	sel(mask, yes, no value) value     // lanes as wide as the mask's
	sum(mask, a, b, no value) value    // a + b or no: of integers
	mask(bools value, like kind) value // lanes as wide as like's
	bools(mask value) value

	as(k kind, a value) value // the same bits
	// Float32 and float64 to each other; U16 to U32; U32 below 65536 to U16; the low half of a U64 to U32. But with AVX-512 I32 to both floats;
	// integers in floats that fit to I32; I8 and U8 to I32, and an I32 that fits to those.
	convert(k kind, a value) value
	half(a value) value                      // float32 to float16, in a U16
	whole(a value) value                     // the other way; NaNs become quiet
	upper(a value) value                     // of U32 the more significant halves, in a U16
	lookup(index value, t *[16]uint64) value // an I64, by the low four bits of index
	gather(index value, t []uint64) value    // the same from a longer table, whose length is a power of two
	pick(index value, t [16]float32) value   // an F32, by the low four bits of index; three but in AVX-512, where the eight entries repeat

	// The fast path of a kernel isn't used where one of these reports a doubt.
	doubt(v value, most uint64) // where v, a U32 or the low half of a U64, is above most
	differ(a, b value)          // where a differs from b, by their bits; its step alone is in doubt then
}

func f32(m machine, x float32) value { return m.constant(F32, uint64(math.Float32bits(x))) }
func f64(m machine, x float64) value { return m.constant(F64, math.Float64bits(x)) }
func i64(m machine, x int64) value   { return m.constant(I64, uint64(x)) }

// number returns x as a constant of a float kind.
func number(m machine, k kind, x float64) value {
	if k == F32 {
		return f32(m, float32(x))
	}
	return f64(m, x)
}

// nan returns the canonical NaN.
func nan(m machine, k kind) value {
	if k == F32 {
		return m.constant(F32, 0x7fc00000)
	}
	return m.constant(F64, 0x7ff8000000000000)
}

// canon makes the NaNs of a computed value canonical. Integers have none.
func canon(m machine, v value) value {
	if !v.kind.float() {
		return v
	}
	return m.sel(m.cmp(unordered, v, v), nan(m, v.kind), v)
}

// horner returns c[0] + x(c[1] + x(c[2] + …)).
func horner(m machine, x value, c ...float64) value {
	q := f64(m, c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		q = m.fma(q, x, f64(m, c[i]))
	}
	return q
}
