package num

import (
	"math"
	"math/rand/v2"
	"testing"
)

// rate reports millions of operations a second.
func rate(b *testing.B, ops int) {
	b.ReportMetric(float64(ops)*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
}

func normals(n int) []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	a := make([]float32, n)
	for i := range a {
		a[i] = float32(r.NormFloat64())
	}
	return a
}

func BenchmarkFunctions32(b *testing.B) {
	for _, f := range []struct {
		name string
		f    func(float32) float32
	}{
		{"Exp", Exp32}, {"Log", func(x float32) float32 { return Log32(float32(math.Abs(float64(x)))) }}, {"Tanh", Tanh32}, {"Sigmoid", Sigmoid32}, {"Erf", Erf32}, {"Sqrt", Sqrt32},
		{"Sin", Sin32}, {"Tan", Tan32}, {"Atan", Atan32}, {"Expm1", Expm1x32}, {"Log1p", func(x float32) float32 { return Log1p32(float32(math.Abs(float64(x)))) }}, {"Sinh", Sinh32}, {"Asinh", Asinh32}, {"Cbrt", Cbrt32}, {"Gelu", Gelu32}, {"Mish", Mish32},
	} {
		b.Run(f.name, func(b *testing.B) {
			x, y := normals(1024), make([]float32, 1024)
			for b.Loop() {
				for i := range y {
					y[i] = f.f(x[i])
				}
			}
			rate(b, len(y))
		})
	}
}

func BenchmarkFMA32(b *testing.B) {
	const m, n, k = 4, 512, 256
	wide := func(x []float32) []float64 {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = float64(x[i])
		}
		return y
	}
	x, y, z := normals(m*k), normals(k*n), make([]float32, m*n)
	whole := make([]float32, k*n)
	for i := range whole {
		whole[i] = float32(i % 7)
	}
	b.Run("Block", func(b *testing.B) {
		for b.Loop() {
			FMABlock32(z, n, x, k, 1, y, n, m, n, k)
		}
		rate(b, m*n*k)
	})
	b.Run("Block/integers", func(b *testing.B) {
		for b.Loop() {
			FMABlock32(z, n, whole, k, 1, whole, n, m, n, k)
		}
		rate(b, m*n*k)
	})
	b.Run("Block/column", func(b *testing.B) { // matrix by vector
		for b.Loop() {
			FMABlock32(z, 1, y, k, 1, x, 1, n, 1, k)
		}
		rate(b, n*k)
	})
	x64, y64, z64 := wide(x), wide(y), wide(z)
	b.Run("Block64", func(b *testing.B) {
		for b.Loop() {
			FMABlock64(z64, n, x64, k, 1, y64, n, m, n, k)
		}
		rate(b, m*n*k)
	})
}

func BenchmarkFunctions64(b *testing.B) {
	for _, f := range []struct {
		name string
		f    func(float64) float64
	}{
		{"Exp", Exp64}, {"Log", func(x float64) float64 { return Log64(math.Abs(x)) }}, {"Tanh", Tanh64}, {"Sigmoid", Sigmoid64}, {"Erf", Erf64},
		{"Sin", Sin64}, {"Tan", Tan64}, {"Atan", Atan64}, {"Expm1", Expm1x64}, {"Log1p", func(x float64) float64 { return Log1p64(math.Abs(x)) }}, {"Sinh", Sinh64}, {"Asinh", Asinh64}, {"Cbrt", Cbrt64}, {"Gelu", Gelu64}, {"Mish", Mish64},
		{"Pow", func(x float64) float64 { return Pow64(math.Abs(x), 2.2) }},
		{"Pow32", func(x float64) float64 { return float64(Pow32(float32(math.Abs(x)), 2.2)) }},
		{"softFMA", func(x float64) float64 { return softFMA64(x, x, x) }},
	} {
		b.Run(f.name, func(b *testing.B) {
			x, y := normals(1024), make([]float64, 1024)
			for i := range y {
				y[i] = float64(x[i])
			}
			z := make([]float64, len(y))
			for b.Loop() {
				for i := range z {
					z[i] = f.f(y[i])
				}
			}
			rate(b, len(z))
		})
	}
}

func BenchmarkConversions(b *testing.B) {
	x := normals(4096)
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
			rate(b, len(x))
		})
	}
}
