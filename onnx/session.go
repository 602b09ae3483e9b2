package onnx

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Session is a model that has passed Check, with its weights in memory. Its methods may be called from several
// goroutines at once; they share the weights. The session lives as long as its model: after the model's Close its methods
// fail with tensor.ErrClosed.
type Session struct {
	c        *compiled
	weights  int64
	fixed    dtype.DType // see NewFixedSession; Invalid for others
	integers bool        // see NewIntegerSession
	passes   passSet
	check    *passCheck   // of ASHLAR_PASSES=check
	last     atomic.Value // of *kept: the plan made last. Programs compile the methods of an atomic.Pointer that they see here.
	names    sync.Once    // of program and why
	program  receipt.Program
	why      error
	parts    sync.Once // of whole and noWhole
	whole    *Session  // none of whose nodes is part of another
	noWhole  error

	streams exec.Pool // of *Stream: see again
}

// Options changes how a session runs. The zero value, and nil, is the default.
type Options struct {
	// MaxMemory is how many bytes weights, results and the scratch of operators (op.Plan) may take together;
	// 0 means DefaultMaxMemory, a negative number no limit. A run that needs more is refused before it begins, or, where sizes aren't known before, when it gets there.
	MaxMemory int64

	// MaxIterations is how often the bodies of all loops of a run may run together; 0 means DefaultMaxIterations, a
	// negative number no limit. A loop without an end stops then, or when the context ends.
	MaxIterations int64

	// Threads is how many threads the run may use at most; 0 means as many as GOMAXPROCS, which is the bound in any case.
	// The results are the same with any number.
	Threads int

	// Progress is called after each node with the number of nodes done. A node that is part of another one's step isn't counted,
	// nor is one of a graph inside a node, or one that the session computed because it reads weights alone, unless Observe is given.
	Progress func(done, total int, n *Node)

	// Observe is called for each node that ran, the nodes of graphs inside nodes before the node that holds them. The r and its
	// values are good until it returns.
	Observe func(r *NodeRun)

	// Receipt, unless it is nil, becomes the receipt of the run: the digests of the model, the inputs and the outputs. After an
	// error it is empty. The first run that gives a receipt hashes the model, which must stay as it is. Of a Stream it is the
	// receipt of the last run.
	Receipt *receipt.Receipt

	// ReceiptNodes adds the results of every node to Receipt. Nodes of graphs inside nodes are there for each iteration. No
	// node is part of another in such a run. The session loads its weights a second time for that. The bits are the same.
	// With several threads as many goroutines less one hash results while the next nodes run, of eight nodes at most. A run that is
	// repeated is prepared.
	ReceiptNodes bool

	record *recorder // of a receipt that is verified
}

// A NodeRun is one run of a node. Nodes that are part of another one's step, as a Relu of the Conv before it, have none: its
// run is that of all, and its result that of the last.
type NodeRun struct {
	Node  *Node
	Index int           // of the node in its graph or function; negative for a sparse weight
	Depth int           // 0 in the model's graph, 1 in a graph inside one of its nodes, and so on
	Start time.Duration // since the run began
	Time  time.Duration // with the nodes of graphs inside
	Bytes int64         // of the results, also where they are views of other tensors

	Names  []string // of the results; "" for one that nobody wants
	Values []Value  // the results
}

// NewSession checks the model and loads its weights: in place where the file has them as memory wants them, else copied
// once. It computes the nodes that read nothing but weights, constants and shapes that inputs without defaults fix. Their results count as weights. Runs compute
// these nodes where that would take more than a second, results of more bytes than the weights and 1 MiB have, or
// more than 64 MiB to be read and written. It makes one step of several nodes where that keeps the bits; the variable
// ASHLAR_PASSES, as in "none" or "-follow,-join", leaves such passes out. With "check" each run is compared with one without passes, and
// fails with the name of the pass that changes an output. The errors are Check's, or name an unknown pass, or a level in the variable
// ASHLAR_CPU that the processor or the build lacks.
func NewSession(m *Model) (*Session, error) { return newSession(m, form{}) }

// A form is how a session differs from that of NewSession.
type form struct {
	fixed    dtype.DType // see NewFixedSession; Invalid for others
	integers bool        // see NewIntegerSession
	whole    bool        // no node becomes part of another
}

func newSession(m *Model, f form) (s *Session, err error) {
	err = m.use(func() error {
		s, err = m.session(f)
		return err
	})
	return s, err
}

func (m *Model) session(f form) (*Session, error) {
	set, err := passesSet()
	if err != nil {
		return nil, err
	}
	switch {
	case f.whole:
		set &= only("fold", "join")
	case f.fixed != dtype.Invalid:
		set &= only("rectify") // others would change where numbers are rounded
	}
	s, err := m.sessionBy(f, set)
	if err == nil && !f.whole && os.Getenv(passesVar) == checkPasses {
		s.check = new(passCheck)
	}
	return s, err
}

