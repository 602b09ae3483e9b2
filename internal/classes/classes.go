// Package classes reads an output of a model as scores of classes, and the names of classes from a file beside the model, for the
// command and the page.
package classes

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Ranking is an output read as scores of classes, row by row.
type Ranking struct {
	Rows          [][]float64
	Probabilities bool // every row is of numbers in 0..1 that sum to 1
}

const (
	mostClasses = 10000   // beyond, a row is hardly one of classes
	mostScores  = 1 << 22 // beyond, rows are too many to look at, and to copy for that
)

// Rank reads an output as scores of classes: floats without NaN or infinities, or fixed point, of shape (classes), (rows, classes), or
// that with more axes of 1. It is nil for other outputs.
func Rank(t tensor.Any) *Ranking {
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
	all, ok := Floats(t)
	if !ok || slices.ContainsFunc(all, func(v float64) bool { return v-v != 0 }) {
		return nil
	}
	r := &Ranking{Probabilities: true}
	for row := range slices.Chunk(all, shape[1]) {
		r.Rows = append(r.Rows, row)
		r.Probabilities = r.Probabilities && isDistribution(row, t.DType())
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

// Floats returns the elements of a tensor of floats or fixed point, in row-major order.
func Floats(t tensor.Any) ([]float64, bool) {
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

// Best returns the classes of the n highest scores, the highest first, the lower class first among equals.
func Best(row []float64, n int) []int {
	order := make([]int, len(row))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row[b], row[a]) })
	return order[:min(n, len(order))]
}

// Number writes a probability in percent, or a score.
func (k *Ranking) Number(v float64) string {
	if k.Probabilities {
		return fmt.Sprintf("%.2f %%", 100*v)
	}
	return fmt.Sprintf("%.4g", v)
}

// Names are the lines of a file of labels, one for each class, without empty lines at the end.
func Names(text string) (list []string) {
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	for line := range strings.Lines(strings.TrimRight(lines, "\n")) {
		list = append(list, strings.TrimRight(line, "\n"))
	}
	return list
}
