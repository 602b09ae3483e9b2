package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// printLine prints a line of the table: a model, its nodes, the threads, and cells.
func printLine(model string, nodes, threads any, cells ...string) {
	fmt.Printf("%-34s %5v %7v", model, nodes, threads)
	for _, c := range cells {
		fmt.Printf(" %10s", c)
	}
	fmt.Println()
}

func (s *settings) printHeader() {
	if s.cases {
		printLine("case", "nodes", "threads", "ONNX R., ms", "in nodes", "GFLOP/s", "reorders", "Ashlar, ms", "GFLOP/s", "ratio", "in nodes", "goal")
		return
	}
	side := []string{"ms", "load, ms", "peak, MiB"}
	cells := append(append(side, side...), "ratio", "difference", "largest", "last, %")
	over := fmt.Sprintf("%-48s %32s %32s", "", "ONNX Runtime", "Ashlar")
	if s.exact {
		over += fmt.Sprintf(" %32s %21s", "", "error of")
		cells = append(cells, "ONNX R.", "Ashlar")
	}
	fmt.Println(over)
	printLine("model", "nodes", "threads", cells...)
}

func (s *settings) print(r *row) {
	if r.Error != "" {
		printLine(r.Model, "", r.Threads, shown(r.Error))
		return
	}
	var cells []string
	add := func(format string, v float64) { // 0 is no measurement
		if v == 0 {
			cells = append(cells, "")
		} else {
			cells = append(cells, fmt.Sprintf(format, v))
		}
	}
	if s.cases {
		add("%.4f", r.Peer.Milliseconds)
		add("%.4f", r.Peer.Nodes)
		add("%.1f", r.rate(r.Peer.Nodes))
		add("%.4f", r.Peer.Reorders)
		add("%.4f", r.Ours.Milliseconds)
		add("%.1f", r.rate(r.Ours.Milliseconds))
		add("%.2f", r.Ratio)
		add("%.2f", r.inNodes())
		add("%.2f", r.Goal)
		if s.both && r.judged() < r.Goal {
			cells = append(cells, "below")
		}
		printLine(r.Model, r.Nodes, r.Threads, cells...)
		return
	}
	for _, s := range []side{r.Peer, r.Ours} {
		add("%.3f", s.Milliseconds)
		add("%.1f", s.Load)
		add("%.1f", float64(s.Peak)/1024)
	}
	add("%.2f", r.Ratio)
	if s.both {
		cells = append(cells, fmt.Sprintf("%.2g", r.Difference), fmt.Sprintf("%.3g", r.Largest))
	}
	if r.Last == nil {
		cells = append(cells, "")
	} else {
		cells = append(cells, fmt.Sprintf("%.1f", 100**r.Last))
	}
	if r.Ours.Error != nil {
		cells = append(cells, fmt.Sprintf("%.2g", r.Peer.Error.Absolute), fmt.Sprintf("%.2g", r.Ours.Error.Absolute))
	} else if r.Inexact != "" {
		cells = append(cells, shown(r.Inexact))
	}
	printLine(r.Model, r.Nodes, r.Threads, cells...)
}

// rate is that of a time in milliseconds, in GFLOP/s.
func (r *row) rate(ms float64) float64 {
	if ms == 0 {
		return 0 // not measured
	}
	return float64(r.FLOPs) / ms * 1e-6
}

// inNodes is the quotient of ONNX Runtime's time in its nodes and Ashlar's.
func (r *row) inNodes() float64 { return r.Peer.Nodes / r.Ours.Milliseconds }

// judged is the quotient that should reach the goal.
func (r *row) judged() float64 {
	if r.Peer.Nodes > 0 {
		return r.inNodes()
	}
	return r.Ratio
}

// printMeans prints a summary of the rows for each number of threads.
func (s *settings) printMeans(rows []row) {
	for text := range strings.SplitSeq(s.threads, ",") {
		var times, ratios, nodes, theirs, ours mean
		lowest := row{Ratio: math.Inf(1)}
		var missed, below, larger []string
		for _, r := range rows {
			switch {
			case strconv.Itoa(r.Threads) != text:
				continue
			case r.Error != "":
				missed = append(missed, r.Model)
				continue
			}
			times.add(r.Ours.Milliseconds)
			ratios.add(r.Ratio)
			nodes.add(r.inNodes())
			theirs.add(float64(r.Peer.Peak) / 1024)
			ours.add(float64(r.Ours.Peak) / 1024)
			if s.both && r.Ratio < lowest.Ratio {
				lowest = r
			}
			if s.both && r.judged() < r.Goal {
				below = append(below, fmt.Sprintf("%s %.2f", r.Model, r.judged()))
			}
			if s.both && r.Ours.Peak > r.Peer.Peak {
				larger = append(larger, r.Model)
			}
		}
		fmt.Printf("\n%s threads: %d measured\n", text, times.n)
		times.print("Ashlar's time, ms, geometric mean", "%.3f")
		ratios.print("ratio, geometric mean", "%.2f")
		if ratios.some() {
			fmt.Printf("\tlowest ratio: %.2f of %s\n", lowest.Ratio, lowest.Model)
		}
		nodes.print("ratio in its nodes, geometric mean", "%.2f")
		theirs.print("ONNX Runtime's peak, MiB, geometric mean", "%.1f")
		ours.print("Ashlar's peak, MiB, geometric mean", "%.1f")
		printList("Ashlar's peak is larger", larger)
		printList("below the goal", below)
		printList("not measured", missed)
	}
}

func printList(name string, list []string) {
	if len(list) > 0 {
		fmt.Printf("\t%s, %d: %s\n", name, len(list), strings.Join(list, ", "))
	}
}

// A mean is geometric.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) { m.sum, m.n = m.sum+math.Log(v), m.n+1 }

// some reports whether there is a mean: numbers, all above 0.
func (m *mean) some() bool { return m.n > 0 && !math.IsInf(m.sum, 0) && !math.IsNaN(m.sum) }

func (m *mean) print(name, format string) {
	if m.some() {
		fmt.Printf("\t%s: "+format+"\n", name, math.Exp(m.sum/float64(m.n)))
	}
}

// shown is an error on one line.
func shown(text string) string { return fmt.Sprintf("%.150s", strings.ReplaceAll(text, "\n", " ")) }
