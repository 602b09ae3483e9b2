package onnx

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Session is a model that has passed Check, with its weights in memory. Its methods may be called from several
// goroutines at once.
type Session struct {
	c       *compiled
	vals    []tensor.Any // the constants by value, the zero Any elsewhere
	weights int64
	fixed   dtype.DType // see NewFixedSession; Invalid for others
	last    atomic.Pointer[kept]
}

// rectify makes a Relu part of the Conv or Gemm before it, if nothing else reads that one's result.
func (c *compiled) rectify() {
	reads, maker := make([]int, len(c.names)), make(map[int]int)
	for _, id := range c.outputs {
		reads[id]++
	}
	for i := range c.steps {
		for _, id := range c.steps[i].in {
			if id >= 0 {
				reads[id]++
			}
		}
	}
	left := 0 // steps that stay
	for i := range c.steps {
		s := c.steps[i]
		if s.node.Op == "Relu" && len(s.in) == 1 && s.in[0] >= 0 && reads[s.in[0]] == 1 {
			if j, made := maker[s.in[0]]; made {
				if o, ok := op.Rectified(c.ops[j]); ok {
					c.ops[j], c.steps[j].out = o, s.out
					continue
				}
			}
		}
		c.steps[left], c.ops[left], c.attrs[left] = s, c.ops[i], c.attrs[i]
		if len(s.out) == 1 && c.ops[left] != nil {
			maker[s.out[0]] = left
		}
		left++
	}
	c.steps, c.ops, c.attrs = c.steps[:left], c.ops[:left], c.attrs[:left]
	c.lifetimes()
}

// Options changes how a session runs. The zero value is the default.
type Options struct {
	// MaxMemory is how many bytes weights and results may take together; 0 means DefaultMaxMemory, a negative number no
	// limit. A run that needs more is refused before it begins, or, where sizes aren't known before, when it gets there.
	MaxMemory int64

	// Progress is called after each node with the number of nodes done. A Relu that is part of the Conv or Gemm before it
	// isn't a node here.
	Progress func(done, total int, n *Node)
}

// NewSession checks the model and loads its weights: in place where the file has them as memory wants them, else copied
// once. The errors are Check's.
func NewSession(m *Model) (*Session, error) { return newSession(m, dtype.Invalid) }

func newSession(m *Model, fixed dtype.DType) (s *Session, err error) {
	err = m.use(func() error {
		s, err = m.session(fixed)
		return err
	})
	return s, err
}

func (m *Model) session(fixed dtype.DType) (*Session, error) {
	c, err := m.compile()
	if err != nil {
		return nil, err
	}
	c.rectify()
	s := &Session{c: c, vals: make([]tensor.Any, len(c.names)), fixed: fixed}
	if fixed != dtype.Invalid {
		for i, o := range c.ops {
			if o != nil {
				c.ops[i] = op.InFixed(o, fixed)
			}
		}
	}
	for _, k := range c.consts {
		v := k.value
		if k.proto != nil {
			v, err = m.load(k.proto)
		}
		if err == nil && fixed != dtype.Invalid && !c.onlySizes(k.id) {
			v, err = toFixed(v, fixed)
		}
		if err != nil {
			return nil, in(fmt.Sprintf("tensor %q", c.names[k.id]), err)
		}
		s.vals[k.id] = v
		s.weights = add(s.weights, size(v))
	}
	return s, nil
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
	var list []ValueInfo
	for _, v := range m.Graph.Inputs {
		if !given[v.Name] {
			list = append(list, v)
		}
	}
	return list
}

// bind checks the inputs of a run against what the graph declares, and returns them with the constants, by value.
func (s *Session) bind(inputs map[string]tensor.Any) ([]tensor.Any, error) {
	g := s.c.m.Graph
	vals := slices.Clone(s.vals)
	bound := make(map[string]binding)
	var missing, names []string
	for i := range g.Inputs {
		v := &g.Inputs[i]
		names = append(names, v.Name)
		a, ok := inputs[v.Name]
		switch {
		case !ok && !s.c.given[s.c.inputs[i]]:
			missing = append(missing, v.String())
			continue
		case !ok:
			continue
		case a.IsZero():
			return nil, in(fmt.Sprintf("input %q", v.Name), failf("wants %v, got nil", v.Type))
		}
		err := s.fits(v, a, bound)
		if err == nil && s.fixed != dtype.Invalid {
			a, err = toFixed(a, s.fixed)
		}
		if err != nil {
			return nil, in(fmt.Sprintf("input %q", v.Name), err)
		}
		vals[s.c.inputs[i]] = a
	}
	if len(missing) > 0 {
		return nil, failf("no value for the input %s", strings.Join(missing, ", "))
	}
	for name := range inputs {
		if !slices.Contains(names, name) {
			return nil, failf("there is no input %q; the inputs are %s", name, strings.Join(names, ", "))
		}
	}
	return vals, nil
}

