package op

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/num"
)

// maxOf returns the largest of x, some float32 or float64; false where it can't be
// had with an instruction set.
func maxOf[T num.Elem](x []T) (T, bool) {
	var v [1]T
	ok := len(x) > 0 && bestLines(v[:], x, 0, len(x), false)
	return v[0], ok
}

// minOf is maxOf for the smallest.
func minOf[T num.Elem](x []T) (T, bool) {
	var v [1]T
	ok := len(x) > 0 && bestLines(v[:], x, 0, len(x), true)
	return v[0], ok
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
