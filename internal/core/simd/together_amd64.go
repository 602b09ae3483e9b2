//go:build !purego

package simd

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// together is the largest size in bytes of the lines of one call that a kernel with AVX-512 goes over four at a time, of float32
// and of float64. Lines shorter than 64 elements always go so. Lines of a small size are in a cache. Larger ones go one at a
// time, with prefetches. An AMD EPYC (Zen 5) is much faster at that than at four streams, of float64 even in a cache. An Intel
// Ice Lake is slower at it.
var together = [2]int64{64 << 10, 0}

func init() {
	if cpu.IsIntel() {
		together = [2]int64{math.MaxInt64, math.MaxInt64}
	}
}
