//go:build linux && amd64 && !purego

package simd

import (
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// Whole lines are copied, by groups of pages, four at a time and one at a time, wherever the source begins, and nothing beyond either
// end is touched.
func TestCopyCacheLines(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	levels(t, func(t *testing.T, level cpu.Level) {
		kernel := copyLines_AVX2
		if level == cpu.AVX512 {
			kernel = copyLines_AVX512
		}
		for _, lines := range []int{1, 2, 3, 4, 5, 63, 64, 255, 256, 257, 260, 511, 512, 517} {
			n := 64 * lines
			for _, at := range []int{0, -1, 1 + r.IntN(63)} { // the end of the memory, its beginning, anywhere
				src := elements[byte](guard(t, n+64), n, at)
				for i := range src {
					src[i] = byte(r.Uint32())
				}
				for _, to := range []int{0, -1} {
					dst := elements[byte](guard(t, n), n, to)
					kernel(&dst[0], &src[0], lines, r.IntN(1<<20)-1<<19)
					Fence()
					for i := range src {
						if dst[i] != src[i] {
							t.Fatalf("%d lines: byte %d is %d, want %d", lines, i, dst[i], src[i])
						}
					}
				}
			}
		}
	})
}
