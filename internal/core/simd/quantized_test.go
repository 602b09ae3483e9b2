//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// quantizedCase compares the rows between numbers and bytes of one type with their definitions, an element at a time.
func quantizedCase[T int8 | uint8](t *testing.T, least, most float64, quantize func([]T, []float32, []float32, []float32) bool,
	dequantize func([]float32, []T, []float32, []float32) bool, requantize func([]T, []int32, []float64, []float64, float64, float64) bool,
	near func(dst []T, doubts []uint8, sums, plus []int32, factor []float32, zero, tie float32) bool, sum func(dst []T, doubts []uint8, a, b []T, byA, byB, plus, zero, tie float32) bool) {
	r := rand.New(rand.NewPCG(1, 2))
	special := []float64{0, math.Copysign(0, -1), 0.5, 1.5, -0.5, 127.5, 254.5, 255.5, 3e38, -3e38, math.Inf(1), math.Inf(-1), math.NaN()}
	number := func() float64 {
		if r.IntN(4) == 0 {
			return special[r.IntN(len(special))]
		}
		return float64(r.IntN(2000)-1000) / 4
	}
	byteOf := func(v float64) T {
		if v != v {
			return 0
		}
		return T(max(least, min(v, most)))
	}
	for n := range 100 {
		x, s, z, back := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
		sums, factor, plus := make([]int32, n), make([]float64, n), make([]float64, n)
		q, got, again, other, nearest, doubts := make([]T, n), make([]T, n), make([]T, n), make([]T, n), make([]T, n), make([]uint8, n)
		more, by := make([]int32, n), make([]float32, n)
		for i := range n {
			x[i], s[i], z[i], q[i] = float32(number()), float32(number()), float32(byteOf(number())), T(r.Uint32())
			more[i], by[i], other[i] = int32(r.IntN(2000)-1000), float32(number()/256), T(r.Uint32())
			sums[i], factor[i], plus[i] = int32(r.Uint32()), number()/16, float64(r.IntN(1<<30))
		}
		scale, zero := number(), float64(byteOf(number()))
		if !quantize(got, x, s, z) || !dequantize(back, q, s, z) || !requantize(again, sums, factor, plus, scale, zero) {
			t.Fatal("a processor with kernels has no row")
		}
		for i := range n {
			if want := byteOf(math.RoundToEven(float64(float32(x[i]/s[i]))) + float64(z[i])); got[i] != want {
				t.Fatalf("%g by %g with %g: got %d, want %d", x[i], s[i], z[i], got[i], want)
			}
			if want := float32(float32(float32(q[i])-z[i]) * s[i]); back[i] != want && (back[i] == back[i] || want == want) {
				t.Fatalf("(%d − %g)·%g: got %g, want %g", q[i], z[i], s[i], back[i], want)
			}
			if want := byteOf(math.RoundToEven(float64((float64(sums[i])+plus[i])*factor[i])/scale) + zero); again[i] != want {
				t.Fatalf("(%d + %g)·%g/%g with %g: got %d, want %d", sums[i], plus[i], factor[i], scale, zero, again[i], want)
			}
		}
		whole, tie := byteOf(number()), float32(0.5-r.Float64()/8)
		rounded := func(v float32) (want T, doubt uint8) {
			if d := v - float32(math.RoundToEven(float64(v))); max(d, -d) > tie {
				doubt = 1
			}
			return byteOf(math.RoundToEven(float64(v)) + float64(whole)), doubt
		}
		for i := range n {
			if x[i], by[i] = float32(r.IntN(1<<20)-1<<19), by[i]*float32(r.IntN(2)); by[i] != by[i] || by[i] > 1e9 || by[i] < -1e9 {
				by[i] = 0
			}
			sums[i] = int32(x[i])
		}
		if !near(nearest, doubts, sums, more, by, float32(whole), tie) {
			t.Fatal("a processor with kernels has no row")
		}
		for i := range n {
			if want, doubt := rounded(float32(float32(sums[i]+more[i]) * by[i])); nearest[i] != want || doubts[i] != doubt {
				t.Fatalf("(%d + %d)·%g with %d: got %d, doubt %d, want %d, %d", sums[i], more[i], by[i], whole, nearest[i], doubts[i], want, doubt)
			}
		}
		byA, byB, plus32 := float32(r.IntN(64))/64, float32(r.IntN(64))/64, float32(r.IntN(999)-499)/4
		if !sum(nearest, doubts, q, other, byA, byB, plus32, float32(whole), tie) {
			t.Fatal("a processor with kernels has no row")
		}
		for i := range n {
			if want, doubt := rounded(float32(float32(float32(q[i])*byA)+float32(float32(other[i])*byB)) + plus32); nearest[i] != want || doubts[i] != doubt {
				t.Fatalf("%d·%g + %d·%g + %g with %d: got %d, doubt %d, want %d, %d", q[i], byA, other[i], byB, plus32, whole, nearest[i], doubts[i], want, doubt)
			}
		}
	}
}

