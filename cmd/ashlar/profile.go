package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// A profile is the work of a model's runs, node by node.
type profile struct {
	runs   int
	warm   bool // the first of several runs is left out
	nodes  map[*onnx.Node]*nodeTime
	inside []time.Duration // by depth: the time of the nodes there since the last node above them

	trace  bool
	events []traceEvent // of the run that is on

	keep   bool // the results of the model's nodes
	names  []string
	values []tensor.Any
	err    error
}

// nodeTime is the time of one node in all runs.
type nodeTime struct {
	node  *onnx.Node
	index int
	depth int
	calls int
	time  time.Duration // without the nodes of graphs inside
	bytes int64
}

// begin counts a run, and forgets the events and values of the run before. Of several runs the first isn't counted: it also
// starts threads, and takes memory for the first time.
func (p *profile) begin() {
	if p.runs == 1 && !p.warm {
		p.runs, p.warm = 0, true
		clear(p.nodes)
	}
	p.runs++
	p.events, p.names, p.values = p.events[:0], p.names[:0], p.values[:0]
}

// observe is the function that a run calls for each of its nodes.
func (p *profile) observe(r *onnx.NodeRun) {
	for len(p.inside) < r.Depth+2 {
		p.inside = append(p.inside, 0)
	}
	own := r.Time - p.inside[r.Depth+1]
	p.inside[r.Depth+1] = 0
	p.inside[r.Depth] += r.Time
	n := p.nodes[r.Node]
	if n == nil {
		n = &nodeTime{node: r.Node, index: r.Index, depth: r.Depth}
		p.nodes[r.Node] = n
	}
	n.calls++
	n.time += own
	n.bytes += r.Bytes
	if p.trace {
		p.events = append(p.events, eventOf(r))
	}
	if !p.keep || r.Depth > 0 || p.err != nil {
		return
	}
	for i, name := range r.Names {
		if name == "" || !isNumbers(r.Values[i]) {
			continue
		}
		t, err := tensor.Clone(r.Values[i].Tensor())
		if err != nil {
			p.err = fmt.Errorf("%s: %w", label(name), err)
			return
		}
		p.names, p.values = append(p.names, name), append(p.values, t)
	}
}

// A traceEvent is a node in the trace format that Chrome, Perfetto and others show. Source: "Trace Event Format", the
// document of Chromium.
type traceEvent struct {
	Name  string         `json:"name"`
	Kind  string         `json:"cat"`
	Phase string         `json:"ph"`
	Start float64        `json:"ts"`  // microseconds
	Time  float64        `json:"dur"` // microseconds
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Args  map[string]any `json:"args"`
}

func eventOf(r *onnx.NodeRun) traceEvent {
	micro := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	var results []string
	for i, v := range r.Values {
		results = append(results, strings.TrimSpace(r.Names[i]+" "+v.String()))
	}
	return traceEvent{nameOf(r.Node, r.Index), r.Node.Op, "X", micro(r.Start), micro(r.Time), 1, 1, map[string]any{"bytes": r.Bytes, "results": results}}
}

// nameOf names a node: by its own name, else by its place.
func nameOf(n *onnx.Node, index int) string {
	return cmp.Or(n.Name, fmt.Sprintf("node %d", index))
}

// writeTrace writes the events of the last run.
func (p *profile) writeTrace(w io.Writer) error {
	return json.NewEncoder(w).Encode(map[string]any{"displayTimeUnit": "ms", "traceEvents": p.events})
}

// A share is a part of a profile: a node, or all nodes of an operator. Times and bytes are of one run.
type share struct {
	Name    string  `json:"name,omitempty"`
	Op      string  `json:"op"`
	Depth   int     `json:"depth,omitempty"` // of the graph inside nodes
	Calls   float64 `json:"calls"`
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share"` // of the time of all nodes
	Bytes   float64 `json:"bytes"`
}

// shares returns the parts, the slowest first.
func (p *profile) shares() (ops, nodes []share) {
	runs := float64(p.runs)
	byOp := make(map[string]*share)
	total := 0.0
	list := make([]*nodeTime, 0, len(p.nodes))
	for _, n := range p.nodes {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *nodeTime) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.depth, b.depth), cmp.Compare(a.index, b.index), strings.Compare(a.node.Name, b.node.Name))
	})
	for _, n := range list {
		op := n.node.Op
		if n.node.Domain != "" && n.node.Domain != "ai.onnx" {
			op = n.node.Domain + "." + op
		}
		s := share{nameOf(n.node, n.index), op, n.depth, float64(n.calls) / runs, n.time.Seconds() / runs, 0, float64(n.bytes) / runs}
		total += s.Seconds
		nodes = append(nodes, s)
		o := byOp[op]
		if o == nil {
			o = &share{Op: op}
			byOp[op] = o
		}
		o.Calls += s.Calls
		o.Seconds += s.Seconds
		o.Bytes += s.Bytes
	}
	for _, o := range byOp {
		ops = append(ops, *o)
	}
	slices.SortFunc(ops, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), strings.Compare(a.Op, b.Op))
	})
	for _, l := range [][]share{ops, nodes} {
		for i := range l {
			if total > 0 {
				l[i].Share = l[i].Seconds / total
			}
		}
	}
	return ops, nodes
}

// median returns the median of times.
func median(spent []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(spent))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// printTimes says how long the runs took.
func (p *program) printTimes(spent []time.Duration) {
	fmt.Fprintf(p.out, "%d runs: median %s, least %s, most %s\n", len(spent), span(median(spent).Seconds()),
		span(slices.Min(spent).Seconds()), span(slices.Max(spent).Seconds()))
}

// printProfile prints the time by operator and by node.
func (p *program) printProfile(f *profile) {
	const most = 20 // nodes
	ops, nodes := f.shares()
	if f.warm {
		fmt.Fprintf(p.out, "the mean of all runs but the first\n\n")
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "time\tshare\tcalls\tresults\t  operator\n")
	line := func(s share, name string) {
		fmt.Fprintf(w, "%s\t%.1f %%\t%s\t%s\t  %s\n", span(s.Seconds), 100*s.Share, count(s.Calls), amount(int64(s.Bytes)), name)
	}
	for _, s := range ops {
		line(s, label(s.Op))
	}
	w.Flush()
	w = tabwriter.NewWriter(p.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\ntime\tshare\tcalls\tresults\t  node\n")
	for _, s := range nodes[:min(len(nodes), most)] {
		line(s, strings.Repeat("  ", s.Depth)+label(s.Name)+" ("+label(s.Op)+")")
	}
	if rest := nodes[min(len(nodes), most):]; len(rest) > 0 {
		var sum share
		for _, s := range rest {
			sum.Seconds, sum.Share, sum.Calls, sum.Bytes = sum.Seconds+s.Seconds, sum.Share+s.Share, sum.Calls+s.Calls, sum.Bytes+s.Bytes
		}
		line(sum, fmt.Sprintf("%d more; --json lists them", len(rest)))
	}
	w.Flush()
}

// span writes seconds for people.
func span(s float64) string {
	switch {
	case s >= 1:
		return fmt.Sprintf("%.2f s", s)
	case s >= 1e-3:
		return fmt.Sprintf("%.2f ms", s*1e3)
	}
	return fmt.Sprintf("%.1f µs", s*1e6)
}

// count writes how often a node ran in a run, which may be a fraction for one in a branch.
func count(n float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") }
