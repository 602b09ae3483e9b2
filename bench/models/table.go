package main

import (
	"fmt"
	"strings"
)

// printLine prints a line of the table: a model, its nodes, the threads, and cells.
func printLine(model string, nodes, threads any, cells ...string) {
	fmt.Printf("%-62s %5v %7v", model, nodes, threads)
	for _, c := range cells {
		fmt.Printf(" %10s", c)
	}
	fmt.Println()
}

func (s *settings) printHeader() {
	side := []string{"ms", "load, ms", "peak, MiB"}
	cells := append(append(side, side...), "ratio", "difference", "largest")
	over := fmt.Sprintf("%-76s %32s %32s", "", "ONNX Runtime", "Ashlar")
	if s.exact {
		over += fmt.Sprintf(" %32s %21s", "", "error of")
		cells = append(cells, "ONNX R.", "Ashlar")
	}
	fmt.Println(over)
	printLine("model", "nodes", "threads", cells...)
}

func (r *row) print() {
	if r.Error != "" {
		printLine(r.Model, "", r.Threads, shown(r.Error))
		return
	}
	of := func(format string, v float64) string { return fmt.Sprintf(format, v) }
	var cells []string
	for _, s := range []side{r.Peer, r.Ours} {
		cells = append(cells, of("%.3f", s.Milliseconds), of("%.1f", s.Load), of("%.1f", float64(s.Peak)/1024))
	}
	cells = append(cells, of("%.2f", r.Ratio), of("%.2g", r.Difference), of("%.3g", r.Largest))
	if r.Ours.Error != nil {
		cells = append(cells, of("%.2g", r.Peer.Error.Absolute), of("%.2g", r.Ours.Error.Absolute))
	} else if r.Inexact != "" {
		cells = append(cells, shown(r.Inexact))
	}
	printLine(r.Model, r.Nodes, r.Threads, cells...)
}

// shown is an error on one line.
func shown(text string) string { return fmt.Sprintf("%.150s", strings.ReplaceAll(text, "\n", " ")) }
