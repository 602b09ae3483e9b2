//go:build !purego

package simd

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// together is the largest size of the lines of one call, in bytes, for which a kernel with AVX-512 takes four lines at a time,
// of float32 and of float64. Lines shorter than 64 elements always go so. Lines of a small size are in a cache. Larger ones go
// one at a time, with prefetches. An AMD EPYC (Zen 5) is much faster at one line than at four streams, of float64 even in a
// cache. An Intel Ice Lake is slower at one.
var together = [2]int64{64 << 10, 0}

func init() {
	if cpu.IsIntel() {
		together = [2]int64{math.MaxInt64, math.MaxInt64}
	}
}
