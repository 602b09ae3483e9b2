//go:build !purego

package simd

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/cpu"
)

// together is of how many elements lines have fewer that a kernel with AVX-512 goes over four at a time. Longer ones fetch what
// comes, which an AMD EPYC (Zen 5) answers much faster than four streams; of an Intel Ice Lake the opposite was measured.
var together = int64(64)

func init() {
	if cpu.IsIntel() {
		together = math.MaxInt64
	}
}
