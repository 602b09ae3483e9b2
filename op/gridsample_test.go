package op

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// sampledAt is the definition of GridSample for one element of the result: the sum over the neighbours on each axis in turn.
func sampledAt(src move.Numeric, base int, axes []int, point []float64, how GridSampleOptions) float64 {
	if len(axes) == 0 {
		return src.Real(base)
	}
	v, n := point[len(point)-1], axes[0]
	low, high := -0.5, float64(n)-0.5
	at := (float64((v+1)*float64(n)) - 1) / 2
	if how.AlignCorners {
		low, high = 0, float64(n-1)
		at = float64((v+1)/2) * float64(n-1)
	}
	if how.Mode == "nearest" {
		at = math.RoundToEven(at)
	}
	if at < low || at > high {
		switch {
		case how.Padding == "border" && how.Mode == "cubic":
			at = max(-1, min(at, float64(n)))
		case how.Padding == "border":
			at = max(0, min(at, float64(n-1)))
		case how.Padding == "reflection":
			at = reflected(at, low, high)
		}
	}
	first, rest := math.Floor(at), at-math.Floor(at)
	weights := []float64{1 - rest, rest}
	switch how.Mode {
	case "nearest":
		first, weights = math.RoundToEven(at), []float64{1}
	case "cubic":
		weights = nil
		for k := range 4 {
			weights = append(weights, cubicKernel(math.Abs(float64(k-1)-rest), -0.75))
		}
	}
	acc := 0.0
	for k, w := range weights {
		x := bounded(first, n) + k
		if how.Mode == "cubic" {
			x--
		}
		switch {
		case w == 0 || n == 0 || how.Padding == "zeros" && (x < 0 || x >= n):
			continue
		case x >= 0 && x < n:
		case how.Padding == "border":
			x = max(0, min(x, n-1))
		default:
			x = max(0, min(bounded(reflected(float64(x), low, high), n), n-1))
		}
		acc += float64(w * sampledAt(src, base+x*plan.Elements(axes[1:]), axes[1:], point[:len(point)-1], how))
	}
	return acc
}

// GridSample of all types, modes and ranks has the bits of its definition.
func TestGridSampleBits(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 20))
	types := []dtype.DType{dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16, dtype.Float8E4M3, dtype.Int8, dtype.Uint8, dtype.Int16, dtype.Uint16, dtype.Int32, dtype.Uint32, dtype.Int64, dtype.Uint64}
	for range 30 * len(types) {
		rank := 1 + r.IntN(4)
		shape, to := []int{1 + r.IntN(2), 1 + r.IntN(3)}, []int{0}
		for range rank {
			shape, to = append(shape, r.IntN(6)), append(to, 1+r.IntN(5))
		}
		if to[1] *= 1 + 20*r.IntN(2); rank > 3 {
			to[1] = 1
		}
		to[0] = shape[0]
		d, dg := types[r.IntN(len(types))], []dtype.DType{dtype.Float32, dtype.Float64, dtype.Float16}[r.IntN(3)]
		x, grid := wildIn(r, d, true, shape...), tensor.EmptyOf(dg, append(append([]int{}, to...), rank)...)
		points := move.NumericOf(move.WordsOf(grid))
		for i := range grid.Len() {
			v := r.NormFloat64()
			switch r.IntN(20) {
			case 0:
				v = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, math.Copysign(0, -1)}[r.IntN(5)]
			case 1, 2, 3:
				v = float64(r.IntN(9)-4) / 4
			}
			points.SetReal(i, v)
		}
		how := GridSampleOptions{[]string{"linear", "nearest", "cubic"}[r.IntN(3)], []string{"zeros", "border", "reflection"}[r.IntN(3)], r.IntN(2) == 0}
		got := sampled(x, grid, how).Run(WithThreads(context.Background(), 1+r.IntN(3)))
		want := tensor.EmptyOf(d, append([]int{shape[0], shape[1]}, to[1:]...)...)
		src, dst := move.NumericOf(move.WordsOf(x)), move.NumericOf(move.WordsOf(want))
		area, n := plan.Elements(shape[2:]), plan.Elements(to[1:])
		for i := range want.Len() {
			point, nan := make([]float64, rank), false
			for k := range point {
				point[k] = points.Float((i/n/shape[1]*n+i%n)*rank + k)
				nan = nan || point[k] != point[k]
			}
			if dst.SetReal(i, math.NaN()); !nan {
				dst.SetReal(i, sampledAt(src, i/n*area, shape[2:], point, how))
			}
		}
		if alike(t, "GridSample", got, want); t.Failed() {
			t.Fatalf("%v of %v at %v: %+v", d, x, grid, how)
		}
	}
}