// A binding is the number that a named dimension stands for, and the input that said so.
type binding struct {
	n     int
	input string
}

// fits compares a with what input v declares, and binds v's named dimensions.
func (s *Session) fits(v *ValueInfo, a tensor.Any, bound map[string]binding) error {
	clash := func(format string, args ...any) error {
		return failf("wants %v, got %s: %s", v.Type, tensor.Describe(a), fmt.Sprintf(format, args...))
	}
	if v.Type.Kind != KindTensor {
		return nil // an input with a default may leave its type open
	}
	if d, _ := v.Type.Elem.DType(); a.DType() != d && !(a.DType() == s.fixed && d.IsFloat()) {
		return clash("convert it with op.Cast, or by astype in NumPy")
	}
	if a.Rank() > maxRank {
		return tooManyAxes(a.Rank())
	}
	if !v.Type.HasShape {
		return nil
	}
	if a.Rank() != len(v.Type.Shape) {
		return clash("the rank is %d, not %d", a.Rank(), len(v.Type.Shape))
	}
	for i, d := range v.Type.Shape {
		n := a.Dim(i)
		switch {
		case d.Value >= 0 && int64(n) != d.Value:
			return clash("axis %d is %d, not %d", i, n, d.Value)
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

// A storage is memory that one or more values of a run share. It goes when the last of them does.
type storage struct {
	refs  int
	kept  bool // the caller's, or the model's: never closed here
	bytes int64
}

// A run is the state of one Run.
type run struct {
	*Session
	vals   []tensor.Any
	owners []*storage // of the values that nodes gave
	live   int64
	limit  int64
}

// Run computes the graph's outputs from inputs, by name. Inputs that are initializers too may be left out. Every node's
// results go as soon as nothing needs them; the outputs are the caller's own, shared with neither inputs nor model.
//
// Before the first node runs everything is planned and checked as Plan does, or the plan that the session keeps is used.
// An error of a node names it; one that comes from ctx wraps ctx.Err().
func (s *Session) Run(ctx context.Context, inputs map[string]tensor.Any, o Options) (map[string]tensor.Any, error) {
	var out map[string]tensor.Any
	err := s.use(func() (err error) {
		if ctx == nil {
			return failf("%w: the context is nil; context.Background() is one without an end", tensor.ErrValue)
		}
		out, err = s.run(ctx, inputs, o)
		return err
	})
	return out, err
}

// use is the model's use.
func (s *Session) use(f func() error) error {
	if s == nil || s.c == nil {
		return failf("%w: there is no session: it is nil or the zero value; NewSession makes one", tensor.ErrValue)
	}
	return s.c.m.use(f)
}

func (s *Session) run(ctx context.Context, inputs map[string]tensor.Any, o Options) (map[string]tensor.Any, error) {
	vals, err := s.bind(inputs)
	if err != nil {
		return nil, err
	}
	for i, id := range s.c.inputs {
		if vals[id].IsSpec() {
			return nil, in(fmt.Sprintf("input %q", s.c.m.Graph.Inputs[i].Name), failf("it is a description without elements"))
		}
	}
	r := &run{Session: s, vals: vals, owners: make([]*storage, len(vals)), limit: o.MaxMemory}
	if r.limit == 0 {
		r.limit = DefaultMaxMemory
	}
	plan, err := s.plan(ctx, inputs, vals, r.limit)
	if err != nil {
		return nil, err
	}
	if r.limit > 0 {
		if err := plan.admits(r.limit); err != nil {
			return nil, err
		}
	}
	done, total := 0, 0
	for i := range s.c.steps {
		if s.c.ops[i] != nil {
			total++
		}
	}
	for i := range s.c.steps {
		if s.c.ops[i] == nil {
			continue
		}
		st := &s.c.steps[i]
		err := ctx.Err()
		if err == nil {
			err = r.step(ctx, i, plan)
		}
		if err != nil {
			r.closeAll()
			return nil, in(s.c.label(st), err)
		}
		if done++; o.Progress != nil {
			o.Progress(done, total, st.node)
		}
	}
	return r.outputs()
}

// step runs step i and lets go of what it was the last to need.
func (r *run) step(ctx context.Context, i int, plan *Plan) error {
	st := &r.c.steps[i]
	call, a := r.c.call(i, r.vals, ctx)
	if err := checkAxes(st.node, call.Inputs); err != nil {
		return err
	}
	if r.limit > 0 && slices.ContainsFunc(st.out, func(id int) bool { return id >= 0 && plan.sizes[id] < 0 }) {
		if outs, err := r.c.ops[i].Infer(call); err == nil { // if not, Run says it better
			var need int64
			for _, o := range outs {
				need = add(need, max(size(o), 0))
			}
			if err := r.room(need); err != nil {
				return err
			}
		}
	}
	outs, err := r.c.ops[i].Run(call)
	if err == nil {
		err = a.wrong
	}
	if err == nil {
		err = checkRanks(outs)
	}
	if err != nil {
		return err
	}
	owners := make([]*storage, len(outs))
	for j, o := range outs {
		if !o.IsZero() {
			owners[j] = r.owner(st, outs[:j], owners, o)
		}
	}
	for j, id := range st.out {
		switch {
		case id < 0:
		case j >= len(outs) || outs[j].IsZero():
			err = failf("the operator gave no output %d", j)
		default:
			owners[j].refs++
			r.vals[id], r.owners[id] = outs[j], owners[j]
		}
	}
	for j, o := range outs { // those that nobody wants
		if !o.IsZero() && owners[j].refs == 0 {
			r.close(o, owners[j])
		}
	}
	for _, id := range st.drop {
		if own := r.owners[id]; own != nil {
			if own.refs--; own.refs == 0 {
				r.close(r.vals[id], own)
			}
		}
		r.vals[id], r.owners[id] = tensor.Any{}, nil
	}
	if err == nil && r.limit > 0 {
		err = r.room(0)
	}
	return err
}

// room fails if the results would take more than the limit with need bytes more.
func (r *run) room(need int64) error {
	if total := add(add(r.weights, r.live), need); total > r.limit {
		what := fmt.Sprintf("weights %s, results so far %s, this node's %s", amount(r.weights), amount(r.live), amount(need))
		return &MemoryError{total, r.limit, what}
	}
	return nil
}

// owner returns the storage of a result: that of the input or earlier result it shares elements with, or a new one.
func (r *run) owner(st *step, earlier []tensor.Any, owners []*storage, out tensor.Any) *storage {
	for j, e := range earlier {
		if !e.IsZero() && out.SameData(e) {
			return owners[j]
		}
	}
	for _, id := range st.in {
		if id >= 0 && out.SameData(r.vals[id]) {
			if own := r.owners[id]; own != nil {
				return own
			}
			return &storage{kept: true}
		}
	}
	own := &storage{bytes: size(out)}
	r.live = add(r.live, own.bytes)
	return own
}

// close gives memory back of which out was the last value.
func (r *run) close(out tensor.Any, own *storage) {
	if !own.kept {
		out.Close()
		r.live -= own.bytes
		own.kept = true
	}
}

// closeAll gives back every result of a run that has failed.
func (r *run) closeAll() {
	for id, own := range r.owners {
		if own != nil && !own.kept {
			r.vals[id].Close()
		}
	}
}

func (r *run) outputs() (map[string]tensor.Any, error) {
	out := make(map[string]tensor.Any, len(r.c.outputs))
	for _, id := range r.c.outputs {
		a := r.vals[id]
		if own := r.owners[id]; own == nil || own.kept {
			var err error
			if a, err = tensor.Clone(a); err != nil {
				return nil, in(fmt.Sprintf("output %q", r.c.names[id]), err)
			}
		}
		out[r.c.names[id]] = a
	}
	return out, nil
}
