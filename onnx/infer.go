package onnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Shapes of a graph are inferred step by step. The operator of a step plans the shapes of its results: Conv does so in
// op/conv.go.

// While shapes are inferred, values of up to small elements that follow from others like them are computed, because the
// graph may use them as shapes. All of that together reads and writes up to evaluated bytes, and takes up to patience:
// values beyond these bounds count as unknown.
const (
	small     = 1024
	evaluated = 16 << 20
	patience  = time.Second
)

// maxRank is the most axes that a tensor of a graph may have, as in files of arrays.
const maxRank = 64

// maxAxes is how many axes the values known at one time may have together; more count as unknown. Descriptions of them
// take some 20 bytes an axis.
const maxAxes = 1 << 20

// shapes reports whether the results of a step are computed while shapes are inferred.
func (s *step) shapes(o *op.Op) bool {
	return o != nil && !s.own && about(o).Shapes
}

// axial lists the attributes that have an element, or two, for each axis of a tensor.
var axial = []string{"axes", "dilations", "kernel_shape", "output_padding", "output_shape", "pads", "perm", "scales", "shape",
	"starts", "ends", "strides"}

// tooManyAxes is the error about a rank beyond maxRank.
func tooManyAxes(rank int) error {
	return failf("%w: its rank is %d; the most is %d", tensor.ErrShape, rank, maxRank)
}

// checkAxes refuses a call of an operator whose attributes or inputs speak of more axes than a tensor may have.
func checkAxes(n *Node, o *op.Op, inputs []tensor.Any) error {
	for i := range n.Attributes {
		a := &n.Attributes[i]
		length := 0
		switch v := a.Value.(type) {
		case []int64:
			length = len(v)
		case []float32:
			length = len(v)
		}
		if length > 2*maxRank && slices.Contains(axial, a.Name) {
			return inAttr(a.Name, failf("%w: %d elements are too many for a rank of at most %d", tensor.ErrShape, length, maxRank))
		}
	}
	for j := range inputs {
		if perAxis(o, j) && !inputs[j].IsZero() && inputs[j].Len() > 2*maxRank {
			return in(fmt.Sprintf("input %d", j), failf("%w: %d elements are too many for a rank of at most %d", tensor.ErrShape, inputs[j].Len(), maxRank))
		}
	}
	return nil
}

// perAxis reports whether input j of an operator has an element, or two, for each axis of a tensor.
func perAxis(o *op.Op, j int) bool { return about(o).PerAxis>>j&1 == 1 }

// about returns the facts about an operator that this module knows.
func about(o *op.Op) *plan.About { return plan.AboutOf((*plan.Op)(o)) }

// draftOf returns a plan as the operator filled it in.
func draftOf(p *op.Plan) *plan.Draft { return plan.DraftOf((*plan.Plan)(p)) }

// checkRanks refuses results with more axes than a tensor may have.
func checkRanks(outs []tensor.Any) error {
	for j, o := range outs {
		if !o.IsZero() && o.Rank() > maxRank {
			return in(fmt.Sprintf("output %d", j), tooManyAxes(o.Rank()))
		}
	}
	return nil
}

// call is step i applied to values, of which an absent input is the zero Any.
func (c *compiled) call(i int, vals []Value, ctx context.Context) (*op.Call, *attrs, error) {
	s := &c.steps[i]
	a := &attrs{node: s.node, tensors: c.attrs[i], kept: s.kept}
	call := &op.Call{Attrs: a, Opset: int(s.opset), Outputs: len(s.out), Context: ctx, Inputs: make([]tensor.Any, len(s.in))}
	for j, id := range s.in {
		if id < 0 {
			continue
		}
		if call.Inputs[j] = vals[id].a; vals[id].seq != nil {
			return nil, nil, in(fmt.Sprintf("input %d", j), failf("%w: it is %v; the operator takes tensors", tensor.ErrDType, vals[id]))
		}
	}
	return call, a, nil
}

