package meta

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/onnx"
	"pgregory.net/rapid"
)

var (
	seeds = flag.Int("seeds", 25, "how many graphs TestWays draws")
	from  = flag.Uint64("from", 0, "the first seed of TestWays")
)

// TestWays runs graphs in ways. The program conformance/meta does the same for longer.
func TestWays(t *testing.T) {
	dir := t.TempDir()
	for i := range *seeds {
		seed := *from + uint64(i)
		c := NewCase(seed, 20)
		r := rand.New(rand.NewPCG(seed, 64))
		for range 6 {
			if err := c.Run(NewWay(r), dir); err != nil {
				t.Errorf("seed %d: %.1000v", seed, err)
				break
			}
		}
	}
}

// A seed draws the same graph and the same inputs each time.
func TestSeed(t *testing.T) {
	for seed := range uint64(5) {
		a, b := NewCase(seed, 15), NewCase(seed, 15)
		if a.Text() != b.Text() || a.Digest() != b.Digest() {
			t.Errorf("seed %d: two graphs:\n%s\n%s", seed, a.Text(), b.Text())
		}
		if other := NewCase(seed+100, 15); a.Text() == other.Text() || a.Digest() == other.Digest() {
			t.Errorf("seeds %d and %d draw one graph", seed, seed+100)
		}
	}
}

// The text of a way is that way.
func TestParseWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := NewWay(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)))
		if again, err := ParseWay(w.String()); err != nil || again != w {
			t.Fatalf("%v: %v %v", w, again, err)
		}
	})
	for _, text := range []string{"threads=x", "speed=1", "memory=maybe"} {
		if w, err := ParseWay(text); err == nil {
			t.Errorf("%s: %v", text, w)
		}
	}
}

// A run whose results differ from the ones that count is a Difference: here one that counts is changed.
func TestRunFails(t *testing.T) {
	for seed := range uint64(8) {
		c := NewCase(seed, 10)
		for _, name := range slices.Sorted(maps.Keys(c.Sets[0].Want)) {
			v := c.Sets[0].Want[name]
			if v.Kind() == onnx.KindTensor && v.Strings() == nil && v.Tensor().Len() > 0 && v.Tensor().DType().IsFloat() {
				w := copied(v)
				spoil(w)
				if x, _ := v.Digest(); func() bool { y, _ := w.Digest(); return x == y }() {
					continue
				}
				c.Sets[0].Want[name] = w
				if err := c.Run(Way{}, t.TempDir()); err == nil {
					t.Errorf("seed %d: %s isn't as it should be, and nothing differs", seed, name)
				}
				return
			}
		}
	}
	t.Error("no graph has an output to change")
}

// Cut leaves a node that makes a case fail, and few others.
func TestCut(t *testing.T) {
	tried := 0
	for seed := uint64(0); tried < 3; seed++ {
		c := NewCase(seed, 20)
		if !has(c, "Concat") {
			continue
		}
		tried++
		small, w := Cut(c, Way{Threads: 3, Run: "stream", Look: 9, Hold: true, Repeat: 2}, func(c *Case, w Way) bool { return has(c, "Concat") && w.Look > 0 })
		if n := len(small.Model.Graph.Nodes); n > 2 || len(small.Sets) != 1 || len(small.Model.Graph.Outputs) != 1 || w != (Way{Look: 9}) {
			t.Errorf("seed %d: %d of %d nodes are left, in the way %v:\n%s", seed, n, len(c.Model.Graph.Nodes), w, small.Text())
		}
	}
}

func has(c *Case, op string) bool {
	return slices.ContainsFunc(c.Model.Graph.Nodes, func(n onnx.Node) bool { return n.Op == op })
}

func ExampleCut() {
	c := NewCase(3, 20)
	slow := func(c *Case, w Way) bool { return len(c.Model.Graph.Nodes) > 2 && w.Passes == "none" }
	c, w := Cut(c, Way{Passes: "none", Threads: 7}, slow)
	fmt.Println(len(c.Model.Graph.Nodes), w.Threads, w.Passes)
	// Output: 3 0 none
}

// Parts of a batch give parts of the results, and the other part gives others.
func TestParts(t *testing.T) {
	tried := 0
	for seed := uint64(0); tried < 3 && seed < 100; seed++ {
		c := NewCase(seed, 20)
		p := c.parts()
		if p == nil || len(p.Sets) < 2 || len(p.Model.Graph.Nodes) < 3 {
			continue
		}
		tried++
		if err := p.Run(Way{}, ""); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		p.Sets[0].Want = p.Sets[1].Want
		if err := p.Run(Way{}, ""); err == nil {
			t.Errorf("seed %d: the results of the second part pass for those of the first", seed)
		}
	}
	if tried < 3 {
		t.Errorf("%d graphs have parts", tried)
	}
}

// Some graphs have nodes that plans over chunks compute.
func TestChunked(t *testing.T) {
	arrays := 0
	for seed := range uint64(12) {
		c := NewCase(seed, 20)
		n, err := c.chunked(c.Sets[0].In, 2)
		if arrays += n; err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if arrays < 12 {
		t.Errorf("%d arrays were computed", arrays)
	}
}

// A coverage counts what cases have. It names the things that none has, and the excused ones that one has.
func TestCoverage(t *testing.T) {
	v := NewCoverage()
	all, _ := v.Missing()
	for seed := range uint64(5) {
		if err := v.Add(NewCase(seed, 20)); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	some, wrong := v.Missing()
	if len(some) >= len(all)-50 || len(some) < 20 || len(wrong) > 0 {
		t.Errorf("of %d things %d are missing, %v are there that are excused", len(all), len(some), wrong)
	}
	if table := v.Table(); len(strings.Split(table, "\n")) != len(v.hits)+1 || !strings.Contains(v.String(), "kernels: ") {
		t.Errorf("%s\n%s", v, table)
	}
	for thing := range excused {
		if _, ok := v.hits[thing]; !ok {
			t.Errorf("%v is excused, and nothing that a graph may have", thing)
		}
		v.hits[thing]++
		if _, wrong := v.Missing(); !slices.Contains(wrong, thing) {
			t.Errorf("a graph has %v, and it stays excused", thing)
		}
	}
}
