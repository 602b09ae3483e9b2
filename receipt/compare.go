package receipt

import (
	"fmt"
	"slices"
	"strings"
)

// A Difference is the first difference of two receipts.
type Difference struct {
	What string // input, weight, graph, node, output, and so on, with the name
	A, B string // the value in each: a digest, or a word; "": none
}

// String names the difference and both sides.
func (d *Difference) String() string {
	side := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return s
	}
	return fmt.Sprintf("%s differs: %s and %s", d.What, side(d.A), side(d.B))
}

// Compare returns the first difference of two receipts, nil if there is none. It compares the profile, the inputs, the
// weights, the graph, the seeds, the nodes, the outputs and the tokens, in this order: a difference comes before others that
// follow from it. Nodes count only if both receipts have them, and so do chunks between the stages of a plan. For receipts
// of different kinds or rules it returns an error.
func Compare(a, b *Receipt) (*Difference, error) {
	switch {
	case a.Kind != b.Kind:
		return nil, fail("one receipt is of a %s, the other of a %s", a.Kind, b.Kind)
	case a.Rules != b.Rules:
		return nil, fail("the receipts are of versions %d and %d of the rules, by which results may differ", a.Rules, b.Rules)
	}
	if a.Profile.Mode != b.Profile.Mode {
		return &Difference{"the mode", a.Profile.Mode, b.Profile.Mode}, nil
	}
	if a.Profile.Fixed != b.Profile.Fixed {
		return &Difference{"the fixed-point format", a.Profile.Fixed, b.Profile.Fixed}, nil
	}
	d := lists("opset", func(o *Opset) string { return fmt.Sprintf("%q version %d", o.Domain, o.Version) }, a.Profile.Opsets, b.Profile.Opsets)
	if d == nil {
		d = lists("own operator", func(o *string) string { return *o }, a.Profile.Operators, b.Profile.Operators)
	}
	if d != nil {
		return d, nil
	}
	for _, x := range []struct {
		kind string
		a, b []Item
	}{{"input", a.Inputs, b.Inputs}, {"weight", a.Program.Weights, b.Program.Weights}} {
		if d := items(x.kind+" ", x.a, x.b); d != nil {
			return d, nil
		}
	}
	if a.Program.Graph != b.Program.Graph {
		return &Difference{"the graph", a.Program.Graph.String(), b.Program.Graph.String()}, nil
	}
	if d := lists("seed", func(s *Seed) string { return s.Seed + " by " + s.From + " of " + s.Node }, a.Seeds, b.Seeds); d != nil {
		return d, nil
	}
	if x, y := a.Nodes, b.Nodes; len(x) > 0 && len(y) > 0 {
		if a.Kind == Plan && slices.ContainsFunc(x, between) != slices.ContainsFunc(y, between) {
			x, y = slices.DeleteFunc(slices.Clone(x), between), slices.DeleteFunc(slices.Clone(y), between)
		}
		for i := range max(len(x), len(y)) {
			if d := nodeAt(x, i).Differs(nodeAt(y, i)); d != nil {
				return d, nil
			}
		}
	}
	if d := items("output ", a.Outputs, b.Outputs); d != nil {
		return d, nil
	}
	var s, t Sampling
	if a.Sampling != nil {
		s = *a.Sampling
	}
	if b.Sampling != nil {
		t = *b.Sampling
	}
	if s.Settings != t.Settings || (a.Sampling == nil) != (b.Sampling == nil) {
		return &Difference{"the digest of the sampling settings", s.Settings.String(), t.Settings.String()}, nil
	}
	if s.Tokens != t.Tokens {
		return &Difference{"the digest of the tokens", s.Tokens.String(), t.Tokens.String()}, nil
	}
	if d, e := a.Root(), b.Root(); d != e {
		return &Difference{"the root", d.String(), e.String()}, nil
	}
	return nil, nil
}

// nodeAt returns node i, the zero Node beyond the last.
func nodeAt(list []Node, i int) *Node {
	if i < len(list) {
		return &list[i]
	}
	return &Node{}
}

// between reports whether a node of a plan is a chunk between its stages.
func between(n Node) bool { return strings.HasPrefix(n.Node, "between ") }

// Differs returns the first difference between the results of two nodes, nil if there is none.
func (n *Node) Differs(o *Node) *Difference {
	if n.Node != o.Node {
		return &Difference{"the order of nodes", n.Node, o.Node}
	}
	return items(n.Node+": result ", n.Results, o.Results)
}

// lists compares lists of facts by place.
func lists[T comparable](kind string, text func(*T) string, a, b []T) *Difference {
	side := func(list []T, i int) string {
		if i >= len(list) {
			return ""
		}
		return text(&list[i])
	}
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return &Difference{fmt.Sprintf("%s %d", kind, i), side(a, i), side(b, i)}
		}
	}
	return nil
}

// items compares lists by place.
func items(kind string, a, b []Item) *Difference {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return &Difference{fmt.Sprintf("%s%q", kind, b[i].Name), "", b[i].String()}
		case i >= len(b):
			return &Difference{fmt.Sprintf("%s%q", kind, a[i].Name), a[i].String(), ""}
		case a[i].Name != b[i].Name:
			return &Difference{fmt.Sprintf("the name of %s%d", kind, i), a[i].Name, b[i].Name}
		case a[i] != b[i]:
			return &Difference{fmt.Sprintf("%s%q", kind, a[i].Name), a[i].String(), b[i].String()}
		}
	}
	return nil
}

// String returns the type and the digest.
func (i Item) String() string { return i.Type + " " + i.Digest.String() }
