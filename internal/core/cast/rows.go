package cast

import (
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
)

// The halves of Cast. A load widens src[at:] to the widest type of its kind, which is
// exact. A store converts that to the elements of dst[at:].

func loadInts(w []int64, src exec.Run, from dtype.DType, at int) {
	switch from {
	case dtype.Int8, dtype.Int4, dtype.Int2:
		s := exec.Of[int8](src)
		integerRows(w, s[at:])
	case dtype.Int16:
		s := exec.Of[int16](src)
		integerRows(w, s[at:])
	case dtype.Int32:
		s := exec.Of[int32](src)
		integerRows(w, s[at:])
	case dtype.Int64:
		s := exec.Of[int64](src)
		copy(w, s[at:])
	}
}

func loadUints(w []uint64, src exec.Run, from dtype.DType, at int) {
	switch from {
	case dtype.Bool:
		s := exec.Of[bool](src)
		for i, v := range s[at : at+len(w)] {
			w[i] = 0
			if v {
				w[i] = 1
			}
		}
	case dtype.Uint8, dtype.Uint4, dtype.Uint2:
		s := exec.Of[uint8](src)
		integerRows(w, s[at:])
	case dtype.Uint16:
		s := exec.Of[uint16](src)
		integerRows(w, s[at:])
	case dtype.Uint32:
		s := exec.Of[uint32](src)
		integerRows(w, s[at:])
	case dtype.Uint64:
		s := exec.Of[uint64](src)
		copy(w, s[at:])
	}
}

// LoadFloats sets w to the elements of a float type from element at on.
func LoadFloats(w []float64, src exec.Run, from dtype.DType, at int) {
	switch from {
	case dtype.Float16:
		conv.WidenDoubles(w, exec.Of[num.F16](src)[at:])
	case dtype.BFloat16:
		conv.WidenDoubles(w, exec.Of[num.BF16](src)[at:])
	case dtype.Float32:
		s := exec.Of[float32](src)
		for i, v := range s[at : at+len(w)] {
			w[i] = float64(v)
		}
	case dtype.Float64:
		s := exec.Of[float64](src)
		copy(w, s[at:])
	default: // a byte each
		values := byteValues[from.Format()]()
		for i, v := range exec.Of[uint8](src)[at : at+len(w)] {
			w[i] = values[v]
		}
	}
}

// byteValues returns the numbers for all bytes, for each format of a byte.
var byteValues = func() (tables [num.FormatF8E8M0 + 1]func() *[256]float64) {
	for f := range tables {
		tables[f] = sync.OnceValue(func() *[256]float64 {
			var v [256]float64
			for b := range v {
				v[b] = num.Format(f).Value(uint16(b))
			}
			return &v
		})
	}
	return tables
}()

func loadComplex(w []complex128, src exec.Run, from dtype.DType, at int) {
	switch from {
	case dtype.Complex64:
		s := exec.Of[complex64](src)
		for i, v := range s[at : at+len(w)] {
			w[i] = complex128(v)
		}
	case dtype.Complex128:
		s := exec.Of[complex128](src)
		copy(w, s[at:])
	}
}

// integerRows converts by the low bits.
func integerRows[To, From num.Integer](dst []To, src []From) {
	for i, v := range src[:len(dst)] {
		dst[i] = To(v)
	}
}

// nonzero reports which elements aren't 0.
func nonzero[From num.Native | num.Complex](dst []bool, src []From) {
	for i, v := range src[:len(dst)] {
		dst[i] = v != 0
	}
}

// storeIntegers stores to the types for which int64 and uint64 have the same
// conversion, except for the sign of the source. ok is false where that sign matters.
func storeIntegers[From int64 | uint64](dst exec.Run, to dtype.DType, at int, w []From) (ok bool) {
	switch to {
	case dtype.Bool:
		d := exec.Of[bool](dst)
		nonzero(d[at:at+len(w)], w)
	case dtype.Int8:
		d := exec.Of[int8](dst)
		integerRows(d[at:at+len(w)], w)
	case dtype.Int16:
		d := exec.Of[int16](dst)
		integerRows(d[at:at+len(w)], w)
	case dtype.Int32:
		d := exec.Of[int32](dst)
		integerRows(d[at:at+len(w)], w)
	case dtype.Int64:
		d := exec.Of[int64](dst)
		integerRows(d[at:at+len(w)], w)
	case dtype.Uint8:
		d := exec.Of[uint8](dst)
		integerRows(d[at:at+len(w)], w)
	case dtype.Uint16:
		d := exec.Of[uint16](dst)
		integerRows(d[at:at+len(w)], w)
	case dtype.Uint32:
		d := exec.Of[uint32](dst)
		integerRows(d[at:at+len(w)], w)
	case dtype.Uint64:
		d := exec.Of[uint64](dst)
		integerRows(d[at:at+len(w)], w)
	case dtype.Int4, dtype.Int2, dtype.Uint4, dtype.Uint2:
		d := exec.Of[uint8](dst)[at : at+len(w)]
		integerRows(d, w)
		to.Mend(d)
	case dtype.Float32:
		d := exec.Of[float32](dst)
		// the conversions round once
		for i, v := range w {
			d[at+i] = float32(v)
		}
	case dtype.Float64:
		d := exec.Of[float64](dst)
		for i, v := range w {
			d[at+i] = float64(v)
		}
	case dtype.Complex64:
		d := exec.Of[complex64](dst)
		for i, v := range w {
			d[at+i] = complex(float32(v), 0)
		}
	case dtype.Complex128:
		d := exec.Of[complex128](dst)
		for i, v := range w {
			d[at+i] = complex(float64(v), 0)
		}
	default:
		return false
	}
	return true
}

