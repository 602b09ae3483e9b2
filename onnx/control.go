package onnx

import (
	"errors"
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// If, Loop and SequenceMap. Source: docs/Operators.md of github.com/onnx/onnx, for all opsets.

func checkIf(s *step) error {
	then, other := s.bodies[0], s.bodies[1]
	for _, b := range s.bodies {
		switch {
		case len(b.formals) > 0:
			return b.wants("it has %d inputs; a branch has none, it captures values by name", len(b.formals))
		case len(b.outputs) != len(then.outputs) || len(b.outputs) < len(s.out):
			return failf("it has %d outputs, then_branch %d, else_branch %d; the numbers must be the same", len(s.out), len(then.outputs), len(other.outputs))
		}
	}
	for k := range then.outputs {
		a, b := then.g.Outputs[k].Type.held(), other.g.Outputs[k].Type.held()
		kinds := a.Kind != b.Kind && a.Kind != KindNone && b.Kind != KindNone
		if err := sameBranches(k, then.declared(k), other.declared(k), kinds, *a, *b); err != nil {
			return err
		}
	}
	return nil
}

// sameBranches refuses branches of which one gives other elements than the other, or a sequence where that gives a tensor.
func sameBranches(k int, then, other elem, kinds bool, a, b any) error {
	if kinds || then != other && then != noElem && other != noElem {
		return failf("%w: output %d is %v by then_branch and %v by else_branch; both must give one type", tensor.ErrDType, k, a, b)
	}
	return nil
}

func inferIf(f *inference, k *valueCall) ([]Value, account, error) {
	if k.in[0].known() {
		yes, err := truth(&k.in[0])
		switch {
		case err == nil && !f.guessing:
			b := k.s.bodies[1]
			if yes {
				b = k.s.bodies[0]
			}
			outs, inside := f.body(b, k.around, nil)
			return outs, inside, nil
		case err != nil && !errors.Is(err, op.ErrUnknown):
			return nil, account{}, input(0, err)
		}
	}
	outs, inside := f.body(k.s.bodies[0], k.around, nil)
	others, inOther := f.body(k.s.bodies[1], k.around, nil)
	for j := range outs {
		a, b := &outs[j], &others[j]
		if a.known() && b.known() && a.seq != nothing && b.seq != nothing {
			if err := sameBranches(j, a.elem(), b.elem(), (a.seq == nil) != (b.seq == nil), *a, *b); err != nil {
				return nil, account{}, err
			}
		}
		to := join(a, b)
		if f.guessing && !to.known() && a.isTensor() && b.isTensor() {
			to, _ = a.spec()
		}
		f.either(&to, *a, *b)
		outs[j] = to
	}
	return outs, inside.most(inOther), nil
}

// join describes a value that is a or b, without elements.
func join(a, b *Value) Value {
	if !sameType(a, b) {
		return Value{}
	}
	v, err := a.spec()
	if err != nil {
		return Value{}
	}
	return v
}

func runIf(k *valueCall) ([]Value, error) {
	yes, err := truth(&k.in[0])
	if err != nil {
		return nil, input(0, err)
	}
	b := k.s.bodies[1]
	if yes {
		b = k.s.bodies[0]
	}
	outs, err := k.fr.inside(b).call(k.around, nil)
	if err != nil {
		err = inAttr(b.attr, err)
	}
	return outs, err
}

func checkLoop(s *step) error {
	b, carried := s.bodies[0], max(len(s.in)-2, 0)
	switch {
	case len(b.formals) != 2+carried:
		return b.wants("it has %d inputs; for %d values that the loop carries it has %d, the first two the number of the iteration and the condition", len(b.formals), carried, 2+carried)
	case len(b.outputs) < 1+carried:
		return b.wants("it has %d outputs; for %d values that the loop carries it has %d or more, the first the condition", len(b.outputs), carried, 1+carried)
	case len(s.out) > len(b.outputs)-1:
		return failf("it has %d outputs; its body gives %d besides the condition", len(s.out), len(b.outputs)-1)
	}
	for j := 2; j < len(s.in); j++ {
		if s.in[j] < 0 {
			return input(j, failf("it is left out; a value that the loop carries has a start"))
		}
	}
	if d := b.declared(0); d != noElem && d != elem(dtype.Bool) || b.g.Outputs[0].Type.Kind == KindSequence {
		return b.wants("%s is %v; a condition is one bool", b.output(0), b.g.Outputs[0].Type)
	}
	return nil
}

// fixpoint infers a body until the descriptions of the values it carries stay the same: args from the place at on, which the
// outputs from their place back on replace. It returns the outputs of the last pass, without storages, and the storages that they left.
func (f *inference) fixpoint(b *compiled, around, args []Value, at, n, back int) ([]Value, []storage, account, error) {
	const passes, deep = 3, 4
	if f.depth >= deep && !f.guessing { // the time of loops inside loops would multiply
		clear(args[at : at+n])
	}
	for pass := 0; ; pass++ {
		outs, inside := f.body(b, around, args)
		stable := true
		for k := range n {
			arg, out := &args[at+k], &outs[back+k]
			if arg.known() && out.strided() && !arg.strided() { // in the next iteration
				arg.own.lay, arg.own.odd = out.own.lay, out.own.odd || pass > 0
				stable = false
			}
		}
		kept := f.left(outs)
		for k := range n {
			arg, out := &args[at+k], &outs[back+k]
			if arg.known() && out.known() && arg.elem() != out.elem() {
				return nil, nil, inside, b.wants("%w: %s is %v, it began as %v; a value that a loop carries keeps its type", tensor.ErrDType, b.output(back+k), *out, *arg)
			}
			if arg.known() && !sameType(arg, out) {
				stable = false
			}
		}
		if stable || f.guessing || pass > passes+2 {
			return outs, kept, inside, nil
		}
		for k := range n {
			if !sameType(&args[at+k], &outs[back+k]) {
				args[at+k] = Value{}
			}
		}
		if pass == passes {
			clear(args[at : at+n])
		}
	}
}

// starts are the descriptions of the values that a loop carries, from input at on.
func (k *valueCall) starts(at, n int) ([]Value, error) {
	list := make([]Value, n)
	for j := range list {
		var err error
		if list[j], err = k.in[at+j].spec(); err != nil {
			return nil, err
		}
		list[j].borrow(&k.in[at+j])
	}
	return list, nil
}

// longestKnown is how many iterations a loop may have whose results are described before a run.
const longestKnown = math.MaxInt32

func inferLoop(f *inference, k *valueCall) ([]Value, account, error) {
	b, carried := k.s.bodies[0], max(len(k.s.in)-2, 0)
	most := int64(-1)
	if k.given(0) && k.in[0].known() {
		n, err := whole(&k.in[0])
		if err == nil {
			most = max(n, 0)
		} else if !errors.Is(err, op.ErrUnknown) {
			return nil, account{}, input(0, err)
		}
	}
	if k.given(1) && k.in[1].known() {
		yes, err := truth(&k.in[1])
		switch {
		case err == nil && !yes:
			most = 0
		case errors.Is(err, op.ErrUnknown):
			most = -1
		case err != nil:
			return nil, account{}, input(1, err)
		}
	} else if k.given(1) {
		most = -1
	}
	starts, err := k.starts(2, carried)
	if err != nil {
		return nil, account{}, err
	}
	args := append([]Value{k.iteration(0, nil), k.condition()}, starts...)
	outs, kept, inside, err := f.fixpoint(b, k.around, args, 2, carried, 1)
	if err != nil {
		return nil, account{}, err
	}
	if outs[0].known() {
		yes, err := truth(&outs[0])
		switch {
		case errors.Is(err, op.ErrUnknown):
			most = -1
		case err != nil:
			return nil, account{}, b.at(0, err)
		case !yes && most > 0:
			most = 1
		}
	} else {
		most = -1
	}
	all := make([]Value, len(outs)-1)
	for j := range all {
		if j < carried {
			all[j] = join(&args[2+j], &outs[1+j])
		} else if most >= 0 && most <= longestKnown || f.guessing {
			all[j] = stackedSpec(&outs[1+j], 0, int(max(most, 0)))
		}
		if j < carried {
			f.carried(&all[j], &args[2+j], &kept[1+j], &inside)
		} else {
			f.stacked(&all[j], &inside)
		}
	}
	return all, inside, nil
}

// carried gives a result of a loop the storage that an iteration left, and the one of arg, the value before the first iteration.
func (f *inference) carried(v, arg *Value, left *storage, inside *account) {
	inside.plus(left.bytes)
	if f.new(v, left.bytes, append(left.of, arg.roots()...)...); arg.strided() {
		v.own.lay, v.own.odd = arg.own.lay, arg.own.odd
	}
}

// stacked gives the results of all iterations their storage.
func (f *inference) stacked(v *Value, inside *account) {
	n := max(v.size(), 0)
	inside.plus(n)
	f.new(v, n)
}

// stackedSpec describes n tensors like v side by side along a new axis.
func stackedSpec(v *Value, axis, n int) Value {
	if !v.isTensor() || axis > v.a.Rank() || v.a.Rank() >= maxRank {
		return Value{}
	}
	shape := append(v.a.Shape()[:axis:axis], n)
	return describedAs(v.elem(), append(shape, v.a.Shape()[axis:]...)...)
}

// scalarFor is the scalar v, or, where the body declares a rank of 1 for its input, a list of it: exporters write both.
func scalarFor(b *compiled, formal int, v tensor.Any) Value {
	if t := &b.g.Inputs[b.params[formal]].Type; t.HasShape && len(t.Shape) == 1 {
		return Value{a: v.Reshape(1)}
	}
	return Value{a: v}
}

// iteration is the number of an iteration as the body's first input, without a number a description.
func (k *valueCall) iteration(i int64, fr *frame) Value {
	v := scalarFor(k.s.bodies[0], 0, tensor.Scalar(i).Any())
	if fr == nil {
		v, _ = v.spec()
	}
	return v
}

// condition is the body's second input: an iteration begins only while it is true.
func (k *valueCall) condition() Value { return scalarFor(k.s.bodies[0], 1, tensor.Scalar(true).Any()) }

// next begins an iteration: it fails where all are used up, or the context has ended.
func (r *run) next() error {
	if r.left == 0 {
		return failf("%w: the loops of the run have begun as many iterations as Options.MaxIterations allows; raise it if they do end", tensor.ErrValue)
	}
	r.left--
	return r.ctx.Err()
}

// iterate calls a body for iteration i.
func (fr *frame) iterate(i int64, around, args []Value) ([]Value, error) {
	var outs []Value
	fr.turn = i
	err := fr.next()
	if err == nil {
		done := false
		if outs, done, err = fr.repeated(around, args); !done {
			outs, err = fr.call(around, args)
		}
	} else {
		fr.releaseAll(args)
	}
	if err != nil {
		return nil, in(fmt.Sprintf("attribute %q: iteration %d", fr.c.attr, i), err)
	}
	return outs, nil
}

// changed refuses a value that a loop carries when its type changes.
func (c *compiled) changed(k int, from elem, to *Value) error {
	if d := to.elem(); from != noElem && d != noElem && d != from {
		return c.wants("%w: %s is %v, it began as %v; a value that a loop carries keeps its type", tensor.ErrDType, c.output(k), *to, from)
	}
	return nil
}

// heldAll returns copies of values, held.
func heldAll(vals []Value) []Value {
	list := make([]Value, len(vals))
	for j := range vals {
		list[j] = vals[j]
		hold(&list[j])
	}
	return list
}

func runLoop(k *valueCall) (all []Value, err error) {
	b, carried := k.s.bodies[0], max(len(k.s.in)-2, 0)
	most, going := int64(math.MaxInt64), true
	if k.given(0) && k.in[0].seq != nothing {
		if most, err = whole(&k.in[0]); err != nil {
			return nil, input(0, err)
		}
	}
	if k.given(1) && k.in[1].seq != nothing {
		if going, err = truth(&k.in[1]); err != nil {
			return nil, input(1, err)
		}
	}
	fr := k.fr.inside(b).turns()
	var state []Value
	if carried > 0 {
		state = heldAll(k.in[2:])
	}
	stacks := make([]stack, len(b.outputs)-1-carried)
	for j := range stacks {
		if id := carried + j; k.fr.plan != nil && id < len(k.s.out) && k.s.out[id] >= 0 {
			stacks[j].bytes = k.fr.plan.sizes[k.s.out[id]]
		}
	}
	defer func() {
		if err != nil {
			k.fr.releaseAll(state)
			k.fr.abandon(stacks)
		}
	}()
	args := make([]Value, 2+carried)
	for i := int64(0); going && i < most; i++ {
		args[0], args[1] = k.iteration(i, fr), k.condition()
		copy(args[2:], state)
		state = nil
		outs, err := fr.iterate(i, k.around, args)
		if err != nil {
			return nil, err
		}
		state = outs[1 : 1+carried]
		for j := range state {
			if err == nil {
				err = b.changed(1+j, k.in[2+j].elem(), &state[j])
			}
		}
		for j := range stacks {
			if v := &outs[1+carried+j]; err == nil {
				err = k.fr.push(&stacks[j], b, 1+carried+j, v, most)
			}
			k.fr.release(&outs[1+carried+j])
		}
		if err == nil {
			if going, err = truth(&outs[0]); err != nil {
				err = b.at(0, err)
			}
		}
		k.fr.release(&outs[0])
		if err != nil {
			return nil, err
		}
	}
	return k.fr.finish(fr, state, stacks, 1+carried, k.around, func() []Value {
		args := []Value{k.iteration(0, nil), k.condition()}
		for j := range state {
			v, _ := state[j].spec()
			args = append(args, v)
		}
		return args
	})
}

func checkMap(s *step) error {
	b := s.bodies[0]
	switch {
	case len(b.formals) != len(s.in):
		return b.wants("it has %d inputs, the node %d; the numbers must be the same", len(b.formals), len(s.in))
	case len(b.outputs) < len(s.out):
		return failf("it has %d outputs, its body %d", len(s.out), len(b.outputs))
	}
	return nil
}

// inferMap checks the body on the first items. Sequences aren't followed through it.
func inferMap(f *inference, k *valueCall) ([]Value, account, error) {
	args := make([]Value, len(k.in))
	for j := range k.in {
		switch v := &k.in[j]; {
		case v.isTensor():
			args[j] = *v
			args[j].borrow(v)
		case v.Kind() == KindSequence && len(v.seq.items) > 0:
			args[j], _ = v.seq.items[0].spec()
		}
	}
	outs, inside := f.body(k.s.bodies[0], k.around, args)
	for j := range outs {
		f.release(&outs[j])
	}
	inside.inexact = true
	return nil, inside, nil
}

func runMap(k *valueCall) (all []Value, err error) {
	b := k.s.bodies[0]
	first, err := k.sequence(0)
	if err != nil {
		return nil, err
	}
	n := len(first.items)
	for j := range k.in {
		if v := &k.in[j]; v.Kind() == KindSequence && len(v.seq.items) != n {
			return nil, input(j, failf("%w: the sequence has %d elements, the first %d", tensor.ErrShape, len(v.seq.items), n))
		}
	}
	lists := make([][]*Value, len(b.outputs))
	defer func() {
		for _, list := range lists {
			for _, v := range list {
				if err != nil {
					k.fr.release(v)
				}
			}
		}
	}()
	fr := k.fr.inside(b)
	args := make([]Value, len(k.in))
	for i := range n {
		for j := range k.in {
			if args[j] = k.in[j]; args[j].Kind() == KindSequence {
				args[j] = *args[j].seq.items[i]
			}
			hold(&args[j])
		}
		outs, err := fr.iterate(int64(i), k.around, args)
		if err != nil {
			return nil, err
		}
		for j := range outs {
			lists[j] = append(lists[j], &outs[j])
		}
		for j := range outs {
			if !outs[j].isTensor() || outs[j].elem() != lists[j][0].elem() {
				return nil, b.wants("%w: %s is %v, for the first element %v; a sequence is of tensors of one type", tensor.ErrDType, b.output(j), outs[j], *lists[j][0])
			}
		}
	}
	all = make([]Value, len(b.outputs))
	for j := range all {
		of := b.declared(j)
		if n > 0 {
			of = lists[j][0].elem()
		}
		all[j] = sequenceOf(of, lists[j])
	}
	return all, nil
}
