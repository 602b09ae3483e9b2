package classes

import (
	"math"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

func TestRank(t *testing.T) {
	for _, c := range []struct {
		t             tensor.Any
		rows          int
		probabilities bool
	}{
		{tensor.FromSlice([]float32{0.5, 0.25, 0.25}, 3).Any(), 1, true},
		{tensor.FromSlice([]float32{0.5, 0.25, 0.25, 3, -1, 2}, 2, 3).Any(), 2, false},
		{tensor.FromSlice([]float32{1, 2, 3}, 1, 3, 1, 1).Any(), 1, false},
		{tensor.FromSlice([]float32{1}, 1, 1).Any(), 0, false},             // one class is none
		{tensor.FromSlice([]float64{1, math.NaN()}, 1, 2).Any(), 0, false}, // no order
		{tensor.FromSlice([]int64{1, 2}, 1, 2).Any(), 0, false},            // no scores
		{tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 2, 2).Any(), 0, false},
	} {
		k := Rank(c.t)
		switch {
		case k == nil && c.rows == 0:
		case k == nil || len(k.Rows) != c.rows || k.Probabilities != c.probabilities:
			t.Errorf("%v: %+v, want %d rows, probabilities %v", c.t, k, c.rows, c.probabilities)
		}
	}
	if got := Best([]float64{1, 3, 2, 3}, 3); !slices.Equal(got, []int{1, 3, 2}) {
		t.Errorf("the best are %v", got)
	}
}

func TestNames(t *testing.T) {
	if got := Names("cat\r\n\ndog\rbird\n\r\n\n"); !slices.Equal(got, []string{"cat", "", "dog", "bird"}) {
		t.Errorf("%q", got)
	}
}
