package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
)

// The order of max, min, argmax and the pools: NaN above everything for the
// largest, −0 < +0.

// greaterOf returns whether v replaces the largest so far, best: the first NaN
// stays, and so does the first of equals.
func greaterOf[T num.Elem]() func(v, best T) bool {
	var p any
	switch any((*T)(nil)).(type) {
	case *bool:
		p = func(v, best bool) bool { return v && !best }
	case *int8:
		p = greater[int8]
	case *int16:
		p = greater[int16]
	case *int32:
		p = greater[int32]
	case *int64:
		p = greater[int64]
	case *uint8:
		p = greater[uint8]
	case *uint16:
		p = greater[uint16]
	case *uint32:
		p = greater[uint32]
	case *uint64:
		p = greater[uint64]
	case *float32:
		p = greaterFloat[float32]
	case *float64:
		p = greaterFloat[float64]
	case *num.FP8x23:
		p = greaterFixed[num.FP8x23]
	case *num.FP16x16:
		p = greaterFixed[num.FP16x16]
	case *num.FP32x32:
		p = greaterFixed[num.FP32x32]
	case *num.FP64x64:
		p = greaterFixed[num.FP64x64]
	default:
		widen := widenFor[T]()
		return func(v, best T) bool {
			var w [2]float32
			widen(w[:], []T{v, best})
			return greaterFloat(w[0], w[1])
		}
	}
	return p.(func(v, best T) bool)
}

func greater[T num.Integer](v, best T) bool { return v > best }

func greaterFloat[T num.Float](v, best T) bool {
	switch {
	case best != best:
		return false
	case v != v, v > best:
		return true
	}
	return v == 0 && best == 0 && !math.Signbit(float64(v)) && math.Signbit(float64(best))
}

// lessOf is greaterOf for the smallest.
func lessOf[T num.Elem]() func(v, best T) bool {
	var p any
	switch any((*T)(nil)).(type) {
	case *bool:
		p = func(v, best bool) bool { return !v && best }
	case *int8:
		p = less[int8]
	case *int16:
		p = less[int16]
	case *int32:
		p = less[int32]
	case *int64:
		p = less[int64]
	case *uint8:
		p = less[uint8]
	case *uint16:
		p = less[uint16]
	case *uint32:
		p = less[uint32]
	case *uint64:
		p = less[uint64]
	case *float32:
		p = lessFloat[float32]
	case *float64:
		p = lessFloat[float64]
	case *num.FP8x23:
		p = lessFixed[num.FP8x23]
	case *num.FP16x16:
		p = lessFixed[num.FP16x16]
	case *num.FP32x32:
		p = lessFixed[num.FP32x32]
	case *num.FP64x64:
		p = lessFixed[num.FP64x64]
	default:
		widen := widenFor[T]()
		return func(v, best T) bool {
			var w [2]float32
			widen(w[:], []T{v, best})
			return lessFloat(w[0], w[1])
		}
	}
	return p.(func(v, best T) bool)
}

func less[T num.Integer](v, best T) bool { return v < best }

func lessFloat[T num.Float](v, best T) bool {
	switch {
	case best != best:
		return false
	case v != v, v < best:
		return true
	}
	return v == 0 && best == 0 && math.Signbit(float64(v)) && !math.Signbit(float64(best))
}

// greaterFixed and lessFixed are for fixed point.
func greaterFixed[T num.Fixed](v, best T) bool { return num.CompareFixed(v, best) > 0 }
func lessFixed[T num.Fixed](v, best T) bool    { return num.CompareFixed(v, best) < 0 }

