package onnx

import (
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// Scan, and the results of iterations put together. Source: docs/Operators.md of github.com/onnx/onnx; the batched form
// of opset 8: docs/Changelog.md.

// A stack puts tensors of one type and shape side by side along a new axis: the results of a loop's iterations in one result.
type stack struct {
	axis   int64
	n      int   // how many there will be; 0 if that isn't known
	bytes  int64 // that the plan has counted for it; 0 if that isn't known
	back   bool  // from the last to the first
	v      Value
	used   int
	single Value // a description of one
}

// push adds v, output k of body b, to a stack that gets most entries at the most.
func (fr *frame) push(st *stack, b *compiled, k int, v *Value, most int64) error {
	if st.used == 0 {
		if !v.isTensor() {
			return b.wants("%w: %s is %v; the results of iterations are tensors", tensor.ErrDType, b.output(k), *v)
		}
		var err error
		if st.single, err = v.spec(); err == nil {
			first := max(int64(st.n), 4)
			if one := st.single.size(); one > 0 {
				first = max(first, st.bytes/one)
			}
			err = fr.grow(st, int(min(most, first)))
		}
		if err != nil {
			return b.at(k, err)
		}
	} else if !sameType(&st.single, v) {
		return b.wants("%w: %s is %v, in the first iteration %v; the results of all are put together", tensor.ErrShape, b.output(k), *v, st.single)
	}
	axis, err := axisIn(st.axis, st.single.a.Rank()+1)
	if err != nil {
		return b.at(k, err)
	}
	if room := st.v.a.Dim(axis); st.used == room {
		if err := fr.grow(st, int(min(most, 2*int64(room)))); err != nil {
			return b.at(k, err)
		}
	}
	at := st.used
	if st.back {
		at = st.n - 1 - at
	}
	to, err := entry(st.v.a, axis, at)
	if err == nil {
		err = tensor.Copy(to, v.a)
	}
	st.used++
	return err
}

// entry is the part of a at one place of an axis, without the axis.
func entry(a tensor.Any, axis, at int) (tensor.Any, error) {
	list, err := parts(a, axis, []int{at, at + 1}, true)
	if err != nil {
		return tensor.Any{}, err
	}
	return list[0], nil
}

// grow makes room for n entries.
func (fr *frame) grow(st *stack, n int) error {
	axis, err := axisIn(st.axis, st.single.a.Rank()+1)
	if err != nil {
		return err
	}
	d := stackedSpec(&st.single, axis, n)
	if !d.known() {
		return failf("%w: %d results of %v are too many for one tensor", tensor.ErrShape, n, st.single)
	}
	if err := fr.room(d.size()); err != nil {
		return err
	}
	a, err := tensor.Make(d.a.DType(), d.a.Shape()...)
	if err != nil {
		return err
	}
	if st.used > 0 { // along axis 0, as only loops of unknown length grow
		old, part := st.v.a, a
		if old, err = tensor.Slice(old, tensor.R(0, st.used)); err == nil {
			if part, err = tensor.Slice(part, tensor.R(0, st.used)); err == nil {
				err = tensor.Copy(part, old)
			}
		}
		if err != nil {
			return err
		}
	}
	fr.release(&st.v)
	if st.v = (Value{a: a}); st.single.text != nil {
		st.v.text = fr.text
	}
	fr.store(&st.v)
	return nil
}

// abandon gives back the memory that stacks hold.
func (fr *frame) abandon(stacks []stack) {
	for j := range stacks {
		fr.release(&stacks[j].v)
		stacks[j].v = Value{}
	}
}

// finish returns the results of a loop: the values that it carried, then the stacks, which are the outputs of the body
// from the place first on. A stack that nothing was pushed to has an extent of 0, or zeros for the n that it waits for,
// and otherwise the description of the body's output for args.
func (fr *frame) finish(in *frame, state []Value, stacks []stack, first int, around []Value, args func() []Value) ([]Value, error) {
	if err := in.settled(state); err != nil {
		return nil, err
	}
	b := in.c
	var known []Value // of the body's outputs
	for j := range stacks {
		st := &stacks[j]
		if st.used == 0 {
			if known == nil {
				var err error
				if known, err = in.described(around, args()); err != nil {
					return nil, err
				}
			}
			if st.single = known[first+j]; !st.single.isTensor() {
				st.single = b.emptyOutput(first + j)
			}
			if !st.single.known() {
				return nil, b.wants("%w: no iteration runs, and %s has no type; declare it", tensor.ErrDType, b.output(first+j))
			}
			if err := fr.grow(st, st.n); err != nil {
				return nil, b.at(first+j, err)
			}
			continue
		}
		if st.n == 0 && st.used < st.v.a.Dim(0) {
			if err := fr.grow(st, st.used); err != nil {
				return nil, b.at(first+j, err)
			}
		}
	}
	all := slices.Clone(state)
	for j := range stacks {
		all = append(all, stacks[j].v)
	}
	return all, nil
}

// described returns descriptions of the outputs of the frame's graph, without elements.
func (fr *frame) described(around, args []Value) (outs []Value, err error) {
	f := inference{depth: 1}
	err = f.within(fr.ctx, fr.limit, func() error {
		outs, _ = f.body(fr.c, bare(around), args)
		return nil
	})
	for j := range outs {
		outs[j], _ = outs[j].spec()
	}
	return outs, err
}

// emptyOutput describes output k by its declaration, with 0 for every size that isn't fixed.
func (c *compiled) emptyOutput(k int) Value {
	d, t := c.declared(k), &c.g.Outputs[k].Type
	if d == noElem || t.Kind != KindTensor {
		return Value{}
	}
	shape := make([]int, len(t.Shape))
	for i, dim := range t.Shape {
		shape[i] = int(min(max(dim.Value, 0), 1<<30))
	}
	return describedAs(d, shape...)
}

// A scan holds the decoded attributes and inputs of a Scan.
type scan struct {
	first   int // the input that the first state is
	states  int
	scanned int
	axes    []int64 // of the scanned inputs
	back    []bool
	outAxes []int64 // of the scanned outputs
	outBack []bool
	batched bool // opset 8: axis 0 of all inputs and outputs is a batch, axis 1 of scanned ones the sequence
}

func scanOf(s *step, a *attrs) (*scan, error) {
	b := s.bodies[0]
	n := a.Int("num_scan_inputs", 0)
	sc := &scan{batched: s.opset < 9}
	if sc.batched {
		sc.first = 1
	}
	if sc.scanned = int(n); n < 1 || n > int64(len(s.in)-sc.first) {
		return nil, inAttr("num_scan_inputs", failf("it is %d for %d inputs", n, len(s.in)-sc.first))
	}
	sc.states = len(s.in) - sc.first - sc.scanned
	outs := len(b.outputs) - sc.states
	flags := func(name string, n int) ([]bool, error) {
		list, err := axesAttr(a, name, n)
		back := make([]bool, n)
		for i, v := range list {
			if back[i] = v == 1; v != 0 && v != 1 {
				return nil, inAttr(name, failf("it holds %d; want 0, forward, or 1, backward", v))
			}
		}
		return back, err
	}
	if len(b.formals) != sc.states+sc.scanned {
		return nil, b.wants("it has %d inputs; for %d states and %d scanned inputs it has %d", len(b.formals), sc.states, sc.scanned, sc.states+sc.scanned)
	}
	if outs < 0 || len(s.out) > len(b.outputs) {
		return nil, b.wants("it has %d outputs; the node has %d, %d of them states", len(b.outputs), len(s.out), sc.states)
	}
	var err error
	if sc.batched {
		sc.back, err = flags("directions", sc.scanned)
		sc.axes, sc.outAxes, sc.outBack = make([]int64, sc.scanned), make([]int64, outs), make([]bool, outs)
		return sc, err
	}
	if sc.axes, err = axesAttr(a, "scan_input_axes", sc.scanned); err != nil {
		return nil, err
	}
	if sc.outAxes, err = axesAttr(a, "scan_output_axes", outs); err != nil {
		return nil, err
	}
	if sc.back, err = flags("scan_input_directions", sc.scanned); err != nil {
		return nil, err
	}
	sc.outBack, err = flags("scan_output_directions", outs)
	return sc, err
}

// axesAttr returns an attribute with n elements, zeros if it is absent.
func axesAttr(a *attrs, name string, n int) ([]int64, error) {
	list, ok := a.Ints(name)
	if !ok {
		return make([]int64, n), nil
	}
	if len(list) != n {
		return nil, inAttr(name, failf("it has %d elements, want %d", len(list), n))
	}
	return list, nil
}

func checkScan(s *step) error {
	a := &attrs{node: s.node}
	if _, err := scanOf(s, a); err != nil {
		return err
	}
	first := 0
	if s.opset < 9 {
		first = 1
	}
	for j := first; j < len(s.in); j++ {
		if s.in[j] < 0 {
			return input(j, failf("it is left out"))
		}
	}
	return a.wrong
}

// length returns the extent of the axis that the tensors are scanned along.
func (sc *scan) length(k *valueCall, from int, vals []Value) (n int, err error) {
	for j := range vals {
		axis := 0
		if !vals[j].isTensor() {
			return 0, input(from+j, failf("%w: it is %v; the operator scans tensors", tensor.ErrDType, vals[j]))
		}
		if axis, err = axisIn(sc.axes[j], vals[j].a.Rank()); err != nil {
			return 0, input(from+j, err)
		}
		if e := vals[j].a.Dim(axis); j == 0 {
			n = e
		} else if e != n {
			return 0, input(from+j, failf("%w: it has %d entries to scan, input %d has %d", tensor.ErrShape, e, from, n))
		}
	}
	return n, nil
}

func inferScan(f *inference, k *valueCall) ([]Value, account, error) {
	sc, err := scanOf(k.s, k.attrs)
	if err != nil {
		return nil, account{}, err
	}
	ins := slices.Clone(k.in[sc.first:])
	scanned := ins[sc.states:]
	batch, length := -1, -1
	if sc.batched {
		for j := range ins {
			if !ins[j].isTensor() {
				continue
			}
			if ins[j].a.Rank() < 1 || j >= sc.states && ins[j].a.Rank() < 2 {
				return nil, account{}, input(1+j, failf("%w: it is %v, without axes for the batch and what is scanned", tensor.ErrShape, ins[j]))
			}
			batch = ins[j].a.Dim(0)
			ins[j] = entrySpec(&ins[j], 0)
		}
	}
	known := !slices.ContainsFunc(scanned, func(v Value) bool { return !v.isTensor() })
	if known {
		if length, err = sc.length(k, sc.first+sc.states, scanned); err != nil {
			return nil, account{}, err
		}
	}
	args := make([]Value, len(ins))
	for j := range ins {
		if j < sc.states {
			args[j], err = ins[j].spec()
			args[j].borrow(&k.in[sc.first+j])
		} else if ins[j].isTensor() {
			axis, bad := axisIn(sc.axes[j-sc.states], ins[j].a.Rank())
			if err = bad; bad == nil {
				args[j] = entrySpec(&ins[j], axis)
				args[j].borrow(&k.in[sc.first+j])
				args[j].own.odd = axis > 0 || args[j].strided()
			}
		}
		if err != nil {
			return nil, account{}, input(sc.first+j, err)
		}
	}
	outs, kept, inside, err := f.fixpoint(k.s.bodies[0], k.around, args, 0, sc.states, 0)
	if err != nil {
		return nil, account{}, err
	}
	all := make([]Value, len(outs))
	for j := range outs {
		if j < sc.states {
			all[j] = join(&args[j], &outs[j])
		} else if outs[j].isTensor() && known {
			axis, err := axisIn(sc.outAxes[j-sc.states], outs[j].a.Rank()+1)
			if err != nil {
				return nil, account{}, inAttr("scan_output_axes", err)
			}
			all[j] = stackedSpec(&outs[j], axis, length)
		}
		if sc.batched && batch < 0 {
			all[j] = Value{}
		} else if sc.batched && all[j].known() {
			inside.plus(all[j].size()) // of one entry
			all[j] = stackedSpec(&all[j], 0, batch)
		}
		if j < sc.states && !sc.batched {
			f.carried(&all[j], &args[j], &kept[j], &inside)
		} else {
			f.stacked(&all[j], &inside)
		}
	}
	return all, inside, nil
}

// entrySpec describes v without an axis.
func entrySpec(v *Value, axis int) Value {
	return describedAs(v.elem(), slices.Delete(v.a.Shape(), axis, axis+1)...)
}

func runScan(k *valueCall) ([]Value, error) {
	sc, err := scanOf(k.s, k.attrs)
	if err != nil {
		return nil, err
	}
	for j := sc.first; j < sc.first+sc.states; j++ {
		if sc.batched && (!k.in[j].isTensor() || k.in[j].a.Rank() < 1) {
			return nil, input(j, failf("%w: it is %v, without an axis for the batch", tensor.ErrShape, k.in[j]))
		}
	}
	ins := k.in[sc.first:]
	fr := k.fr.inside(k.s.bodies[0]).turns()
	if !sc.batched {
		n, err := sc.length(k, sc.states, ins[sc.states:])
		if err != nil {
			return nil, err
		}
		return k.scanOnce(sc, fr, heldAll(ins[:sc.states]), ins[sc.states:], n, n)
	}
	return k.scanBatch(sc, fr, ins)
}

// scanOnce runs the body n times; the results have room for most.
func (k *valueCall) scanOnce(sc *scan, fr *frame, state, scanned []Value, n, most int) (all []Value, err error) {
	b := fr.c
	stacks := make([]stack, len(b.outputs)-sc.states)
	for j := range stacks {
		stacks[j] = stack{axis: sc.outAxes[j], n: most, back: sc.outBack[j]}
	}
	defer func() {
		if err != nil {
			k.fr.releaseAll(state)
			k.fr.abandon(stacks)
		}
	}()
	starts := make([]elem, len(state))
	for j := range state {
		starts[j] = state[j].elem()
	}
	args := make([]Value, len(b.formals))
	for i := range n {
		for j := range scanned {
			at := i
			if sc.back[j] {
				at = n - 1 - i
			}
			axis, err := axisIn(sc.axes[j], scanned[j].a.Rank())
			if err != nil {
				return nil, err
			}
			a, err := entry(scanned[j].a, axis, at)
			if err != nil {
				return nil, err
			}
			v := Value{a: a, text: scanned[j].text}
			if a.SameData(scanned[j].a) {
				v.own = scanned[j].own
			}
			hold(&v)
			args[sc.states+j] = v
		}
		copy(args, state)
		state = nil
		outs, err := fr.iterate(int64(i), k.around, args)
		if err != nil {
			return nil, err
		}
		state = outs[:sc.states]
		for j := range state {
			if err == nil {
				err = b.changed(j, starts[j], &state[j])
			}
		}
		for j := range stacks {
			if v := &outs[sc.states+j]; err == nil {
				err = k.fr.push(&stacks[j], b, sc.states+j, v, int64(most))
			}
			k.fr.release(&outs[sc.states+j])
		}
		if err != nil {
			return nil, err
		}
	}
	return k.fr.finish(fr, state, stacks, sc.states, k.around, func() []Value {
		args := make([]Value, len(b.formals))
		for j := range state {
			args[j], _ = state[j].spec()
		}
		for j := range scanned {
			if axis, err := axisIn(sc.axes[j], scanned[j].a.Rank()); err == nil {
				args[sc.states+j] = entrySpec(&scanned[j], axis)
			}
		}
		return args
	})
}

// scanBatch runs the form of opset 8: each entry of the batch by itself, as long as input 0 says; the rest in the
// results is zero.
func (k *valueCall) scanBatch(sc *scan, fr *frame, ins []Value) (all []Value, err error) {
	b := fr.c
	batch, n := -1, -1
	for j := range ins {
		v := &ins[j]
		if !v.isTensor() || v.a.Rank() < 1 || j >= sc.states && v.a.Rank() < 2 {
			return nil, input(1+j, failf("%w: it is %v, without axes for the batch and what is scanned", tensor.ErrShape, *v))
		}
		e := n
		if j >= sc.states {
			e = v.a.Dim(1)
		}
		if batch >= 0 && v.a.Dim(0) != batch || n >= 0 && e != n {
			return nil, input(1+j, failf("%w: it is %v; the batch is %d, and %d entries are scanned", tensor.ErrShape, *v, batch, n))
		}
		batch, n = v.a.Dim(0), e
	}
	if batch == 0 {
		return nil, input(1, failf("%w: the batch is empty", tensor.ErrShape))
	}
	lengths := make([]int, batch)
	for i := range lengths {
		lengths[i] = n
	}
	if k.given(0) {
		v := &k.in[0]
		if !v.isTensor() || v.a.DType() != dtype.Int64 || v.a.Len() != batch {
			return nil, input(0, failf("%w: it is %v; want %d lengths as int64", tensor.ErrShape, *v, batch))
		}
		i := 0
		for x := range tensor.ValuesOf[int64](v.a) {
			if x < 0 || x > int64(n) {
				return nil, input(0, failf("%w: length %d; there are %d entries", tensor.ErrShape, x, n))
			}
			lengths[i] = int(x)
			i++
		}
	}
	stacks := make([]stack, len(b.outputs))
	for j := range stacks {
		stacks[j] = stack{n: batch}
	}
	defer func() {
		if err != nil {
			k.fr.abandon(stacks)
		}
	}()
	for i, length := range lengths {
		one := make([]Value, len(ins))
		for j := range ins {
			a, err := entry(ins[j].a, 0, i)
			if err != nil {
				return nil, err
			}
			if one[j].a, one[j].text = a, ins[j].text; a.SameData(ins[j].a) {
				one[j].own = ins[j].own
			}
		}
		outs, err := k.scanOnce(sc, fr, heldAll(one[:sc.states]), one[sc.states:], length, n)
		if err != nil {
			return nil, in(fmt.Sprintf("entry %d of the batch", i), err)
		}
		for j := range outs {
			if err == nil {
				err = k.fr.push(&stacks[j], b, j, &outs[j], int64(batch))
			}
			k.fr.release(&outs[j])
		}
		if err != nil {
			return nil, err
		}
	}
	return k.fr.finish(fr, nil, stacks, 0, k.around, nil)
}
