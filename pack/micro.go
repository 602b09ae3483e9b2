package pack

import (
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/num"
)

// micro is a format in which neighbours in a row share a scale.
type micro struct {
	name    string
	element num.Format // 0: an int8, whose value is v/64
	block   int
	scale   num.Format // 0: there is none
	round   num.Rounding
	most    float32 // the divisor of the largest element that gives the scale
}

// micros are the formats of OCP MX and NVIDIA, and the floats of six bits without a scale in safetensors files.
//
// Sources: OCP Microscaling Formats (MX) Specification, version 1.0, table 1 and section 6.3; NVIDIA's documentation of
// cuDNN, "Block scaling", for NVFP4.
var micros = []micro{
	{"mxfp8_e4m3", num.FormatF8E4M3, 32, num.FormatF8E8M0, num.Down, 1 << 8},
	{"mxfp8_e5m2", num.FormatF8E5M2, 32, num.FormatF8E8M0, num.Down, 1 << 15},
	{"mxfp6_e2m3", num.FormatF6E2M3, 32, num.FormatF8E8M0, num.Down, 1 << 2},
	{"mxfp6_e3m2", num.FormatF6E3M2, 32, num.FormatF8E8M0, num.Down, 1 << 4},
	{"mxfp4", num.FormatF4E2M1, 32, num.FormatF8E8M0, num.Down, 1 << 2},
	{"mxint8", 0, 32, num.FormatF8E8M0, num.Down, 1},
	{"nvfp4", num.FormatF4E2M1, 16, num.FormatF8E4M3, num.Nearest, 6},
	{"float6_e2m3", num.FormatF6E2M3, 4, 0, 0, 0},
	{"float6_e3m2", num.FormatF6E3M2, 4, 0, 0, 0},
}

// format makes a format of a row of the table. A block is its scale, a byte, and then the codes without gaps, the first in
// the low bits.
func (m micro) format() *blocks {
	bits, at := 8, 0
	if m.element != 0 {
		bits = m.element.Bits()
	}
	if m.scale != 0 {
		at = 1
	}
	values := sync.OnceValue(func() []float32 {
		all := make([]float32, 1<<bits)
		for c := range all {
			if all[c] = float32(int8(c)) / 64; m.element != 0 {
				all[c] = float32(m.element.Value(uint16(c)))
			}
		}
		return all
	})
	return &blocks{m.name, m.block, at + m.block*bits/8,
		func(y []float32, b []byte) {
			all, d := values(), float32(1)
			if at > 0 {
				d = float32(m.scale.Value(uint16(b[0])))
			}
			switch b = b[at:]; bits {
			case 8:
				for i, c := range b {
					y[i] = all[c] * d
				}
			case 4:
				for i, c := range b {
					y[2*i], y[2*i+1] = all[c&15]*d, all[c>>4]*d
				}
			default:
				for ; len(b) > 0; b, y = b[3:], y[4:] {
					c := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
					y[0], y[1], y[2], y[3] = all[c&63]*d, all[c>>6&63]*d, all[c>>12&63]*d, all[c>>18]*d
				}
			}
		},
		func(b []byte, x []float32) {
			d := 1.0
			if at > 0 {
				b[0] = m.scaleOf(abs32(largest(x)))
				d = m.scale.Value(uint16(b[0]))
			}
			acc, have, k := uint32(0), 0, at
			for _, v := range x {
				acc, have = acc|uint32(m.code(float64(v)/d))<<have, have+bits
				for ; have >= 8; have -= 8 {
					b[k] = byte(acc)
					acc, k = acc>>8, k+1
				}
			}
		}, at == 0, nil}
}

// scaleOf returns the code of the scale of a block whose largest element is most. most is NaN if an element isn't finite.
func (m *micro) scaleOf(most float32) byte {
	v := float64(most) / float64(m.most)
	switch {
	case v != v:
		return byte(m.scale.Round(v))
	case m.scale == num.FormatF8E8M0:
		return num.F8E8M0FromFloat64(v, m.round, true).Bits()
	}
	return byte(m.scale.Saturate(v))
}

// code returns the code of the element nearest to v, ties to even. If v is too large, it is the largest element. NaN becomes 0,
// and so do all elements of a block whose scale is 0 or NaN.
func (m *micro) code(v float64) uint16 {
	switch {
	case v != v || math.IsInf(v, 0) && m.scale != 0:
		return 0
	case m.element == 0:
		return uint16(uint8(int8(max(min(math.RoundToEven(v*64), 127), -127))))
	}
	return m.element.Saturate(v)
}
