package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/num"
)

// The halves of Cast: a load widens src[at:] to the widest type of its kind, which
// is exact, and a store converts that to the elements of dst[at:].

func lengthOf(s any) int {
	switch s := s.(type) {
	case []bool:
		return len(s)
	case []int8:
		return len(s)
	case []int16:
		return len(s)
	case []int32:
		return len(s)
	case []int64:
		return len(s)
	case []uint8:
		return len(s)
	case []uint16:
		return len(s)
	case []uint32:
		return len(s)
	case []uint64:
		return len(s)
	case []num.F8E4M3:
		return len(s)
	case []num.F8E5M2:
		return len(s)
	case []num.F16:
		return len(s)
	case []num.BF16:
		return len(s)
	case []float32:
		return len(s)
	case []float64:
		return len(s)
	case []complex64:
		return len(s)
	case []complex128:
		return len(s)
	case []num.FP8x23:
		return len(s)
	case []num.FP16x16:
		return len(s)
	case []num.FP32x32:
		return len(s)
	case []num.FP64x64:
		return len(s)
	}
	return 0
}

func loadInts(w []int64, src any, at int) {
	switch s := src.(type) {
	case []int8:
		integers(w, s[at:])
	case []int16:
		integers(w, s[at:])
	case []int32:
		integers(w, s[at:])
	case []int64:
		copy(w, s[at:])
	}
}

func loadUints(w []uint64, src any, at int) {
	switch s := src.(type) {
	case []bool:
		for i, v := range s[at : at+len(w)] {
			w[i] = 0
			if v {
				w[i] = 1
			}
		}
	case []uint8:
		integers(w, s[at:])
	case []uint16:
		integers(w, s[at:])
	case []uint32:
		integers(w, s[at:])
	case []uint64:
		copy(w, s[at:])
	}
}

func loadFloats(w []float64, src any, at int) {
	switch s := src.(type) {
	case []num.F8E4M3:
		for i, v := range s[at : at+len(w)] {
			w[i] = v.Float64()
		}
	case []num.F8E5M2:
		for i, v := range s[at : at+len(w)] {
			w[i] = v.Float64()
		}
	case []num.F16:
		for i, v := range s[at : at+len(w)] {
			w[i] = v.Float64()
		}
	case []num.BF16:
		for i, v := range s[at : at+len(w)] {
			w[i] = v.Float64()
		}
	case []float32:
		for i, v := range s[at : at+len(w)] {
			w[i] = float64(v)
		}
	case []float64:
		copy(w, s[at:])
	}
}

func loadComplex(w []complex128, src any, at int) {
	switch s := src.(type) {
	case []complex64:
		for i, v := range s[at : at+len(w)] {
			w[i] = complex128(v)
		}
	case []complex128:
		copy(w, s[at:])
	}
}

// integers converts by the low bits.
func integers[To, From num.Integer](dst []To, src []From) {
	for i, v := range src[:len(dst)] {
		dst[i] = To(v)
	}
}

// nonzero reports what isn't 0.
func nonzero[From num.Native | num.Complex](dst []bool, src []From) {
	for i, v := range src[:len(dst)] {
		dst[i] = v != 0
	}
}

// storeIntegers stores to the types that int64 and uint64 share all but the
// sources' sign with; ok is false where that matters.
func storeIntegers[From int64 | uint64](dst any, at int, w []From) (ok bool) {
	switch d := dst.(type) {
	case []bool:
		nonzero(d[at:at+len(w)], w)
	case []int8:
		integers(d[at:at+len(w)], w)
	case []int16:
		integers(d[at:at+len(w)], w)
	case []int32:
		integers(d[at:at+len(w)], w)
	case []int64:
		integers(d[at:at+len(w)], w)
	case []uint8:
		integers(d[at:at+len(w)], w)
	case []uint16:
		integers(d[at:at+len(w)], w)
	case []uint32:
		integers(d[at:at+len(w)], w)
	case []uint64:
		integers(d[at:at+len(w)], w)
	case []float32: // the conversions round once
		for i, v := range w {
			d[at+i] = float32(v)
		}
	case []float64:
		for i, v := range w {
			d[at+i] = float64(v)
		}
	case []complex64:
		for i, v := range w {
			d[at+i] = complex(float32(v), 0)
		}
	case []complex128:
		for i, v := range w {
			d[at+i] = complex(float64(v), 0)
		}
	default:
		return false
	}
	return true
}

