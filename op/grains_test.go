package op

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/tensor"
)

// grainCases are shapes with the axis and the block of scales: one, one for each row, column or block, long and short.
var grainCases = []struct {
	shape       []int
	axis, block int
	one         bool
}{
	{[]int{3, 700}, 0, 0, true}, {[]int{3, 700}, 1, 0, false}, {[]int{3, 700}, 0, 0, false}, {[]int{60, 7}, 1, 0, false}, {[]int{60, 7}, 0, 0, false},
	{[]int{5, 100}, 1, 0, false}, {[]int{5, 256}, 1, 0, false}, {[]int{4, 130}, 1, 32, false}, {[]int{4, 130}, 1, 3, false}, {[]int{4, 130}, 0, 3, false}, {[]int{9, 40}, 0, 2, false},
	{[]int{2, 3, 20}, 1, 0, false}, {[]int{2, 3, 20}, 1, 2, false}, {[]int{2, 40, 3}, 1, 0, false}, {[]int{1, 1}, 1, 0, false}, {[]int{3, 600}, 1, 300, false}, {[]int{0, 4}, 1, 0, false},
}

// wildIn returns a tensor of a type with numbers of all kinds: those near codes, zeros, infinities and NaN.
func wildIn(r *rand.Rand, d dtype.DType, wide bool, shape ...int) tensor.Any {
	a := tensor.EmptyOf(d, shape...)
	w := move.NumericOf(move.WordsOf(a))
	special := []float64{0, math.Copysign(0, -1), 0.5, -0.5, 1.5, 127.5, 32767.5, 65535, 1e-40, 1e30, -1e30, 1e300, math.Inf(1), math.Inf(-1), math.NaN()}
	for i := range a.Len() {
		switch k := r.IntN(4); {
		case k == 0 && wide:
			w.SetReal(i, special[r.IntN(len(special))])
		case k == 1:
			w.SetReal(i, float64(r.IntN(400)-200)/2)
		case d == dtype.Float8E8M0:
			w.SetReal(i, math.Ldexp(1, r.IntN(9)-4))
		default:
			w.SetReal(i, r.NormFloat64()*math.Exp2(float64(r.IntN(24)-8)))
		}
	}
	return a
}

// roundedTo rounds a float64 to a type.
func roundedTo(d dtype.DType, v float64) float64 {
	if d == dtype.Float32 {
		return float64(float32(v))
	}
	if f := d.Format(); f != 0 {
		return f.Value(f.Round(v))
	}
	return v
}

// QuantizeLinear and DequantizeLinear of all types have the bits of their definitions, an element at a time.
func TestGrains(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	floats := []dtype.DType{dtype.Float32, dtype.Float16, dtype.BFloat16, dtype.Float64, dtype.Float8E4M3}
	codes := []dtype.DType{dtype.Int8, dtype.Uint8, dtype.Int16, dtype.Uint16, dtype.Int32, dtype.Int4, dtype.Uint4, dtype.Int2, dtype.Uint2,
		dtype.Float8E4M3, dtype.Float8E5M2, dtype.Float8E4M3FNUZ, dtype.Float8E5M2FNUZ, dtype.Float4E2M1}
	for round := range 3 {
		for k, c := range grainCases {
			scaled := c.shape[c.axis : c.axis+1]
			if c.one {
				scaled = nil
			}
			if c.block > 0 {
				scaled = append([]int{}, c.shape...)
				scaled[c.axis] = (c.shape[c.axis] + c.block - 1) / c.block
			}
			for j, d := range codes {
				x := wildIn(r, append(floats, dtype.Int32, dtype.Float32, dtype.Float16)[r.IntN(8)], true, c.shape...)
				ds := append(floats, x.DType(), x.DType(), x.DType(), x.DType(), dtype.Float8E8M0)[r.IntN(10)]
				if ds.IsInteger() && round > 0 {
					ds = dtype.Float32
				}
				scale, zero := wildIn(r, ds, r.IntN(3) == 0, scaled...), tensor.Any{}
				if (j+k+round)%3 > 0 {
					zero = wildIn(r, d, d.IsInteger(), scaled...)
				}
				precision := ds
				if ds == dtype.Float8E8M0 || r.IntN(4) == 0 {
					precision = x.DType()
				}
				saturate := r.IntN(2) == 0
				ctx := WithThreads(context.Background(), 1+r.IntN(3))
				got := quantizing(x, scale, zero, d, precision, c.axis, c.block, saturate).Run(ctx)
				want := tensor.EmptyOf(d, c.shape...)
				g := grainOf("", x, scale, zero, c.axis, c.block)
				off := func(i int) float64 {
					if zero.IsZero() {
						return 0
					}
					return move.NumericOf(move.WordsOf(zero)).Real(g.at(i))
				}
				src, by, to := move.NumericOf(move.WordsOf(x)), move.NumericOf(move.WordsOf(scale)), move.NumericOf(move.WordsOf(want))
				for i := range want.Len() {
					to.SetQuantized(i, roundedTo(precision, src.Real(i)/by.Real(g.at(i))), off(i), saturate)
				}
				alike(t, "QuantizeLinear", got, want)
				for _, to := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.Float64, dtype.Int16} {
					back, real := dequantized(want, scale, zero, to, c.axis, c.block).Run(ctx), tensor.EmptyOf(to, c.shape...)
					src, to := move.NumericOf(move.WordsOf(want)), move.NumericOf(move.WordsOf(real))
					for i := range want.Len() {
						to.SetReal(i, float64((src.Real(i)-off(i))*by.Real(g.at(i))))
					}
					alike(t, "DequantizeLinear", back, real)
				}
				if t.Failed() {
					t.Fatalf("%v of %v by %v in %v, axis %d, blocks of %d: %v by %v, %v", d, x.DType(), ds, precision, c.axis, c.block, x, scale, zero)
				}
			}
		}
	}
}
