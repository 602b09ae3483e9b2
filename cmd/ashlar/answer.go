package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

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

// rank reads the outputs that score classes, by name. One row of a matrix does; a vector or many rows only if something
// says so: they are probabilities, pictures were given, or a flag about classes is there.
func (r *result) rank(f *runFlags) (map[string]*ranking, error) {
	ranks := make(map[string]*ranking)
	fits := r.labels == nil || !r.labels.asked
	for name, t := range r.outputs {
		k := rank(t)
		if k == nil || (len(k.rows) > 1 || t.Rank() == 1) && !k.probabilities && r.rowNames(k) == nil && !f.topGiven && f.labels == "" {
			continue
		}
		ranks[name] = k
		fits = fits || len(k.rows[0]) == len(r.labels.names)
	}
	if !fits {
		return nil, fmt.Errorf("%s: it has %d lines, and no output of %s has as many classes", r.labels.file, len(r.labels.names), r.src.name)
	}
	return ranks, nil
}

// rowNames returns the files of the pictures that the rows are about, nil if that isn't known.
func (r *result) rowNames(k *ranking) []string {
	for _, name := range r.inputs.names() {
		if v := r.inputs.values[name]; v != nil && len(v.pictures) == len(k.rows) {
			return v.files
		}
	}
	return nil
}

// print writes the outputs for people: classes where an output scores some, else the tensor.
func (p *program) print(r *result, f *runFlags) {
	names := r.names()
	for i, name := range names {
		k := r.ranks[name]
		if i > 0 {
			fmt.Fprintln(p.out)
		}
		if len(names) > 1 || k == nil {
			fmt.Fprintf(p.out, "%s %s\n", label(name), tensor.Describe(r.outputs[name]))
		}
		switch {
		case k == nil:
			fmt.Fprintf(p.out, "%v\n", r.outputs[name])
		case len(k.rows) > 1 && !f.topGiven:
			p.printRows(k, r.rowTitles(k), r.labels)
		default:
			p.printBest(k, r.rowTitles(k), r.labels, f.top)
		}
	}
	for i := range r.m.Graph.Outputs {
		if name := r.m.Graph.Outputs[i].Name; r.parts[name] == nil {
			fmt.Fprintf(p.out, "%s %s\n", label(name), r.empty[name])
			if v, ok := r.text[name]; ok {
				p.printText(v)
			}
		}
	}
}

// names are those of the tensors that the run gave, in the order of the graph's outputs.
func (r *result) names() (list []string) {
	for i := range r.m.Graph.Outputs {
		list = append(list, r.parts[r.m.Graph.Outputs[i].Name]...)
	}
	return list
}

// rowTitles is a title for each row, or nil if there is only one.
func (r *result) rowTitles(k *ranking) []string {
	if len(k.rows) == 1 {
		return nil
	}
	titles := make([]string, len(k.rows))
	names := r.rowNames(k)
	for i := range titles {
		titles[i] = fmt.Sprintf("row %d", i)
		if names != nil {
			titles[i] = label(names[i])
		}
	}
	return titles
}

// printBest writes for each row the best class, and a bar for each of the best top.
func (p *program) printBest(k *ranking, titles []string, l *labels, top int) {
	for i, row := range k.rows {
		classes := best(row, max(top, 1))
		answer := l.of(classes[0], len(row))
		if l.name(classes[0], len(row)) == "" {
			answer = "class " + answer
		}
		kind := "score "
		if k.probabilities {
			kind = ""
		}
		if titles != nil {
			fmt.Fprintf(p.out, "%s: ", titles[i])
		}
		fmt.Fprintf(p.out, "%s (%s%s)\n", p.bold(answer), kind, strings.TrimSpace(k.number(row[classes[0]])))
		if top == 0 {
			continue
		}
		fmt.Fprintln(p.out)
		var lines [][]string
		for _, c := range classes {
			lines = append(lines, []string{l.of(c, len(row)), k.number(row[c]), k.bar(row[c], row[classes[0]])})
		}
		p.columns(lines)
		if i+1 < len(k.rows) {
			fmt.Fprintln(p.out)
		}
	}
}

// mostRows is how many rows are printed.
const mostRows = 1000

// printRows writes a line for each row: its title, its best class and a bar.
func (p *program) printRows(k *ranking, titles []string, l *labels) {
	var lines [][]string
	for i, row := range k.rows[:min(len(k.rows), mostRows)] {
		c := best(row, 1)[0]
		lines = append(lines, []string{titles[i], l.of(c, len(row)), k.number(row[c]), k.bar(row[c], row[c])})
	}
	p.columns(lines)
	if n := len(k.rows) - mostRows; n > 0 {
		fmt.Fprintf(p.out, "and %d rows more; -o writes them all\n", n)
	}
}

// columns writes lines of a text, … , a number and a bar, aligned.
func (p *program) columns(lines [][]string) {
	if len(lines) == 0 {
		return
	}
	width := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		text := ""
		for i, cell := range line {
			fill := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			switch i {
			case len(line) - 1:
				text += cell
			case len(line) - 2:
				text += fill + cell + "  "
			default:
				text += cell + fill + "  "
			}
		}
		fmt.Fprintln(p.out, strings.TrimRight(text, " "))
	}
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
