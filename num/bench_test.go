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
		{"NarrowBF16", func() { NarrowBF16(brain, x) }}, {"WidenBF16", func() { WidenBF16(x, brain) }},
		{"NarrowF16", func() { NarrowF16(half, x) }}, {"WidenF16", func() { WidenF16(x, half) }},
		{"NarrowF8E4M3", func() { NarrowF8E4M3(e4, x) }}, {"WidenF8E4M3", func() { WidenF8E4M3(x, e4) }},
		{"NarrowF8E5M2", func() { NarrowF8E5M2(e5, x) }}, {"WidenF8E5M2", func() { WidenF8E5M2(x, e5) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.f()
			}
			b.ReportMetric(float64(len(x))*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
		})
	}
}