// form returns the valueOp that runs a step: its own, or its form for strings if an input holds them, or is no tensor and the form
// takes such. nil stands for the operator of package op.
func (s *step) form(vals []Value) *valueOp {
	if s.value == nil && s.text != nil {
		for _, id := range s.in {
			if id >= 0 && (vals[id].text != nil || vals[id].seq != nil && s.text.any) {
				return s.text
			}
		}
	}
	return s.value
}

// noStrings refuses strings for an operator of package op, which would compute with their numbers.
func (s *step) noStrings(vals []Value) error {
	for j, id := range s.in {
		if id >= 0 && vals[id].text != nil {
			return input(j, failf("%w: it is %v; the operator takes no strings", tensor.ErrDType, vals[id]))
		}
	}
	return nil
}

// An inference goes over a graph and the graphs inside its nodes, and follows the values and descriptions known before a run.
type inference struct {
	ctx      context.Context // ends with patience
	caller   context.Context
	single   context.Context // with one thread; nil if ctx has one
	live     int64           // bytes of results that a run would hold
	blank    []storage       // made at once
	outside  storage         // without bytes: of inputs and constants that a valueOp sees
	bytes    int             // of operands and results of values that may still be computed
	axes     int             // of values that may still be known at one time
	depth    int             // of the graph inside nodes
	late     bool            // patience or the caller's context ended
	guessing bool            // sizes are guesses, so that element types alone matter: see checkTypes

	// failed is called for each operator's error, inside nodes only while guessing: a branch may never run. It ends the
	// inference by returning an error itself. It may be nil.
	failed func(c *compiled, i int, err error) error

	// seen is called for each step, with the known values and descriptions of its inputs and results. It may be nil.
	seen func(c *compiled, i int, vals []Value)
}

// budget is how many bytes an inference within limit may read and write; a limit that isn't positive is none.
func budget(limit int64) int {
	if limit > 0 {
		return int(min(evaluated, limit))
	}
	return evaluated
}

// within runs an inference. Values are computed within ctx and limit bytes, if that is positive. Where ctx ends it returns the error of
// ctx: less is known from there on, so that run may have blamed another node.
func (f *inference) within(ctx context.Context, limit int64, run func() error) error {
	f.bytes, f.axes, f.caller = budget(limit), maxAxes, ctx
	var cancel context.CancelFunc
	f.ctx, cancel = context.WithTimeout(ctx, patience)
	f.single = single(f.ctx)
	defer cancel()
	err := run()
	f.late = f.ctx.Err() != nil
	return cmp.Or(ctx.Err(), err)
}

