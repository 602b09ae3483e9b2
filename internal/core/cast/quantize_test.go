package cast

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// oddNumbers are floats that rules are about.
var oddNumbers = []float64{0, math.Copysign(0, -1), 0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128.5, 254.5, 255.5, 1e-45, 3e38, -3e38, 1e300, math.Inf(1), math.Inf(-1), math.NaN()}

func oddNumber(r *rand.Rand) float64 {
	if r.IntN(3) == 0 {
		return oddNumbers[r.IntN(len(oddNumbers))]
	}
	return float64(r.IntN(2000)-1000) / 4
}

// testQuantized compares the rows with an element at a time, which no kernel makes as its end is another program.
func testQuantized[T int8 | uint8](t *testing.T, zeros []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		x, s, z := make([]float32, n), make([]float32, n), make([]float32, n)
		sums, factor, plus := make([]int32, n), make([]float64, n), make([]float64, n)
		q := make([]T, n)
		for i := range n {
			x[i], s[i], z[i] = float32(oddNumber(r)), float32(oddNumber(r)), float32(zeros[r.IntN(len(zeros))])
			if r.IntN(2) == 0 {
				s[i] = 0.5
			}
			q[i] = T(r.Uint32())
			sums[i], factor[i] = int32(r.IntN(4000)-2000), oddNumber(r)/16
			if plus[i] = float64(r.IntN(1 << 30)); r.IntN(4) > 0 {
				plus[i] = 0
			}
			if r.IntN(8) == 0 {
				sums[i] = []int32{math.MinInt32, math.MaxInt32}[r.IntN(2)]
			}
		}
		scale, zero := oddNumber(r), zeros[r.IntN(len(zeros))]
		if n%2 == 0 {
			scale = 0.25
		}
		quantized, dequantized, requantized := make([]T, n), make([]float32, n), make([]T, n)
		var want, want3 []T
		for i := range n {
			want = append(want, saturated[T](math.RoundToEven(float64(float32(x[i]/s[i])))+float64(z[i])))
			want3 = append(want3, saturated[T](math.RoundToEven(float64((float64(sums[i])+plus[i])*factor[i])/scale)+zero))
		}
		Quantize(quantized, x, s, z)
		Dequantize(dequantized, q, s, z)
		Requantize(requantized, sums, factor, plus, scale, zero)
		if !slices.Equal(quantized, want) {
			t.Fatalf("%v by %v with %v: got %v, want %v", x, s, z, quantized, want)
		}
		if !slices.Equal(requantized, want3) {
			t.Fatalf("%v + %v by %v/%g with %g: got %v, want %v", sums, plus, factor, scale, zero, requantized, want3)
		}
		for i, v := range dequantized {
			want := float32((float32(q[i]) - z[i]) * s[i])
			if want != want {
				want = math.Float32frombits(0x7fc00000)
			}
			if math.Float32bits(v) != math.Float32bits(want) {
				t.Fatalf("(%d − %g)·%g: got %g, want %g", q[i], z[i], s[i], v, want)
			}
		}
	}
}

func TestQuantized(t *testing.T) {
	t.Logf("level %v", cpu.Current())
	t.Run("uint8", func(t *testing.T) { testQuantized[uint8](t, []float64{0, 1, 128, 255}) })
	t.Run("int8", func(t *testing.T) { testQuantized[int8](t, []float64{-128, 0, 1, 127}) })
}

// Codes that float32 mostly tells are those of float64, also where many sums are ties and where float32 has no room.
func TestNearCodes(t *testing.T) {
	nearCase[int8](t)
	nearCase[uint8](t)
}

func nearCase[T int8 | uint8](t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 600 {
		sums, more := make([]int32, n), make([]int32, n)
		factor, plus := make([]float64, n+3), make([]float64, n+3)
		scale, zero := []float64{1, 0.37, 1e-3, 0x1p-7, -2, 1e-300, 0, math.Inf(1), math.NaN()}[r.IntN(min(9, 5+n/20))], float64(T(r.Uint32()))
		for i := range factor {
			factor[i] = []float64{0x1p-9, r.Float64() / 100, -r.Float64(), 1e-30, 1e30}[r.IntN(2+n%4)]
			if n%5 == 0 {
				plus[i] = float64(r.IntN(100))
			}
		}
		for i := range n {
			sums[i], more[i] = int32(r.NormFloat64()*3000), int32(r.IntN(9)-4)
			if r.IntN(9) == 0 {
				sums[i] = int32(r.Uint32())
			}
		}
		var want []T
		for i, v := range sums {
			want = append(want, saturated[T](math.RoundToEven(float64((float64(v+more[i])+plus[3+i])*factor[3+i])/scale)+zero))
		}
		got := make([]T, n)
		if RequantizeChannels(RequantizerOf(factor, plus, scale, zero), got, slices.Clone(sums), more, 3); !slices.Equal(got, want) {
			t.Fatalf("%v + %v by %v/%g with %g: got %v, want %v", sums, more, factor[3:], scale, zero, got, want)
		}
		a, b := make([]T, n), make([]T, n)
		for i := range n {
			a[i], b[i] = T(r.Uint32()), T(r.Uint32())
		}
		number := func() Quantum {
			return Quantum{[]float64{1, 0.5, r.Float64(), 1e-9, 1e9, -1, 0, math.NaN()}[r.IntN(min(8, 3+n/20))], float64(T(r.Uint32()))}
		}
		qa, qb, q := number(), number(), number()
		code := func(i int) T {
			return saturated[T](math.RoundToEven((float64((float64(a[i])-qa.Zero)*qa.Scale)+float64((float64(b[i])-qb.Zero)*qb.Scale))/q.Scale) + q.Zero)
		}
		SumCodes(got, a, b, qa, qb, q, func(from, to int) {
			for i := from; i < to; i++ {
				got[i] = code(i)
			}
		})
		for i := range n {
			if want := code(i); got[i] != want {
				t.Fatalf("%d of %+v and %d of %+v, in %+v: got %d, want %d", a[i], qa, b[i], qb, q, got[i], want)
			}
		}
	}
}
