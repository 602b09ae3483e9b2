package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/layout"
	"pgregory.net/rapid"
)

// residual is a block with an edge past two layers, a cycle, a node that leads to itself, and one with two lines of Detail.
var residual = Graph{
	Title: "a block, a cycle & a loop",
	Nodes: []Node{{"input", "float32[1,3]", -1}, {"Conv", "3×3", 0}, {"Relu", "", 1}, {"Conv", "3×3\nfloat32[1,16,8,8]", 0}, {"Add", "", 2},
		{"If", "else <branch>", 3}, {"output", "", -1}},
	Edges: []Edge{{0, 1, "x"}, {1, 2, ""}, {2, 3, ""}, {3, 4, ""}, {0, 4, "past"}, {4, 5, ""}, {5, 6, ""}, {5, 3, "again"}, {2, 2, ""}},
}

func TestGraphPicture(t *testing.T) {
	var b bytes.Buffer
	if err := residual.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "graph.svg", b.Bytes())
	if err := xml.Unmarshal(b.Bytes(), new(any)); err != nil {
		t.Error(err)
	}
}

// In any graph nodes of a layer don't overlap, edges lead down but for those that close a cycle, nothing is beside the picture, and it is
// the same again.
func TestGraphPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &Graph{Nodes: make([]Node, rapid.IntRange(1, 30).Draw(t, "nodes"))}
		for i := range g.Nodes {
			g.Nodes[i].Label = strings.Repeat("x", rapid.IntRange(0, 80).Draw(t, "label"))
		}
		node := rapid.IntRange(0, len(g.Nodes)-1)
		acyclic := rapid.Bool().Draw(t, "acyclic")
		for range rapid.IntRange(0, 60).Draw(t, "edges") {
			e := Edge{From: node.Draw(t, "from"), To: node.Draw(t, "to")}
			if acyclic && e.From >= e.To {
				continue
			}
			g.Edges = append(g.Edges, e)
		}
		p, err := g.place()
		if err != nil {
			t.Fatal(err)
		}
		for k, l := range p.layers {
			for j, i := range l {
				if it := &p.items[i]; it.layer != k {
					t.Fatalf("item %d of layer %d stands in layer %d", i, it.layer, k)
				} else if j > 0 {
					if b := &p.items[l[j-1]]; b.x+b.w/2 >= it.x-it.w/2 {
						t.Fatalf("layer %d: item %d at %d, %d wide, touches %d at %d, %d wide", k, l[j-1], b.x, b.w, i, it.x, it.w)
					}
				}
			}
		}
		for i := range g.Edges {
			from, to := p.ends(i)
			if from != to && p.items[from].layer >= p.items[to].layer {
				t.Fatalf("edge %d leads from layer %d to %d", i, p.items[from].layer, p.items[to].layer)
			}
			if acyclic && p.back[i] {
				t.Fatalf("edge %d of a graph without cycles points up", i)
			}
		}
		wide := p.scene().w
		for i, it := range p.items {
			if margin+it.x+margin > wide {
				t.Fatalf("item %d is at %d of %d", i, margin+it.x, wide)
			}
		}
		var a, b bytes.Buffer
		if g.WriteSVG(&a) != nil || g.WriteSVG(&b) != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Fatal("the picture is another one the second time")
		}
	})
}

// A chain of a thousand nodes with a shortcut past each three has a picture that a person can scroll through: one box wide,
// and 60 pixels high for each node.
func TestGraphOfAThousand(t *testing.T) {
	g := &Graph{Title: "a thousand"}
	for i := range 1000 {
		g.Nodes = append(g.Nodes, Node{Label: "Conv", Group: i % 3})
		if i > 0 {
			g.Edges = append(g.Edges, Edge{From: i - 1, To: i})
		}
		if i%3 == 0 && i > 2 {
			g.Edges = append(g.Edges, Edge{From: i - 3, To: i})
		}
	}
	p, err := g.place()
	if err != nil {
		t.Fatal(err)
	}
	s := p.scene()
	if s.w > 250 || s.h > 60*1000+200 {
		t.Errorf("the picture is %d wide and %d high", s.w, s.h)
	}
	if n := len(s.svg()); n > 400_000 {
		t.Errorf("it takes %d bytes", n)
	}
}

func TestGraphRefuses(t *testing.T) {
	chain := &Graph{Nodes: make([]Node, 10_000)}
	for i := range chain.Nodes {
		if i > 0 {
			chain.Edges = append(chain.Edges, Edge{From: i - 1, To: i})
			chain.Edges = append(chain.Edges, Edge{From: 0, To: i})
		}
	}
	for _, c := range []struct {
		g    *Graph
		want error
		says string
	}{
		{&Graph{Nodes: make([]Node, 2), Edges: []Edge{{From: 0, To: 2}}}, layout.ErrShape, "edge 0 goes from node 0 to node 2; there are 2 nodes"},
		{&Graph{Edges: []Edge{{From: -1}}}, layout.ErrShape, "there are 0 nodes"},
		{&Graph{Nodes: make([]Node, MaxNodes+1)}, layout.ErrLimit, "too many"},
		{chain, layout.ErrLimit, "too much"},
	} {
		if err := c.g.WriteSVG(io.Discard); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
	if err := new(Graph).WriteSVG(nil); err == nil {
		t.Error("it writes to nothing")
	}
	if err := new(Graph).WriteSVG(io.Discard); err != nil {
		t.Error(err)
	}
}
