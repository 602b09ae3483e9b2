package pointwise

import (
	"bytes"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// An Operator makes each element of its result from the operands' elements there. It is a table of rows and of their special properties. Call finds
// the row of the element type and the instruction set, and gives it to a driver of package exec. Typed functions and plans call it.
type Operator struct {
	plan.About
	Rows       exec.Rows
	Rough      exec.Rows // for the option Fast
	Fixed      fixedTable
	Order      func(c int) bool                                                        // a comparison of fixed point, by -1, 0 or 1
	Cost       int                                                                     // of a row, in units of an addition; 0 means 1
	Def        [2]float32                                                              // the numbers' defaults; attrs are their names
	Clean      bool                                                                    // nobody looks at the NaNs of a plain row again: it stores the canonical one, or passes bits on
	Function   bool                                                                    // correctly rounded in every float type but float64: see settled
	OrionCuts  bool                                                                    // in Orion, fixed point is rounded toward zero
	Fold       bool                                                                    // ONNX's form takes one or more inputs, folded from the left
	Once       func(o *Operator, r *tensor.Any, ins []*tensor.Any, opts []plan.Option) // from three inputs on; nil folds them
	Sums       bool                                                                    // it is a + b, and may be one step with a product
	Multiplies bool                                                                    // it is a · b
}

// Call computes r from operands. The last decides the element type.
func (o *Operator) Call(r *tensor.Any, opts []plan.Option, ins ...*tensor.Any) {
	o.Compute(r, nil, opts, ins)
}

// Formula is Call with numbers, which are rounded to the type that is computed in.
func (o *Operator) Formula(r, a *tensor.Any, p, q float64, opts []plan.Option) {
	d := a.DType()
	if !d.IsFixed() {
		o.Compute(r, &[2]exec.Word{floatWord(d, p), floatWord(d, q)}, opts, []*tensor.Any{a})
		return
	}
	plan.Must(o.Name, o.Fixed != nil, d)
	o.Compute(r, &[2]exec.Word{FixedWord(o.Name, d, p), FixedWord(o.Name, d, q)}, opts, []*tensor.Any{a})
}

// Compute is Call with numbers of the type that is computed in, float32 for narrow floats. They may be nil.
func (o *Operator) Compute(r *tensor.Any, numbers *[2]exec.Word, opts []plan.Option, ins []*tensor.Any) {
	var k exec.Kernel
	if numbers != nil {
		k.P, k.Q = numbers[0], numbers[1]
	}
	d := ins[len(ins)-1].DType()
	fast := false
	if o.Rough.Fast() && plan.Has(opts, plan.Fast) {
		k.Row, fast = o.Rough.Of(d)
	}
	if !fast {
		k.Row, fast = o.Rows.Of(d)
	}
	j := exec.Job{Name: o.Name, Cost: plan.Quick(o.Cost)}
	plan.Heed(&j, opts)
	to := o.gives(d)
	if !fast {
		if j.Cost = max(o.Cost, 1); !o.Clean {
			k.Canon = cast.CanonOf(to)
		}
	}
	if t := plan.Ready(opts, to); t != nil && !k.Row.None() && !(o.Divides && d.IsInteger()) && exec.Dense(&j, t, ins, &k) {
		*r = *t
		return
	}
	if o.prepare(r, &j, ins, &k, opts) {
		exec.Elementwise(&j, r, ins, &k)
	}
}

// prepare makes r and the kernel of all other cases, and reports whether there is something left to compute. Its frame is
// large, so it stays out of Compute's.
//
//go:noinline
func (o *Operator) prepare(r *tensor.Any, j *exec.Job, ins []*tensor.Any, k *exec.Kernel, opts []plan.Option) bool {
	plan.Present(o.Name, ins...)
	var few [3]*layout.Layout
	for i, a := range ins { // append would move operands to the heap
		few[i] = a.LayoutRef()
	}
	lays := few[:len(ins)]
	d := ins[len(ins)-1].DType()
	if IsLazy(ins...) {
		o.note(r, j.Cost, k, ins, opts, lays)
		return false
	}
	plan.Must(o.Name, o.Supports(d), d)
	s := plan.Read(o.Name, opts)
	plan.Aim(r, o.Name, &s, o.gives(d), lays...)
	j.Ctx = s.Ctx()
	if o.Divides && d.IsInteger() && r.Len() > 0 {
		refuseZero(o.Name, ins[1])
	}
	switch {
	case !k.Row.None():
	case d.IsFixed() && o.Order != nil:
		*k = exec.Kernel{Via: &ordering{o, d}}
	case d.IsFixed():
		o.inFixed(r, j, ins, k, &s)
		return false
	default:
		o.narrow(k, d)
	}
	return true
}

// narrow makes k the kernel of narrow floats.
func (o *Operator) narrow(k *exec.Kernel, d dtype.DType) {
	switch row := o.Rows.Bits(d); {
	case !row.None():
		*k = exec.Kernel{Row: row}
	case o.Function:
		inFloat32(k, d, exec.Kernel{Via: (*settled)(o)})
	default:
		inFloat32(k, d, exec.Kernel{Row: o.Row(dtype.Float32), P: k.P, Q: k.Q})
	}
	if o.Rows.Tests() {
		k.Narrow, k.Stream = nil, nil
	}
}

// note is prepare for lazy operands.
func (o *Operator) note(r *tensor.Any, cost int, k *exec.Kernel, in []*tensor.Any, opts []plan.Option, lays []*layout.Layout) {
	d, fast := in[len(in)-1].DType(), o.Rough.Fast() && plan.Has(opts, plan.Fast)
	numbers := [2]exec.Word{k.P, k.Q}
	n := Note{Name: o.Name, by: o, Cost: cost, Alone: o.Divides && d.IsInteger() || d.IsFixed() && o.Fixed != nil,
		Run: func(r *tensor.Any, in []*tensor.Any, opts []plan.Option) { o.Compute(r, &numbers, opts, in) }}
	for _, a := range in {
		n.Args = append(n.Args, ArgOf(o.Name, a))
	}
	if n.Alone || fast {
		n.Also = plan.Kept(opts)
	}
	switch {
	case d == dtype.Float32 && fast:
		n.ofSum = o.Rough.OfSum()
	case d == dtype.Float32:
		n.ofSum = o.Rows.OfSum()
	}
	Noted(r, n, o.gives(d), opts, lays...)
}

// Row returns the row of an element type.
func (o *Operator) Row(d dtype.DType) exec.Row {
	row, _ := o.Rows.Of(d)
	return row
}

// gives returns the type of the result.
func (o *Operator) gives(d dtype.DType) dtype.DType {
	if o.Rows.Tests() {
		return dtype.Bool
	}
	return d
}

// Supports reports whether the operands may hold d.
func (o *Operator) Supports(d dtype.DType) bool {
	if d.IsFixed() && !o.Rows.Chooses() {
		return o.Fixed != nil || o.Order != nil
	}
	return !o.Rows.Plain(cast.ComputedIn(d)).None()
}

func (o *Operator) Has(d dtype.DType, l cpu.Level) bool { return o.Rows.Has(cast.ComputedIn(d), l) }

func (o *Operator) Effort() plan.FLOPs {
	if o.Fold {
		return plan.FLOPs{Fold: true}
	}
	return plan.FLOPs{Each: 1}
}

func (o *Operator) Scratch(p *plan.Draft, _ []tensor.Any) float64 {
	if o.Divides { // a divisor of 0 is looked for
		return p.Strided()
	}
	return 0 // operands are taken as they are laid out
}

func (o *Operator) Plan(c *plan.Use, p *plan.Draft) {
	n := o.Rows.Operands()
	if o.Fold {
		n = max(1, len(c.Inputs))
	}
	plan.Needs(o.Name, c, n)
	plan.Takes(o.Name, c, n)
	like := c.Inputs[:n] // they hold one type
	if o.Rows.Chooses() {
		if d := like[0].DType(); d != dtype.Bool {
			panic(plan.Fail(o.Name, tensor.ErrDType, "input 0 holds %v, want bool", d))
		}
		like = like[1:]
	}
	plan.OneType(o.Name, like...)
	d := like[0].DType()
	plan.Must(o.Name, o.Supports(d), d)
	if slices.Contains(o.Attrs, "broadcast") {
		c = Early(o.Name, c)
	}
	p.Stretched(o.gives(d), c, n)
	ins := make([]*tensor.Any, n)
	for i := range ins {
		ins[i] = c.With(o.Name, i)
	}
	switch {
	case o.Rows.Numbers():
		v := o.Def
		for i, name := range o.Attrs {
			v[i] = c.Attrs.Float(name, v[i])
		}
		p.Last, p.ByInput = true, true
		p.By(c, 0, func(r *tensor.Any, opts []plan.Option) { o.Formula(r, ins[0], float64(v[0]), float64(v[1]), opts) })
		p.After = func(int, bool) plan.Tail {
			return o.Tail(ins[0], func() [2]exec.Word { return [2]exec.Word{floatWord(d, float64(v[0])), floatWord(d, float64(v[1]))} })
		}
	case n == o.Rows.Operands():
		p.Last, p.ByInput = true, true
		p.By(c, 0, func(r *tensor.Any, opts []plan.Option) { o.Compute(r, nil, opts, ins) })
		p.After = func(k int, last bool) plan.Tail { return o.tail(ins, k, last) }
	case n == 1:
		p.View(func() tensor.Any { return *ins[0] })
	case o.Once != nil:
		p.By(c, 0, func(r *tensor.Any, opts []plan.Option) { o.Once(o, r, ins, opts) })
	default:
		p.By(c, 0, func(r *tensor.Any, opts []plan.Option) {
			a, way := ins[0], plan.WithoutInto(opts)
			for i := 1; i < n-1; i++ {
				next := new(tensor.Any)
				o.Call(next, way, a, ins[i])
				a = next
			}
			o.Call(r, opts, a, ins[n-1])
		})
	}
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
	wide.Widen, wide.Narrow, wide.Stream = cast.WidenOf(d), cast.NarrowOf(d), cast.ConvertStream(d, dtype.Float32)
	wide.Operand, wide.Result = dtype.Float32, dtype.Float32
	*k = wide
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
	plan.Drop(&c, b)
	if at >= 0 {
		panic(plan.Fail(name, tensor.ErrValue, "integer division by zero: the divisor at index %s is 0", plan.ShapeText(plan.Unravel(at, b.Shape()))))
	}
}

// zeroIn returns the index of the first 0 of a contiguous tensor, or -1.
func zeroIn[W uint16 | uint32 | uint64](a *tensor.Any) int {
	data, off := reach.DataOf[W](a)
	return slices.Index(data[off:off+a.Len()], 0)
}

// Tail returns the Tail that computes the result from the only operand, and from numbers if the operator has some. It returns nil for a
// type that isn't computed in itself.
func (o *Operator) Tail(x *tensor.Any, numbers func() [2]exec.Word) plan.Tail {
	kernel, ok := o.follows(x.DType())
	if !ok {
		return nil
	}
	return func(lines exec.Run, _ int, _ bool) {
		k := kernel
		if numbers != nil {
			w := numbers()
			k.P, k.Q = w[0], w[1]
		}
		k.Apply(lines, [3]exec.Run{lines})
	}
}

// follows returns the kernel of a Tail for a type that is computed in itself.
func (o *Operator) follows(d dtype.DType) (k exec.Kernel, ok bool) {
	if d != dtype.Float32 && d != dtype.Float64 || o.gives(d) != d {
		return k, false
	}
	k = o.Kernel(d)
	return k, !k.Row.None()
}

// tail returns the Tail that computes the result from operand k. It returns nil for a type that isn't computed in itself, and if the other
// operand isn't contiguous.
func (o *Operator) tail(ins []*tensor.Any, k int, last bool) plan.Tail {
	if len(ins) == 1 {
		return o.Tail(ins[0], nil)
	}
	x := ins[k]
	d := x.DType()
	kernel, ok := o.follows(d)
	if !ok || len(ins) > 2 {
		return nil
	}
	other := ins[1-k]
	if other.IsSpec() {
		return func(exec.Run, int, bool) {}
	}
	apply := func(line, with exec.Run) {
		if k == 0 {
			kernel.Apply(line, [3]exec.Run{line, with})
		} else {
			kernel.Apply(line, [3]exec.Run{with, line})
		}
	}
	shape := x.Shape()
	if last {
		a := plan.Last(*other, len(shape))
		other, shape = &a, plan.LastShape(shape)
	}
	if !other.IsContiguous() {
		return nil
	}
	loops := loopsOf(shape, other)
	inner := loops[0]
	// A short line that comes again and again, of channels before all, is laid out many times.
	again := inner.step != 0 && len(loops) > 1 && loops[1].step == 0 && 4*inner.n <= len(repeats{})
	return func(lines exec.Run, at int, _ bool) {
		all := exec.RunIn(other)
		var room exec.Run
		held := -1 // where the elements in room are in the operand
		if inner.step == 0 || again {
			r := repeated.Get().(*repeats)
			defer repeated.Put(r)
			room = exec.Part(exec.RunOf(r[:]), d, 0, len(r))
		}
		for i := 0; i < len(lines); {
			from, place := 0, (at+i)/inner.n
			for _, l := range loops[1:] {
				from += place % l.n * l.step
				place /= l.n
			}
			first := (at + i) % inner.n
			n := min(inner.n-first, len(lines)-i)
			with := room
			switch {
			case inner.step == 0:
				repeat(d, exec.Part(room, d, 0, min(n, len(room))), exec.Part(all, d, from, 1))
			case again && first == 0:
				if n = min((loops[1].n-(at+i)/inner.n%loops[1].n)*inner.n, len(lines)-i); held != from && n > inner.n {
					held = from
					repeat(d, room, exec.Part(all, d, from, inner.n))
				}
				if with = exec.Part(room, d, 0, len(room)/inner.n*inner.n); n <= inner.n {
					with = exec.Part(all, d, from, n)
				}
			default:
				with = exec.Part(all, d, from+first, n)
			}
			for end := i + n; i < end; i += len(with) {
				with = exec.Part(with, d, 0, min(len(with), end-i))
				apply(exec.Part(lines, d, i, len(with)), with)
			}
		}
	}
}

// repeat fills dst with elements, again and again.
func repeat(d dtype.DType, dst, elements exec.Run) {
	if d == dtype.Float32 {
		fill(exec.Of[float32](dst), exec.Of[float32](elements))
	} else {
		fill(exec.Of[float64](dst), exec.Of[float64](elements))
	}
}

func fill[T num.Native](dst, elements []T) {
	if len(elements) == 1 {
		conv.Fill(dst, elements[0])
		return
	}
	for n := copy(dst, elements); n < len(dst); {
		n += copy(dst[n:], dst[:n])
	}
}

// Kernel returns the kernel for runs of a type that is computed in itself.
func (o *Operator) Kernel(d dtype.DType) (k exec.Kernel) {
	row, fast := o.Rows.Of(d)
	if k.Row = row; !fast && !o.Clean {
		k.Canon = cast.CanonOf(o.gives(d))
	}
	return k
}

// Follows reports whether the operator may be a plan.Tail.
func (o *Operator) Follows() bool {
	return o.Rows.Operands() <= 2 && o.gives(dtype.Float32) == dtype.Float32 && !o.Row(dtype.Float32).None()
}

// repeated holds some elements many times.
var repeated = sync.Pool{New: func() any { return new(repeats) }}

type repeats [1024]float64

// A loop is some neighbouring axes of a result: how many elements they have, and how far apart these are in an operand, 0 for one element.
type loop struct{ n, step int }

// loopsOf returns the loops of an operand that is contiguous and stretches to a shape, the innermost first.
func loopsOf(shape []int, a *tensor.Any) []loop {
	loops := []loop{{1, 0}}
	size := 1 // of the axes of a that were looked at
	for i := range shape {
		n, step := shape[len(shape)-1-i], 0
		if k := a.Rank() - 1 - i; k >= 0 && a.Dim(k) > 1 {
			step = size
			size *= n
		}
		if n == 1 {
			continue
		}
		switch last := &loops[len(loops)-1]; {
		case last.n == 1:
			*last = loop{n, step}
		case last.n*last.step == step:
			last.n *= n
		default:
			loops = append(loops, loop{n, step})
		}
	}
	return loops
}
