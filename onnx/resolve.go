package onnx

import (
	"fmt"
	"slices"
	"strings"
)

// resolve checks that every value of g is given once, and that no nodes wait for each other, and returns the program.
func resolve(g *Graph) (*program, error) { return resolveIn(g, nil, nil) }

// resolveIn resolves a graph inside a node of outer's graph. Nodes that call a function of x, which may be nil, become
// the steps of the function.
func resolveIn(g *Graph, outer *resolver, x *expansion) (*program, error) {
	p := &program{inner: outer != nil}
	r := &resolver{naming: &naming{}, x: x, nodes: g.Nodes, outer: outer, id: make(map[string]int, len(g.Inputs)+len(g.Initializers)+len(g.Nodes))}
	if outer != nil {
		r.depth, r.call = outer.depth+1, outer.call
		p.site = r.call
	}
	if r.depth > maxNested {
		return nil, failf("graphs stand inside each other more than %d deep", maxNested)
	}
	if r.call != nil {
		if err := x.spend(4 + 2*len(g.Inputs) + 2*len(g.Outputs) + 4*len(g.Initializers) + 4*len(g.Sparse)); err != nil {
			return nil, err
		}
	}
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
		t := &g.Sparse[i]
		id, isInput := r.id[t.Values.Name]
		if !isInput || inits[id] {
			var err error
			if id, err = r.define(t.Values.Name, origin{"sparse initializer", i}); err != nil {
				return nil, err
			}
		}
		inits[id] = true
		p.steps = append(p.steps, step{node: constantOf(t), index: -1 - i, call: r.call, out: []int{id}, spare: isInput})
	}
	if err := r.program(p); err != nil {
		return nil, err
	}
	if err := r.sort(p); err != nil {
		return nil, err
	}
	if len(g.Outputs) == 0 {
		return nil, failf("the graph has no outputs")
	}
	for i := range g.Outputs {
		id, ok := r.find(g.Outputs[i].Name)
		if !ok {
			return nil, failf("output %d %.100q is given a value by no node, input or initializer%s", i, g.Outputs[i].Name, r.where())
		}
		if id < 0 {
			return nil, failf("output %d %.100q is an input of the function around that its call leaves out", i, g.Outputs[i].Name)
		}
		p.outputs = append(p.outputs, id)
	}
	p.names, p.captures = r.names, r.captures
	p.given = make([]bool, len(p.names))
	for id := range inits {
		p.given[id] = true
	}
	for i, id := range p.inputs {
		if !p.given[id] {
			p.formals, p.params = append(p.formals, id), append(p.params, i)
		}
	}
	p.lifetimes()
	return p, nil
}

// origin names the part of the graph that gives a value.
type origin struct {
	kind  string
	index int
}

// A naming numbers the values of a program.
type naming struct {
	names    []string
	origin   []origin // of a function's values those in the function
	captures []capture
}

// A resolver numbers names while it goes through a graph or a function.
type resolver struct {
	*naming
	x      *expansion // nil: there are no functions
	nodes  []Node
	outer  *resolver // of the graph around; nil for a model's and for a function
	depth  int
	id     map[string]int
	call   *callee        // of the function that the nodes stand in; nil outside
	wanted map[string]int // of a function: the outputs that no node has given yet, each with the caller's number
}

// define gives a name the next number, an output of a function that of the caller.
func (r *resolver) define(name string, from origin) (int, error) {
	if name == "" {
		return 0, failf("%s %d has no name", from.kind, from.index)
	}
	if id, ok := r.id[name]; ok {
		var first string
		if r.outer == nil && r.call != nil && slices.Contains(r.call.fn.Inputs, name) {
			first = "an input of the function"
		} else {
			first = r.say(r.origin[id])
		}
		return 0, failf("value %.100q is given by %s and again by %s; a value is given once", name, first, r.say(from))
	}
	if id, ok := r.wanted[name]; ok {
		delete(r.wanted, name)
		if id >= 0 {
			r.id[name], r.origin[id] = id, from
			return id, nil
		}
	}
	return r.add(name, from), nil
}

func (r *resolver) add(name string, from origin) int {
	id := len(r.names)
	r.id[name] = id
	r.names = append(r.names, name)
	r.origin = append(r.origin, from)
	return id
}

// find returns the number of a name. One that only a graph around gives becomes a capture.
func (r *resolver) find(name string) (int, bool) {
	if id, ok := r.id[name]; ok {
		return id, true
	}
	if r.outer == nil {
		return 0, false
	}
	from, ok := r.outer.find(name)
	if !ok || from < 0 {
		return from, ok
	}
	id := r.add(name, origin{"capture", len(r.captures)})
	r.captures = append(r.captures, capture{id, from})
	return id, true
}

