package main

import (
	"fmt"
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// rows32 are the functions that have a row with an instruction set. They are checked against package float's functions, which are
// checked against the correctly rounded values.
var rows32 = map[string]*simd.Levels[*simd.Rows1]{"exp32": &simd.Exp, "log32": &simd.Log, "tanh32": &simd.Tanh, "sigmoid32": &simd.Sigmoid,
	"sqrt32": &simd.Sqrt, "erf32": &simd.Erf, "gelu32": &simd.Gelu, "gelutanh32": &simd.GeluTanh, "mish32": &simd.Mish,
	"sin32": &simd.Sin, "cos32": &simd.Cos, "tan32": &simd.Tan}

// rowsOf returns the rows of a function in a table at a level: its own, if there is one, and the row of a product and a sum. The
// factor and the summand leave the argument as it is, also −0.
func rowsOf(t *simd.Levels[*simd.Rows1], level cpu.Level) (rows []func(dst, a []float32)) {
	if t == nil || t.At(level) == nil {
		return nil
	}
	rows = append(rows, t.At(level).F32)
	if of := t.At(level).MulAddF32; of != nil {
		one, zero := make([]float32, chunk), make([]float32, chunk)
		for i := range one {
			one[i], zero[i] = 1, float32(math.Copysign(0, -1))
		}
		rows = append(rows, func(dst, a []float32) { of(dst, a, one, zero) })
	}
	return rows
}

// ofSum names the rows of rowsOf.
var ofSum = [2]string{"", " of a·b + c"}

// quick32 are the rows for the option op.Fast.
var quick32 = map[string]*simd.Levels[*simd.Rows1]{"exp32": &simd.FastExp, "log32": &simd.FastLog, "tanh32": &simd.FastTanh, "sigmoid32": &simd.FastSigmoid}

// roughest returns the largest error of a row for op.Fast on every step-th chunk of inputs, in units in the last place, and its input.
// A wrong NaN, infinity or zero is an infinite error.
func (f *function32) roughest(row func(dst, a []float32), step int) (worst float64, at float32) {
	var mu sync.Mutex
	digestOf(1<<32/chunk/step, func() func(int) uint64 {
		in, out := make([]float32, chunk), make([]float32, chunk)
		return func(c int) uint64 {
			for i := range in {
				in[i] = math.Float32frombits(uint32(c*step)*chunk + uint32(i))
			}
			row(out, in)
			most, which := 0.0, float32(0)
			for i, y := range out {
				if u := f.ulp(in[i], y); u > most {
					most, which = u, in[i]
				}
			}
			mu.Lock()
			if most > worst {
				worst, at = most, which
			}
			mu.Unlock()
			return 0
		}
	})
	return worst, at
}

func (f *function32) ulp(x, y float32) float64 {
	want, known := f.fixed(x)
	if x != x {
		want, known = nan, true
	}
	v := float64(want)
	if !known {
		v = f.approx(float64(x))
		if want = float32(v); math.IsInf(float64(want), 0) {
			known = true
		}
	}
	if known {
		if math.Float32bits(y) == math.Float32bits(want) {
			return 0
		}
		if want == 0 || want != want || math.IsInf(float64(want), 0) || y != y {
			return math.Inf(1)
		}
	}
	_, e := math.Frexp(v)
	return math.Abs(float64(y)-v) / math.Ldexp(1, max(e-24, -149))
}

// allRows runs a row on every step-th chunk of inputs and compares it with the function of package float. The digest is made as by
// all, so that for step 1 it equals the one in digests.txt.
func (f *function32) allRows(row func(dst, a []float32), step int, compare bool) result32 {
	chunks := 1 << 32 / chunk / step
	r := result32{name: f.name, count: uint64(chunks) * chunk}
	var mu sync.Mutex
	r.digest = digestOf(chunks, func() func(int) uint64 {
		in, out := make([]float32, chunk), make([]float32, chunk)
		return func(c int) uint64 {
			for i := range in {
				in[i] = math.Float32frombits(uint32(c*step)*chunk + uint32(i))
			}
			row(out, in)
			h := uint64(fnvStart)
			for i, y := range out {
				got := math.Float32bits(y)
				h = fnv(h, uint64(got))
				if !compare {
					continue
				}
				want := math.Float32bits(f.f(in[i]))
				if got == want {
					continue
				}
				mu.Lock()
				if r.wrong++; len(r.examples) < 10 {
					r.examples = append(r.examples, fmt.Sprintf("%08x %g: got %08x %g, want %08x", math.Float32bits(in[i]), in[i], got, y, want))
				}
				mu.Unlock()
			}
			return h
		}
	})
	return r
}
