package fixed

import (
	"math/big"
	"math/bits"
)

// Int128 is an integer of 128 bits, two's complement: Hi·2^64 + Lo. It is the word of [FP64x64].
type Int128 struct {
	Hi int64
	Lo uint64
}

// Int128FromBig returns b and true if b has at most 128 bits, and otherwise its low bits and false.
func Int128FromBig(b *big.Int) (Int128, bool) {
	var words [16]byte
	low := new(big.Int).And(b, allOnes)
	low.FillBytes(words[:])
	var x Int128
	for i, v := range words {
		if i < 8 {
			x.Hi = x.Hi<<8 | int64(v)
		} else {
			x.Lo = x.Lo<<8 | uint64(v)
		}
	}
	return x, x.Big().Cmp(b) == 0
}

var allOnes = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))

// Big returns x.
func (x Int128) Big() *big.Int {
	b := big.NewInt(x.Hi)
	return b.Add(b.Lsh(b, 64), new(big.Int).SetUint64(x.Lo))
}

// String returns x in decimal.
func (x Int128) String() string { return x.Big().String() }

func int128(x int64) Int128 { return Int128{x >> 63, uint64(x)} }

func (x Int128) neg() Int128 {
	lo, b := bits.Sub64(0, x.Lo, 0)
	hi, _ := bits.Sub64(0, uint64(x.Hi), b)
	return Int128{int64(hi), lo}
}

func (x Int128) isZero() bool { return x == Int128{} }

// plus returns x + y modulo 2^128.
func (x Int128) plus(y Int128) Int128 {
	lo, c := bits.Add64(x.Lo, y.Lo, 0)
	return Int128{x.Hi + y.Hi + int64(c), lo}
}

func (x Int128) shl(n uint) Int128 {
	if n >= 64 {
		return Int128{int64(x.Lo << (n - 64)), 0}
	}
	return Int128{x.Hi<<n | int64(x.Lo>>(64-n)), x.Lo << n}
}

// cmp returns -1, 0 or 1.
func (x Int128) cmp(y Int128) int {
	switch {
	case x.Hi < y.Hi || x.Hi == y.Hi && x.Lo < y.Lo:
		return -1
	case x == y:
		return 0
	}
	return 1
}

// magnitude splits x.
func (x Int128) magnitude() magnitude {
	if x.Hi < 0 {
		x = x.neg()
		return magnitude{hi: uint64(x.Hi), lo: x.Lo, neg: true}
	}
	return magnitude{hi: uint64(x.Hi), lo: x.Lo}
}

// magnitudeOf takes the low 128 bits of |b|.
func magnitudeOf(b *big.Int) magnitude {
	m := magnitude{neg: b.Sign() < 0, over: b.BitLen() > 128}
	abs := new(big.Int).Abs(b)
	low, _ := Int128FromBig(abs)
	m.hi, m.lo = uint64(low.Hi), low.Lo
	return m
}

func (m magnitude) big() *big.Int {
	b := new(big.Int).SetUint64(m.hi)
	return b.Add(b.Lsh(b, 64), new(big.Int).SetUint64(m.lo))
}

// shiftRight returns m 2^-n, for n up to 128, rounded.
func (m magnitude) shiftRight(n uint, mode Mode) magnitude {
	if n == 0 {
		return m
	}
	hi, lo := m.hi, m.lo
	var rest [2]uint64 // the bits shifted out, as a fraction: high part, low part
	switch {
	case n < 64:
		rest[0] = lo << (64 - n)
		m.hi, m.lo = hi>>n, lo>>n|hi<<(64-n)
	case n < 128:
		rest[0], rest[1] = hi<<(128-n)|lo>>(n-64), lo<<(128-n)
		m.hi, m.lo = 0, hi>>(n-64)
		if n == 64 {
			rest[0], rest[1] = lo, 0
		}
	default:
		rest[0], rest[1] = hi, lo
		m.hi, m.lo = 0, 0
	}
	return m.rounded(compareHalf(rest[0], rest[1]), mode)
}

// compareHalf returns the order of a fraction of 128 bits and 1/2.
func compareHalf(hi, lo uint64) int {
	switch {
	case hi < 1<<63:
		return -1
	case hi == 1<<63 && lo == 0:
		return 0
	}
	return 1
}

// shiftLeft returns m 2^n.
func (m magnitude) shiftLeft(n uint) magnitude {
	switch {
	case n == 0 || m.hi|m.lo == 0:
		return m
	case n >= 128:
		m.over, m.hi, m.lo = true, 0, 0
	case n >= 64:
		m.over = m.over || m.hi != 0 || m.lo>>(128-n) != 0
		m.hi, m.lo = m.lo<<(n-64), 0
	default:
		m.over = m.over || m.hi>>(64-n) != 0
		m.hi, m.lo = m.hi<<n|m.lo>>(64-n), m.lo<<n
	}
	return m
}
