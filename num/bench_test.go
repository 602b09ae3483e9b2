package num

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkConversions(b *testing.B) {
	x, r := make([]float32, 4096), rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	half, brain, e4, e5 := make([]F16, len(x)), make([]BF16, len(x)), make([]F8E4M3, len(x)), make([]F8E5M2, len(x))
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"NarrowRow[BF16]", func() { NarrowRow[BF16](brain, x) }}, {"WidenRow[BF16]", func() { WidenRow[BF16](x, brain) }},
		{"NarrowRow[F16]", func() { NarrowRow[F16](half, x) }}, {"WidenRow[F16]", func() { WidenRow[F16](x, half) }},
		{"NarrowRow[F8E4M3]", func() { NarrowRow[F8E4M3](e4, x) }}, {"WidenRow[F8E4M3]", func() { WidenRow[F8E4M3](x, e4) }},
		{"NarrowRow[F8E5M2]", func() { NarrowRow[F8E5M2](e5, x) }}, {"WidenRow[F8E5M2]", func() { WidenRow[F8E5M2](x, e5) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.f()
			}
			b.ReportMetric(float64(len(x))*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
		})
	}
}
