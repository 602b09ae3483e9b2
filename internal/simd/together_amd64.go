//go:build !purego

package simd

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/cpu"
)

// together says which lines a kernel with AVX-512 goes over four at a time: those shorter than 64 elements, and any that are no more than
// so many bytes together, first of float32, then of float64. So few are in a cache; the others go one at a time and fetch what comes, which an
// AMD EPYC (Zen 5) answers much faster than four streams, of float64 in a cache, too. Of an Intel Ice Lake the opposite was measured.
var together = [2]int64{64 << 10, 0}

func init() {
	if cpu.IsIntel() {
		together = [2]int64{math.MaxInt64, math.MaxInt64}
	}
}