// program appends the steps of r's nodes to p: first it names their outputs, then it looks up their inputs. A call of
// a function becomes the steps of the function.
func (r *resolver) program(p *program) error {
	at := len(p.steps)
	p.steps = slices.Grow(p.steps, len(r.nodes))
	called := make(map[int]*Function)
	for i := range r.nodes {
		n, err := r.bound(&r.nodes[i])
		if err != nil {
			return in(r.nodes[i].label(i, 0), err)
		}
		s := step{node: n, index: i, call: r.call}
		for _, name := range n.Outputs {
			id := -1
			if name != "" {
				if id, err = r.define(name, origin{"node", i}); err != nil {
					return in(n.label(i, 0), err)
				}
			}
			s.out = append(s.out, id)
		}
		if fn := r.x.function(n, r.call); fn != nil {
			called[i] = fn
		}
		p.steps = append(p.steps, s)
	}
	steps := p.steps[at:]
	if len(called) > 0 {
		steps, p.steps = slices.Clone(steps), p.steps[:at]
	}
	for i := range steps {
		s := &steps[i]
		var err error
		if fn := called[i]; fn != nil {
			err = r.expand(p, s, fn)
		} else if err = r.read(s); len(called) > 0 {
			p.steps = append(p.steps, *s)
		}
		if err != nil {
			return in(s.node.label(i, 0), err)
		}
	}
	return nil
}

// read fills in the inputs of a step, once all names of the graph are known.
func (r *resolver) read(s *step) error {
	for j, name := range s.node.Inputs {
		id, ok := r.find(name)
		switch {
		case name == "":
			id = -1
		case !ok:
			return failf("input %d %.100q is given a value by no node, input or initializer%s", j, name, r.where())
		}
		s.in = append(s.in, id)
	}
	for j := range s.node.Attributes {
		a := &s.node.Attributes[j]
		g, ok := a.Value.(*Graph)
		if !ok || g == nil {
			continue
		}
		outer, err := r.around(g)
		var p *program
		if err == nil {
			p, err = resolveIn(g, outer, r.x)
		}
		if err != nil {
			return in(named("attribute", a.Name, j), err)
		}
		s.bodies = append(s.bodies, &compiled{program: p, g: g, attr: a.Name})
	}
	return nil
}

// where ends a sentence about a name that nothing gives.
func (r *resolver) where() string {
	if r.outer == nil {
		return ""
	}
	return ", here or in a graph around"
}

func (r *resolver) say(o origin) string {
	if o.kind == "node" {
		return r.nodes[o.index].label(o.index, 0)
	}
	return fmt.Sprintf("%s %d", o.kind, o.index)
}

// sort puts each step behind the steps that it needs, and otherwise keeps the order, in time linear in the number of values that steps read.
func (r *resolver) sort(p *program) error {
	maker := make([]int, len(r.names)) // the step that gives a value, from 1
	for i := range p.steps {
		for _, id := range p.steps[i].out {
			if id >= 0 {
				maker[id] = i + 1
			}
		}
	}
	sorted := true
	for i := range p.steps {
		for id := range p.steps[i].reads() {
			sorted = sorted && maker[id] <= i
		}
	}
	if sorted {
		return nil
	}
	// A depth-first walk with a stack of its own: graphs are as deep as files are long.
	type visit struct {
		step int
		left []int // the values that it reads and that weren't looked at yet
	}
	const (
		fresh = iota
		waiting
		placed
	)
	state := make([]uint8, len(p.steps))
	order := make([]step, 0, len(p.steps))
	var stack []visit
	enter := func(i int) {
		state[i] = waiting
		stack = append(stack, visit{i, slices.Collect(p.steps[i].reads())})
	}
	for i := range p.steps {
		if state[i] == fresh {
			enter(i)
		}
		for len(stack) > 0 {
			v := &stack[len(stack)-1]
			if len(v.left) == 0 {
				state[v.step] = placed
				order = append(order, p.steps[v.step])
				stack = stack[:len(stack)-1]
				continue
			}
			from := maker[v.left[0]] - 1
			v.left = v.left[1:]
			switch {
			case from < 0 || state[from] == placed:
			case state[from] == waiting:
				var ring []int
				for k := len(stack) - 1; ; k-- {
					ring = append(ring, stack[k].step)
					if stack[k].step == from {
						break
					}
				}
				slices.Reverse(ring)
				return r.cycle(p, ring)
			default:
				enter(from)
			}
		}
	}
	p.steps = order
	return nil
}

// cycle is the error about steps of which each needs the next, and the last the first.
func (r *resolver) cycle(p *program, ring []int) error {
	label := func(k int) string {
		return p.label(&p.steps[ring[k%len(ring)]])
	}
	s, next := &p.steps[ring[0]], &p.steps[ring[1%len(ring)]]
	what := ""
	for id := range s.reads() {
		if id >= 0 && slices.Contains(next.out, id) {
			what = fmt.Sprintf("%.100q, which a graph in it reads,", r.names[id])
			if j := slices.Index(s.in, id); j >= 0 {
				what = fmt.Sprintf("input %d %.100q", j, r.names[id])
			}
			break
		}
	}
	if len(ring) == 1 {
		return in(label(0), failf("%s is an output of the node itself", what))
	}
	var names []string
	for k := range min(len(ring), 8) {
		names = append(names, label(k))
	}
	if len(names) < len(ring) {
		names = append(names, "…")
	}
	return in(label(0), failf("%s comes from %s, which itself waits for this node: a cycle of %d nodes, each waiting for the next: %s", what, label(1), len(ring), strings.Join(names, ", ")))
}