// graph fills in vals, which holds the known inputs and constants: tensors, or Specs; the zero Value is unknown. A
// value goes after its last use. p becomes the plan, but for its weights.
func (f *inference) graph(c *compiled, vals []Value, p *Plan) error {
	texts := func(id int) bool { return id >= 0 && vals[id].elem() == ofString } // a run counts their bytes
	p.Exact, p.sizes = !slices.ContainsFunc(c.inputs, texts), make([]int64, len(vals))
	base := f.live // of graphs around
	var peak *step
	for i := range c.steps {
		if i&0xff == 0 && f.caller.Err() != nil {
			return f.caller.Err()
		}
		s := &c.steps[i]
		if !c.idle(i, vals) && !s.folded {
			before := f.live - base
			outs, inside, err := f.step(c, i, vals)
			if n := len(outs); err == nil && n > 0 && slices.ContainsFunc(s.out[min(n, len(s.out)):], func(id int) bool { return id >= 0 }) {
				err = failf("it names %d outputs, the operator gives %d", len(s.out), n)
			}
			if err != nil && !errors.Is(err, op.ErrUnknown) && f.failed != nil && (f.guessing || f.depth == 0) {
				if err := f.failed(c, i, err); err != nil {
					return err
				}
			}
			for j, id := range s.out {
				if id < 0 {
					continue
				}
				if j < len(outs) && outs[j].known() && outs[j].axes() <= f.axes {
					f.axes -= outs[j].axes()
					vals[id], outs[j].own = outs[j], nil
				}
				p.sizes[id] = vals[id].size()
				p.Exact = p.Exact && p.sizes[id] >= 0
			}
			for j := range outs { // the results that nobody wants
				f.release(&outs[j])
			}
			p.Exact = p.Exact && !slices.ContainsFunc(s.out, texts)
			if f.seen != nil {
				f.seen(c, i, vals)
			}
			p.Exact = p.Exact && !inside.inexact
			inside.plus(before)
			p.alone = max(p.alone, f.live-base, inside.alone)
			if most := max(f.live-base, inside.live); most > p.Live {
				p.Live, peak = most, s
			}
		}
		if s.folded || !c.idle(i, vals) {
			for _, id := range s.drop {
				f.release(&vals[id])
			}
		}
		forget := func(id int) {
			if id >= 0 && c.last[id] == i && vals[id].known() {
				f.axes += vals[id].axes() // of an input or a constant more than was taken
				vals[id] = Value{}
			}
		}
		for id := range s.reads() {
			forget(id)
		}
		for _, id := range s.out {
			forget(id)
		}
	}
	if peak != nil {
		p.Node = c.label(peak)
	}
	if !c.inner {
		most := add(f.live-base, f.end(c, vals))
		if p.alone = max(p.alone, most); most > p.Live {
			p.Live, p.Node = most, "the end, where outputs are copied that share memory"
		}
	}
	return nil
}

// body infers a graph inside a node of the graph that has the values around. Its results are unknown where the time
// is over. They have storages, which the caller releases.
func (f *inference) body(b *compiled, around, args []Value) ([]Value, account) {
	outs := make([]Value, len(b.outputs))
	if f.ctx.Err() != nil {
		return outs, account{inexact: true}
	}
	vals := slices.Clone(b.vals)
	for k, id := range b.formals {
		if k < len(args) {
			vals[id] = args[k]
		}
		if f.guessing && !vals[id].known() {
			vals[id] = guess(&b.g.Inputs[b.params[k]].Type)
		}
	}
	for _, o := range b.captures {
		if vals[o.id] = around[o.from]; vals[o.id].own != nil {
			vals[o.id].own.refs++
		}
	}
	axes := f.axes
	f.depth++
	var p Plan
	err := f.graph(b, vals, &p)
	f.depth--
	f.axes = axes
	if err == nil {
		for k, id := range b.outputs {
			if outs[k] = vals[id]; outs[k].own != nil {
				outs[k].own.refs++
			}
		}
	}
	for id := range vals {
		f.release(&vals[id])
	}
	if err != nil {
		return outs, account{inexact: true}
	}
	return outs, account{p.Live, p.alone, !p.Exact}
}

// step returns values or descriptions of the outputs of step i, nothing if an input is unknown, and the memory that the graphs inside
// its node need.
func (f *inference) step(c *compiled, i int, vals []Value) (outs []Value, inside account, err error) {
	s := &c.steps[i]
	if form := s.form(vals); form != nil {
		a := attrs{node: s.node, tensors: c.attrs[i]}
		k := &valueCall{c: c, i: i, s: s, attrs: &a, in: s.values(vals), around: vals}
		for j := range k.in {
			if v := &k.in[j]; v.known() && v.own == nil && len(s.bodies) == 0 {
				v.own = &f.outside
			}
		}
		outs, inside, err = form.infer(f, k)
		if a.wrong != nil {
			err = a.wrong
		}
		if len(s.bodies) == 0 && err == nil {
			f.shared(k, outs)
			// A run plans a graph inside a node again, with less about the items of sequences.
			inside.inexact = f.depth > 0 && slices.ContainsFunc(slices.Concat(k.in, outs), func(v Value) bool { return v.seq != nil })
		}
		return outs, inside, err
	}
	if err := s.noStrings(vals); err != nil {
		return nil, inside, err
	}
	list, p, err := f.operator(c, i, vals)
	if err != nil || p == nil {
		return nil, inside, err
	}
	outs = make([]Value, len(list))
	for j, a := range list {
		outs[j].a = a
	}
	inside.live, inside.alone = f.besides(p, s, vals)
	var of []*storage // of an input that the results may be views of, or copies
	odd := false
	if p.Views() && len(s.in) > 0 && s.in[0] >= 0 {
		in := &vals[s.in[0]]
		if f.views(p, in, outs) {
			return outs, inside, nil
		}
		if odd = in.unlaid(); odd {
			of = in.roots()
		}
	}
	for j := range outs {
		n := max(size(outs[j].a), 0)
		inside.plus(n)
		f.new(&outs[j], n, of...)
		outs[j].own.odd = odd
	}
	return outs, inside, nil
}

