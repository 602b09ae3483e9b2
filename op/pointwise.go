package op

import (
	"bytes"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// An elementwise operator is a table of rows: op1, op2, cmp2, opP and test1. Its method
// call is the operator: it finds the row of the element type and the instruction set, and
// gives it to a driver of package exec. The typed function is a façade of call, and Run
// calls it too.

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

// rows1 has the row of a one-operand operator for each element type; an absent
// one means the operator makes no sense there. Narrow floats use F32, unless the
// operator only touches sign bits and has B16 and B8. rows2 is that for two
// operands, rowsCmp for a result of bool besides, and rowsP for one operand and two
// numbers.
//
// An operator lists its rows twice: rows, plain Go, which define it; and fast,
// those of package simd that there are, which give the same bits, NaNs canonical
// already.
type (
	rows1   = simd.Rows1
	rows2   = simd.Rows2
	rowsCmp = simd.RowsCmp
	rowsP   = simd.RowsP
)

// fastest returns the rows of an operator for the instruction set in use, or nil.
func fastest[R any](l *simd.Levels[*R]) *R {
	if l == nil {
		return nil
	}
	return l.Best()
}

// op1 is an operator that gives each element of its operand a new value.
type op1 struct {
	about
	keep     bool // NaN bits pass through: nothing is computed
	function bool // correctly rounded in every float type but float64: see settled
	cost     int  // of a row, in units of an addition; 0 means 1
	rows     rows1
	fast     *simd.Levels[*rows1]
	rough    *simd.Levels[*rows1] // for the option Fast
	fixed    *fixed1
}

// op2 is an operator over pairs of elements of two operands that broadcast.
type op2 struct {
	about
	zero      bool // fails on an integer second operand of 0
	canonical bool // the rows store no NaN but the canonical one: in one pass where a second look costs a fifth
	orionCuts bool // in Orion, fixed point is rounded toward zero
	cost      int
	rows      rows2
	fast      *simd.Levels[*rows2]
	fold      bool // ONNX's form takes one or more inputs, folded from the left
	once      bool // from three inputs on, fixed point is rounded once: see summed
	fixed     *fixed2
}

// cmp2 is op2 with a result of bool.
type cmp2 struct {
	about
	rows  rowsCmp
	fast  *simd.Levels[*rowsCmp]
	order func(c int) bool // of fixed point, by -1, 0 or 1
}

// test1 is a question about one float.
type test1 struct {
	about
	f32 func(dst []bool, a []float32)
	f64 func(dst []bool, a []float64)
}

// opP is an operator that gives each element of its operand a new value, by a
// formula with up to two real numbers in it, ONNX's attributes.
type opP struct {
	about            // attrs are the numbers' names
	def   [2]float32 // and these their defaults
	cost  int
	rows  rowsP // of floats
	fast  *simd.Levels[*rowsP]
	fixed *fixedP
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

// call computes r from a.
func (o *op1) call(r, a *tensor.Any, opts []Option) {
	var k exec.Kernel
	d := a.DType()
	if t := fastest(o.rough); t != nil && read(opts).fast {
		k.One, k.Stream = exec.One(t, d), exec.Stream(t.Stream, d)
	}
	if t := fastest(o.fast); t != nil && k.One == nil {
		k.One, k.Stream = exec.One(t, d), exec.Stream(t.Stream, d)
	}
	j := exec.Job{Name: o.name, Cost: quick(o.cost)}
	heed(&j, opts)
	if k.One == nil {
		j.Cost = max(o.cost, 1)
		if k.One = exec.One(&o.rows, d); !o.keep {
			k.Canon = canonOf(d)
		}
	}
	ins := [3]*tensor.Any{a}
	if t := ready(opts, d); t != nil && k.One != nil && exec.Dense(&j, t, &ins, 1, &k) {
		*r = *t
		return
	}
	o.general(r, &j, &ins, &k, opts)
}

// general is call for all other cases. Its frame is large, so it stays out of
// call's; and so with the others.
//
//go:noinline
func (o *op1) general(r *tensor.Any, j *exec.Job, ins *[3]*tensor.Any, k *exec.Kernel, opts []Option) {
	present(o.name, ins[0])
	d := ins[0].DType()
	if isLazy(ins[0]) {
		n := note{name: o.name, cost: j.Cost, args: []arg{argOf(o.name, ins[0])},
			run: func(r *tensor.Any, in []*tensor.Any, opts []Option) { o.call(r, in[0], opts) }}
		fast := read(opts).fast
		if n.alone = d.IsFixed(); n.alone || fast {
			n.also = kept(opts)
		}
		if t := fastest(o.fast); t != nil && d == dtype.Float32 {
			n.ofSum, n.streamSum = exec.Forget[exec.Row3](t.MulAddF32), t.StreamMulAddF32
		}
		if t := fastest(o.rough); t != nil && fast && d == dtype.Float32 {
			n.ofSum, n.streamSum = exec.Forget[exec.Row3](t.MulAddF32), t.StreamMulAddF32
		}
		noted(r, n, d, opts, ins[0].LayoutRef())
		return
	}
	must(o.name, o.Supports(d), d)
	s := read(opts)
	aim(r, o.name, &s, d, ins[0].LayoutRef())
	j.Ctx = s.ctx()
	switch {
	case d.IsFixed():
		o.inFixed(r, j, ins, &s)
		return
	case k.One != nil:
	case d.Size() == 2 && o.rows.B16 != nil:
		*k = exec.Kernel{One: exec.Forget[exec.Row1](o.rows.B16)}
	case d.Size() == 1 && o.rows.B8 != nil:
		*k = exec.Kernel{One: exec.Forget[exec.Row1](o.rows.B8)}
	case o.function:
		inFloat32(k, d, exec.Kernel{Via: (*settled)(o)})
	default:
		inFloat32(k, d, exec.Kernel{One: o.row(dtype.Float32)})
	}
	exec.Elementwise(j, r, ins, 1, k)
}

// rowOf returns the row of an element type: of the instruction set in use, or else the plain
// one; nil if there is none.
func rowOf[T any, R exec.Row1 | exec.Row2](fast *simd.Levels[*T], plain *T, pick func(t *T, d dtype.DType) R, d dtype.DType) R {
	if t := fastest(fast); t != nil {
		if row := pick(t, d); row != nil {
			return row
		}
	}
	return pick(plain, d)
}

func (o *op1) row(d dtype.DType) exec.Row1  { return rowOf(o.fast, &o.rows, exec.One, d) }
func (o *op2) row(d dtype.DType) exec.Row2  { return rowOf(o.fast, &o.rows, exec.Two, d) }
func (o *cmp2) row(d dtype.DType) exec.Row2 { return rowOf(o.fast, &o.rows, exec.Compare, d) }

// call computes r from a and b, which have one element type.
func (o *op2) call(r, a, b *tensor.Any, opts []Option) {
	var k exec.Kernel
	d := a.DType()
	if t := fastest(o.fast); t != nil {
		k.Two, k.Stream = exec.Two(t, d), exec.Stream(t.Stream, d)
	}
	j := exec.Job{Name: o.name, Cost: quick(o.cost)}
	heed(&j, opts)
	if k.Two == nil {
		j.Cost = max(o.cost, 1)
		if k.Two = exec.Two(&o.rows, d); !o.canonical {
			k.Canon = canonOf(d)
		}
	}
	ins := [3]*tensor.Any{a, b}
	if t := ready(opts, d); t != nil && k.Two != nil && !(o.zero && d.IsInteger()) && exec.Dense(&j, t, &ins, 2, &k) {
		*r = *t
		return
	}
	o.general(r, &j, &ins, &k, opts)
}

//go:noinline
func (o *op2) general(r *tensor.Any, j *exec.Job, ins *[3]*tensor.Any, k *exec.Kernel, opts []Option) {
	present(o.name, ins[0], ins[1])
	d := ins[0].DType()
	zero := o.zero && d.IsInteger()
	if isLazy(ins[0], ins[1]) {
		n := note{name: o.name, two: o, cost: j.Cost, alone: zero || d.IsFixed(), args: []arg{argOf(o.name, ins[0]), argOf(o.name, ins[1])},
			run: func(r *tensor.Any, in []*tensor.Any, opts []Option) { o.call(r, in[0], in[1], opts) }}
		if d.IsFixed() {
			n.also = kept(opts)
		}
		noted(r, n, d, opts, ins[0].LayoutRef(), ins[1].LayoutRef())
		return
	}
	must(o.name, o.Supports(d), d)
	s := read(opts)
	aim(r, o.name, &s, d, ins[0].LayoutRef(), ins[1].LayoutRef())
	j.Ctx = s.ctx()
	if zero && r.Len() > 0 {
		refuseZero(o.name, ins[1])
	}
	switch {
	case d.IsFixed():
		o.inFixed(r, j, ins, &s)
		return
	case k.Two != nil:
	case d.Size() == 2 && o.rows.B16 != nil:
		*k = exec.Kernel{Two: exec.Forget[exec.Row2](o.rows.B16)}
	case d.Size() == 1 && o.rows.B8 != nil:
		*k = exec.Kernel{Two: exec.Forget[exec.Row2](o.rows.B8)}
	default:
		inFloat32(k, d, exec.Kernel{Two: o.row(dtype.Float32)})
	}
	exec.Elementwise(j, r, ins, 2, k)
}

// call computes r, of bool, from a and b, which have one element type.
func (o *cmp2) call(r, a, b *tensor.Any, opts []Option) {
	var k exec.Kernel
	d := a.DType()
	if t := fastest(o.fast); t != nil {
		k.Two, k.Stream = exec.Compare(t, d), exec.Stream(t.Stream, d)
	}
	if k.Two == nil {
		k.Two = exec.Compare(&o.rows, d)
	}
	j := exec.Job{Name: o.name, Cost: 1}
	heed(&j, opts)
	ins := [3]*tensor.Any{a, b}
	if t := ready(opts, dtype.Bool); t != nil && k.Two != nil && exec.Dense(&j, t, &ins, 2, &k) {
		*r = *t
		return
	}
	o.general(r, &j, &ins, &k, opts)
}

//go:noinline
func (o *cmp2) general(r *tensor.Any, j *exec.Job, ins *[3]*tensor.Any, k *exec.Kernel, opts []Option) {
	present(o.name, ins[0], ins[1])
	d := ins[0].DType()
	if isLazy(ins[0], ins[1]) {
		noted(r, note{name: o.name, args: []arg{argOf(o.name, ins[0]), argOf(o.name, ins[1])},
			run: func(r *tensor.Any, in []*tensor.Any, opts []Option) { o.call(r, in[0], in[1], opts) }}, dtype.Bool, opts, ins[0].LayoutRef(), ins[1].LayoutRef())
		return
	}
	must(o.name, o.Supports(d), d)
	s := read(opts)
	aim(r, o.name, &s, dtype.Bool, ins[0].LayoutRef(), ins[1].LayoutRef())
	j.Ctx = s.ctx()
	switch {
	case k.Two != nil:
	case d.IsFixed():
		*k = exec.Kernel{Via: &ordering{o, d}}
	default:
		inFloat32(k, d, exec.Kernel{Two: o.row(dtype.Float32)})
		k.Narrow, k.Stream = nil, nil
	}
	exec.Elementwise(j, r, ins, 2, k)
}

// call computes r, of bool, from a.
func (o *test1) call(r, a *tensor.Any, opts []Option) {
	present(o.name, a)
	d := a.DType()
	if isLazy(a) {
		noted(r, note{name: o.name, args: []arg{argOf(o.name, a)},
			run: func(r *tensor.Any, in []*tensor.Any, opts []Option) { o.call(r, in[0], opts) }}, dtype.Bool, opts, a.LayoutRef())
		return
	}
	must(o.name, o.Supports(d), d)
	s := read(opts)
	aim(r, o.name, &s, dtype.Bool, a.LayoutRef())
	var k exec.Kernel
	switch d {
	case dtype.Float64:
		k.One = exec.Forget[exec.Row1](o.f64)
	case dtype.Float32:
		k.One = exec.Forget[exec.Row1](o.f32)
	default:
		inFloat32(&k, d, exec.Kernel{One: exec.Forget[exec.Row1](o.f32)})
		k.Narrow, k.Stream = nil, nil
	}
	j := exec.Job{Name: o.name, Ctx: s.ctx(), Cost: 1}
	exec.Elementwise(&j, r, &[3]*tensor.Any{a}, 1, &k)
}

// call computes r from a. The numbers are rounded to the type that is computed in.
func (o *opP) call(r, a *tensor.Any, p, q float64, opts []Option) {
	d := a.DType()
	if d.IsFixed() {
		must(o.name, o.fixed != nil, d)
		o.fixed.call(r, o.name, a, fixedWord(o.name, d, p), fixedWord(o.name, d, q), opts)
		return
	}
	formula(r, o.name, o.cost, &o.rows, o.fast, a, floatWord(d, p), floatWord(d, q), opts)
}

// floatWord returns v as a number of the type that floats of type d are computed in.
func floatWord(d dtype.DType, v float64) exec.Word {
	if d == dtype.Float64 {
		return exec.WordOf(v)
	}
	return exec.WordOf(float32(v))
}

// formula is the call of an operator with rows of rowsP. p and q are numbers of the
// type that is computed in: float32 for narrow floats.
func formula(r *tensor.Any, name string, cost int, rows *rowsP, fast *simd.Levels[*rowsP], a *tensor.Any, p, q exec.Word, opts []Option) {
	d := a.DType()
	k := exec.Kernel{P: p, Q: q}
	if t := fastest(fast); t != nil {
		k.With = exec.With(t, d)
	}
	j := exec.Job{Name: name, Cost: quick(cost)}
	heed(&j, opts)
	if k.With.Row == nil {
		k.With, k.Canon, j.Cost = exec.With(rows, d), canonOf(d), max(cost, 1)
	}
	ins := [3]*tensor.Any{a}
	if t := ready(opts, d); t != nil && k.With.Row != nil && exec.Dense(&j, t, &ins, 1, &k) {
		*r = *t
		return
	}
	generalFormula(r, rows, fast, &j, &ins, &k, opts)
}

//go:noinline
func generalFormula(r *tensor.Any, rows *rowsP, fast *simd.Levels[*rowsP], j *exec.Job, ins *[3]*tensor.Any, k *exec.Kernel, opts []Option) {
	present(j.Name, ins[0])
	d := ins[0].DType()
	if isLazy(ins[0]) {
		name, cost, p, q := j.Name, j.Cost, k.P, k.Q
		noted(r, note{name: name, cost: cost, args: []arg{argOf(name, ins[0])},
			run: func(r *tensor.Any, in []*tensor.Any, opts []Option) {
				formula(r, name, cost, rows, fast, in[0], p, q, opts)
			}}, d, opts, ins[0].LayoutRef())
		return
	}
	must(j.Name, k.With.Row != nil || d.IsNarrow() && rows.F32 != nil, d)
	s := read(opts)
	aim(r, j.Name, &s, d, ins[0].LayoutRef())
	j.Ctx = s.ctx()
	if k.With.Row == nil {
		with := exec.With(rows, dtype.Float32)
		if t := fastest(fast); t != nil && t.F32 != nil {
			with = exec.With(t, dtype.Float32)
		}
		inFloat32(k, d, exec.Kernel{With: with, P: k.P, Q: k.Q})
	}
	exec.Elementwise(j, r, ins, 1, k)
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