func storeInts(dst exec.Run, to dtype.DType, at int, w []int64, h Narrowing) {
	if storeIntegers(dst, to, at, w) {
		return
	}
	var f [256]float64 // only floats of 16 bits or less are left
	for i, v := range w {
		f[i] = oddSigned(v)
	}
	StoreFloats(dst, to, at, f[:len(w)], h)
}

func storeUints(dst exec.Run, to dtype.DType, at int, w []uint64, h Narrowing) {
	if storeIntegers(dst, to, at, w) {
		return
	}
	var f [256]float64
	for i, v := range w {
		f[i] = oddFloat(v)
	}
	StoreFloats(dst, to, at, f[:len(w)], h)
}

// StoreFloats sets the elements from element at on to w, each rounded once.
func StoreFloats(dst exec.Run, to dtype.DType, at int, w []float64, h Narrowing) {
	switch to {
	case dtype.Bool:
		d := exec.Of[bool](dst)
		nonzero(d[at:at+len(w)], w)
	case dtype.Int8:
		d := exec.Of[int8](dst)
		truncated(d[at:], w, math.MinInt8, math.MaxInt8, beyond7)
	case dtype.Int16:
		d := exec.Of[int16](dst)
		truncated(d[at:], w, math.MinInt16, math.MaxInt16, beyond15)
	case dtype.Int32:
		d := exec.Of[int32](dst)
		truncated(d[at:], w, math.MinInt32, math.MaxInt32, beyond31)
	case dtype.Int64:
		d := exec.Of[int64](dst)
		truncated(d[at:], w, math.MinInt64, math.MaxInt64, beyond63)
	case dtype.Uint8:
		d := exec.Of[uint8](dst)
		truncated(d[at:], w, 0, math.MaxUint8, beyond7*2)
	case dtype.Uint16:
		d := exec.Of[uint16](dst)
		truncated(d[at:], w, 0, math.MaxUint16, beyond15*2)
	case dtype.Uint32:
		d := exec.Of[uint32](dst)
		truncated(d[at:], w, 0, math.MaxUint32, beyond31*2)
	case dtype.Uint64:
		d := exec.Of[uint64](dst)
		truncated(d[at:], w, 0, math.MaxUint64, beyond64)
	case dtype.Int4, dtype.Int2, dtype.Uint4, dtype.Uint2:
		d := exec.Of[uint8](dst)[at : at+len(w)]
		for i, v := range w {
			d[i] = lowByte(v)
		}
		to.Mend(d)
	case dtype.Float16:
		conv.NarrowDoubles(exec.Of[num.F16](dst)[at:], w)
	case dtype.BFloat16:
		conv.NarrowDoubles(exec.Of[num.BF16](dst)[at:], w)
	case dtype.Float32:
		d := exec.Of[float32](dst)
		for i, v := range w {
			d[at+i] = float32(v)
		}
		conv.Canon32(d[at : at+len(w)])
	case dtype.Float64:
		d := exec.Of[float64](dst)
		copy(d[at:], w)
		conv.Canon64(d[at : at+len(w)])
	case dtype.Complex64:
		d := exec.Of[complex64](dst)
		for i, v := range w {
			d[at+i] = narrowComplex(complex(v, 0))
		}
	case dtype.Complex128:
		d := exec.Of[complex128](dst)
		for i, v := range w {
			d[at+i] = canonComplex(complex(v, 0))
		}
	case dtype.Float8E4M3:
		storeBytes(exec.Of[num.F8E4M3](dst)[at:], w, 448, h)
	case dtype.Float8E5M2:
		storeBytes(exec.Of[num.F8E5M2](dst)[at:], w, 57344, h)
	default: // a byte each
		f := to.Format()
		d := exec.Of[uint8](dst)[at : at+len(w)]
		for i, v := range w {
			d[i] = uint8(h.bits(f, v))
		}
	}
}

// storeBytes narrows by way of float32, rounded to odd. most is the largest number of the type.
func storeBytes[T num.F8E4M3 | num.F8E5M2](dst []T, w []float64, most float32, h Narrowing) {
	var room [256]float32
	for at := 0; at < len(w); at += len(room) {
		part := room[:min(len(w)-at, len(room))]
		conv.OddF64(part, w[at:at+len(part)])
		if h&saturating != 0 {
			for i, v := range part {
				part[i] = max(min(v, most), -most) // NaN stays
			}
		}
		num.NarrowRow(dst[at:at+len(part)], part)
	}
}

func truncated[T num.Integer](dst []T, w []float64, least, most T, beyond float64) {
	dst = dst[:len(w)]
	for i, v := range w {
		dst[i] = ToInt(v, least, most, beyond)
	}
}

func storeComplex(dst exec.Run, to dtype.DType, at int, w []complex128, h Narrowing) {
	switch to {
	case dtype.Bool:
		d := exec.Of[bool](dst)
		nonzero(d[at:at+len(w)], w)
	case dtype.Complex64:
		d := exec.Of[complex64](dst)
		for i, v := range w {
			d[at+i] = narrowComplex(v)
		}
	case dtype.Complex128:
		d := exec.Of[complex128](dst)
		for i, v := range w {
			d[at+i] = canonComplex(v)
		}
	default:
		var re [256]float64
		for i, v := range w {
			re[i] = real(v)
		}
		StoreFloats(dst, to, at, re[:len(w)], h)
	}
}
