package cast

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// Cast to and from fixed point. Its widest type, which holds the others, is FP64x64.

// ToFixed converts src to fixed point, rounded once to nearest, ties to even.
func ToFixed(dst exec.Run, to dtype.DType, src exec.Run, from dtype.DType, s *State) {
	switch to {
	case dtype.FP8x23:
		d := exec.Of[fixed.FP8x23](dst)
		castFixed(d, src, from, s)
	case dtype.FP16x16:
		d := exec.Of[fixed.FP16x16](dst)
		castFixed(d, src, from, s)
	case dtype.FP32x32:
		d := exec.Of[fixed.FP32x32](dst)
		castFixed(d, src, from, s)
	case dtype.FP64x64:
		d := exec.Of[fixed.FP64x64](dst)
		castFixed(d, src, from, s)
	}
}

func castFixed[T num.Fixed](dst []T, src exec.Run, from dtype.DType, s *State) {
	if from == dtype.Of[T]() {
		copy(dst, exec.Of[T](src))
		return
	}
	for at := 0; at < len(dst); at += 256 {
		n := min(256, len(dst)-at)
		d := dst[at : at+n]
		switch from {
		case dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64, dtype.Int4, dtype.Int2:
			var w [256]int64
			loadInts(w[:n], src, from, at)
			for i, v := range w[:n] {
				var err error
				if d[i], err = fixed.FromInt64[T](v, s.Modes...); err != nil {
					s.Fault(err)
				}
			}
		case dtype.Bool, dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64, dtype.Uint4, dtype.Uint2:
			var w [256]uint64
			loadUints(w[:n], src, from, at)
			for i, v := range w[:n] {
				var err error
				if v > math.MaxInt64 && s.Mode&fixed.Wrap == 0 { // beyond every format
					d[i], err = fixed.FromFloat64[T](float64(v), s.Modes...)
				} else {
					d[i], err = fixed.FromInt64[T](int64(v), s.Modes...)
				}
				if err != nil {
					s.Fault(err)
				}
			}
		case dtype.FP8x23, dtype.FP16x16, dtype.FP32x32, dtype.FP64x64:
			var w [256]fixed.FP64x64
			loadFixed(w[:n], src, from, at)
			for i, v := range w[:n] {
				var err error
				if d[i], err = fixed.Convert[T](v, s.Modes...); err != nil {
					s.Fault(err)
				}
			}
		default:
			var w [256]float64
			if c := (*[256]complex128)(nil); from.IsComplex() {
				c = new([256]complex128)
				loadComplex(c[:n], src, from, at)
				for i, v := range c[:n] {
					w[i] = real(v)
				}
			} else {
				LoadFloats(w[:n], src, from, at)
			}
			for i, v := range w[:n] {
				var err error
				if d[i], err = fixed.FromFloat64[T](v, s.Modes...); err != nil {
					s.Fault(err)
				}
			}
		}
	}
}

func loadFixed(w []fixed.FP64x64, src exec.Run, from dtype.DType, at int) {
	switch from {
	case dtype.FP8x23:
		s := exec.Of[fixed.FP8x23](src)
		for i, v := range s[at : at+len(w)] {
			b := int64(v.Bits())
			w[i] = fixed.FP64x64FromBits(fixed.Int128{Hi: b >> 23, Lo: uint64(b) << 41})
		}
	case dtype.FP16x16:
		s := exec.Of[fixed.FP16x16](src)
		for i, v := range s[at : at+len(w)] {
			b := int64(v.Bits())
			w[i] = fixed.FP64x64FromBits(fixed.Int128{Hi: b >> 16, Lo: uint64(b) << 48})
		}
	case dtype.FP32x32:
		s := exec.Of[fixed.FP32x32](src)
		for i, v := range s[at : at+len(w)] {
			b := v.Bits()
			w[i] = fixed.FP64x64FromBits(fixed.Int128{Hi: b >> 32, Lo: uint64(b) << 32})
		}
	case dtype.FP64x64:
		s := exec.Of[fixed.FP64x64](src)
		copy(w, s[at:])
	}
}

// storeFixed converts to types that aren't fixed point: to integers toward zero,
// saturating, and to floats rounded once.
func storeFixed(dst exec.Run, to dtype.DType, at int, w []fixed.FP64x64, h Narrowing) {
	switch to {
	case dtype.Bool:
		d := exec.Of[bool](dst)
		for i, v := range w {
			d[at+i] = v != fixed.FP64x64{}
		}
	case dtype.Int8:
		d := exec.Of[int8](dst)
		wholes(d[at:], w, math.MinInt8, math.MaxInt8)
	case dtype.Int16:
		d := exec.Of[int16](dst)
		wholes(d[at:], w, math.MinInt16, math.MaxInt16)
	case dtype.Int32:
		d := exec.Of[int32](dst)
		wholes(d[at:], w, math.MinInt32, math.MaxInt32)
	case dtype.Int64:
		d := exec.Of[int64](dst)
		wholes(d[at:], w, math.MinInt64, math.MaxInt64)
	case dtype.Uint8:
		d := exec.Of[uint8](dst)
		wholes(d[at:], w, 0, math.MaxUint8)
	case dtype.Uint16:
		d := exec.Of[uint16](dst)
		wholes(d[at:], w, 0, math.MaxUint16)
	case dtype.Uint32:
		d := exec.Of[uint32](dst)
		wholes(d[at:], w, 0, math.MaxUint32)
	case dtype.Uint64:
		d := exec.Of[uint64](dst)
		wholes(d[at:], w, 0, math.MaxInt64)
	case dtype.Int4, dtype.Int2, dtype.Uint4, dtype.Uint2:
		d := exec.Of[uint8](dst)[at : at+len(w)]
		for i, v := range w { // to nearest, ties to even; then its low bits
			b := v.Bits()
			d[i] = uint8(b.Hi)
			if b.Lo > 1<<63 || b.Lo == 1<<63 && b.Hi&1 == 1 {
				d[i]++
			}
		}
		to.Mend(d)
	case dtype.Float64:
		d := exec.Of[float64](dst)
		for i, v := range w {
			d[at+i] = v.Float64()
		}
	case dtype.Complex128:
		d := exec.Of[complex128](dst)
		for i, v := range w {
			d[at+i] = complex(v.Float64(), 0)
		}
	default: // floats and complex numbers with less than 53 bits
		var f [256]float64
		for i, v := range w {
			f[i] = oddFixed(v)
		}
		StoreFloats(dst, to, at, f[:len(w)], h)
	}
}

// wholes drops the digits after the point.
func wholes[T num.Integer](dst []T, w []fixed.FP64x64, least, most int64) {
	for i, v := range w {
		b := v.Bits()
		if b.Hi < 0 && b.Lo != 0 { // toward zero is up
			b.Hi++
		}
		dst[i] = T(max(least, min(b.Hi, most)))
	}
}

// oddFixed is oddFloat for a number of 128 bits.
func oddFixed(v fixed.FP64x64) float64 {
	b := v.Bits()
	neg := b.Hi < 0
	if neg {
		b.Lo = -b.Lo
		b.Hi = ^b.Hi
		if b.Lo == 0 {
			b.Hi++
		}
	}
	f, scale := uint64(b.Hi), 0
	switch {
	case f == 0:
		f, scale = b.Lo, -64
	case f < 1<<32: // 32 bits of both
		f, scale = f<<32|b.Lo>>32, -32
		if b.Lo<<32 != 0 {
			f |= 1
		}
	case b.Lo != 0:
		f |= 1
	}
	x := math.Ldexp(oddFloat(f), scale)
	if neg {
		return -x
	}
	return x
}
