package op

import (
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
)

// The largest and the smallest of a run of floats with an instruction set: as
// many accumulators side by side as fit registers, then the best of those. It
// doesn't matter in which order elements are looked at, but for a NaN's payload,
// which is canonical in the end.

const fewest = 256 // elements for which that pays

// maxOf returns the largest of x, for float32 and float64; false where it can't be
// had so, or not gained by it.
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
	var lane [64]float32
	if len(x) < fewest {
		return 0, false
	}
	copy(lane[:], x)
	if !simd.TryMaxLanes32(&lane, x[64:]) {
		return 0, false
	}
	return bestOf(greaterFloat[float32], lane[:], x[len(x)&^63:]), true
}

func max64(x []float64) (float64, bool) {
	var lane [32]float64
	if len(x) < fewest {
		return 0, false
	}
	copy(lane[:], x)
	if !simd.TryMaxLanes64(&lane, x[32:]) {
		return 0, false
	}
	return bestOf(greaterFloat[float64], lane[:], x[len(x)&^31:]), true
}

func min32(x []float32) (float32, bool) {
	var lane [64]float32
	if len(x) < fewest {
		return 0, false
	}
	copy(lane[:], x)
	if !simd.TryMinLanes32(&lane, x[64:]) {
		return 0, false
	}
	return bestOf(lessFloat[float32], lane[:], x[len(x)&^63:]), true
}

func min64(x []float64) (float64, bool) {
	var lane [32]float64
	if len(x) < fewest {
		return 0, false
	}
	copy(lane[:], x)
	if !simd.TryMinLanes64(&lane, x[32:]) {
		return 0, false
	}
	return bestOf(lessFloat[float64], lane[:], x[len(x)&^31:]), true
}

// bestOf returns the best of some accumulators and of the elements that went into none.
func bestOf[T num.Float](better func(v, best T) bool, lane, rest []T) T {
	best := lane[0]
	for _, s := range [2][]T{lane[1:], rest} {
		for _, v := range s {
			if better(v, best) {
				best = v
			}
		}
	}
	return best
}
