package op

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/reduce"
)

// Blocks are added in pairs, level by level, however many there are and whatever the last one's length.
func TestSumOf(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float32, 70*reduce.SumBlock)
	for i := range x {
		x[i] = float32(r.NormFloat64() * math.Exp(8*r.NormFloat64()))
	}
	for _, n := range []int{0, 1, reduce.SumBlock - 1, reduce.SumBlock, reduce.SumBlock + 1, 3 * reduce.SumBlock, 5*reduce.SumBlock + 40, 15*reduce.SumBlock + 1, 16 * reduce.SumBlock, 16*reduce.SumBlock + 1,
		17 * reduce.SumBlock, 31*reduce.SumBlock + 7, 33 * reduce.SumBlock, 47*reduce.SumBlock + 4095, 48*reduce.SumBlock + 4095, len(x)} {
		var level []float64
		for i := 0; i < n; i += reduce.SumBlock {
			var s reduce.Summer
			s.Begin()
			reduce.AddTerms(&s, x[i:min(i+reduce.SumBlock, n)])
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
		var s reduce.Summer
		s.Begin()
		reduce.AddTerms(&s, x[:n])
		for what, got := range map[string]float64{"sumOf": reduce.SumOf(x[:n]), "summer": s.Total()} {
			if what == "sumOf" && !reduce.TrySums[float32](nil, nil, 0, 0) {
				continue // it needs an instruction set
			}
			if math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("%s of %d: got %v, want %v", what, n, got, want)
			}
		}
	}
}
