package onnx

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Mismatch is the first thing in which a run differs from a receipt: A is the receipt's, B that of the run.
type Mismatch struct {
	receipt.Difference
	Value Value // of the run, if the difference is in a value
}

// Verify runs a model on inputs, by name, and compares with a receipt. It returns nil where all is equal, else the first
// difference: of the inputs, the weights, the graph, the nodes, if the receipt has them, and the outputs. A run ends at the
// first node that differs. The run is in fixed point, or on integers, where the receipt says so. Of opts the bounds on memory,
// iterations and threads count.
//
// An error says why nothing can be decided. The receipt is of other rules, or of a plan, or of a model with other weights,
// inputs or outputs. Or the model can't be run. Or a program drew tokens, which that program alone can draw again.
func Verify(ctx context.Context, m *Model, r *receipt.Receipt, inputs map[string]Value, opts *Options) (*Mismatch, error) {
	if ctx == nil {
		return nil, noContext()
	}
	if d, err := m.isOf(r, inputs, m.Digests); d != nil || err != nil {
		return d, err
	}
	s, err := sessionOf(m, r)
	if err != nil {
		return nil, err
	}
	return s.verify(ctx, r, inputs, *cmp.Or(opts, new(Options)))
}

// sessionOf makes the session of a receipt's profile.
func sessionOf(m *Model, r *receipt.Receipt) (*Session, error) {
	switch {
	case r.Profile.Mode == receipt.Integers:
		return NewIntegerSession(m)
	case r.Profile.Fixed == "":
		return NewSession(m)
	}
	d, err := dtype.Parse(r.Profile.Fixed)
	if err != nil {
		return nil, failf("the receipt is of a run in %.40q, which is no format", r.Profile.Fixed)
	}
	return NewFixedSession(m, d)
}

// verify is Verify for a model that is the receipt's.
func (s *Session) verify(ctx context.Context, r *receipt.Receipt, inputs map[string]Value, o Options) (*Mismatch, error) {
	var own receipt.Receipt
	o = Options{MaxMemory: o.MaxMemory, MaxIterations: o.MaxIterations, Threads: o.Threads, Progress: o.Progress, Receipt: &own, ReceiptNodes: len(r.Nodes) > 0}
	c := &recorder{want: r.Nodes}
	o.record = c
	out, err := s.RunValues(ctx, inputs, &o)
	if c.found != nil {
		return c.found, nil
	}
	if err != nil {
		return nil, err
	}
	sampling := r.Sampling
	own.Sampling = sampling
	d, err := receipt.Compare(r, &own)
	if err != nil {
		return nil, err
	}
	if d == nil && len(own.Nodes) == 0 && len(r.Nodes) > 0 { // Compare passes by a list that there isn't
		d = r.Nodes[0].Differs(&receipt.Node{})
	}
	if d == nil {
		d = r.Check()
	}
	switch {
	case d != nil:
		found := &Mismatch{Difference: *d}
		for name, v := range out {
			if d.What == fmt.Sprintf("output %q", name) {
				found.Value = v
			}
		}
		return found, nil
	case sampling != nil:
		return nil, failf("a program drew tokens by the outputs of the model, which are equal; the program alone can draw them again")
	}
	return nil, nil
}

