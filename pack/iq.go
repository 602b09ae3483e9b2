package pack

import (
	"encoding/binary"
	"math/bits"
)

// The IQ types look up a point of a grid for each four or eight elements.

// signs negates the y[i] whose bit is set.
func signs(y []float32, set byte) {
	for i := range y {
		if set>>i&1 != 0 {
			y[i] = -y[i]
		}
	}
}

// even adds an eighth sign to seven, so that the number of set bits is even.
func even(seven uint32) byte { return byte(seven) | byte(bits.OnesCount32(seven)&1)<<7 }

// point sets y to d times a point.
func point(y []float32, grid []float32, index int, d float32) {
	for i, v := range grid[index*len(y):][:len(y)] {
		y[i] = d * v
	}
}

func iq2_XXS(y []float32, b []byte) {
	d, g := half(b), iq2XXS()
	for i := range 32 {
		w := b[2+i/4*8:]
		rest := binary.LittleEndian.Uint32(w[4:])
		out := y[8*i:][:8]
		point(out, g, int(w[i%4]), float32(d*(0.5+float32(rest>>28)))*0.25)
		signs(out, even(rest>>(i%4*7)&127))
	}
}

func iq2_XS(y []float32, b []byte) {
	d, g := half(b), iq2XS()
	for i := range 32 {
		q := binary.LittleEndian.Uint16(b[2+2*i:])
		s := b[66+i/4] >> (i % 4 / 2 * 4) & 15
		out := y[8*i:][:8]
		point(out, g, int(q&511), float32(d*(0.5+float32(s)))*0.25)
		signs(out, even(uint32(q>>9)))
	}
}

func iq2_S(y []float32, b []byte) {
	d, g := half(b), iq2S()
	for i := range 32 {
		q := int(b[2+i]) | int(b[66+i/4]>>(i%4*2)&3)<<8
		s := b[74+i/4] >> (i % 4 / 2 * 4) & 15
		out := y[8*i:][:8]
		point(out, g, q, float32(d*(0.5+float32(s)))*0.25)
		signs(out, b[34+i])
	}
}

func iq3_XXS(y []float32, b []byte) {
	d, g := half(b), iq3XXS()
	for i := range 32 {
		rest := binary.LittleEndian.Uint32(b[66+i/4*4:])
		dl := float32(d*(0.5+float32(rest>>28))) * 0.5
		out := y[8*i:][:8]
		point(out[:4], g, int(b[2+2*i]), dl)
		point(out[4:], g, int(b[3+2*i]), dl)
		signs(out, even(rest>>(i%4*7)&127))
	}
}

func iq3_S(y []float32, b []byte) {
	d, g := half(b), iq3S()
	for i := range 32 {
		high := int(b[66+i/4]) >> (i % 4 * 2)
		dl := d * float32(1+2*(b[106+i/8]>>(i/4%2*4)&15))
		out := y[8*i:][:8]
		point(out[:4], g, int(b[2+2*i])|high&1<<8, dl)
		point(out[4:], g, int(b[3+2*i])|high&2<<7, dl)
		signs(out, b[74+i])
	}
}

// shifted sets y to d times a point whose numbers are an eighth larger, or smaller if down is set.
func shifted(y []float32, grid []float32, index int, d float32, down bool) {
	delta := float32(0.125)
	if down {
		delta = -delta
	}
	for i, v := range grid[index*len(y):][:len(y)] {
		y[i] = d * (v + delta)
	}
}

func iq1_S(y []float32, b []byte) {
	d, g := half(b), iq1S()
	for i := range 32 {
		high := binary.LittleEndian.Uint16(b[34+i/4*2:])
		q := int(b[2+i]) | int(high>>(i%4*3)&7)<<8
		shifted(y[8*i:][:8], g, q, d*float32(2*(high>>12&7)+1), high>>15 != 0)
	}
}

// iq1_M has the bits of its float16 in the upper four bits of each of the four words of scales.
func iq1_M(y []float32, b []byte) {
	var scales [4]uint16
	var d [2]byte
	for i := range scales {
		scales[i] = binary.LittleEndian.Uint16(b[48+2*i:])
		d[i/2] |= byte(scales[i]>>12) << (i % 2 * 4)
	}
	all, g := half(d[:]), iq1S()
	for i := range 32 {
		high := b[32+i/2] >> (i % 2 * 4)
		s := scales[i/8] >> (i / 2 % 4 * 3) & 7
		shifted(y[8*i:][:8], g, int(b[i])|int(high&7)<<8, all*float32(2*s+1), high&8 != 0)
	}
}
