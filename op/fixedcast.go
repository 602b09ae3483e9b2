package op

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Cast to and from fixed point. Its widest type, which holds the others, is FP64x64.

// toFixed converts src to fixed point: rounded once, to nearest even.
func toFixed(dst, src any, s *fixedState) {
	switch d := dst.(type) {
	case []num.FP8x23:
		castFixed(d, src, s)
	case []num.FP16x16:
		castFixed(d, src, s)
	case []num.FP32x32:
		castFixed(d, src, s)
	case []num.FP64x64:
		castFixed(d, src, s)
	}
}

func castFixed[T num.Fixed](dst []T, src any, s *fixedState) {
	if copied(dst, src) {
		return
	}
	for at := 0; at < len(dst); at += 256 {
		n := min(256, len(dst)-at)
		d := dst[at : at+n]
		switch src.(type) {
		case []int8, []int16, []int32, []int64:
			var w [256]int64
			loadInts(w[:n], src, at)
			for i, v := range w[:n] {
				var err error
				if d[i], err = num.FixedFromInt64[T](v, s.modes...); err != nil {
					s.fail(err)
				}
			}
		case []bool, []uint8, []uint16, []uint32, []uint64:
			var w [256]uint64
			loadUints(w[:n], src, at)
			for i, v := range w[:n] {
				var err error
				if v > math.MaxInt64 && s.mode&num.Wrap == 0 { // beyond every format
					d[i], err = num.FixedFromFloat64[T](float64(v), s.modes...)
				} else {
					d[i], err = num.FixedFromInt64[T](int64(v), s.modes...)
				}
				if err != nil {
					s.fail(err)
				}
			}
		case []num.FP8x23, []num.FP16x16, []num.FP32x32, []num.FP64x64:
			var w [256]num.FP64x64
			loadFixed(w[:n], src, at)
			for i, v := range w[:n] {
				var err error
				if d[i], err = num.ConvertFixed[T](v, s.modes...); err != nil {
					s.fail(err)
				}
			}
		default:
			var w [256]float64
			if c := (*[256]complex128)(nil); isComplex(src) {
				c = new([256]complex128)
				loadComplex(c[:n], src, at)
				for i, v := range c[:n] {
					w[i] = real(v)
				}
			} else {
				loadFloats(w[:n], src, at)
			}
			for i, v := range w[:n] {
				var err error
				if d[i], err = num.FixedFromFloat64[T](v, s.modes...); err != nil {
					s.fail(err)
				}
			}
		}
	}
}

func isComplex(src any) bool {
	switch src.(type) {
	case []complex64, []complex128:
		return true
	}
	return false
}

// fail notes an element without a result.
func (s *fixedState) fail(err error) {
	s.failed.Store(true)
	if s.trace {
		s.err = err
	}
}

func loadFixed(w []num.FP64x64, src any, at int) {
	switch s := src.(type) {
	case []num.FP8x23:
		for i, v := range s[at : at+len(w)] {
			b := int64(v.Bits())
			w[i] = num.FP64x64FromBits(num.Int128{Hi: b >> 23, Lo: uint64(b) << 41})
		}
	case []num.FP16x16:
		for i, v := range s[at : at+len(w)] {
			b := int64(v.Bits())
			w[i] = num.FP64x64FromBits(num.Int128{Hi: b >> 16, Lo: uint64(b) << 48})
		}
	case []num.FP32x32:
		for i, v := range s[at : at+len(w)] {
			b := v.Bits()
			w[i] = num.FP64x64FromBits(num.Int128{Hi: b >> 32, Lo: uint64(b) << 32})
		}
	case []num.FP64x64:
		copy(w, s[at:])
	}
}

// storeFixed converts to types that aren't fixed point: to integers toward zero,
// saturating, and to floats rounded once.
func storeFixed(dst any, at int, w []num.FP64x64, saturate bool) {
	switch d := dst.(type) {
	case []bool:
		for i, v := range w {
			d[at+i] = v != num.FP64x64{}
		}
	case []int8:
		wholes(d[at:], w, math.MinInt8, math.MaxInt8)
	case []int16:
		wholes(d[at:], w, math.MinInt16, math.MaxInt16)
	case []int32:
		wholes(d[at:], w, math.MinInt32, math.MaxInt32)
	case []int64:
		wholes(d[at:], w, math.MinInt64, math.MaxInt64)
	case []uint8:
		wholes(d[at:], w, 0, math.MaxUint8)
	case []uint16:
		wholes(d[at:], w, 0, math.MaxUint16)
	case []uint32:
		wholes(d[at:], w, 0, math.MaxUint32)
	case []uint64:
		wholes(d[at:], w, 0, math.MaxInt64)
	case []float64:
		for i, v := range w {
			d[at+i] = v.Float64()
		}
	case []complex128:
		for i, v := range w {
			d[at+i] = complex(v.Float64(), 0)
		}
	default: // floats and complex numbers of less than 53 bits
		var f [256]float64
		for i, v := range w {
			f[i] = oddFixed(v)
		}
		storeFloats(dst, at, f[:len(w)], saturate)
	}
}

// wholes drops what is after the point.
func wholes[T num.Integer](dst []T, w []num.FP64x64, least, most int64) {
	for i, v := range w {
		b := v.Bits()
		if b.Hi < 0 && b.Lo != 0 { // toward zero is up
			b.Hi++
		}
		dst[i] = T(max(least, min(b.Hi, most)))
	}
}

// oddFixed is oddFloat of a number of 128 bits.
func oddFixed(v num.FP64x64) float64 {
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