// isOf compares a model and inputs with a receipt, before a run.
func (m *Model) isOf(r *receipt.Receipt, inputs map[string]Value, digests func() (receipt.Program, error)) (*Mismatch, error) {
	switch {
	case r == nil:
		return nil, failf("%w: there is no receipt: it is nil", tensor.ErrValue)
	case r.Kind != receipt.Model:
		return nil, failf("the receipt is of a %s, not of a model", r.Kind)
	case r.Rules != receipt.Rules:
		return nil, failf("the receipt is of version %d of the rules, this program of version %d, by which results may differ", r.Rules, receipt.Rules)
	}
	p, err := digests()
	if err != nil {
		return nil, err
	}
	lists := []struct {
		kind       string
		want, have []string
	}{{"weight", namesOf(r.Program.Weights), namesOf(p.Weights)}, {"input", namesOf(r.Inputs), nil}, {"output", namesOf(r.Outputs), nil}}
	for _, v := range m.Graph.Inputs {
		lists[1].have = append(lists[1].have, v.Name)
	}
	for _, v := range m.Graph.Outputs {
		lists[2].have = append(lists[2].have, v.Name)
	}
	for _, l := range lists {
		for _, name := range l.want {
			if !slices.Contains(l.have, name) {
				return nil, failf("the receipt has the %s %.100q, and the model hasn't: it is of another model", l.kind, name)
			}
		}
	}
	before := receipt.Receipt{Kind: r.Kind, Rules: r.Rules, Profile: r.Profile, Program: p}
	for i := range m.Graph.Inputs {
		name := m.Graph.Inputs[i].Name
		v, ok := inputs[name]
		if !ok || !counts(&v) {
			continue
		}
		item := receipt.Item{Name: name, Type: v.String()}
		if err := digestInto(&item, &v); err != nil {
			return nil, in(fmt.Sprintf("input %q", name), err)
		}
		before.Inputs = append(before.Inputs, item)
	}
	for _, item := range r.Inputs {
		if v, ok := inputs[item.Name]; !ok || !v.known() {
			return nil, failf("no value for the input %.100q, %s in the receipt", item.Name, item.Type)
		}
	}
	d, err := receipt.Compare(&receipt.Receipt{Kind: r.Kind, Rules: r.Rules, Profile: r.Profile, Program: r.Program, Inputs: r.Inputs}, &before)
	if d == nil {
		return nil, err
	}
	found := &Mismatch{Difference: *d}
	for name, v := range inputs {
		if d.What == fmt.Sprintf("input %q", name) {
			found.Value = v
		}
	}
	for i := range m.Graph.Initializers {
		if t := &m.Graph.Initializers[i]; d.What == fmt.Sprintf("weight %q", t.Name) {
			err = m.use(func() (err error) {
				found.Value, err = m.elements(t)
				return err
			})
		}
	}
	return found, err
}

func namesOf(list []receipt.Item) []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names
}

// compare compares a node that is hashed with the one that is wanted.
func (c *recorder) compare(h *hashing) error {
	n, want := &h.node, &receipt.Node{}
	if h.at < len(c.want) {
		want = &c.want[h.at]
	}
	d := want.Differs(n)
	if d == nil {
		return nil
	}
	c.found = &Mismatch{Difference: *d}
	for i := range h.held {
		if v := &h.held[i]; want.Node == n.Node && i < len(want.Results) && want.Results[i] != n.Results[i] {
			if v.isTensor() {
				a, err := tensor.Clone(v.a)
				if err != nil {
					return err
				}
				c.found.Value = Value{a: a, text: v.text}
			}
			break
		}
	}
	return errDiffers
}