// endsOf returns −∞ and +∞, or the smallest and the largest value of a type without them.
func endsOf(d dtype.DType) (lo, hi exec.Word) {
	switch d {
	case dtype.Bool:
		return exec.WordOf(false), exec.WordOf(true)
	case dtype.Int8:
		return exec.WordOf[int8](math.MinInt8), exec.WordOf[int8](math.MaxInt8)
	case dtype.Int16:
		return exec.WordOf[int16](math.MinInt16), exec.WordOf[int16](math.MaxInt16)
	case dtype.Int32, dtype.FP8x23, dtype.FP16x16:
		return exec.WordOf[int32](math.MinInt32), exec.WordOf[int32](math.MaxInt32)
	case dtype.Int64, dtype.FP32x32:
		return exec.WordOf[int64](math.MinInt64), exec.WordOf[int64](math.MaxInt64)
	case dtype.Uint8:
		return exec.WordOf[uint8](0), exec.WordOf[uint8](math.MaxUint8)
	case dtype.Uint16:
		return exec.WordOf[uint16](0), exec.WordOf[uint16](math.MaxUint16)
	case dtype.Uint32:
		return exec.WordOf[uint32](0), exec.WordOf[uint32](math.MaxUint32)
	case dtype.Uint64:
		return exec.WordOf[uint64](0), exec.WordOf[uint64](math.MaxUint64)
	case dtype.Float8E4M3:
		return exec.WordOf(num.F8E4M3FromBits(0xfe)), exec.WordOf(num.F8E4M3FromBits(0x7e))
	case dtype.Float8E5M2:
		return exec.WordOf(num.F8E5M2FromBits(0xfc)), exec.WordOf(num.F8E5M2FromBits(0x7c))
	case dtype.Float16:
		return exec.WordOf(num.F16FromBits(0xfc00)), exec.WordOf(num.F16FromBits(0x7c00))
	case dtype.BFloat16:
		return exec.WordOf(num.BF16FromBits(0xff80)), exec.WordOf(num.BF16FromBits(0x7f80))
	case dtype.Float32:
		return exec.WordOf(float32(math.Inf(-1))), exec.WordOf(float32(math.Inf(1)))
	case dtype.Float64:
		return exec.WordOf(math.Inf(-1)), exec.WordOf(math.Inf(1))
	}
	return exec.WordOf(num.FP64x64FromBits(num.Int128{Hi: math.MinInt64})), exec.WordOf(num.FP64x64FromBits(num.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}))
}

// lowest returns the first of endsOf.
func lowest[T num.Elem]() T {
	v, _ := endsOf(dtype.Of[T]())
	return exec.Number[T](&v)
}

// highest returns the second.
func highest[T num.Elem]() T {
	_, v := endsOf(dtype.Of[T]())
	return exec.Number[T](&v)
}

// canonicalRow makes the NaNs of a row of any float type canonical.
func canonicalRow[T num.Elem](row []T) {
	if canon := canonFor[T](); canon != nil {
		canon(row)
		return
	}
	widen, narrow := widenFor[T](), narrowFor[T]()
	if widen == nil {
		return
	}
	var wide [64]float32
	for len(row) > 0 {
		n := min(len(row), len(wide))
		widen(wide[:n], row[:n])
		narrow(row[:n], wide[:n]) // exact, but for NaNs
		row = row[n:]
	}
}

// canonicalNumber returns v, or the canonical NaN where it is one of any float type.
func canonicalNumber[T num.Elem](v T) T {
	switch p := any(&v).(type) {
	case *float32:
		if *p != *p {
			*p = num.NaN32()
		}
	case *float64:
		if *p != *p {
			*p = num.NaN64()
		}
	case *num.F16:
		if p.IsNaN() {
			*p = num.F16FromFloat32(num.NaN32())
		}
	case *num.BF16:
		if p.IsNaN() {
			*p = num.BF16FromFloat32(num.NaN32())
		}
	case *num.F8E4M3:
		if p.IsNaN() {
			*p = num.F8E4M3FromFloat32(num.NaN32())
		}
	case *num.F8E5M2:
		if p.IsNaN() {
			*p = num.F8E5M2FromFloat32(num.NaN32())
		}
	}
	return v
}

// isNaN reports whether v is a NaN of any float type.
func isNaN[T num.Elem](v T) bool {
	switch v := any(v).(type) {
	case float32:
		return v != v
	case float64:
		return v != v
	case interface{ IsNaN() bool }:
		return v.IsNaN()
	}
	return false
}
