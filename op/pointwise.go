package op

import (
	"bytes"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// An elementwise operator is a pointwise: a table of rows and of what is special about them. Its method call finds the row
// of the element type and the instruction set, and gives it to a driver of package exec. The typed function is a façade of
// call, and a plan calls it too.

// about is what every operator says of itself.
type about struct {
	name   string
	domain string   // of the operator set, empty for ONNX's own
	onnx   []int    // opsets that define it, ascending
	attrs  []string // ONNX attributes it understands
	orion  *inOrion // the difference that InOrion makes; may be nil
	why    string   // why numbers of some type are left out; empty for the reasons that Why finds by itself

	unsteady  bool // results may differ from call to call with the same operands
	rectifies bool // it heeds Rectify
	converts  bool // its attribute "to" says the type of the result
	like      int  // 1 + the input whose type alone is looked at
	flops     flops
	takesUp   takesUp
}

func (a *about) say() *about { return a }

// The tables of rows: of one operand, of two, of one and two numbers, and those with a result of bool. An absent row means
// that the operator makes no sense for the element type. Narrow floats use F32, unless the operator only touches sign bits
// and has B16 and B8. A row is plain Go; those of package simd stand beside the table.
type (
	rows1    = simd.Rows1
	rows2    = simd.Rows2
	rowsCmp  = simd.RowsCmp
	rowsTest = simd.RowsTest
	rowsP    = simd.RowsP
)

// A pointwise is an operator that makes each element of its result from the operands' elements there.
type pointwise struct {
	about
	rows      exec.Rows
	rough     exec.Rows // for the option Fast
	fixed     fixedTable
	order     func(c int) bool // a comparison of fixed point, by -1, 0 or 1
	cost      int              // of a row, in units of an addition; 0 means 1
	def       [2]float32       // the numbers' defaults; attrs are their names
	clean     bool             // nobody looks at the NaNs of a plain row again: it stores the canonical one, or passes bits on
	function  bool             // correctly rounded in every float type but float64: see settled
	zero      bool             // fails on an integer second operand of 0
	orionCuts bool             // in Orion, fixed point is rounded toward zero
	fold      bool             // ONNX's form takes one or more inputs, folded from the left
	once      bool             // from three inputs on, fixed point is rounded once: see summed
}

// quick returns the cost of a row that an instruction set computes, of that which its plain loop has.
func quick(cost int) int { return max(1, cost/8) }

// ready returns the Into target when it is the only option and a run of elements of
// type d that may be written: then exec.Dense is tried before anything else is looked at,
// as shapes are right when layouts are equal. This is what makes a call cheap.
func ready(opts []Option, d dtype.DType) *tensor.Any {
	if len(opts) != 1 || opts[0].more != nil {
		return nil
	}
	dst := opts[0].into
	if dst == nil || dst.DType() != d || dst.IsReadOnly() || !dst.LayoutRef().IsRowMajor() {
		return nil
	}
	return dst
}

// call computes r from operands. The last decides the element type.
func (o *pointwise) call(r *tensor.Any, opts []Option, ins ...*tensor.Any) {
	o.compute(r, nil, opts, ins)
}

// formula is call with numbers, which are rounded to the type that is computed in.
func (o *pointwise) formula(r, a *tensor.Any, p, q float64, opts []Option) {
	d := a.DType()
	if !d.IsFixed() {
		o.compute(r, &[2]exec.Word{floatWord(d, p), floatWord(d, q)}, opts, []*tensor.Any{a})
		return
	}
	must(o.name, o.fixed != nil, d)
	o.compute(r, &[2]exec.Word{fixedWord(o.name, d, p), fixedWord(o.name, d, q)}, opts, []*tensor.Any{a})
}

// compute is call with numbers of the type that is computed in, float32 for narrow floats. They may be nil.
func (o *pointwise) compute(r *tensor.Any, numbers *[2]exec.Word, opts []Option, ins []*tensor.Any) {
	var k exec.Kernel
	if numbers != nil {
		k.P, k.Q = numbers[0], numbers[1]
	}
	d := ins[len(ins)-1].DType()
	fast := false
	if o.rough.Fast() && read(opts).fast {
		k.Row, fast = o.rough.Of(d)
	}
	if !fast {
		k.Row, fast = o.rows.Of(d)
	}
	j := exec.Job{Name: o.name, Cost: quick(o.cost)}
	heed(&j, opts)
	to := o.gives(d)
	if !fast {
		if j.Cost = max(o.cost, 1); !o.clean {
			k.Canon = canonOf(to)
		}
	}
	if t := ready(opts, to); t != nil && !k.Row.None() && !(o.zero && d.IsInteger()) && exec.Dense(&j, t, ins, &k) {
		*r = *t
		return
	}
	o.general(r, &j, ins, &k, opts)
}

// general is compute for all other cases. Its frame is large, so it stays out of compute's.
//
//go:noinline
func (o *pointwise) general(r *tensor.Any, j *exec.Job, ins []*tensor.Any, k *exec.Kernel, opts []Option) {
	present(o.name, ins...)
	var few [3]*layout.Layout
	for i, a := range ins { // append would move operands to the heap
		few[i] = a.LayoutRef()
	}
	lays := few[:len(ins)]
	d := ins[len(ins)-1].DType()
	if isLazy(ins...) {
		o.note(r, j.Cost, k, ins, opts, lays)
		return
	}
	must(o.name, o.Supports(d), d)
	s := read(opts)
	aim(r, o.name, &s, o.gives(d), lays...)
	j.Ctx = s.ctx()
	if o.zero && d.IsInteger() && r.Len() > 0 {
		refuseZero(o.name, ins[1])
	}
	switch {
	case !k.Row.None():
	case d.IsFixed() && o.order != nil:
		*k = exec.Kernel{Via: &ordering{o, d}}
	case d.IsFixed():
		o.inFixed(r, j, ins, k, &s)
		return
	default:
		o.narrow(k, d)
	}
	exec.Elementwise(j, r, ins, k)
}

// narrow makes k the kernel of narrow floats.
func (o *pointwise) narrow(k *exec.Kernel, d dtype.DType) {
	switch row := o.rows.Bits(d); {
	case !row.None():
		*k = exec.Kernel{Row: row}
	case o.function:
		inFloat32(k, d, exec.Kernel{Via: (*settled)(o)})
	default:
		inFloat32(k, d, exec.Kernel{Row: o.row(dtype.Float32), P: k.P, Q: k.Q})
	}
	if o.rows.Tests() {
		k.Narrow, k.Stream = nil, nil
	}
}

// note is general for lazy operands.
func (o *pointwise) note(r *tensor.Any, cost int, k *exec.Kernel, in []*tensor.Any, opts []Option, lays []*layout.Layout) {
	d, fast := in[len(in)-1].DType(), read(opts).fast && o.rough.Fast()
	numbers := [2]exec.Word{k.P, k.Q}
	n := note{name: o.name, by: o, cost: cost, alone: o.zero && d.IsInteger() || d.IsFixed() && o.fixed != nil,
		run: func(r *tensor.Any, in []*tensor.Any, opts []Option) { o.compute(r, &numbers, opts, in) }}
	for _, a := range in {
		n.args = append(n.args, argOf(o.name, a))
	}
	if n.alone || fast {
		n.also = kept(opts)
	}
	switch {
	case d == dtype.Float32 && fast:
		n.ofSum = o.rough.OfSum()
	case d == dtype.Float32:
		n.ofSum = o.rows.OfSum()
	}
	noted(r, n, o.gives(d), opts, lays...)
}

// row returns the row of an element type.
func (o *pointwise) row(d dtype.DType) exec.Row {
	row, _ := o.rows.Of(d)
	return row
}

// gives returns the type of the result.
func (o *pointwise) gives(d dtype.DType) dtype.DType {
	if o.rows.Tests() {
		return dtype.Bool
	}
	return d
}

// Supports reports whether the operands may hold d.
func (o *pointwise) Supports(d dtype.DType) bool {
	if d.IsFixed() && !o.rows.Chooses() {
		return o.fixed != nil || o.order != nil
	}
	return !o.rows.Plain(computedIn(d)).None()
}

func (o *pointwise) has(d dtype.DType, l cpu.Level) bool { return o.rows.Has(computedIn(d), l) }

func (o *pointwise) effort() flops {
	if o.fold {
		return flops{rule: foldFLOPs}
	}
	return flops{each: 1}
}

func (o *pointwise) plan(c *Call, p *Plan) {
	n := o.rows.Operands()
	if o.fold {
		n = max(1, len(c.Inputs))
	}
	needs(o.name, c, n)
	takes(o.name, c, n)
	like := c.Inputs[:n] // they hold one type
	if o.rows.Chooses() {
		if d := like[0].DType(); d != dtype.Bool {
			panic(fail(o.name, tensor.ErrDType, "input 0 holds %v, want bool", d))
		}
		like = like[1:]
	}
	oneType(o.name, like...)
	d := like[0].DType()
	must(o.name, o.Supports(d), d)
	if slices.Contains(o.attrs, "broadcast") {
		c = early(o.name, c)
	}
	p.stretched(o.gives(d), c, n)
	ins := make([]*tensor.Any, n)
	for i := range ins {
		ins[i] = c.with(o.name, i)
	}
	switch {
	case o.rows.Numbers():
		v := o.def
		for i, name := range o.attrs {
			v[i] = c.Attrs.Float(name, v[i])
		}
		p.by(c, 0, func(r *tensor.Any, opts []Option) { o.formula(r, ins[0], float64(v[0]), float64(v[1]), opts) })
	case n == o.rows.Operands():
		p.by(c, 0, func(r *tensor.Any, opts []Option) { o.compute(r, nil, opts, ins) })
	case n == 1:
		p.view(func() tensor.Any { return *ins[0] })
	case o.once:
		p.by(c, 0, func(r *tensor.Any, opts []Option) { summed(r, ins, opts) })
	default:
		p.by(c, 0, func(r *tensor.Any, opts []Option) {
			a, way := ins[0], withoutInto(opts)
			for i := 1; i < n-1; i++ {
				next := new(tensor.Any)
				o.call(next, way, a, ins[i])
				a = next
			}
			o.call(r, opts, a, ins[n-1])
		})
	}
}

// with returns input i, which a run reads the elements of.
func (c *Call) with(name string, i int) *tensor.Any {
	a := &c.Inputs[i]
	if a.Foreign() != nil {
		panic(fail(name, tensor.ErrDType, "input %d is a %T of %v, whose elements can't be read; unpack it", i, a.Foreign(), a.DType()))
	}
	return a
}

// stretched says the type of the only result, and that its shape is the one that the first n inputs stretch to together.
func (p *Plan) stretched(d dtype.DType, c *Call, n int) {
	if !p.brief {
		p.gives(d, stretch(p.op.name, c.Inputs[:n]...)...)
	}
}

// stretch returns the shape that inputs stretch to together.
func stretch(name string, ins ...tensor.Any) []int {
	ls := make([]*layout.Layout, len(ins))
	for i := range ins {
		ls[i] = ins[i].LayoutRef()
	}
	return broadcastShape(name, nil, ls...)
}

// computedIn returns the type that elements of type d are computed in.
func computedIn(d dtype.DType) dtype.DType {
	if d.IsNarrow() {
		return dtype.Float32
	}
	return d
}

// floatWord returns v as a number of the type that floats of type d are computed in.
func floatWord(d dtype.DType, v float64) exec.Word {
	if d == dtype.Float64 {
		return exec.WordOf(v)
	}
	return exec.WordOf(float32(v))
}

// inFloat32 makes k a kernel of float32 for narrow floats, rounded once.
func inFloat32(k *exec.Kernel, d dtype.DType, wide exec.Kernel) {
	wide.Widen, wide.Narrow, wide.Stream = widenOf(d), narrowOf(d), convertStream(d, dtype.Float32)
	wide.Operand, wide.Result = dtype.Float32, dtype.Float32
	*k = wide
}

// widenOf returns the conversion of a row of narrow floats to float32.
func widenOf(d dtype.DType) exec.Row1 {
	switch d {
	case dtype.Float16:
		return exec.Forget[exec.Row1](conv.WidenF16)
	case dtype.BFloat16:
		return exec.Forget[exec.Row1](conv.WidenBF16)
	case dtype.Float8E4M3:
		return exec.Forget[exec.Row1](num.WidenF8E4M3)
	case dtype.Float8E5M2:
		return exec.Forget[exec.Row1](num.WidenF8E5M2)
	}
	return nil
}

// narrowOf returns the conversion of a row of float32 to narrow floats: rounded
// to nearest even, NaNs canonical.
func narrowOf(d dtype.DType) exec.Row1 {
	switch d {
	case dtype.Float16:
		return exec.Forget[exec.Row1](conv.NarrowF16)
	case dtype.BFloat16:
		return exec.Forget[exec.Row1](conv.NarrowBF16)
	case dtype.Float8E4M3:
		return exec.Forget[exec.Row1](num.NarrowF8E4M3)
	case dtype.Float8E5M2:
		return exec.Forget[exec.Row1](num.NarrowF8E5M2)
	}
	return nil
}

// aim makes r the tensor to write the result to, of the shape that the operands' layouts
// stretch to together.
func aim(r *tensor.Any, name string, s *settings, d dtype.DType, ls ...*layout.Layout) {
	var few [8]int
	shape := few[:0]
	if len(ls) == 1 || len(ls) == 2 && ls[0].Same(ls[1]) {
		shape = appendShape(shape, ls[0])
	} else {
		shape = broadcastShape(name, shape, ls...)
	}
	aimShape(r, name, s, d, shape)
}

// aimShape is aim for a shape that is known.
func aimShape(r *tensor.Any, name string, s *settings, d dtype.DType, shape []int) {
	if s.into == nil {
		*r = tensor.EmptyOf(d, shape...)
		return
	}
	if s.into.IsZero() {
		panic(fail(name, tensor.ErrClosed, "the Into target is the zero value; make one with tensor.New"))
	}
	if s.into.DType() != d {
		panic(fail(name, tensor.ErrDType, "the Into target holds %v, the result %v", s.into.DType(), d))
	}
	checkTarget(name, s.into.LayoutRef(), s.into.IsReadOnly(), shape)
	*r = *s.into
}

// present panics when an operand that an operator needs is the zero value. The body that the
// typed function and the run-time form share begins with it. ins are as ONNX numbers
// them; one that may be absent is nil.
func present(name string, ins ...*tensor.Any) {
	for i, a := range ins {
		presentAt(name, i, a)
	}
}

// presentAll is present for a list.
func presentAll(name string, ins []tensor.Any) {
	for i := range ins {
		presentAt(name, i, &ins[i])
	}
}

func presentAt(name string, i int, a *tensor.Any) {
	if a != nil && a.IsZero() {
		panic(fail(name, tensor.ErrClosed, "input %d is the zero value; make one with tensor.New or FromSlice", i))
	}
}

func must(name string, ok bool, d dtype.DType) {
	if ok {
		return
	}
	panic(fail(name, tensor.ErrDType, "is not defined for %v; convert the operand with op.Cast", d))
}

// refuseZero panics when an integer divisor is 0, before anything is written.
func refuseZero(name string, b *tensor.Any) {
	c, err := tensor.Contiguous(*b)
	if err != nil {
		panic(err)
	}
	all, _ := tensor.Bytes(c)
	at := -1
	switch c.DType().Size() {
	case 1:
		at = bytes.IndexByte(all, 0)
	case 2:
		at = zeroIn[uint16](&c)
	case 4:
		at = zeroIn[uint32](&c)
	default:
		at = zeroIn[uint64](&c)
	}
	drop(&c, b)
	if at >= 0 {
		panic(fail(name, tensor.ErrValue, "integer division by zero: the divisor at index %s is 0", shapeText(unravel(at, b.Shape()))))
	}
}

// zeroIn returns the index of the first 0 of a contiguous tensor, or -1.
func zeroIn[W uint16 | uint32 | uint64](a *tensor.Any) int {
	data, off := tensor.DataOf[W](a)
	return slices.Index(data[off:off+a.Len()], 0)
}

// unravel returns the coordinate of element i of a shape in row-major order.
func unravel(i int, shape []int) []int {
	c := make([]int, len(shape))
	for a := len(shape) - 1; a >= 0; a-- {
		c[a] = i % shape[a]
		i /= shape[a]
	}
	return c
}