// VerifyNode runs one node of the model's graph and compares with a receipt that has the nodes. The node is given by its
// name, or by the name of a result. Inputs has the values that the node reads, by name, but weights and constants; others
// in it are passed by. They are compared, too. The receipt must have all results of the node, and the same digests
// where they are outputs of the model. A node of a run on integers may be a part of a step, so such a receipt is refused. It
// returns the results of Verify.
func VerifyNode(ctx context.Context, m *Model, r *receipt.Receipt, node string, inputs map[string]Value, opts *Options) (*Mismatch, error) {
	if ctx == nil {
		return nil, noContext()
	}
	if m == nil || m.Graph == nil || r == nil {
		return nil, failf("%w: there is no model with a graph, or no receipt", tensor.ErrValue)
	}
	if r.Profile.Mode == receipt.Integers {
		return nil, failf("the receipt is of a run on integers, whose steps are of several nodes; Verify runs them together")
	}
	if len(r.Nodes) == 0 {
		return nil, failf("the receipt has no nodes: Options.ReceiptNodes adds them")
	}
	g := m.Graph
	at := slices.IndexFunc(g.Nodes, func(n Node) bool { return n.Name == node && node != "" })
	if at < 0 {
		at = slices.IndexFunc(g.Nodes, func(n Node) bool { return slices.Contains(n.Outputs, node) && node != "" })
	}
	if at < 0 {
		return nil, failf("no node of the graph has the name %.100q, or a result of this name", node)
	}
	n := &g.Nodes[at]
	label := n.label(at, cmp.Or(m.Opset(n.Domain), assumed[n.Domain]))
	want, d := nodeIn(r, label)
	switch {
	case d != nil:
		return &Mismatch{Difference: *d}, nil
	case want == nil:
		return nil, failf("the receipt has no %s: it is a constant or calls a function, or it is of another model", label)
	}
	reads, err := readsOf(g, at)
	if err != nil {
		return nil, err
	}
	by, err := m.makers()
	if err != nil {
		return nil, err
	}
	given := make(map[string]Value)
	ours := receipt.Node{Node: label}
	theirs := receipt.Node{Node: label}
	for _, name := range reads {
		v, ok := inputs[name]
		if !ok {
			return nil, failf("no value for %.100q, which %s reads", name, label)
		}
		given[name] = v
		item := receipt.Item{Name: name, Type: v.String()}
		if err := digestInto(&item, &v); err != nil {
			return nil, in(fmt.Sprintf("input %q", name), err)
		}
		have, d := resultOf(m, r, by, name)
		switch {
		case d != nil:
			return &Mismatch{Difference: *d}, nil
		case have == nil:
			return nil, failf("the receipt doesn't have %.100q, which %s reads", name, label)
		}
		ours.Results, theirs.Results = append(ours.Results, item), append(theirs.Results, *have)
	}
	if d := theirs.Differs(&ours); d != nil {
		d.What = strings.Replace(d.What, ": result ", ": input ", 1)
		return &Mismatch{Difference: *d}, nil
	}
	mis, err := m.isOf(&receipt.Receipt{Kind: r.Kind, Rules: r.Rules, Profile: r.Profile, Program: r.Program}, nil, m.Digests)
	if mis != nil || err != nil {
		return mis, err
	}
	gives := slices.DeleteFunc(slices.Clone(n.Outputs), func(name string) bool { return name == "" })
	part, err := Extract(m, reads, gives)
	if err != nil {
		return nil, err
	}
	part.Operators = m.Operators
	s, err := sessionOf(part, r)
	if err != nil {
		return nil, err
	}
	own := *cmp.Or(opts, new(Options))
	own.Receipt, own.ReceiptNodes, own.Observe = nil, false, nil
	out, err := s.RunValues(ctx, given, &own)
	if err != nil {
		return nil, err
	}
	made := receipt.Node{Node: label}
	for _, name := range gives {
		v := out[name]
		item := receipt.Item{Name: name, Type: v.String()}
		if err := digestInto(&item, &v); err != nil {
			return nil, err
		}
		made.Results = append(made.Results, item)
	}
	if d = want.Differs(&made); d == nil {
		d = asOutputs(m, r, &made)
	}
	if d == nil {
		d = r.Check()
	}
	if d == nil {
		return nil, nil
	}
	found := &Mismatch{Difference: *d}
	for name, v := range out {
		if d.What == fmt.Sprintf("%s: result %q", label, name) {
			found.Value = v
		}
	}
	return found, nil
}

// sole finds the one element of a receipt's list, nil if there is none. A receipt that has two says two things of one value.
func sole[T any](what string, list []T, is func(*T) bool) (found *T, d *receipt.Difference) {
	for i := range list {
		switch {
		case !is(&list[i]):
		case found != nil:
			return nil, &receipt.Difference{What: "the number of entries for " + what, A: "two or more", B: "one"}
		default:
			found = &list[i]
		}
	}
	return found, nil
}