// values returns the inputs of a step, the zero Value where one is absent.
func (s *step) values(vals []Value) []Value {
	list := make([]Value, len(s.in))
	for j, id := range s.in {
		if id >= 0 {
			list[j] = vals[id]
		}
	}
	return list
}

// planned plans step i, an operator of package op, and returns values or descriptions of its results. It refuses too many axes.
// form, unless nil, gives the operator for the call.
func (c *compiled) planned(i int, vals []Value, ctx context.Context, form func(i int, call *op.Call) *op.Op) (p *op.Plan, outs []tensor.Any, err error) {
	call, a, err := c.call(i, vals, ctx)
	if err == nil {
		err = checkAxes(c.steps[i].node, c.ops[i], call.Inputs)
	}
	if err == nil {
		o := c.ops[i]
		if form != nil {
			o = form(i, call)
		}
		p, err = o.Plan(call)
	}
	if err == nil {
		outs, err = p.Results()
	}
	if a != nil && a.wrong != nil {
		err = a.wrong
	}
	if err == nil {
		err = checkRanks(outs)
	}
	return p, outs, err
}

// operator is step for an operator of package op. There is no plan where an input is unknown.
func (f *inference) operator(c *compiled, i int, vals []Value) (outs []tensor.Any, p *op.Plan, err error) {
	s := &c.steps[i]
	known := s.shapes(c.ops[i])
	work := 0
	for _, id := range s.in {
		if id < 0 {
			continue
		}
		if !vals[id].known() {
			return nil, nil, nil
		}
		if known = known && hasValue(vals[id].a); known {
			work += int(size(vals[id].a))
		}
	}
	p, outs, err = c.planned(i, vals, f.ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	if !known {
		return outs, p, nil
	}
	done, empty := true, true
	for _, o := range outs {
		if o.IsZero() {
			continue
		}
		if reach(o) > small {
			return outs, p, nil
		}
		done, empty = done && !o.IsSpec(), empty && o.Len() == 0
		work += int(size(o))
	}
	switch {
	case done || work > f.bytes || f.ctx.Err() != nil:
		return outs, p, nil
	case empty: // the value is the shape
		for j, o := range outs {
			if o.IsZero() {
				continue
			}
			if outs[j], err = tensor.Make(o.DType(), o.Shape()...); err != nil {
				return nil, nil, err
			}
		}
		return outs, p, nil
	}
	f.bytes -= work
	if ran, err := p.Run(); err == nil && checkRanks(ran) == nil {
		return slices.Clone(ran), p, nil
	}
	return outs, p, nil // the run will give the error
}

// hasValue reports whether a is a tensor small enough to compute with, not only a description.
func hasValue(a tensor.Any) bool {
	return !a.IsZero() && !a.IsSpec() && reach(a) <= small
}

// reach is the number of elements a tensor would have if its extents of 0 were 1, at most small+1: a tensor without
// elements may have other extents that are huge.
func reach(a tensor.Any) int {
	n := 1
	for axis := range a.Rank() {
		if n *= max(1, min(a.Dim(axis), small+1)); n > small {
			return small + 1
		}
	}
	return n
}
