//go:build linux && amd64 && !purego

package simd

import (
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// peakOf measures the fused steps of a level, in GFLOP/s: the best of some short runs.
func peakOf[T float32 | float64](p *Product[T]) (best float64) {
	for range 5 {
		from := time.Now()
		steps := p.Probe(20_000)
		best = max(best, float64(2*steps)/float64(time.Since(from).Nanoseconds()))
	}
	return best
}

func benchTile[T float32 | float64](b *testing.B, p *Product[T]) {
	if p == nil {
		b.Skip("this processor has no such instructions")
	}
	cols, _ := p.Columns()
	rows := p.Rows(cols)
	for _, m := range []int{rows, rows * 3 / 4, rows / 2} {
		const k = 256
		x, y, c := make([]T, m*k), make([]T, cols*k), make([]T, m*cols)
		b.Run(string(rune('0'+m/10))+string(rune('0'+m%10)), func(b *testing.B) {
			best, limit := 0.0, 0.0
			for b.Loop() {
				limit = max(limit, peakOf(p))
				for range 20 {
					from := time.Now()
					for range 20 {
						p.Tiles(c, cols, x, 1, m, y, cols, m, cols, k, AddSums)
					}
					best = max(best, float64(20*2*m*cols*k)/float64(time.Since(from).Nanoseconds()))
				}
			}
			b.ReportMetric(best, "GFLOP/s")
			b.ReportMetric(100*best/limit, "%peak")
		})
	}
}

func BenchmarkTile(b *testing.B) {
	b.Run("f32/avx512", func(b *testing.B) { benchTile(b, detected(&Product32, cpu.AVX512)) })
	b.Run("f64/avx512", func(b *testing.B) { benchTile(b, detected(&Product64, cpu.AVX512)) })
	b.Run("f32/avx2", func(b *testing.B) { benchTile(b, detected(&Product32, cpu.AVX2)) })
	b.Run("f64/avx2", func(b *testing.B) { benchTile(b, detected(&Product64, cpu.AVX2)) })
}
