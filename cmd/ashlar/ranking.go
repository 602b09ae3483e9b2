package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// A ranking is an output read as scores of classes, row by row.
type ranking struct {
	rows          [][]float64
	probabilities bool // every row is of numbers in 0..1 that sum to 1
}

const (
	mostClasses = 10000   // beyond, a row is hardly one of classes
	mostScores  = 1 << 22 // beyond, rows are too many to look at, and to copy for that
)

// rank reads an output as scores of classes: floats without NaN or infinities, or fixed point, of shape (classes), (rows, classes), or
// that with more axes of 1. It is nil for other outputs.
func rank(t tensor.Any) *ranking {
	shape := t.Shape()
	for len(shape) > 2 && shape[len(shape)-1] == 1 {
		shape = shape[:len(shape)-1]
	}
	if len(shape) == 1 {
		shape = []int{1, shape[0]}
	}
	if len(shape) != 2 || shape[0] < 1 || shape[1] < 2 || shape[1] > mostClasses || shape[0] > mostScores/shape[1] {
		return nil
	}
	all, ok := floats(t)
	if !ok || slices.ContainsFunc(all, func(v float64) bool { return !finite(v) }) {
		return nil
	}
	r := &ranking{probabilities: true}
	for row := range slices.Chunk(all, shape[1]) {
		r.rows = append(r.rows, row)
		r.probabilities = r.probabilities && isDistribution(row, t.DType())
	}
	return r
}

// isDistribution allows for the rounding of the element type.
func isDistribution(row []float64, d dtype.DType) bool {
	slack := 1e-3
	if d == dtype.Float16 || d == dtype.BFloat16 {
		slack = 2e-2
	}
	sum := 0.0
	for _, v := range row {
		if v < 0 || v > 1+slack {
			return false
		}
		sum += v
	}
	return math.Abs(sum-1) <= slack
}

// floats returns the elements of a tensor of floats or fixed point, in row-major order.
func floats(t tensor.Any) ([]float64, bool) {
	if d := t.DType(); !d.IsFixed() && (!d.IsFloat() || d.Size() == 1) || t.IsSpec() || t.Foreign() != nil {
		return nil, false
	}
	list := make([]float64, 0, t.Len())
	for v := range t.Values() {
		switch v := v.(type) {
		case float32:
			list = append(list, float64(v))
		case float64:
			list = append(list, v)
		case interface{ Float64() float64 }:
			list = append(list, v.Float64())
		}
	}
	return list, true
}

// best returns the classes of the n highest scores, the highest first, the lower class first among equals.
func best(row []float64, n int) []int {
	order := make([]int, len(row))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row[b], row[a]) })
	return order[:min(n, len(order))]
}

// number writes a probability in percent, or a score.
func (k *ranking) number(v float64) string {
	if k.probabilities {
		return fmt.Sprintf("%.2f %%", 100*v)
	}
	return fmt.Sprintf("%.4g", v)
}

// bar draws a probability, or a score against the best of its row; nothing where it is negative.
func (k *ranking) bar(v, best float64) string {
	const width = 40
	if !k.probabilities {
		if best <= 0 {
			return ""
		}
		v /= best
	}
	eighths := int(math.Round(8 * width * min(max(v, 0), 1)))
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return text
}
