package onnx

import "fmt"

// A program is a graph with names resolved: values are numbered, each node says which it reads and writes.
type program struct {
	names   []string // of the values
	inits   []int    // the value of each initializer
	inputs  []int    // of each graph input; one that is an initializer too has the same number
	given   []bool   // by value: an initializer gives it, so that as an input it is optional
	outputs []int
	steps   []step
}

// A step is a node of the program.
type step struct {
	node  *Node
	index int   // in the graph
	in    []int // values read; -1 where an optional input is left out
	out   []int // values written; -1 where an output isn't wanted
	drop  []int // values that nothing reads after this step, none of them an output of the graph
}

// resolve checks that every value of g is given once and before it is read, and returns the program.
func resolve(g *Graph) (*program, error) {
	p := &program{steps: make([]step, 0, len(g.Nodes))}
	r := resolver{g: g, id: make(map[string]int, len(g.Inputs)+len(g.Initializers)+len(g.Nodes))}
	for i := range g.Inputs {
		id, err := r.define(g.Inputs[i].Name, origin{"input", i})
		if err != nil {
			return nil, err
		}
		p.inputs = append(p.inputs, id)
	}
	inits := make(map[int]bool, len(g.Initializers))
	for i := range g.Initializers {
		name := g.Initializers[i].Name
		id, isInput := r.id[name]
		if !isInput || inits[id] {
			var err error
			if id, err = r.define(name, origin{"initializer", i}); err != nil {
				return nil, err
			}
		}
		inits[id] = true
		p.inits = append(p.inits, id)
	}
	for i := range g.Sparse {
		if _, err := r.define(g.Sparse[i].Values.Name, origin{"sparse initializer", i}); err != nil {
			return nil, err
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		s := step{node: n, index: i}
		for j, name := range n.Inputs {
			id, ok := r.id[name]
			switch {
			case name == "":
				id = -1
			case !ok:
				return nil, in(n.label(i, 0), r.undefined(i, j))
			}
			s.in = append(s.in, id)
		}
		for _, name := range n.Outputs {
			id := -1
			if name != "" {
				var err error
				if id, err = r.define(name, origin{"node", i}); err != nil {
					return nil, in(n.label(i, 0), err)
				}
			}
			s.out = append(s.out, id)
		}
		p.steps = append(p.steps, s)
	}
	if len(g.Outputs) == 0 {
		return nil, failf("the graph has no outputs")
	}
	for i := range g.Outputs {
		id, ok := r.id[g.Outputs[i].Name]
		if !ok {
			return nil, failf("output %d %.100q is given a value by no node, input or initializer", i, g.Outputs[i].Name)
		}
		p.outputs = append(p.outputs, id)
	}
	p.names = r.names
	p.given = make([]bool, len(p.names))
	for id := range inits {
		p.given[id] = true
	}
	p.lifetimes()
	return p, nil
}

// lifetimes fills in the drops: each value goes after the last step that reads it, or at once if none does.
func (p *program) lifetimes() {
	keep := make([]bool, len(p.names))
	for _, ids := range [][]int{p.inputs, p.inits, p.outputs} {
		for _, id := range ids {
			keep[id] = true
		}
	}
	for i := len(p.steps) - 1; i >= 0; i-- {
		s := &p.steps[i]
		s.drop = nil
		for _, ids := range [][]int{s.in, s.out} {
			for _, id := range ids {
				if id >= 0 && !keep[id] {
					keep[id] = true
					s.drop = append(s.drop, id)
				}
			}
		}
	}
}

// origin says what gives a value.
type origin struct {
	kind  string
	index int
}

// A resolver numbers names while it goes through a graph.
type resolver struct {
	g      *Graph
	id     map[string]int
	names  []string
	origin []origin
}

// define gives a name the next number.
func (r *resolver) define(name string, from origin) (int, error) {
	if name == "" {
		return 0, failf("%s %d has no name", from.kind, from.index)
	}
	if id, ok := r.id[name]; ok {
		return 0, failf("value %.100q is given by %s and again by %s; a value is given once", name, r.say(r.origin[id]), r.say(from))
	}
	id := len(r.names)
	r.id[name] = id
	r.names = append(r.names, name)
	r.origin = append(r.origin, from)
	return id, nil
}

func (r *resolver) say(o origin) string {
	if o.kind == "node" {
		return r.g.Nodes[o.index].label(o.index, 0)
	}
	return fmt.Sprintf("%s %d", o.kind, o.index)
}

// undefined says why input j of node i has no value at that point: nothing gives it, a later node does, or a later node
// that itself waits for node i.
func (r *resolver) undefined(i, j int) error {
	name := r.g.Nodes[i].Inputs[j]
	by := make(map[string]int) // the node that gives a value
	for k := range r.g.Nodes {
		for _, out := range r.g.Nodes[k].Outputs {
			by[out] = k
		}
	}
	later, ok := by[name]
	if !ok {
		return failf("input %d %.100q is given a value by no node, input or initializer", j, name)
	}
	giver := r.g.Nodes[later].label(later, 0)
	if later == i {
		return failf("input %d %.100q is an output of the node itself", j, name)
	}
	seen := make([]bool, len(r.g.Nodes))
	wait := []int{later}
	for len(wait) > 0 {
		k := wait[len(wait)-1]
		wait = wait[:len(wait)-1]
		if seen[k] {
			continue
		}
		seen[k] = true
		for _, in := range r.g.Nodes[k].Inputs {
			if from, ok := by[in]; ok && in != "" {
				wait = append(wait, from)
			}
		}
	}
	if seen[i] {
		return failf("input %d %.100q comes from %s, which itself waits for this node: a cycle", j, name, giver)
	}
	return failf("input %d %.100q comes from %s, which stands later; nodes must stand in the order they can run in", j, name, giver)
}
