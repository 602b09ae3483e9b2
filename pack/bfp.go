package pack

import (
	"math"

	"github.com/ashlar-go/ashlar/tensor"
)

// BFP8 and BFP4 are TT-NN's block floats BFLOAT8_B and BFLOAT4_B. Sixteen
// neighbours of a face's row share an exponent E, the largest one. Each has a sign and
// a magnitude of N = 7 or 3 bits, with the value
//
//	± magnitude · 2^(E − 127 − (N−1))
//
// A tile begins with its exponents, a byte for each sixteen elements, filled with zeros
// to a multiple of 16 bytes. The codes follow: a byte each, or four bits each with the
// first element in the low bits.
//
// Encoding shifts a significand of 24 bits right by the difference of the exponents,
// drops the bits shifted out, and rounds to N bits, to nearest, ties to even. A
// significand that rounds up beyond N bits becomes the largest magnitude; the exponent
// never rises. Zeros and subnormal numbers become 0, without a sign. An infinity or a
// NaN makes E 255. It is kept; but a NaN becomes an infinity if its upper bits are an
// infinity's. The finite elements of the sixteen become 0. Decoding gives +0 if the
// exponent would be negative. If it is 0, decoding gives the fraction without the
// leading bit, as TT-NN's host does.
//
// An element smaller than the largest of its sixteen by 2^k loses k bits. The error of
// every finite element is at most 2^(E−127−(N−1)), and half of that if no bit is shifted
// out and nothing saturates.
var (
	BFP8 Format = &bfp{"bfloat8_b", bfpRows{7, packBFP8, unpackBFP8}}
	BFP4 Format = &bfp{"bfloat4_b", bfpRows{3, packBFP4, unpackBFP4}}
)

type bfp struct {
	name string
	rows bfpRows
}

// bfpRows encode and decode groups of 16, with a byte of exps for each group.
type bfpRows struct {
	bits   uint // N
	pack   func(exps, codes []byte, src []float32)
	unpack func(dst []float32, exps, codes []byte)
}

const group = 16 // elements that share an exponent

func (f *bfp) Name() string { return f.name }
func (f *bfp) Group() int   { return group }

func (f *bfp) Check(s *Spec) error {
	if s == nil {
		return noSpec()
	}
	if s.tile == (Tile{}) {
		return &tensor.Error{Op: "pack.NewSpec", Text: f.name + " has no row-major form: its exponents belong to tiles; give a tile, as 32×32", Err: tensor.ErrDType}
	}
	return nil
}

// exponents returns the bytes of the exponents of n elements.
func (f *bfp) exponents(n int) int { return (n/group + 15) &^ 15 }

func (f *bfp) Size(n int) int { return f.exponents(n) + n*(int(f.rows.bits)+1)/8 }

func (f *bfp) Encode(dst []byte, src []float32, _ int) {
	fits(f, "Encode", len(dst), len(src))
	at := f.exponents(len(src))
	clear(dst[len(src)/group : at])
	f.rows.pack(dst[:len(src)/group], dst[at:], src)
}

func (f *bfp) Decode(dst []float32, src []byte, _ int) {
	fits(f, "Decode", len(src), len(dst))
	f.rows.unpack(dst, src[:len(dst)/group], src[f.exponents(len(dst)):])
}

// shared returns the largest exponent of a group.
func shared(g *[group]float32) uint32 {
	var most uint32
	for _, v := range g {
		most = max(most, math.Float32bits(v)&0x7f800000)
	}
	return most >> 23
}

// BFPCode returns the code of one value in a group with the exponent shared, which isn't
// less than v's. The code is the sign above a magnitude of bits bits, 7 or 3, rounded to
// nearest.
func BFPCode(v float32, shared uint8, bits uint) uint8 {
	return uint8(code(v, uint32(shared), bits))
}

// BFPTruncated is BFPCode with truncation instead of rounding, as in a mode of TT-NN.
// Formats don't use it.
func BFPTruncated(v float32, shared uint8, bits uint) uint8 {
	b := math.Float32bits(v)
	cut := 24 - bits + uint(max(int(shared)-int(b>>23&0xff), 0))
	if cut >= 24 {
		return 0
	}
	return BFPCode(math.Float32frombits(b&^(1<<cut-1)), shared, bits) // with these bits cleared nothing rounds up
}

// BFPValue returns the value of a code in a group with the exponent shared.
func BFPValue(code, shared uint8, bits uint) float32 {
	return value(uint32(code), uint32(shared), bits)
}

// code encodes one value with N = bits.
func code(v float32, shared uint32, bits uint) uint32 {
	b := math.Float32bits(v)
	e := b >> 23 & 0xff
	if e == 0 {
		return 0
	}
	m := (b&0x7fffff | 0x800000) >> (min(shared-e, 31) & 31)
	drop := 24 - bits
	m = min((m+1<<(drop-1)-1+m>>drop&1)>>drop, 1<<bits-1)
	if m == 0 {
		return 0
	}
	return b>>31<<bits | m
}

// value decodes one code with N = bits.
func value(code, shared uint32, bits uint) float32 {
	sign, m := code>>bits<<31, code&(1<<bits-1)
	if m == 0 {
		return math.Float32frombits(sign)
	}
	for ; m>>(bits-1) == 0; m <<= 1 {
		if shared == 0 {
			return 0
		}
		shared--
	}
	return math.Float32frombits(sign | shared<<23 | m<<(24-bits)&0x7fffff)
}
