package op

import (
	"context"
	"runtime"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// RecurrentOptions has the operands and attributes of LSTM, GRU and RNN besides input and weights. Its zero value is
// ONNX's defaults: one forward direction, no bias, all steps, states of 0, activations
// Sigmoid and Tanh. D is the number of directions, 2 of bidirectional and else 1; G that
// of gates, 4 of LSTM, 3 of GRU and 1 of RNN; H that of units.
type RecurrentOptions[T num.Floating] struct {
	Bias      tensor.Tensor[T]     // [D, 2·G·H]: for the products with w, then for the products with r
	Lengths   tensor.Tensor[int32] // [batch]: the steps of each sequence; all without it
	InitialH  tensor.Tensor[T]     // [D, batch, H]: the state before the first step; 0 without it
	InitialC  tensor.Tensor[T]     // [D, batch, H]: the cell of LSTM before the first step; 0 without it
	Peepholes tensor.Tensor[T]     // [D, 3·H]: the weights of the cell in LSTM's gates i, o and f

	Direction         string    // "forward", as "" is, "reverse" or "bidirectional"
	Activations       []string  // in any case; 3 for each direction of LSTM, 2 of GRU, 1 of RNN
	Alpha, Beta       []float32 // taken in order by the activations that have one; then come the defaults
	Clip              float32   // the input of each activation is limited to −Clip … Clip; 0 is no limit
	BatchFirst        bool      // batch is the first axis of input, states and results: ONNX's layout 1
	InputForget       bool      // LSTM: the gate f is 1 − i
	LinearBeforeReset bool      // GRU: the gate r multiplies the product with the state, not the state
}

// operands returns the inputs in ONNX's order.
func (o *RecurrentOptions[T]) operands(x, w, r *tensor.Any) [8]*tensor.Any {
	return [8]*tensor.Any{x, w, r, exec.Ref(&o.Bias), exec.Ref(&o.Lengths), exec.Ref(&o.InitialH), exec.Ref(&o.InitialC), exec.Ref(&o.Peepholes)}
}

func (o *RecurrentOptions[T]) attributes() recurrentAttrs {
	return recurrentAttrs{o.Direction, o.Activations, o.Alpha, o.Beta, o.Clip, o.BatchFirst, o.InputForget, o.LinearBeforeReset, nil}
}

// recurrentAttrs is the attributes of a RecurrentOptions.
type recurrentAttrs struct {
	direction           string
	activations         []string
	alpha, beta         []float32
	clip                float32
	batchFirst          bool
	inputForget, linear bool
	kept                *keptWeights
}

// A cell has the differences between LSTM, GRU and RNN.
type cell struct {
	name        string
	gates       int      // blocks of rows of the weights
	activations []string // of a direction, where none are named
	inputs      int      // that ONNX gives it
	outputs     int
	f32         func(u *unrolled[float32], step int)
	f64         func(u *unrolled[float64], step int)
}

// recurrence is a call: a cell, operands and attributes that fit each other.
type recurrence struct {
	*cell
	recurrentAttrs
	in                         [8]*tensor.Any
	steps, batch, input, units int
	directions                 int
	acts                       []activation // of all directions
	ctx                        context.Context
}

// absent reports whether there is no input i.
func (q *recurrence) absent(i int) bool { return q.in[i] == nil || q.in[i].IsZero() }

// checked returns a call of the cell. Inputs may be Specs.
func (k *cell) checked(in [8]*tensor.Any, a recurrentAttrs) *recurrence {
	plan.Present(k.name, in[:3]...)
	q := &recurrence{cell: k, recurrentAttrs: a, in: in, directions: 1}
	q.linear = a.linear && k.gates == 3
	switch a.direction {
	case "", "forward", "reverse":
	case "bidirectional":
		q.directions = 2
	default:
		panic(plan.Fail(k.name, tensor.ErrValue, "direction %.40q; want forward, reverse or bidirectional", a.direction))
	}
	if !(a.clip >= 0) {
		panic(plan.Fail(k.name, tensor.ErrValue, "clip is %v; want a positive number, or 0 for none", a.clip))
	}
	x, r := in[0], in[2]
	first, second := "steps", "batch"
	if a.batchFirst {
		first, second = second, first
	}
	if x.Rank() != 3 {
		panic(plan.Fail(k.name, tensor.ErrShape, "input 0 is %s; want [%s, %s, features]", tensor.Describe(*x), first, second))
	}
	if r.Rank() != 3 || r.Dim(1)%k.gates != 0 || r.Dim(1)/k.gates != r.Dim(2) {
		panic(plan.Fail(k.name, tensor.ErrShape, "input 2, the weights of the state, is %s; want [directions, %d·units, units]", tensor.Describe(*r), k.gates))
	}
	q.steps, q.batch, q.input, q.units = x.Dim(0), x.Dim(1), x.Dim(2), r.Dim(2)
	if a.batchFirst {
		q.steps, q.batch = q.batch, q.steps
	}
	rows := r.Dim(1)
	state := q.stateShape()
	q.want(1, "the weights of the input", q.directions, rows, q.input)
	q.want(2, "the weights of the state", q.directions, rows, q.units)
	q.want(3, "the bias", q.directions, 2*rows)
	q.want(4, "the lengths", q.batch)
	q.want(5, "the state before the first step", state...)
	q.want(6, "the cell before the first step", state...)
	q.want(7, "the peepholes", q.directions, 3*q.units)
	for i := k.inputs; i < len(in); i++ {
		if !q.absent(i) {
			panic(plan.Fail(k.name, tensor.ErrValue, "it has no cell: InitialC and Peepholes are of LSTM"))
		}
	}
	for i := range in {
		if q.absent(i) {
			continue
		}
		want := x.DType()
		if i == 4 {
			want = dtype.Int32
		}
		if d := in[i].DType(); d != want {
			panic(plan.Fail(k.name, tensor.ErrDType, "input %d holds %v, want %v; convert it with op.Cast", i, d, want))
		}
	}
	q.acts = k.activationsOf(&a, q.directions)
	return q
}

// want panics unless input i is absent or has the shape.
func (q *recurrence) want(i int, what string, shape ...int) {
	if a := q.in[i]; !q.absent(i) && !plan.SameShape(a.LayoutRef(), shape) {
		panic(plan.Fail(q.name, tensor.ErrShape, "input %d, %s, is %s; want [%s], of steps %d, batch %d, features %d, units %d, directions %d and gates %d",
			i, what, tensor.Describe(*a), strings.Trim(plan.ShapeText(shape), "()"), q.steps, q.batch, q.input, q.units, q.directions, q.gates))
	}
}

func (q *recurrence) stateShape() []int {
	if q.batchFirst {
		return []int{q.batch, q.directions, q.units}
	}
	return []int{q.directions, q.batch, q.units}
}

func (q *recurrence) shape() []int {
	if q.batchFirst {
		return []int{q.batch, q.steps, q.directions, q.units}
	}
	return []int{q.steps, q.directions, q.batch, q.units}
}

// at returns where the state of a sequence begins, in elements.
func (q *recurrence) at(direction, b int) int {
	if q.batchFirst {
		return (b*q.directions + direction) * q.units
	}
	return (direction*q.batch + b) * q.units
}

// atStep is at for the states of all steps.
func (q *recurrence) atStep(step, direction, b int) int {
	if q.batchFirst {
		return ((b*q.steps+step)*q.directions + direction) * q.units
	}
	return ((step*q.directions+direction)*q.batch + b) * q.units
}

// row returns the number of a step of a sequence among the rows of the input.
func (q *recurrence) row(step, b int) int {
	if q.batchFirst {
		return b*q.steps + step
	}
	return step*q.batch + b
}

// call computes the states of all steps, the last ones and, of LSTM, the last cells.
func (q *recurrence) call(out [3]*tensor.Any, opts []Option) {
	run, s := *q, plan.Read(q.name, opts)
	d := run.in[0].DType()
	plan.AimShape(out[0], run.name, &s, d, run.shape())
	for _, o := range out[1:run.outputs] {
		*o = tensor.EmptyOf(d, run.stateShape()...)
	}
	if run.batch == 0 || run.units == 0 { // no state has an element, and only the lengths are looked at
		if run.in[4] = nil; !q.absent(4) {
			lengths := q.in[4].Contiguous()
			run.in[4] = &lengths
		}
		run.lengths()
		return
	}
	results := [3]tensor.Any{*out[0], *out[1], *out[2]}
	beside := results[0].IsContiguous()
	var held [8]tensor.Any // the inputs, contiguous and of the type that is computed in
	for i, x := range run.in {
		if run.absent(i) {
			run.in[i] = nil
			continue
		}
		beside = beside && !results[0].Overlaps(*x)
		if d.IsNarrow() && i != 4 {
			held[i] = inSingle(run.name, x)
		} else {
			held[i] = x.Contiguous()
		}
		run.in[i] = &held[i]
	}
	if !beside {
		results[0] = tensor.EmptyOf(d, run.shape()...)
	}
	lengths := run.lengths()
	run.ctx = s.Ctx()
	cost := int(min(1<<40, float64(run.steps)*float64(run.batch)*float64(run.gates*run.units)*(4+float64(run.input+run.units)/20)))
	exec.Split(run.name, run.ctx, run.directions, cost, func(from, to int) {
		for i := from; i < to; i++ {
			if d == dtype.Float64 {
				unroll(&run, i, lengths, &results, run.f64)
			} else {
				unroll(&run, i, lengths, &results, run.f32)
			}
		}
	})
	for i := range held {
		if run.in[i] != nil {
			plan.Drop(&held[i], q.in[i])
		}
	}
	runtime.KeepAlive(&results)
	if !results[0].SameData(*out[0]) {
		out[0].CopyFrom(results[0])
		results[0].Close()
	}
}

// lengths returns the steps of each sequence, nil if they are all.
func (q *recurrence) lengths() []int32 {
	if q.in[4] == nil {
		return nil
	}
	v := move.ElemsOf[int32](q.in[4])
	for b, n := range v {
		if n < 0 || int(n) > q.steps {
			panic(plan.Fail(q.name, tensor.ErrValue, "input 4, the lengths, has %d at index %d; want 0 to %d, the number of steps", n, b, q.steps))
		}
	}
	return v
}

// unrolled is one direction of a call, on its way through the steps.
type unrolled[T num.Float] struct {
	*recurrence
	direction int
	back      bool
	lens      []int32
	longest   int

	gates, product []T             // of all steps, and of one: the product with r
	h, c           []T             // a state for each sequence
	scratch, ones  []T             // units elements
	reset          []T             // of GRU: the state times r
	bias, peep     []T             // of the products with the state; nil if there are none
	weights, last  stateWeights[T] // see directed
	f              [3]func(dst, a []T)
	add, sub, mul  func(dst, a, b []T)

	d      dtype.DType
	narrow exec.Row1
	out    [3]exec.Run
}

// unroll computes a direction.
func unroll[T num.Float](q *recurrence, direction int, lens []int32, out *[3]tensor.Any, step func(u *unrolled[T], step int)) {
	u := &unrolled[T]{recurrence: q, direction: direction, back: direction == 1 || q.direction == "reverse", lens: lens, d: out[0].DType(),
		add: rowFor[T](&add), sub: rowFor[T](&sub), mul: rowFor[T](&mul)}
	u.narrow = cast.NarrowOf(u.d)
	for i := range u.out[:q.outputs] {
		u.out[i] = exec.RunIn(&out[i])
	}
	for i := range q.cell.activations {
		u.f[i] = activationRow[T](q.acts[direction*len(q.cell.activations)+i], T(q.clip))
	}
	n, wide := q.units, q.cell.gates*q.units
	rows, size := q.steps*q.batch, dtype.Of[T]().Size()
	reset := 0
	if q.cell.gates == 3 && !q.linear {
		reset = 1
	}
	kept := keptFor[T](q, direction)
	parts := [9]int{rows * wide, q.batch * wide, q.batch * n, q.batch * n, n, n, reset * q.batch * n}
	own := directed[T]{}
	if kept == nil {
		own = directedOf[T](q.cell, q.input, n, rows, q.batch)
		parts[7], parts[8] = own.state.Room(), own.last.Room()
	} else {
		own = *kept
	}
	total := 0
	for i, part := range parts {
		total += plan.Extent(q.name, i, part, size) + 64
	}
	p := contract.PanelsOf(plan.Fits(q.name, total, 1))
	defer contract.PanelPool.Put(p)
	rest := p.Bytes()
	for i, s := range [7]*[]T{&u.gates, &u.product, &u.h, &u.c, &u.scratch, &u.ones, &u.reset} {
		*s = conv.Carve[T](&rest, parts[i])
	}
	if kept == nil {
		_, r := rowsOf[T](q, direction)
		own.state.Pack(conv.Carve[T](&rest, parts[7]), r, 1, n)
		own.last.Pack(conv.Carve[T](&rest, parts[8]), r[own.state.N*n:], 1, n)
	}
	ctx := ofDirection(q.ctx, q.directions)
	u.weights.of(q.name, ctx, q.batch, own.state)
	u.last.of(q.name, ctx, q.batch, own.last)
	for i := range u.ones {
		u.ones[i] = 1
	}
	clear(u.reset)
	u.load(u.h, 5)
	u.load(u.c, 6)
	if q.in[7] != nil {
		u.peep = move.ElemsOf[T](q.in[7])[direction*3*n:][:3*n]
	}
	u.fromInput(ctx, kept)
	for b := range q.batch {
		u.longest = max(u.longest, u.length(b))
	}
	for s := range u.longest {
		exec.Look(q.name, q.ctx)
		step(u, s)
	}
	u.finish()
	runtime.KeepAlive(p)
}

// fromInput computes the part of the input in the gates of all steps, with the bias. kept is the packed weights, nil if there are none.
func (u *unrolled[T]) fromInput(ctx context.Context, kept *directed[T]) {
	wide, rows := u.cell.gates*u.units, u.steps*u.batch
	var sum []T
	if u.in[3] != nil {
		own := move.ElemsOf[T](u.in[3])[u.direction*2*wide:][:2*wide]
		sum = make([]T, wide)
		u.add(sum, own[:wide], own[wide:])
		if u.linear {
			u.bias = own[wide+2*u.units:]
			copy(sum[2*u.units:], own[2*u.units:wide])
		}
	}
	x := move.ElemsOf[T](u.in[0])
	if kept == nil {
		w, _ := rowsOf[T](u.recurrence, u.direction)
		g := contract.Contraction{Job: exec.Job{Name: u.name, Ctx: u.ctx}, Batch: 1, M: rows, N: wide, K: u.input,
			AAt: contract.EntriesOf(0), ARow: u.input, ACol: 1, BAt: contract.EntriesOf(0), BRow: 1, BCol: u.input, CAt: contract.EntriesOf(0), CRow: wide, CCol: 1}
		e := contract.Gemm[T]{A: x, B: w, C: u.gates, Tiles: contract.TilesOf[T](), Size: dtype.Of[T]().Size()}
		if sum != nil {
			e.Plus, g.Then = sum, contract.After{At: contract.EntriesOf(0), Col: 1, Rows: &afterProduct}
		}
		e.Run(&g)
		return
	}
	const most = 128 // rows that stay in the caches with a panel
	for from := 0; from < rows; from += most {
		exec.Look(u.name, u.ctx)
		var s stateWeights[T]
		s.of(u.name, ctx, min(most, rows-from), kept.input)
		gates := u.gates[from*wide:][:s.m*wide]
		s.times(gates, wide, x[from*u.input:])
		for i := 0; sum != nil && i < len(gates); i += wide {
			u.add(gates[i:i+wide], gates[i:i+wide], sum)
		}
	}
}

// length returns the number of steps of a sequence.
func (u *unrolled[T]) length(b int) int {
	if u.lens == nil {
		return u.steps
	}
	return int(u.lens[b])
}

// time returns where a step of a sequence is in the input.
func (u *unrolled[T]) time(step, b int) int {
	if u.back {
		return u.length(b) - 1 - step
	}
	return step
}

// live returns the gates of a sequence at a step, its product and its state; no gates
// once the sequence is over.
func (u *unrolled[T]) live(step, b int) (gates, product, h []T) {
	if step >= u.length(b) {
		return nil, nil, nil
	}
	n, wide := u.units, u.cell.gates*u.units
	at := u.row(u.time(step, b), b) * wide
	return u.gates[at : at+wide], u.product[b*wide : (b+1)*wide], u.h[b*n : (b+1)*n]
}

// load sets the states of all sequences to input i, to 0 if that is absent.
func (u *unrolled[T]) load(states []T, i int) {
	if u.in[i] == nil {
		clear(states)
		return
	}
	for b := range u.batch {
		copy(states[b*u.units:(b+1)*u.units], move.ElemsOf[T](u.in[i])[u.at(u.direction, b):])
	}
}

// store writes a state to output i.
func (u *unrolled[T]) store(i, at int, state []T) {
	dst := exec.Part(u.out[i], u.d, at, u.units)
	if u.narrow != nil {
		u.narrow(dst, exec.RunOf(state))
	} else {
		exec.Move(dst, exec.RunOf(state), u.d)
	}
}

// done writes the state of a sequence after a step.
func (u *unrolled[T]) done(step, b int) {
	u.store(0, u.atStep(u.time(step, b), u.direction, b), u.h[b*u.units:(b+1)*u.units])
}

// finish writes the last states, and 0 for the steps that sequences don't have.
func (u *unrolled[T]) finish() {
	clear(u.scratch)
	for b := range u.batch {
		for t := u.length(b); t < u.steps; t++ {
			u.store(0, u.atStep(t, u.direction, b), u.scratch)
		}
		u.store(1, u.at(u.direction, b), u.h[b*u.units:(b+1)*u.units])
		if u.outputs > 2 {
			u.store(2, u.at(u.direction, b), u.c[b*u.units:(b+1)*u.units])
		}
	}
}

// rowFor returns the row of T.
func rowFor[T num.Float](o *pointwise.Operator) func(dst, a, b []T) {
	return exec.As[func(dst, a, b []T)](o.Row(dtype.Of[T]()))
}

// planRecurrent plans a node.
func planRecurrent(p *plan.Draft, k *cell, c *plan.Use) {
	a, in := k.attrsOf(c), [8]*tensor.Any{}
	for i := range in {
		if in[i] = c.Or(i); !in[i].IsZero() {
			c.With(k.name, i)
		}
	}
	q := k.checked(in, a)
	if !p.Brief {
		d, state := in[0].DType(), q.stateShape()
		p.Out = []tensor.Any{plan.Spec(k.name, d, q.shape()...), plan.Spec(k.name, d, state...), plan.Spec(k.name, d, state...)}[:k.outputs]
		blocksOf(&p.Price, c.Inputs)
		p.Copies(0, 2, 1)
		p.Costs(k.flops(c))
	}
	p.List(c, k.outputs, func(to []tensor.Any, opts []Option) { q.call([3]*tensor.Any{&to[0], &to[1], &to[k.outputs-1]}, opts) })
}

// attrsOf reads a node. Whether there is an output of all steps is told by its outputs, not
// by output_sequence.
func (k *cell) attrsOf(c *plan.Use) (a recurrentAttrs) {
	if r := c.In(2); c.Attrs.Has("hidden_size") && r.Rank() == 3 {
		if n := c.Attrs.Int("hidden_size", 0); n != int64(r.Dim(2)) {
			panic(plan.Fail(k.name, tensor.ErrShape, "hidden_size is %d; input 2 is %s, the weights of %d units", n, tensor.Describe(r), r.Dim(2)))
		}
	}
	layout := c.Attrs.Int("layout", 0)
	if layout != 0 && layout != 1 {
		panic(plan.Fail(k.name, tensor.ErrValue, "layout is %d; want 0, steps first, or 1, batch first", layout))
	}
	a.kept, _ = c.Kept.(*keptWeights)
	a.activations = plan.Texts(k.name, c, "activations")
	a.alpha, _ = c.Attrs.Floats("activation_alpha")
	a.beta, _ = c.Attrs.Floats("activation_beta")
	a.clip, a.direction = c.Attrs.Float("clip", 0), c.Attrs.Str("direction", "forward")
	a.batchFirst, a.inputForget, a.linear = layout == 1, c.Attrs.Int("input_forget", 0) != 0, c.Attrs.Int("linear_before_reset", 0) != 0
	return a
}

// flops counts the products of a recurrent network.
func (k *cell) flops(c *plan.Use) int64 {
	x, w, r := c.In(0), c.In(1), c.In(2)
	steps := plan.ProductOfAll(plan.SizeOf(x, 0), plan.SizeOf(x, 1)) // of all sequences, whatever the axis of batches is
	return plan.ProductOfAll(2, steps, plan.SizeOf(w, 0), int64(k.gates), plan.SizeOf(r, 2), plan.SumOfAll(plan.SizeOf(w, 2), plan.SizeOf(r, 2)))
}