func nodeIn(r *receipt.Receipt, label string) (*receipt.Node, *receipt.Difference) {
	return sole(label, r.Nodes, func(n *receipt.Node) bool { return n.Node == label })
}

func itemIn(kind string, list []receipt.Item, name string) (*receipt.Item, *receipt.Difference) {
	return sole(fmt.Sprintf("%s %q", kind, name), list, func(item *receipt.Item) bool { return item.Name == name })
}

// asOutputs returns the first difference between the results of a node and the outputs of the model that they are.
func asOutputs(m *Model, r *receipt.Receipt, n *receipt.Node) *receipt.Difference {
	for _, got := range n.Results {
		if !slices.ContainsFunc(m.Graph.Outputs, func(v ValueInfo) bool { return v.Name == got.Name }) {
			continue
		}
		want, d := itemIn("output", r.Outputs, got.Name)
		switch {
		case d != nil:
			return d
		case want == nil:
			return &receipt.Difference{What: fmt.Sprintf("output %q", got.Name), B: got.String()}
		case *want != got:
			return &receipt.Difference{What: fmt.Sprintf("output %q", got.Name), A: want.String(), B: got.String()}
		}
	}
	return nil
}

// readsOf returns the values that node at of a graph reads, itself or in graphs inside it, but weights and constants.
func readsOf(g *Graph, at int) (list []string, err error) {
	p, err := resolve(g)
	if err != nil {
		return nil, err
	}
	fixed := make(map[string]bool)
	for i := range g.Initializers {
		fixed[g.Initializers[i].Name] = true
	}
	for i := range g.Sparse {
		fixed[g.Sparse[i].Values.Name] = true
	}
	for i := range g.Inputs {
		delete(fixed, g.Inputs[i].Name)
	}
	for i := range g.Nodes {
		if g.Nodes[i].Op == "Constant" {
			for _, name := range g.Nodes[i].Outputs {
				fixed[name] = true
			}
		}
	}
	for i := range p.steps {
		if s := &p.steps[i]; s.index == at {
			for id := range s.reads() {
				if name := p.names[id]; !fixed[name] && !slices.Contains(list, name) {
					list = append(list, name)
				}
			}
		}
	}
	return list, nil
}

// A maker is the place of a result in a receipt: the label of a node, and the result's place among that node's.
type maker struct {
	label string
	at    int
}

// makers has the makers of the values of the model's graph. Of a node that calls a function it is one of the function's nodes.
func (m *Model) makers() (list map[string]maker, err error) {
	err = m.use(func() error {
		c, _, err := m.compile()
		if err != nil {
			return err
		}
		list = make(map[string]maker, len(c.names))
		own := make(map[string]int, len(c.names)) // the values of functions have later numbers
		for id, name := range c.names {
			if _, ok := own[name]; !ok {
				own[name] = id
			}
		}
		for i := range c.steps {
			s, at := &c.steps[i], 0
			for _, id := range s.out {
				if id < 0 {
					continue
				}
				if name := c.names[id]; own[name] == id {
					list[name] = maker{c.label(s), at}
				}
				at++
			}
		}
		return nil
	})
	return list, err
}

// resultOf finds an input of the model's graph, or the result of one of its nodes, in a receipt; nil if it isn't there.
func resultOf(m *Model, r *receipt.Receipt, by map[string]maker, name string) (*receipt.Item, *receipt.Difference) {
	if slices.ContainsFunc(m.Graph.Inputs, func(v ValueInfo) bool { return v.Name == name }) {
		return itemIn("input", r.Inputs, name)
	}
	n, d := nodeIn(r, by[name].label)
	if n == nil || by[name].at >= len(n.Results) || n.Results[by[name].at].Name != name {
		return nil, d
	}
	return &n.Results[by[name].at], nil
}