// Bytes become the floats that Go makes of them.
func TestFloatsOfBytes(t *testing.T) {
	if cpu.Current() == cpu.Generic {
		t.Skip("this processor has no instruction set with kernels, or ASHLAR_CPU names none")
	}
	checked["floatU8"], checked["floatI8"] = true, true
	for n := range 300 {
		u, i, fu, fi := make([]uint8, n), make([]int8, n), make([]float32, n+1), make([]float32, n+1)
		for k := range n {
			u[k], i[k] = uint8(k*7), int8(k*7)
		}
		fu[n], fi[n] = 0.5, 0.5
		if !TryFloatU8(fu[:n], u) || !TryFloatI8(fi[:n], i) {
			t.Fatal("a processor with kernels has no row")
		}
		for k := range n {
			if fu[k] != float32(u[k]) || fi[k] != float32(i[k]) {
				t.Fatalf("%d of %d: %g and %g, want %d and %d", k, n, fu[k], fi[k], u[k], i[k])
			}
		}
		if fu[n] != 0.5 || fi[n] != 0.5 {
			t.Fatalf("%d: the row writes too far", n)
		}
	}
}

func TestQuantizedRows(t *testing.T) {
	if cpu.Current() == cpu.Generic {
		t.Skip("this processor has no instruction set with kernels, or ASHLAR_CPU names none")
	}
	for _, name := range []string{"quantize", "dequantize", "requantize", "requantizeNear", "sumNear"} {
		checked[name+"I8"], checked[name+"U8"] = true, true
	}
	quantizedCase(t, math.MinInt8, math.MaxInt8, TryQuantizeI8, TryDequantizeI8, TryRequantizeI8, TryRequantizeNearI8, TrySumNearI8)
	quantizedCase(t, 0, math.MaxUint8, TryQuantizeU8, TryDequantizeU8, TryRequantizeU8, TryRequantizeNearU8, TrySumNearU8)
}

// codesCase compares the rows between numbers and codes of one type with their definitions: with a scale for each element, and with one.
func codesCase[T int8 | uint8 | int16 | uint16](t *testing.T, least, most float64, quantize func([]T, []float32, []float32, []float32) bool, inRow func([]T, []float32, float32, float32) bool,
	dequantize func([]float32, []T, []float32, []float32) bool, backRow func([]float32, []T, float32, float32) bool, float func([]float32, []T) bool) {
	r := rand.New(rand.NewPCG(3, 4))
	special := []float32{0, float32(math.Copysign(0, -1)), 0.5, 1.5, -0.5, 127.5, 32767.5, 65534.5, 3e38, -3e38, float32(math.Inf(1)), float32(math.NaN())}
	code := func(x, s, z float32) T {
		v := math.RoundToEven(float64(float32(x/s))) + float64(z)
		if v != v {
			return 0
		}
		return T(max(least, min(v, most)))
	}
	same := func(got, want float32) bool { return got == want || got != got && want != want }
	for n := range 100 {
		x, s, z, q := make([]float32, n), make([]float32, n), make([]float32, n), make([]T, n)
		for i := range n {
			if x[i], s[i] = float32(r.NormFloat64()*3e4), float32(r.IntN(8)+1)/4; r.IntN(4) == 0 {
				x[i] = special[r.IntN(len(special))]
			}
			z[i], q[i] = float32(T(r.Uint32())), T(r.Uint32())
		}
		got, row, back, backs, plain := make([]T, n), make([]T, n), make([]float32, n), make([]float32, n), make([]float32, n)
		scale, zero := float32(0.75), float32(T(r.Uint32()))
		if !quantize(got, x, s, z) || !inRow(row, x, scale, zero) || !dequantize(back, q, s, z) || !backRow(backs, q, scale, zero) || !float(plain, q) {
			t.Fatal("a processor with kernels has no row")
		}
		for i := range n {
			if want, alone := code(x[i], s[i], z[i]), code(x[i], scale, zero); got[i] != want || row[i] != alone {
				t.Fatalf("%g by %g with %g: got %d, want %d; in a row %d, want %d", x[i], s[i], z[i], got[i], want, row[i], alone)
			}
			if want, alone := (float32(q[i])-z[i])*s[i], (float32(q[i])-zero)*scale; !same(back[i], want) || !same(backs[i], alone) || plain[i] != float32(q[i]) {
				t.Fatalf("%d with %g: got %g, want %g; in a row %g, want %g; alone %g", q[i], z[i], back[i], want, backs[i], alone, plain[i])
			}
		}
	}
}

func TestCodes(t *testing.T) {
	if cpu.Current() == cpu.Generic {
		t.Skip("this processor has no instruction set with kernels, or ASHLAR_CPU names none")
	}
	for _, name := range []string{"quantize", "quantizeRow", "dequantize", "dequantizeRow", "float"} {
		for _, d := range []string{"I8", "U8", "I16", "U16"} {
			checked[name+d] = true
		}
	}
	codesCase(t, math.MinInt8, math.MaxInt8, TryQuantizeI8, TryQuantizeRowI8, TryDequantizeI8, TryDequantizeRowI8, TryFloatI8)
	codesCase(t, 0, math.MaxUint8, TryQuantizeU8, TryQuantizeRowU8, TryDequantizeU8, TryDequantizeRowU8, TryFloatU8)
	codesCase(t, math.MinInt16, math.MaxInt16, TryQuantizeI16, TryQuantizeRowI16, TryDequantizeI16, TryDequantizeRowI16, TryFloatI16)
	codesCase(t, 0, math.MaxUint16, TryQuantizeU16, TryQuantizeRowU16, TryDequantizeU16, TryDequantizeRowU16, TryFloatU16)
}
