package float

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
