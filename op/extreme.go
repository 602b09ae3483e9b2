package op

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
)

// The largest and the smallest of a run of floats with an instruction set: as
// many accumulators side by side as fit registers, then the best of those. It
// doesn't matter in which order elements are looked at, nor how often, but for a
// NaN's payload, which is canonical in the end.

// maxOf returns the largest of x, for float32 and float64 of some length; false
// where it can't be had so.
func maxOf[T num.Elem](x []T) (best T, ok bool) {
	switch x := any(x).(type) {
	case []float32:
		var v float32
		v, ok = max32(x)
		return any(v).(T), ok
	case []float64:
		var v float64
		v, ok = max64(x)
		return any(v).(T), ok
	}
	return best, false
}

// minOf is maxOf for the smallest.
func minOf[T num.Elem](x []T) (best T, ok bool) {
	switch x := any(x).(type) {
	case []float32:
		var v float32
		v, ok = min32(x)
		return any(v).(T), ok
	case []float64:
		var v float64
		v, ok = min64(x)
		return any(v).(T), ok
	}
	return best, false
}

func max32(x []float32) (float32, bool) {
	if len(x) < 64 {
		return 0, false
	}
	lane := [64]float32(x)
	if !simd.TryMaxLanes32(&lane, x[64:]) {
		return 0, false
	}
	simd.TryMaxLanes32(&lane, x[len(x)-64:]) // the rest, and some again
	for h := 32; h > 0; h /= 2 {
		for j := range h {
			lane[j] = max(lane[j], lane[j+h])
		}
	}
	return lane[0], true
}

func max64(x []float64) (float64, bool) {
	if len(x) < 32 {
		return 0, false
	}
	lane := [32]float64(x)
	if !simd.TryMaxLanes64(&lane, x[32:]) {
		return 0, false
	}
	simd.TryMaxLanes64(&lane, x[len(x)-32:]) // the rest, and some again
	for h := 16; h > 0; h /= 2 {
		for j := range h {
			lane[j] = max(lane[j], lane[j+h])
		}
	}
	return lane[0], true
}

func min32(x []float32) (float32, bool) {
	if len(x) < 64 {
		return 0, false
	}
	lane := [64]float32(x)
	if !simd.TryMinLanes32(&lane, x[64:]) {
		return 0, false
	}
	simd.TryMinLanes32(&lane, x[len(x)-64:]) // the rest, and some again
	for h := 32; h > 0; h /= 2 {
		for j := range h {
			lane[j] = min(lane[j], lane[j+h])
		}
	}
	return lane[0], true
}

func min64(x []float64) (float64, bool) {
	if len(x) < 32 {
		return 0, false
	}
	lane := [32]float64(x)
	if !simd.TryMinLanes64(&lane, x[32:]) {
		return 0, false
	}
	simd.TryMinLanes64(&lane, x[len(x)-32:]) // the rest, and some again
	for h := 16; h > 0; h /= 2 {
		for j := range h {
			lane[j] = min(lane[j], lane[j+h])
		}
	}
	return lane[0], true
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
