package pack

import "math"

// The functions below encode and decode rows of both formats. code and value define the
// results; these functions have no branches unless the exponent is at an end of its range.
// Kernels with vector instructions may replace them.

// codes8 sets out to code(v, e, 7) for each v of g. A product by a power of two does the
// shift of code, and the conversion to an integer drops the same bits. The rounding that
// follows is the usual one of integers of either sign.
func codes8(out *[group]uint8, g *[group]float32, e uint32) {
	if e < 25 || e == 255 {
		for j, v := range g {
			out[j] = uint8(code(v, e, 7))
		}
		return
	}
	unit := math.Float32frombits((277 - e) << 23) // 2^(150−e)
	for j, v := range g {
		q := int32(v * unit)
		q = (q + 1<<16 - 1 + q>>17&1) >> 17
		s := q >> 31
		out[j] = uint8(min((q^s)-s, 127) | s&128)
	}
}

// codes4 sets out to code(v, e, 3) for each v of g.
func codes4(out *[group]uint8, g *[group]float32, e uint32) {
	if e < 25 || e == 255 {
		for j, v := range g {
			out[j] = uint8(code(v, e, 3))
		}
		return
	}
	unit := math.Float32frombits((277 - e) << 23)
	for j, v := range g {
		q := int32(v * unit)
		q = (q + 1<<20 - 1 + q>>21&1) >> 21
		s := q >> 31
		out[j] = uint8(min((q^s)-s, 7) | s&8)
	}
}

func packBFP8(exps, codes []byte, src []float32) {
	for i := range exps {
		g := (*[group]float32)(src[i*group:])
		e := shared(g)
		exps[i] = byte(e)
		codes8((*[group]byte)(codes[i*group:]), g, e)
	}
}

func packBFP4(exps, codes []byte, src []float32) {
	var c [group]uint8
	for i := range exps {
		g := (*[group]float32)(src[i*group:])
		e := shared(g)
		exps[i] = byte(e)
		codes4(&c, g, e)
		out := (*[group / 2]byte)(codes[i*group/2:])
		for j := range out {
			out[j] = c[2*j] | c[2*j+1]<<4
		}
	}
}

// scale returns the value of a magnitude of 1. exact reports whether every code of the
// group is exactly this value times its signed magnitude.
func scale(shared byte, bits uint) (float32, bool) {
	e := uint32(shared)
	return math.Float32frombits((e - uint32(bits-1)) << 23), e >= uint32(bits) && e < 255
}

// signed8 and signed4 are the signed magnitudes of all codes.
var (
	signed8 = signedMagnitudes[[256]float32](7)
	signed4 = signedMagnitudes[[16]float32](3)
)

func signedMagnitudes[A [256]float32 | [16]float32](bits uint) (table A) {
	for i := range len(table) {
		m := float32(i & (1<<bits - 1))
		table[i] = math.Float32frombits(math.Float32bits(m) | uint32(i)>>bits<<31)
	}
	return table
}

func unpackBFP8(dst []float32, exps, codes []byte) {
	for i, e := range exps {
		g := (*[group]float32)(dst[i*group:])
		in := (*[group]byte)(codes[i*group:])
		unit, exact := scale(e, 7)
		if exact {
			for j, c := range in {
				g[j] = signed8[c] * unit
			}
			continue
		}
		for j, c := range in {
			g[j] = value(uint32(c), uint32(e), 7)
		}
	}
}

func unpackBFP4(dst []float32, exps, codes []byte) {
	for i, e := range exps {
		g := (*[group]float32)(dst[i*group:])
		in := (*[group / 2]byte)(codes[i*group/2:])
		unit, exact := scale(e, 3)
		if exact {
			for j, c := range in {
				g[2*j], g[2*j+1] = signed4[c&15]*unit, signed4[c>>4]*unit
			}
			continue
		}
		for j, c := range in {
			g[2*j], g[2*j+1] = value(uint32(c&15), uint32(e), 3), value(uint32(c>>4), uint32(e), 3)
		}
	}
}
