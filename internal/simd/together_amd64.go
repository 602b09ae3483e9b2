//go:build !purego

package simd

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/cpu"
)

// together is how many bytes lines of 64 elements and more have at most, all of them, that a kernel with AVX-512 goes over four at a
// time, lines of float32 and of float64: so few are in a cache. Of others each fetches what comes, which an AMD EPYC (Zen 5) answers much
// faster than four streams; of an Intel Ice Lake the opposite was measured.
var together = [2]int64{64 << 10, 0}

func init() {
	if cpu.IsIntel() {
		together = [2]int64{math.MaxInt64, math.MaxInt64}
	}
}