func storeInts(dst any, at int, w []int64, saturate bool) {
	if storeIntegers(dst, at, w) {
		return
	}
	var f [256]float64 // only narrow floats are left
	for i, v := range w {
		f[i] = oddSigned(v)
	}
	storeFloats(dst, at, f[:len(w)], saturate)
}

func storeUints(dst any, at int, w []uint64, saturate bool) {
	if storeIntegers(dst, at, w) {
		return
	}
	var f [256]float64
	for i, v := range w {
		f[i] = oddFloat(v)
	}
	storeFloats(dst, at, f[:len(w)], saturate)
}

func storeFloats(dst any, at int, w []float64, saturate bool) {
	switch d := dst.(type) {
	case []bool:
		nonzero(d[at:at+len(w)], w)
	case []int8:
		truncated(d[at:], w, math.MinInt8, math.MaxInt8, beyond7)
	case []int16:
		truncated(d[at:], w, math.MinInt16, math.MaxInt16, beyond15)
	case []int32:
		truncated(d[at:], w, math.MinInt32, math.MaxInt32, beyond31)
	case []int64:
		truncated(d[at:], w, math.MinInt64, math.MaxInt64, beyond63)
	case []uint8:
		truncated(d[at:], w, 0, math.MaxUint8, beyond7*2)
	case []uint16:
		truncated(d[at:], w, 0, math.MaxUint16, beyond15*2)
	case []uint32:
		truncated(d[at:], w, 0, math.MaxUint32, beyond31*2)
	case []uint64:
		truncated(d[at:], w, 0, math.MaxUint64, beyond64)
	case []num.F8E4M3:
		for i, v := range w {
			if saturate {
				d[at+i] = num.F8E4M3Saturate(v)
			} else {
				d[at+i] = num.F8E4M3FromFloat64(v)
			}
		}
	case []num.F8E5M2:
		for i, v := range w {
			if saturate {
				d[at+i] = num.F8E5M2Saturate(v)
			} else {
				d[at+i] = num.F8E5M2FromFloat64(v)
			}
		}
	case []num.F16:
		for i, v := range w {
			d[at+i] = num.F16FromFloat64(v)
		}
	case []num.BF16:
		for i, v := range w {
			d[at+i] = num.BF16FromFloat64(v)
		}
	case []float32:
		for i, v := range w {
			d[at+i] = float32(v)
		}
		conv.Canon32(d[at : at+len(w)])
	case []float64:
		copy(d[at:], w)
		conv.Canon64(d[at : at+len(w)])
	case []complex64:
		for i, v := range w {
			d[at+i] = narrowComplex(complex(v, 0))
		}
	case []complex128:
		for i, v := range w {
			d[at+i] = canonComplex(complex(v, 0))
		}
	}
}

func truncated[T num.Integer](dst []T, w []float64, least, most T, beyond float64) {
	dst = dst[:len(w)]
	for i, v := range w {
		dst[i] = toInt(v, least, most, beyond)
	}
}

func storeComplex(dst any, at int, w []complex128, saturate bool) {
	switch d := dst.(type) {
	case []bool:
		nonzero(d[at:at+len(w)], w)
	case []complex64:
		for i, v := range w {
			d[at+i] = narrowComplex(v)
		}
	case []complex128:
		for i, v := range w {
			d[at+i] = canonComplex(v)
		}
	default:
		var re [256]float64
		for i, v := range w {
			re[i] = real(v)
		}
		storeFloats(dst, at, re[:len(w)], saturate)
	}
}
