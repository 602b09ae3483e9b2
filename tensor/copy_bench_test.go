package tensor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// BenchmarkCopyTiled compares CopyFrom between a row-major matrix and one in 32×32
// tiles with copy of as many bytes.
func BenchmarkCopyTiled(b *testing.B) {
	const n = 4096
	rows := tensor.Full[float32](1, n, n)
	tiled := tensor.FromLayout(make([]float32, n*n), layout.MustParse("((32,128),(32,128)):((32,131072),(1,1024))"))
	dst, _ := tiled.Data()
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"copy", func() { copy(dst, rows.Elems()) }},
		{"rows to tiles", func() { tiled.CopyFrom(rows) }},
		{"tiles to rows", func() { rows.CopyFrom(tiled) }},
		{"rows to tiles, colexicographic", func() { tensor.CopyColex(tiled, rows) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(4 * n * n)
			for b.Loop() {
				c.f()
			}
		})
	}
}

// BenchmarkCopyRuns compares CopyFrom of a tensor whose first two axes are swapped, by the bytes of the runs that stay, with copy of as
// many bytes.
func BenchmarkCopyRuns(b *testing.B) {
	for _, c := range []struct{ outer, rows, run int }{{16, 1 << 13, 16}, {16, 1 << 12, 32}, {16, 1 << 11, 64}, {16, 1 << 14, 64}, {1024, 1 << 8, 64}, {16, 1 << 10, 512}, {16, 1 << 13, 512}} {
		from := tensor.Full[float32](1, c.outer, c.rows, c.run)
		dst := tensor.Full[float32](2, c.rows, c.outer, c.run)
		x, _ := from.Data()
		y, _ := dst.Data()
		b.Run(fmt.Sprintf("%d/%dx%d", 4*c.run, c.outer, c.rows), func(b *testing.B) {
			best := [2]float64{}
			for b.Loop() {
				for i, f := range []func(){func() { copy(y, x) }, func() { dst.CopyFrom(from.Permute(1, 0, 2)) }} {
					start := time.Now()
					f()
					best[i] = max(best[i], float64(8*len(x))/float64(time.Since(start).Nanoseconds()))
				}
			}
			b.ReportMetric(best[0], "copyGB/s")
			b.ReportMetric(best[1], "runsGB/s")
			b.ReportMetric(best[1]/best[0], "ratio")
		})
	}
}
