package reduce

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Blocks are added in pairs, level by level, however many there are and whatever the last one's length.
func TestSumOf(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float32, 70*sumBlock)
	for i := range x {
		x[i] = float32(r.NormFloat64() * math.Exp(8*r.NormFloat64()))
	}
	for _, n := range []int{0, 1, sumBlock - 1, sumBlock, sumBlock + 1, 3 * sumBlock, 5*sumBlock + 40, 15*sumBlock + 1, 16 * sumBlock, 16*sumBlock + 1,
		17 * sumBlock, 31*sumBlock + 7, 33 * sumBlock, 47*sumBlock + 4095, 48*sumBlock + 4095, len(x)} {
		var level []float64
		for i := 0; i < n; i += sumBlock {
			var s Summer
			s.Begin()
			AddTerms(&s, x[i:min(i+sumBlock, n)])
			level = append(level, s.Total())
		}
		for len(level) > 1 {
			var up []float64
			for i := 0; i < len(level); i += 2 {
				if i+1 < len(level) {
					up = append(up, level[i]+level[i+1])
				} else {
					up = append(up, level[i])
				}
			}
			level = up
		}
		want := 0.0
		if n > 0 {
			want = level[0]
		}
		var s Summer
		s.Begin()
		AddTerms(&s, x[:n])
		for what, got := range map[string]float64{"sumOf": sumOf(x[:n]), "summer": s.Total()} {
			if what == "sumOf" && !TrySums[float32](nil, nil, 0, 0) {
				continue // it needs an instruction set
			}
			if math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("%s of %d: got %v, want %v", what, n, got, want)
			}
		}
	}
}
