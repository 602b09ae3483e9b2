//go:build linux && amd64 && !purego

package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/num"
)

// The functions of float64 have the bits of package num, which works one at a time: of numbers of all kinds, those near where a
// function becomes another or a constant, and those that it is mostly asked for.
func TestDoubleFunctions(t *testing.T) {
	const n = 1 << 18
	r := rand.New(rand.NewPCG(1, 2))
	in := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.Float64frombits(0xfff0000000000001)}
	for _, x := range []float64{0x1p-5, 19.0625, 22, 37, 37.43, 38, 88, 690, 692, 693.5, 700, 708, 708.3964, 708.4, 709.0896, 709.436, 709.78271, 709.7828, 710, 743, 745, 745.1332,
		746, 1, 2, 0.703125, 0x1.68p-1, math.Sqrt2, 0x1p-1022, 0x1p-1074, math.MaxFloat64, 0x1p52, 0x1p-27, 0x1p-54} {
		for i := -300; i < 300; i++ {
			y := math.Float64frombits(uint64(max(0, int64(math.Float64bits(x))+int64(i))))
			near := x * (1 + float64(i)*0x1p-12)
			in = append(in, y, -y, near, -near)
		}
	}
	for i := range n {
		in = append(in, math.Float64frombits(r.Uint64()), 800*(2*r.Float64()-1), 40*(2*r.Float64()-1), r.NormFloat64(), r.ExpFloat64(),
			math.Ldexp(r.Float64()+1, i%2100-1080), math.Ln2/32*(float64(i%40000-20000)+r.NormFloat64()*0x1p-30))
	}
	in = in[:len(in)-5] // and a tail
	out := make([]float64, len(in))
	levels(t, func(t *testing.T, l cpu.Level) {
		for _, f := range []struct {
			name string
			rows *Rows1
			of   func(float64) float64
		}{{"expF64", Exp[l], num.Exp64}, {"logF64", Log[l], num.Log64}, {"tanhF64", Tanh[l], num.Tanh64}, {"sigmoidF64", Sigmoid[l], num.Sigmoid64}} {
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