// sessionBy makes a session with a set of passes.
func (m *Model) sessionBy(f form, set passSet) (*Session, error) {
	c, x, err := m.compile()
	if err != nil {
		return nil, err
	}
	if err := cpu.Err(); err != nil {
		return nil, failf("%w: %v", tensor.ErrValue, err)
	}
	fixed := f.fixed
	s := &Session{c: c, fixed: fixed, integers: f.integers, passes: set, streams: new(sync.Pool)}
	loaded := make(map[loading]Value)
	c.all(func(b *compiled) bool {
		if b.fixed = fixed; fixed != dtype.Invalid {
			for i, o := range b.ops {
				if o != nil {
					b.ops[i] = op.InFixed(o, fixed)
				}
			}
		}
		b.vals = make([]Value, len(b.names))
		for _, k := range b.consts {
			if b.vals[k.id], err = s.load(b, k, x, loaded); err != nil {
				err = in(fmt.Sprintf("tensor %q", b.names[k.id]), err)
				return false
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if f.integers { // which looks at scales
		c.all(func(b *compiled) bool {
			b.quantized()
			return true
		})
	}
	if set.has("fold") {
		s.weights = add(s.weights, s.fold())
	}
	c.improve(set)
	c.all(func(b *compiled) bool {
		for i, o := range b.ops {
			if b.steps[i].folded {
				continue
			}
			call := plan.Call{Inputs: make([]tensor.Any, len(b.steps[i].in)), Attrs: op.AttrMap(nil)}
			for j, id := range b.steps[i].in {
				if id >= 0 && !slices.Contains(b.inputs, id) {
					call.Inputs[j] = b.vals[id].a
				}
			}
			form, bytes := plan.WithWeights((*plan.Op)(o), &call)
			b.ops[i], s.weights = (*op.Op)(form), add(s.weights, bytes)
		}
		return true
	})
	s.weights = add(s.weights, c.text.Bytes)
	return s, nil
}

// loading tells the tensors apart that a session makes of the model's.
type loading struct {
	from *TensorProto
	as   dtype.DType // Invalid: as it is
}

// load returns the tensor of a constant, which graphs share.
func (s *Session) load(c *compiled, k constant, x *expansion, loaded map[loading]Value) (v Value, err error) {
	as := s.fixed
	if as != dtype.Invalid && c.onlySizes(k.id) {
		as = dtype.Invalid
	}
	if v, ok := loaded[loading{k.proto, as}]; ok && k.proto != nil {
		return v, nil
	}
	if v = k.value; k.proto != nil {
		v, err = x.load(k.proto)
	}
	if err == nil && as != dtype.Invalid {
		v, err = valueToFixed(v, as)
		delete(x.tensors, k.proto) // nothing else needs the floats
	}
	if err != nil {
		return Value{}, err
	}
	if k.proto != nil {
		loaded[loading{k.proto, as}] = v
	}
	if k.proto != nil || !k.outer {
		s.weights = add(s.weights, v.size())
	}
	return v, nil
}

// Inputs returns the inputs of the model's graph that have no default: those a run must be given.
func (m *Model) Inputs() []ValueInfo {
	if m == nil || m.Graph == nil {
		return nil
	}
	given := make(map[string]bool, len(m.Graph.Initializers))
	for i := range m.Graph.Initializers {
		given[m.Graph.Initializers[i].Name] = true
	}
	for i := range m.Graph.Sparse {
		given[m.Graph.Sparse[i].Values.Name] = true
	}
	var list []ValueInfo
	for _, v := range m.Graph.Inputs {
		if !given[v.Name] {
			list = append(list, v)
		}
	}
	return list
}

// Inputs returns the inputs that a run of the session must be given: the model's Inputs.
func (s *Session) Inputs() []ValueInfo {
	if s == nil || s.c == nil {
		return nil
	}
	return s.c.m.Inputs()
}

// Outputs returns the outputs of a run, as the graph declares them.
func (s *Session) Outputs() []ValueInfo {
	if s == nil || s.c == nil {
		return nil
	}
	return slices.Clone(s.c.g.Outputs)
}

// bind checks the inputs of a run against the graph's declarations, and returns them with the constants, by value.
func (s *Session) bind(inputs map[string]Value) ([]Value, error) {
	g := s.c.g
	vals := slices.Clone(s.c.vals)
	bound := make(map[string]binding)
	var missing, names []string
	for i := range g.Inputs {
		v := &g.Inputs[i]
		names = append(names, v.Name)
		a, ok := inputs[v.Name]
		switch {
		case !ok && s.c.given[s.c.inputs[i]]:
			continue
		case !ok && v.Type.Kind == KindOptional:
			a = Nothing()
		case !ok:
			missing = append(missing, v.String())
			continue
		case !a.known():
			return nil, in(fmt.Sprintf("input %q", v.Name), failf("wants %v, got nil", v.Type))
		}
		err := s.fits(v, &v.Type, &a, bound)
		if a.Kind() == KindSequence { // of an empty one the declaration alone says it
			a = sequenceOf(v.Type.elem(), a.seq.items)
		}
		if err == nil && s.fixed != dtype.Invalid {
			a, err = valueToFixed(a, s.fixed)
		}
		if err != nil {
			return nil, in(fmt.Sprintf("input %q", v.Name), err)
		}
		vals[s.c.inputs[i]] = a
	}
	var strange []string
	for name := range inputs {
		if !slices.Contains(names, name) {
			strange = append(strange, strconv.Quote(name))
		}
	}
	slices.Sort(strange)
	switch none := strings.Join(strange, ", "); {
	case len(missing) > 0 && none != "":
		return nil, failf("no value for the input %s; there is no input %s", strings.Join(missing, ", "), none)
	case len(missing) > 0:
		return nil, failf("no value for the input %s", strings.Join(missing, ", "))
	case none != "":
		return nil, failf("there is no input %s; the inputs are %s", none, strings.Join(names, ", "))
	}
	return vals, nil
}

// A binding is the number that a named dimension stands for, and the input that said so.
type binding struct {
	n     int
	input string
}

// misfit says how a tensor differs from the rank and the extents that a type fixes, "" if it doesn't.
func misfit(t *Type, a tensor.Any) string {
	if t.HasShape && a.Rank() != len(t.Shape) {
		return fmt.Sprintf("the rank is %d, not %d", a.Rank(), len(t.Shape))
	}
	for i, d := range t.Shape {
		if n := a.Dim(i); d.Value >= 0 && int64(n) != d.Value {
			return fmt.Sprintf("axis %d is %d, not %d", i, n, d.Value)
		}
	}
	return ""
}

// fits compares a with type t, which input v declares, and binds t's named dimensions.
func (s *Session) fits(v *ValueInfo, t *Type, val *Value, bound map[string]binding) error {
	clash := func(format string, args ...any) error {
		return failf("wants %v, got %v: %s", *t, *val, fmt.Sprintf(format, args...))
	}
	switch {
	case t.Kind == KindOptional && t.Of != nil:
		if val.seq == nothing {
			return nil
		}
		return s.fits(v, t.Of, val, bound)
	case t.Kind == KindSequence && t.Of != nil:
		if val.Kind() != KindSequence {
			return clash("onnx.SequenceValue makes a sequence")
		}
		for i, item := range val.seq.items {
			err := failf("it is nil")
			if item.known() {
				err = s.fits(v, t.Of, item, make(map[string]binding))
			}
			if err != nil {
				return in(fmt.Sprintf("element %d", i), err)
			}
		}
		return nil
	case t.isMap():
		if val.Kind() != KindMap {
			return clash("onnx.MapValue makes a map")
		}
		key := Type{Kind: KindTensor, Elem: t.Elem}
		if keys, vals := val.seq.items[0], val.seq.items[1]; keys.elem() != key.elem() || vals.elem() != t.Of.elem() {
			return clash("convert its keys or values")
		}
		return nil
	case t.Kind != KindTensor:
		return nil // an input with a default may leave its type open
	case !val.isTensor():
		return clash("onnx.TensorValue makes it of a tensor")
	}
	a := val.a
	if d, _ := t.Elem.DType(); val.elem() != t.elem() && !(val.text == nil && a.DType() == s.fixed && d.IsFloat()) {
		if t.Elem == ElemString {
			return clash("onnx.StringsValue makes strings")
		}
		also := misfit(t, a)
		if also != "" {
			also = "; and " + also
		}
		return clash("convert it with op.Cast, or by astype in NumPy%s", also)
	}
	if a.Rank() > maxRank {
		return tooManyAxes(a.Rank())
	}
	if !t.HasShape {
		return nil
	}
	if why := misfit(t, a); why != "" {
		return clash("%s", why)
	}
	for i, d := range t.Shape {
		n := a.Dim(i)
		switch {
		case d.Param != "" && d.Value < 0:
			b, ok := bound[d.Param]
			if ok && b.n != n {
				return clash("axis %d is %d, but input %q made %q %d", i, n, b.input, d.Param, b.n)
			}
			if !ok {
				bound[d.Param] = binding{n, v.Name}
			}
		}
	}
	return nil
}

// valuesOf returns tensors as values.
func valuesOf(tensors map[string]tensor.Any) map[string]Value {
	vals := make(map[string]Value, len(tensors))
	for name, a := range tensors {
		vals[name] = Value{a: a}
	}
	return vals
}

// Run computes the graph's outputs from inputs, by name. Inputs that are initializers too may be left out, and inputs of
// an optional type, which then hold nothing. Every node's results go as soon as nothing needs them; the outputs are the
// caller's own, shared with neither inputs nor model.
//
// Before the first node runs everything is planned and checked as Plan does, or the plan that the session keeps is used. Where
// a run has the types and shapes of the run before, the session prepares it as a Stream does, and keeps its memory until the
// collector takes it.
// An error of a node names it; one that comes from ctx wraps ctx.Err(). An output that is no tensor of numbers is an
// error, too: RunValues gives it.
func (s *Session) Run(ctx context.Context, inputs map[string]tensor.Any, opts *Options) (map[string]tensor.Any, error) {
	if s != nil && s.c != nil {
		for i := range s.c.g.Outputs {
			if v := &s.c.g.Outputs[i]; v.Type.Kind != KindTensor && v.Type.Kind != KindNone || v.Type.Elem == ElemString {
				return nil, inFile(s.c.m.file, in(fmt.Sprintf("output %q", v.Name), noTensor(v.Type)))
			}
		}
	}
	vals, err := s.RunValues(ctx, valuesOf(inputs), opts)
	if err != nil {
		return nil, err
	}
	out := make(map[string]tensor.Any, len(vals))
	for name, v := range vals {
		if !v.isTensor() || v.text != nil {
			return nil, inFile(s.c.m.file, in(fmt.Sprintf("output %q", name), noTensor(v)))
		}
		out[name] = v.a
	}
	return out, nil
}

// Call is Run by place: it takes a tensor for each of Inputs, in their order, and returns one for each of Outputs. The zero
// Any leaves an optional input out.
func (s *Session) Call(ctx context.Context, inputs ...tensor.Any) ([]tensor.Any, error) {
	want := s.Inputs()
	if s != nil && s.c != nil && len(inputs) != len(want) {
		return nil, inFile(s.c.m.file, failf("%w: got %d inputs, the model takes %d: %v", tensor.ErrValue, len(inputs), len(want), want))
	}
	byName := make(map[string]tensor.Any, len(want))
	for i := range want {
		if !inputs[i].IsZero() { // else Run names the missing input, or it is optional
			byName[want[i].Name] = inputs[i]
		}
	}
	out, err := s.Run(ctx, byName, nil)
	if err != nil {
		return nil, err
	}
	list := make([]tensor.Any, len(s.c.g.Outputs))
	for i := range list {
		list[i] = out[s.c.g.Outputs[i].Name]
	}
	return list, nil
}

func noTensor(what any) error {
	return failf("%w: it is %v, no tensor of numbers; RunValues gives it", tensor.ErrValue, what)
}

// RunValues is Run for inputs and outputs of any kind.
func (s *Session) RunValues(ctx context.Context, inputs map[string]Value, opts *Options) (out map[string]Value, err error) {
	return s.runValues(ctx, inputs, *cmp.Or(opts, new(Options)), true)
}

// runValues is RunValues, by a prepared run or not.
func (s *Session) runValues(ctx context.Context, inputs map[string]Value, o Options, again bool) (out map[string]Value, err error) {
	v, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer v.leave(&err)
	defer ram.Recover(&err)
	switch {
	case ctx == nil:
		return nil, noContext()
	case o.Threads < 0:
		return nil, failf("%w: Options.Threads is %d; 0 is as many as there are", tensor.ErrValue, o.Threads)
	case o.Threads > 0:
		ctx = op.WithThreads(ctx, o.Threads)
	}
	if s.check != nil {
		return s.agreeing(ctx, inputs, o, func() (map[string]Value, error) { return s.valuesBy(ctx, inputs, o, again) })
	}
	return s.valuesBy(ctx, inputs, o, again)
}

// valuesBy is runValues without a check.
func (s *Session) valuesBy(ctx context.Context, inputs map[string]Value, o Options, again bool) (map[string]Value, error) {
	if o.Receipt != nil {
		return s.received(ctx, inputs, o, again)
	}
	if again {
		if out, done, err := s.again(ctx, inputs, o); done {
			return out, err
		}
	}
	return s.compute(ctx, inputs, o)
}

// enter is the model's enter.
func (s *Session) enter() (visit, error) {
	if s == nil || s.c == nil {
		return visit{}, failf("%w: there is no session: it is nil or the zero value; NewSession makes one", tensor.ErrValue)
	}
	return s.c.m.enter()
}

// use is the model's use.
func (s *Session) use(f func() error) (err error) {
	v, err := s.enter()
	if err != nil {
		return err
	}
	defer v.leave(&err)
	defer ram.Recover(&err)
	return f()
}
