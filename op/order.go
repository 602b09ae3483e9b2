package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
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

// lowest returns −∞, or the smallest value of an integer or a float without ∞.
func lowest[T num.Elem]() T {
	var v any
	var t T
	switch any(t).(type) {
	case int8:
		v = int8(math.MinInt8)
	case int16:
		v = int16(math.MinInt16)
	case int32:
		v = int32(math.MinInt32)
	case int64:
		v = int64(math.MinInt64)
	case float32:
		v = float32(math.Inf(-1))
	case float64:
		v = math.Inf(-1)
	case num.F16:
		v = num.F16FromBits(0xfc00)
	case num.BF16:
		v = num.BF16FromBits(0xff80)
	case num.F8E4M3:
		v = num.F8E4M3FromBits(0xfe)
	case num.F8E5M2:
		v = num.F8E5M2FromBits(0xfc)
	case num.FP8x23:
		v = num.FP8x23FromBits(math.MinInt32)
	case num.FP16x16:
		v = num.FP16x16FromBits(math.MinInt32)
	case num.FP32x32:
		v = num.FP32x32FromBits(math.MinInt64)
	case num.FP64x64:
		v = num.FP64x64FromBits(num.Int128{Hi: math.MinInt64})
	default:
		return t // unsigned: 0; bool: false
	}
	return v.(T)
}

// highest returns +∞, or the largest value of an integer or a float without ∞.
func highest[T num.Elem]() T {
	var v any
	var t T
	switch any(t).(type) {
	case bool:
		v = true
	case int8:
		v = int8(math.MaxInt8)
	case int16:
		v = int16(math.MaxInt16)
	case int32:
		v = int32(math.MaxInt32)
	case int64:
		v = int64(math.MaxInt64)
	case uint8:
		v = uint8(math.MaxUint8)
	case uint16:
		v = uint16(math.MaxUint16)
	case uint32:
		v = uint32(math.MaxUint32)
	case uint64:
		v = uint64(math.MaxUint64)
	case float32:
		v = float32(math.Inf(1))
	case float64:
		v = math.Inf(1)
	case num.F16:
		v = num.F16FromBits(0x7c00)
	case num.BF16:
		v = num.BF16FromBits(0x7f80)
	case num.F8E4M3:
		v = num.F8E4M3FromBits(0x7e)
	case num.F8E5M2:
		v = num.F8E5M2FromBits(0x7c)
	case num.FP8x23:
		v = num.FP8x23FromBits(math.MaxInt32)
	case num.FP16x16:
		v = num.FP16x16FromBits(math.MaxInt32)
	case num.FP32x32:
		v = num.FP32x32FromBits(math.MaxInt64)
	case num.FP64x64:
		v = num.FP64x64FromBits(num.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64})
	}
	return v.(T)
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

// extreme is the folder of the largest or the smallest element.
type extreme[T num.Elem] struct {
	better     func(v, best T) bool
	whole      func(x []T) (best T, ok bool) // of many elements, with an instruction set; may be nil
	none, best T
	any        bool
}

func (f *extreme[T]) start() { f.best, f.any = f.none, false }

func (f *extreme[T]) take(x []T) {
	if !f.any && len(x) > 0 {
		f.best, f.any, x = x[0], true, x[1:]
	}
	if f.whole != nil {
		if v, ok := f.whole(x); ok {
			if f.better(v, f.best) {
				f.best = v
			}
			return
		}
	}
	for _, v := range x {
		if f.better(v, f.best) {
			f.best = v
		}
	}
}

func (f *extreme[T]) result() T {
	return canonicalNumber(f.best)
}

// position is the folder of ArgMax and ArgMin.
type position[T num.Elem] struct {
	better func(v, best T) bool
	whole  func(x []T) (best T, ok bool) // as that of extreme
	last   bool                          // of equals
	best   T
	at     int64
	n      int64
}

func (f *position[T]) start() { f.n, f.at = 0, 0 }

func (f *position[T]) take(x []T) {
	for f.whole != nil && len(x) > 0 { // in parts, as the best's place in one must be found
		part := x[:min(len(x), 1024)]
		v, ok := f.whole(part)
		if !ok {
			break
		}
		if f.n == 0 || f.better(v, f.best) {
			f.best, f.at = v, f.n+int64(indexOf(part, v))
		}
		f.n += int64(len(part))
		x = x[len(part):]
	}
	for _, v := range x {
		if f.n == 0 || f.better(v, f.best) || f.last && !f.better(f.best, v) && !isNaN(v) {
			f.best, f.at = v, f.n
		}
		f.n++
	}
}

func (f *position[T]) result() int64 { return f.at }

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

// refuseEmpty panics when there is an output with no element to choose from.
func refuseEmpty(name string, lay *layout.Layout, axis int) {
	for i := range lay.Rank() {
		if (lay.Dim(i) == 0) != (i == axis) {
			return
		}
	}
	panic(fail(name, tensor.ErrShape, "axis %d of shape %s is empty; nothing has no largest or smallest element", axis, lay.ShapeString()))
}

// inferArg describes the result of ArgMax or ArgMin.
func inferArg(name string, c *Call) []tensor.Any {
	lay := c.in(0).Layout()
	axis := axisOf(name, int(c.Attrs.Int("axis", 0)), lay.Rank())
	refuseEmpty(name, &lay, axis)
	return one(spec(name, dtype.Int64, reducedShape(name, &lay, []int{axis}, c.Attrs.Int("keepdims", 1) != 0)...))
}
