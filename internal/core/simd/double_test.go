//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/float"
)

// The functions of float64 have the bits of package float, which computes one element at a time. The numbers are of all kinds, near a
// place where a function changes its formula or becomes constant, and in the usual range.
func TestDoubleFunctions(t *testing.T) {
	const n = 1 << 18
	r := rand.New(rand.NewPCG(1, 2))
	in := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.Float64frombits(0xfff0000000000001)}
	for _, x := range []float64{0x1p-5, 19.0625, 22, 37, 37.43, 38, 88, 690, 692, 693.5, 700, 708, 708.3964, 708.4, 709.0896, 709.436, 709.78271, 709.7828, 710, 743, 745, 745.1332,
		746, 1, 2, 0.703125, 0x1.68p-1, math.Sqrt2, 0x1p-1022, 0x1p-1074, math.MaxFloat64, 0x1p52, 0x1p-27, 0x1p-54, math.Pi / 2, math.Pi, math.Pi / 256, 0x1p14, 16383} {
		for i := -300; i < 300; i++ {
			y := math.Float64frombits(uint64(max(0, int64(math.Float64bits(x))+int64(i))))
			near := x * (1 + float64(i)*0x1p-12)
			in = append(in, y, -y, near, -near)
		}
	}
	for i := range n {
		in = append(in, math.Float64frombits(r.Uint64()), 800*(2*r.Float64()-1), 40*(2*r.Float64()-1), r.NormFloat64(), r.ExpFloat64(),
			math.Ldexp(r.Float64()+1, i%2100-1080), math.Ln2/32*(float64(i%40000-20000)+r.NormFloat64()*0x1p-30),
			math.Pi/256*float64(r.IntN(1<<21)-1<<20)*(1+r.NormFloat64()*0x1p-40), 0x1.1p14*(2*r.Float64()-1))
	}
	in = in[:len(in)-5] // and a tail
	out := make([]float64, len(in))
	levels(t, func(t *testing.T, l cpu.Level) {
		for _, f := range []struct {
			name string
			rows *Rows1
			of   func(float64) float64
		}{{"expF64", Exp[l], float.Exp64}, {"logF64", Log[l], float.Log64}, {"tanhF64", Tanh[l], float.Tanh64}, {"sigmoidF64", Sigmoid[l], float.Sigmoid64},
			{"sin64Marked", Sin[l], float.Sin64}, {"cos64Marked", Cos[l], float.Cos64}, {"tan64Marked", Tan[l], float.Tan64}} {
			if f.rows == nil {
				continue
			}
			check1(t, f.name, f.rows.F64, f.of)
			f.rows.F64(out, in)
			for i, x := range in {
				if got, want := math.Float64bits(out[i]), math.Float64bits(f.of(x)); got != want {
					t.Fatalf("%s %v of %v (%x) is %x, want %x", f.name, l, x, x, out[i], f.of(x))
				}
			}
		}
	})
}

// The rows of Pow have the bits of package float, for numbers of all kinds and for those where a row leaves the power to it.
func TestPow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	special := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, 1.5, 3, -3, 10, 1e-3, math.Inf(1), math.Inf(-1), math.NaN(), 0x1p-1074, 0x1p-1022, 0x1p-149,
		0x1p-126, math.MaxFloat64, math.MaxFloat32, 0x1p53, 0x1p53 + 2, 0x1.69p-1, 0x1.6ap-1, 0x1.ffp-1, 0x1.01p0, 1 + 0x1p-52, 1 - 0x1p-53, 1 + 0x1p-23, 700, 89, 104.5}
	var x, y []float64
	for _, a := range special {
		for _, b := range special {
			x, y = append(x, a), append(y, b)
		}
	}
	for i := range 1 << 17 {
		x = append(x, math.Float64frombits(r.Uint64()), r.NormFloat64(), math.Exp(r.NormFloat64()*20), r.ExpFloat64(), float64(r.IntN(41)-20), 1+r.NormFloat64()*math.Ldexp(1, -i%60))
		y = append(y, math.Float64frombits(r.Uint64()), float64(r.IntN(21)-10), r.NormFloat64()*10, 1.5, float64(r.IntN(9)-4)/2, r.NormFloat64()*math.Ldexp(1, i%60))
	}
	x, y = x[:len(x)-5], y[:len(y)-5] // and a tail
	x32, y32, out32 := make([]float32, len(x)), make([]float32, len(x)), make([]float32, len(x))
	for i := range x {
		x32[i], y32[i] = float32(x[i]), float32(y[i])
		if i%3 == 0 {
			x32[i] = math.Float32frombits(r.Uint32())
		}
	}
	levels(t, func(t *testing.T, l cpu.Level) {
		if Pow[l] == nil {
			return
		}
		out := make([]float64, len(x))
		Pow[l].F64(out, x, y)
		for i, v := range out {
			if want := float.Pow64(x[i], y[i]); math.Float64bits(v) != math.Float64bits(want) {
				t.Fatalf("%v: %x to the power %x is %x, want %x", l, x[i], y[i], v, want)
			}
		}
		copy(out, x)
		Pow[l].F64(out, out, y) // in place
		Pow[l].F32(out32, x32, y32)
		for i, v := range out32 {
			if want := float.Pow32(x32[i], y32[i]); math.Float32bits(v) != math.Float32bits(want) {
				t.Fatalf("%v: float32 %x to the power %x is %x, want %x", l, x32[i], y32[i], v, want)
			}
			if got, want := math.Float64bits(out[i]), math.Float64bits(float.Pow64(x[i], y[i])); got != want {
				t.Fatalf("%v: %x to the power %x in place is %x, want %x", l, x[i], y[i], got, want)
			}
		}
	})
}
