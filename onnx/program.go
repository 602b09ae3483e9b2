package onnx

import (
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
)

// A program is a graph with names resolved: values are numbered, each node says which it reads and writes, and nodes
// stand in an order they can run in.
type program struct {
	names    []string // of the values
	inits    []int    // the value of each initializer
	inputs   []int    // of each graph input; one that is an initializer too has the same number
	given    []bool   // by value: an initializer, perhaps a sparse one, gives it, so that as an input it is optional
	formals  []int    // the inputs that no initializer gives
	params   []int    // which inputs those are
	outputs  []int
	inner    bool      // the graph stands inside a node
	captures []capture // the values that it then reads of the graph around
	site     *callee   // of the function that the graph stands in; nil outside
	steps    []step
	last     []int // by value: the last step that reads or writes it; of an inner graph's outputs beyond all
}

// A capture is a value of the graph around that a graph inside a node reads.
type capture struct {
	id   int // here
	from int // in the graph around
}

// A step is a node of the program.
type step struct {
	node   *Node
	also   []*Node // the nodes that are part of it besides
	index  int     // in the graph or function; that of a sparse initializer is -1 and below
	call   *callee // of the function that the node stands in; nil outside
	opset  int64   // of the operator's domain; known once the step is checked
	in     []int   // values read; -1 where an optional input is left out
	out    []int   // values written; -1 where an output isn't wanted
	drop   []int   // values that nothing reads after this step, none of them an output of the graph
	bodies []*compiled
	value  *valueOp // the valueOp that runs the step, if no operator of package op does
	text   *valueOp // the valueOp that runs it in place of such an operator, if an input holds strings
	read   *once    // the value that the valueOp made of the attributes
	kept   *memory  // the value that the operator of package op made of them
	folded bool     // the session has the results; the step runs only for an observer
	own    bool     // a program's own operator runs the step: it may count its calls
	spare  bool     // its result is the default of an input

	integers bool // NewIntegerSession made it of operators on floats
}

// reads goes over the values that a step needs: its inputs, and the values that its bodies capture.
func (s *step) reads() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, id := range s.in {
			if id >= 0 && !yield(id) {
				return
			}
		}
		for _, b := range s.bodies {
			for _, c := range b.captures {
				if !yield(c.from) {
					return
				}
			}
		}
	}
}

// lifetimes fills in the drops: each value goes after the last step that reads it, or at once if none does. In a graph
// inside a node that goes for its inputs, too.
func (p *program) lifetimes() {
	keep := make([]bool, len(p.names))
	p.last = make([]int, len(p.names))
	lists := [][]int{p.inits, p.outputs, p.inputs}
	if p.inner {
		lists = lists[:2]
	}
	for _, ids := range lists {
		for _, id := range ids {
			keep[id] = true
		}
	}
	for _, id := range p.outputs {
		p.last[id] = len(p.steps)
	}
	for i := len(p.steps) - 1; i >= 0; i-- {
		s := &p.steps[i]
		s.drop = nil
		drop := func(id int) {
			p.last[id] = max(p.last[id], i)
			if !keep[id] {
				keep[id] = true
				s.drop = append(s.drop, id)
			}
		}
		for id := range s.reads() {
			drop(id)
		}
		for _, id := range s.out {
			if id >= 0 {
				drop(id)
			}
		}
	}
}

// compiled is a graph that has passed its checks, ready to be given inputs: a model's, or one inside a node.
type compiled struct {
	*program
	g      *Graph
	m      *Model
	attr   string             // the attribute that holds the graph, if it is inside a node
	place  string             // the prefix of a step's label in a list: the nodes around
	ops    []*op.Op           // by step; nil for a Constant, and where step.value runs it
	attrs  []map[string]Value // by step: the attributes that are tensors
	consts []constant         // the values that don't depend on inputs: initializers and the outputs of Constants
	vals   []Value            // by value: values or descriptions of the constants; in a session, they themselves
	text   *text.Table        // the strings of the model
	fixed  dtype.DType        // see NewFixedSession; Invalid for others
	recent atomic.Value       // of *kept: the plan of a graph inside a node that was made last

	turning atomic.Value // of *turning: the body of a loop that was prepared last
}

// idle reports whether step i has nothing to do where vals are known: it gives the default of an input that was given, or it
// is a Constant.
func (c *compiled) idle(i int, vals []Value) bool {
	s := &c.steps[i]
	return !c.runs(i) || s.spare && vals[s.out[0]].known()
}

// all goes over c and the graphs inside its nodes.
func (c *compiled) all(yield func(*compiled) bool) bool {
	if !yield(c) {
		return false
	}
	for i := range c.steps {
		for _, b := range c.steps[i].bodies {
			if !b.all(yield) {
				return false
			}
		}
	}
	return true
}

// A constant is the value of an initializer or of a Constant node.
type constant struct {
	id    int
	proto *TensorProto // nil: value
	value Value
	outer bool // it is one of a graph around, too
}

// A callee is a call of a function.
type callee struct {
	outer  *callee // of the function that the call stands in
	fn     *Function
	node   *Node // that calls
	index  int
	depth  int
	attrs  map[string]*Attribute
	opsets map[string]int64
	graphs map[*Graph]*resolver // the graphs among attrs, each with the graph or function that it stands in
}

// label names a step in errors, after the calls that it stands in.
func (p *program) label(s *step) string {
	text := s.node.label(s.index, s.opset)
	for call := s.call; call != nil && call != p.site; call = call.outer {
		text = call.node.label(call.index, 0) + ": " + text
	}
	return text
}

// wants is an error about the graph that an attribute holds.
func (c *compiled) wants(format string, args ...any) error {
	return inAttr(c.attr, failf(format, args...))
}

// output names output k of a graph inside a node.
func (c *compiled) output(k int) string {
	return fmt.Sprintf("output %d %.100q", k, c.g.Outputs[k].Name)
}

// at puts err at output k of the graph that an attribute holds.
func (c *compiled) at(k int, err error) error {
	return inAttr(c.attr, in(c.output(k), err))
}

// declared is the element type that the graph declares for output k, noElem if it doesn't.
func (c *compiled) declared(k int) elem {
	e := c.g.Outputs[k].Type.elem()
	if dtype.DType(e).IsFloat() && c.fixed != dtype.Invalid {
		return elem(c.fixed)
	}
	return e
}
