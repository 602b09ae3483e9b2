//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/num"
)

// Each benchmark runs a plain loop, as op and num have it, and the rows of each level, on 16K elements, which stay in
// the second-level cache.
const benchLen = 16 << 10

// side1 takes x by the standard normal number of each element.
func side1[R, T number](b *testing.B, name string, x func(normal float64) T, pure func(dst []R, a []T), row func(l cpu.Level) func(dst []R, a []T)) {
	dst, a := make([]R, benchLen), make([]T, benchLen)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range a {
		a[i] = x(r.NormFloat64())
	}
	side(b, name, benchLen*(bytesOf[R]()+bytesOf[T]()), func() { pure(dst, a) }, func(l cpu.Level) func() {
		f := row(l)
		return func() { f(dst, a) }
	})
}

func side2[R, T any](b *testing.B, name string, pure func(dst []R, a, c []T), row func(l cpu.Level) func(dst []R, a, c []T)) {
	dst, a, c := make([]R, benchLen), make([]T, benchLen), make([]T, benchLen)
	side(b, name, benchLen*(bytesOf[R]()+2*bytesOf[T]()), func() { pure(dst, a, c) }, func(l cpu.Level) func() {
		f := row(l)
		return func() { f(dst, a, c) }
	})
}

func bytesOf[T any]() int64 {
	var v T
	return int64(unsafe.Sizeof(v))
}

func side(b *testing.B, name string, bytes int64, pure func(), at func(l cpu.Level) func()) {
	run := func(level string, f func()) {
		b.Run(fmt.Sprintf("%s/%s", name, level), func(b *testing.B) {
			b.SetBytes(bytes)
			for b.Loop() {
				f()
			}
		})
	}
	run("pure", pure)
	for l := cpu.AVX2; l <= min(cpu.Detect(), Top); l++ {
		run(l.String(), at(l))
	}
}

func each1[R, T any](f func(a T) R) func(dst []R, a []T) {
	return func(dst []R, a []T) {
		for i, v := range a[:len(dst)] {
			dst[i] = f(v)
		}
	}
}

func addPure(dst, a, c []float32) {
	a, c = a[:len(dst)], c[:len(dst)]
	for i := range dst {
		v := a[i] + c[i]
		dst[i] = v
		if v != v {
			dst[i] = num.NaN32()
		}
	}
}

func maxPure(dst, a, c []float32) {
	a, c = a[:len(dst)], c[:len(dst)]
	for i := range dst {
		dst[i] = max(a[i], c[i])
	}
}

func greaterPure(dst []bool, a, c []float32) {
	a, c = a[:len(dst)], c[:len(dst)]
	for i := range dst {
		dst[i] = a[i] > c[i]
	}
}

func BenchmarkRows(b *testing.B) {
	side2(b, "add", addPure, func(l cpu.Level) func(dst, a, c []float32) { return Add[l].F32 })
	side2(b, "max", maxPure, func(l cpu.Level) func(dst, a, c []float32) { return Max[l].F32 })
	side2(b, "greater", greaterPure, func(l cpu.Level) func(dst []bool, a, c []float32) { return Greater[l].F32 })
	mask := make([]bool, benchLen)
	side2(b, "where", func(dst, a, c []uint32) {
		for i := range dst {
			v := c[i]
			if mask[i] {
				v = a[i]
			}
			dst[i] = v
		}
	}, func(l cpu.Level) func(dst, a, c []uint32) {
		f := Where[l].U32
		return func(dst, a, c []uint32) { f(dst, mask, a, c) }
	})
	narrow := func(normal float64) float32 { return float32(normal) }
	side1(b, "narrowBF16", narrow, each1(func(x float32) uint16 { return num.FromFloat64[num.BF16](float64(x)).Bits() }), func(l cpu.Level) func(dst []uint16, a []float32) {
		return streamed(at(l, narrowBF16s))
	})
	side1(b, "narrowF16", narrow, each1(func(x float32) uint16 { return num.FromFloat64[num.F16](float64(x)).Bits() }), func(l cpu.Level) func(dst []uint16, a []float32) {
		return streamed(at(l, narrowF16s))
	})
	function := func(name string, x func(normal float64) float32, pure func(float32) float32, table *Levels[*Rows1]) {
		side1(b, name, x, each1(pure), func(l cpu.Level) func(dst, a []float32) { return table[l].F32 })
	}
	function("exp", narrow, float.Exp32, &Exp)
	function("exp of -inf", func(float64) float32 { return float32(math.Inf(-1)) }, float.Exp32, &Exp)
	function("log", func(normal float64) float32 { return float32(math.Exp(normal)) }, float.Log32, &Log)
	function("tanh", narrow, float.Tanh32, &Tanh)
	function("sigmoid", narrow, float.Sigmoid32, &Sigmoid)
	function("erf", narrow, float.Erf32, &Erf)
	function("gelu", narrow, float.Gelu32, &Gelu)
	function("geluTanh", narrow, float.GeluTanh32, &GeluTanh)
	function("sin", narrow, float.Sin32, &Sin)
}

// BenchmarkLines runs kernels of lines on 128 lines of 128 elements.
func BenchmarkLines(b *testing.B) {
	x, sums, best := make([]float32, benchLen), make([]float64, 128), make([]float32, 128)
	side(b, "sum", benchLen*4, func() {
		for i := range sums {
			sums[i] = foldLine(x[i*128:(i+1)*128], 32, 0, func(s float64, v float32) float64 { return s + float64(v) }, plus)
		}
	}, func(l cpu.Level) func() { return func() { at(l, sumLines32s)(sums, x, 128, 128) } })
	side(b, "max", benchLen*4, func() {
		for i := range best {
			best[i] = foldLine(x[i*128:(i+1)*128], 64, 0, larger[float32], larger)
		}
	}, func(l cpu.Level) func() { return func() { at(l, maxLines32s)(best, x, 128, 128) } })
}
