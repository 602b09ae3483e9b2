package main

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/internal/classes"
	"github.com/ashlar-go/ashlar/tensor"
)

// print writes the outputs that no target takes, for people: classes where an output scores some, else the tensor. It reports whether there are any.
func (p *program) print(r *result, f *runFlags, targets []target) (printed bool) {
	taken := make(map[string]bool)
	for _, t := range targets {
		for _, name := range t.names {
			taken[name] = true
			for _, part := range r.parts[name] {
				taken[part] = true
			}
		}
	}
	names := r.names()
	for _, name := range names {
		k := r.ranks[name]
		if taken[name] {
			continue
		}
		if printed {
			fmt.Fprintln(p.out)
		}
		printed = true
		if len(names) > 1 || k == nil {
			fmt.Fprintf(p.out, "%s %s\n", label(name), tensor.Describe(r.outputs[name]))
		}
		switch {
		case k == nil:
			fmt.Fprintf(p.out, "%v\n", r.outputs[name])
		case len(k.Rows) > 1 && !f.topGiven:
			p.printRows(k, r.rowTitles(k), r.labels)
		default:
			p.printBest(k, r.rowTitles(k), r.labels, f.top)
		}
	}
	for i := range r.m.Graph.Outputs {
		if name := r.m.Graph.Outputs[i].Name; r.parts[name] == nil && !taken[name] {
			printed = true
			fmt.Fprintf(p.out, "%s %s\n", label(name), r.empty[name])
			if v, ok := r.text[name]; ok {
				p.printText(v)
			}
		}
	}
	return printed
}

// names lists the names of the tensors that the run gave, in the order of the graph's outputs.
func (r *result) names() (list []string) {
	for i := range r.m.Graph.Outputs {
		list = append(list, r.parts[r.m.Graph.Outputs[i].Name]...)
	}
	return list
}

// rowTitles is a title for each row, or nil if there is only one.
func (r *result) rowTitles(k *classes.Ranking) []string {
	if len(k.Rows) == 1 {
		return nil
	}
	titles := make([]string, len(k.Rows))
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
func (p *program) printBest(k *classes.Ranking, titles []string, l *labels, top int) {
	for i, row := range k.Rows {
		order := classes.Best(row, max(top, 1))
		answer := l.of(order[0], len(row))
		if l.name(order[0], len(row)) == "" {
			answer = "class " + answer
		}
		kind := "score "
		if k.Probabilities {
			kind = ""
		}
		if titles != nil {
			fmt.Fprintf(p.out, "%s: ", titles[i])
		}
		fmt.Fprintf(p.out, "%s (%s%s)\n", p.bold(answer), kind, strings.TrimSpace(k.Number(row[order[0]])))
		if top == 0 {
			continue
		}
		fmt.Fprintln(p.out)
		var lines [][]string
		for _, c := range order {
			lines = append(lines, []string{l.of(c, len(row)), k.Number(row[c]), bar(k, row[c], row[order[0]])})
		}
		p.columns(lines)
		if i+1 < len(k.Rows) {
			fmt.Fprintln(p.out)
		}
	}
}

// mostRows is how many rows are printed.
const mostRows = 1000

// printRows writes a line for each row: its title, its best class and a bar.
func (p *program) printRows(k *classes.Ranking, titles []string, l *labels) {
	var lines [][]string
	for i, row := range k.Rows[:min(len(k.Rows), mostRows)] {
		c := classes.Best(row, 1)[0]
		lines = append(lines, []string{titles[i], l.of(c, len(row)), k.Number(row[c]), bar(k, row[c], row[c])})
	}
	p.columns(lines)
	if n := len(k.Rows) - mostRows; n > 0 {
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

// bar draws a probability, or a score against the best of its row; nothing where it is negative.
func bar(k *classes.Ranking, v, best float64) string {
	const width = 40
	if !k.Probabilities {
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
