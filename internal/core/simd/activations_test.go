//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"math"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// The rows of activations against their formulas, with numbers of all kinds in them.
func TestActivations(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		check1(t, "hardSwishF32", HardSwish[l].F32, hardSwish[float32])
		check1(t, "hardSwishF64", HardSwish[l].F64, hardSwish[float64])
		inf := math.Inf(1)
		for _, n := range [][2]float64{{0.2, 0.5}, {1.0 / 6, 0.5}, {-3, 1e30}, {0, 0}, {0, math.Copysign(0, -1)}, {inf, 1}, {1, -inf}, {math.NaN(), 0}, {1, math.NaN()}, {1e-42, 1}} {
			p, q := n[0], n[1]
			t.Logf("%v and %v", p, q)
			withNumbers(t, "F32", float32(p), float32(q), HardSigmoid[l].F32, LeakyRelu[l].F32, HardSigmoid[l].StreamF32, LeakyRelu[l].StreamF32)
			withNumbers(t, "F64", p, q, HardSigmoid[l].F64, LeakyRelu[l].F64, HardSigmoid[l].StreamF64, LeakyRelu[l].StreamF64)
		}
	})
}

func withNumbers[T float32 | float64](t *testing.T, name string, p, q T, sigmoid, leaky func(dst, a []T, p, q T), streamSigmoid, streamLeaky func(dst, a []T, p, q T, ahead *Prefetch)) {
	checkNumbers(t, "hardSigmoid"+name, p, q, sigmoid, streamSigmoid, func(a T) T {
		return canonical(T(max(0, min(1, float64(float64(p)*float64(a))+float64(q)))))
	})
	checkNumbers(t, "leakyRelu"+name, p, q, leaky, streamLeaky, func(a T) T {
		if a < 0 {
			a *= p
		}
		return canonical(a)
	})
}

func hardSwish[T float32 | float64](a T) T {
	switch v := float64(a); {
	case a <= -3:
		return T(math.Copysign(0, -1))
	case a < 3:
		return canonical(T(float64(v*(v+3)) / 6))
	}
	return canonical(a)
}
