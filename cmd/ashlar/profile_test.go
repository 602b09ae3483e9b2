package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/onnx"
)

func TestProfile(t *testing.T) {
	inRoot(t)
	dir := t.TempDir()
	trace, all := filepath.Join(dir, "t.json"), filepath.Join(dir, "all.npz")
	run := []string{"run", "testdata/digits.onnx", "testdata/seven.png", "--repeat", "3", "--profile", "--trace", trace, "--all", all}
	c := newCall(nil).with(run...)
	if c.code != 0 || !strings.Contains(c.out.String(), "\n3 runs: median ") || !strings.Contains(c.out.String(), "conv1 (Conv)\n") ||
		!strings.Contains(c.out.String(), "\nthe mean of all runs but the first\n") {
		t.Fatalf("exit %d: %s%s", c.code, c.out.String(), c.err.String())
	}
	var events struct {
		TraceEvents []traceEvent
	}
	b, err := os.ReadFile(trace)
	if err != nil || json.Unmarshal(b, &events) != nil {
		t.Fatalf("%v: %s", err, b)
	}
	var names []string
	for _, e := range events.TraceEvents {
		names = append(names, e.Name)
		if e.Phase != "X" || e.Time < 0 || e.Start < 0 {
			t.Errorf("%+v", e)
		}
	}
	want := []string{"conv1", "conv2", "maxpool1", "flatten1", "gemm1", "gemm2", "softmax1"}
	if !slices.Equal(names, want) {
		t.Errorf("the trace has %v, want %v", names, want)
	}
	z, err := npy.OpenZip(all, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if got := z.Names(); !slices.Equal(got, []string{"relu1", "relu2", "maxpool1", "flatten1", "relu3", "gemm2", "probability"}) {
		t.Errorf("the results are %v", got)
	}

	c = newCall(nil).with(append(run, "--json", "--force")...)
	var r report
	if err := json.Unmarshal(c.out.Bytes(), &r); err != nil || c.code != 0 || len(r.Seconds.Runs) != 3 || r.Profile == nil {
		t.Fatalf("exit %d, %v: %s", c.code, err, c.out.String())
	}
	sum := 0.0
	for _, o := range r.Profile.Operators {
		sum += o.Share
	}
	if len(r.Profile.Nodes) != 7 || len(r.Profile.Operators) != 5 || sum < 0.999 || sum > 1.001 {
		t.Errorf("%+v", r.Profile)
	}
	for _, flags := range [][]string{{"--repeat", "0"}, {"--repeat", "-1"}, {"--all", "x.npy"}} {
		if c := newCall(nil).with(append([]string{"run", "testdata/digits.onnx", "testdata/seven.png"}, flags...)...); c.code != 2 {
			t.Errorf("%v: exit %d", flags, c.code)
		}
	}
}

// The time of a node that runs a graph is its own, without the nodes inside.
func TestProfileInside(t *testing.T) {
	loop, inner, add := &onnx.Node{Op: "Loop", Name: "loop"}, &onnx.Node{Op: "Neg"}, &onnx.Node{Op: "Add"}
	p := &profile{nodes: make(map[*onnx.Node]*nodeTime), runs: 1}
	for _, r := range []onnx.NodeRun{
		{Node: add, Index: 0, Time: 5},
		{Node: inner, Index: 0, Depth: 1, Time: 10, Bytes: 8},
		{Node: inner, Index: 0, Depth: 1, Time: 12, Bytes: 8},
		{Node: loop, Index: 1, Time: 30},
		{Node: add, Index: 0, Time: 7},
	} {
		p.observe(&r)
	}
	_, nodes := p.shares()
	var got []string
	for _, n := range nodes {
		got = append(got, n.Name+" "+span(n.Seconds)+" "+count(n.Calls))
	}
	if want := []string{"node 0 0.0 µs 2", "node 0 0.0 µs 2", "loop 0.0 µs 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for n, want := range map[*onnx.Node]time.Duration{loop: 8, inner: 22, add: 12} {
		if p.nodes[n].time != want {
			t.Errorf("%s took %d, want %d", n.Op, p.nodes[n].time, want)
		}
	}
}

// The first of several runs isn't in the mean: it takes memory and starts threads.
func TestProfileLeavesOutTheFirstRun(t *testing.T) {
	n := &onnx.Node{Op: "Add", Name: "add"}
	for runs, want := range map[int]string{1: "9.00 ms 1 8", 2: "1.00 ms 1 8", 4: "2.00 ms 1 8"} {
		p := &profile{nodes: make(map[*onnx.Node]*nodeTime)}
		for i := range runs {
			p.begin()
			p.observe(&onnx.NodeRun{Node: n, Time: []time.Duration{9, 1, 2, 3}[i] * time.Millisecond, Bytes: 8})
		}
		_, nodes := p.shares()
		if got := fmt.Sprint(span(nodes[0].Seconds), " ", count(nodes[0].Calls), " ", nodes[0].Bytes); len(nodes) != 1 || got != want {
			t.Errorf("%d runs: %s, want %s", runs, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	inRoot(t)
	write := func(name, op string, attrs ...onnx.Attribute) string {
		b := onnx.NewBuilder("odd")
		b.Output(b.Node(op, []string{b.Input("x", dtype.Float32, 2)}, attrs...), dtype.Float32, 2)
		m, err := b.Model(13)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.Join(t.TempDir(), name)
		file, err := onnx.Encode(m)
		if err == nil {
			err = os.WriteFile(name, file, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	bad := write("bad.onnx", "Nonsense")
	c := newCall(nil).with("check", "testdata/digits.onnx")
	if c.code != 0 || c.out.String() != "testdata/digits.onnx: it can be run\n" {
		t.Errorf("exit %d: %s%s", c.code, c.out.String(), c.err.String())
	}
	c = newCall(nil).with("check", bad, "testdata/digits.onnx", "testdata/seven.png")
	if c.code != 1 || !strings.Contains(c.out.String(), "Nonsense") || !strings.Contains(c.out.String(), "digits.onnx: it can be run") ||
		!strings.Contains(c.err.String(), "seven.png: it isn't an ONNX model") {
		t.Errorf("exit %d: %s%s", c.code, c.out.String(), c.err.String())
	}
	c = newCall(nil).with("check", write("axis.onnx", "Softmax", onnx.IntAttr("axis", 1))) // the declared shape has one axis
	if c.code != 1 || !strings.Contains(c.err.String(), "(Softmax, opset 13): op.Softmax: axis 1 of a tensor of rank 1") {
		t.Errorf("exit %d: %s%s", c.code, c.out.String(), c.err.String())
	}
}
