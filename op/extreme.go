package op

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
)

// The largest and the smallest of a run of floats with an instruction set. It
// doesn't matter in which order elements are looked at, but for a NaN's payload,
// which is canonical in the end.

// maxOf returns the largest of x, some float32 or float64; false where it can't be
// had so.
func maxOf[T num.Elem](x []T) (best T, ok bool) {
	if len(x) == 0 {
		return best, false
	}
	switch x := any(x).(type) {
	case []float32:
		var v [1]float32
		ok = simd.TryMaxLines32(v[:], x, 0, len(x))
		return any(v[0]).(T), ok
	case []float64:
		var v [1]float64
		ok = simd.TryMaxLines64(v[:], x, 0, len(x))
		return any(v[0]).(T), ok
	}
	return best, false
}

// minOf is maxOf for the smallest.
func minOf[T num.Elem](x []T) (best T, ok bool) {
	if len(x) == 0 {
		return best, false
	}
	switch x := any(x).(type) {
	case []float32:
		var v [1]float32
		ok = simd.TryMinLines32(v[:], x, 0, len(x))
		return any(v[0]).(T), ok
	case []float64:
		var v [1]float64
		ok = simd.TryMinLines64(v[:], x, 0, len(x))
		return any(v[0]).(T), ok
	}
	return best, false
}

// indexOf returns where v, which x has, is first: the same zero, or any NaN for one.
// x is of float32 or float64.
func indexOf[T num.Elem](x []T, v T) int {
	switch x := any(x).(type) {
	case []float32:
		v := any(v).(float32)
		if v != v {
			return slices.IndexFunc(x, func(e float32) bool { return e != e })
		}
		return slices.Index(conv.As[uint32](x), math.Float32bits(v))
	case []float64:
		v := any(v).(float64)
		if v != v {
			return slices.IndexFunc(x, func(e float64) bool { return e != e })
		}
		return slices.Index(conv.As[uint64](x), math.Float64bits(v))
	}
	panic("op: no float")
}
