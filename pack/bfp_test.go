package pack

import (
	"math"
	"testing"

	_ "github.com/ashlar-go/ashlar/internal/seeded"

	"pgregory.net/rapid"
)

// bitsOf draws floats of all kinds: any bits, neighbours of powers of two, ties.
func bitsOf() *rapid.Generator[float32] {
	return rapid.Custom(func(t *rapid.T) float32 {
		b := rapid.Uint32().Draw(t, "bits")
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0: // exponents near each other
			b = b&0x807fffff | uint32(rapid.IntRange(100, 130).Draw(t, "exponent"))<<23
		case 1: // few bits of fraction, so ties
			b &= 0xfffe0000 | uint32(rapid.IntRange(0, 3).Draw(t, "low"))
		case 2:
			b = []uint32{0, 1 << 31, 1, 0x7fffff, 0x800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fffffff}[b%10]
		}
		return math.Float32frombits(b)
	})
}

// The rows give what code and value define.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.IntRange(0, 5).Draw(t, "groups")
		src := rapid.SliceOfN(bitsOf(), groups*group, groups*group).Draw(t, "values")
		for _, f := range []*bfp{BFP8.(*bfp), BFP4.(*bfp)} {
			bits := f.rows.bits
			b := make([]byte, f.Size(len(src)))
			f.Encode(b, src, 0)
			got := make([]float32, len(src))
			f.Decode(got, b, 0)
			for i, v := range src {
				var e uint32
				for _, w := range src[i/group*group:][:group] {
					e = max(e, math.Float32bits(w)>>23&0xff)
				}
				c := uint32(b[f.exponents(len(src))+i*int(bits+1)/8])
				if bits == 3 {
					c = c >> (i % 2 * 4) & 15
				}
				if uint32(b[i/group]) != e || c != code(v, e, bits) {
					t.Fatalf("%s: %x by %d is %d by %d, want %d", f.name, math.Float32bits(v), e, c, b[i/group], code(v, e, bits))
				}
				if w := value(c, e, bits); math.Float32bits(w) != math.Float32bits(got[i]) {
					t.Fatalf("%s: %d by %d decodes to %x, want %x", f.name, c, e, math.Float32bits(got[i]), math.Float32bits(w))
				}
				if e < 255 && e >= uint32(bits) && math.Abs(float64(got[i])-float64(v)) > math.Ldexp(1, int(e)-127-int(bits-1)) {
					t.Fatalf("%s: %v by %d becomes %v: the error is over the bound", f.name, v, e, got[i])
				}
			}
		}
	})
}

// Every code and exponent decodes as value says.
func TestAllCodes(t *testing.T) {
	for _, f := range []*bfp{BFP8.(*bfp), BFP4.(*bfp)} {
		bits := f.rows.bits
		for e := range 256 {
			for c := 0; c < 1<<(bits+1); c += group {
				codes := make([]byte, group*int(bits+1)/8)
				for i := range group {
					if bits == 7 {
						codes[i] = byte(c + i)
					} else {
						codes[i/2] |= byte(c+i) << (i % 2 * 4)
					}
				}
				var got [group]float32
				f.rows.unpack(got[:], []byte{byte(e)}, codes)
				for i, v := range got {
					if w := BFPValue(uint8(c+i), uint8(e), bits); math.Float32bits(v) != math.Float32bits(w) {
						t.Fatalf("%s: code %d by %d decodes to %x, want %x", f.name, c+i, e, math.Float32bits(v), math.Float32bits(w))
					}
				}
			}
		}
	}
}
