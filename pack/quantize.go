package pack

import (
	"encoding/binary"
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// The encoders of GGUF's blocks. Q4_0 and Q8_0 give the bytes of ggml's reference. Q4_K and Q6_K search like ggml, by least
// squares over some scales, but sum in another order.
//
// A block with a NaN or an infinity gets the scale NaN, so that all its elements are NaN: codes of a few bits have no NaN.
// A scale too large for a float16 becomes the largest float16.

// putHalf writes d as a float16, clamped to the largest one, and returns the value written.
func putHalf(b []byte, d float32) float32 {
	h := num.FromFloat64[num.F16](float64(max(min(d, 65504), -65504))) // NaN stays
	binary.LittleEndian.PutUint16(b, h.Bits())
	return h.Float32()
}

// largest returns the first element with the largest absolute value, NaN if an element isn't finite.
func largest(x []float32) (most float32) {
	for _, v := range x {
		if v-v != 0 {
			return num.NaN32()
		}
		if abs32(v) > abs32(most) {
			most = v
		}
	}
	return most
}

func abs32(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

// inverse returns 1/d, or 0 if 1/d isn't finite.
func inverse(d float32) float32 {
	if id := 1 / d; id-id == 0 {
		return id
	}
	return 0
}

func putQ4_0(b []byte, x []float32) {
	d := largest(x) / -8
	if got := putHalf(b, d); abs32(d) > 65504 {
		d = got
	}
	id := inverse(d)
	code := func(v float32) byte { return byte(max(min(float32(v*id)+8.5, 15), 0)) }
	for i := range 16 {
		if b[2+i] = 0x88; d == d {
			b[2+i] = code(x[i]) | code(x[16+i])<<4
		}
	}
}

func putQ8_0(b []byte, x []float32) {
	d := abs32(largest(x)) / 127
	if got := putHalf(b, d); d > 65504 {
		d = got
	}
	id := inverse(d)
	for i, v := range x {
		if v *= id; d != d {
			v = 0
		}
		half := float32(0.5)
		if v < 0 {
			half = -half
		}
		b[2+i] = byte(int8(max(min(math.Trunc(float64(v)+float64(half)), 127), -127)))
	}
}

// nearest rounds to an integer from least to most, ties to even.
func nearest(v float32, least, most int) int {
	return int(math.RoundToEven(float64(max(min(v, float32(most)), float32(least)))))
}

// fitScale returns the scale d, of either sign, for which codes from -32 to 31 times d are nearest to x. The weight of an error
// is the square of its element.
func fitScale(x []float32) (d float32) {
	most := largest(x)
	if abs32(most) < 1e-15 {
		return 0
	}
	best := 0.0
	for k := -9; k <= 9; k++ {
		id := -(32 + float32(0.1*float32(k))) / most
		var xq, qq float64
		for _, v := range x {
			q, w := float64(nearest(v*id, -32, 31)), float64(v)
			xq += float64(w * w * w * q) // the conversion prevents a fused product, so that all machines agree
			qq += float64(w * w * q * q)
		}
		if qq > 0 && xq*xq > best*qq {
			best = xq * xq / qq
			d = float32(xq / qq)
		}
	}
	return d
}

func putQ6_K(b []byte, x []float32) {
	clear(b)
	if v := largest(x); v != v {
		putHalf(b[208:], v)
		return
	}
	var scales [16]float32
	for i := range scales {
		scales[i] = fitScale(x[16*i:][:16])
	}
	most := largest(scales[:])
	if most == 0 {
		return
	}
	d := putHalf(b[208:], most/-128)
	for i, s := range scales {
		code := nearest(s*inverse(d), -128, 127)
		b[192+i] = byte(int8(code))
		id := inverse(d * float32(code))
		for j, v := range x[16*i:][:16] {
			at := 16*i + j
			q := byte(nearest(v*id, -32, 31) + 32)
			b[at/128*64+at%64] |= q & 15 << (at % 128 / 64 * 4)
			b[128+at/128*32+at%32] |= q >> 4 << (at % 128 / 32 * 2)
		}
	}
}

// fitRange returns the scale d and the minimum m, at least 0, for which d times codes from 0 to 15, minus m, is nearest to x.
// The weight of an error depends on the size of its element and the mean of all.
func fitRange(x []float32) (d, m float32) {
	var squares float64
	least, most := min(x[0], 0), x[0]
	for _, v := range x {
		squares += float64(float64(v) * float64(v))
		least, most = min(least, v), max(most, v)
	}
	if most <= least {
		return 0, -least
	}
	if span := most - least; span-span != 0 { // beyond the largest float32
		half := make([]float32, len(x))
		for i, v := range x {
			half[i] = v / 2
		}
		d, m = fitRange(half)
		return 2 * d, min(2*m, math.MaxFloat32)
	}
	mean := math.Sqrt(squares / float64(len(x)))
	best := math.Inf(1)
	for k := -1; k <= 20; k++ {
		steps := float32(15)
		if k >= 0 {
			steps += -1 + float32(0.1*float32(k))
		}
		id := steps / (most - least)
		// Weighted sums of the codes, of the elements and of their products.
		var n, q1, q2, x1, x2, xq float64
		for _, v := range x {
			q, v, w := float64(nearest(id*(v-least), 0, 15)), float64(v), mean+math.Abs(float64(v))
			wq, wv := float64(w*q), float64(w*v)
			n, q1, q2 = n+w, q1+wq, q2+float64(wq*q)
			x1, x2, xq = x1+wv, x2+float64(wv*v), xq+float64(wv*q)
		}
		scale, low := 0.0, 0.0
		if det := float64(n*q2) - float64(q1*q1); det > 0 {
			scale, low = (float64(n*xq)-float64(x1*q1))/det, (float64(q2*x1)-float64(q1*xq))/det
		}
		if low > 0 || scale <= 0 {
			if low = 0; q2 > 0 {
				scale = xq / q2
			}
		}
		e := x2 + float64(scale*(float64(scale*q2)-2*xq)) + float64(low*(float64(low*n)-2*x1)) + float64(2*scale*low*q1)
		if scale > 0 && e < best {
			best, d, m = e, float32(scale), float32(-low)
		}
	}
	return d, m
}

func putQ4_K(b []byte, x []float32) {
	clear(b)
	if v := largest(x); v != v {
		putHalf(b, v)
		return
	}
	var scales, mins [8]float32
	for i := range 8 {
		scales[i], mins[i] = fitRange(x[32*i:][:32])
	}
	d := putHalf(b, largest(scales[:])/63)
	m := putHalf(b[2:], largest(mins[:])/63)
	for i := range 8 {
		s, l := nearest(scales[i]*inverse(d), 0, 63), nearest(mins[i]*inverse(m), 0, 63)
		if i < 4 {
			b[4+i] |= byte(s)
			b[8+i] |= byte(l)
		} else {
			b[8+i] = byte(s&15 | l&15<<4)
			b[i] |= byte(s >> 4 << 6)
			b[4+i] |= byte(l >> 4 << 6)
		}
		id, low := inverse(d*float32(s)), float32(m*float32(l))
		for j, v := range x[32*i:][:32] {
			b[16+i/2*32+j] |= byte(nearest((v+low)*id, 0, 15)) << (i % 2 * 4)
		}
	}
}
