package op

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/cpu"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// The run-time form of the tables: a Call is checked, its inputs are unboxed and
// the typed function does the rest. Panics with a *tensor.Error become errors.

// perType has a function for each element type an operator is defined for.
type perType [dtype.Count]func(c *Call) []tensor.Any

// opN is an operator whose run-time form is written by hand in its file. Just
// one of run, untyped and move is set, but run may have the types that the other two
// leave out.
type opN struct {
	about
	least   int                        // how many inputs it needs
	most    int                        // how many it takes, if not least; any number if negative
	by      int                        // the input whose element type picks from run
	run     perType                    // for operators that look at elements
	untyped func(c *Call) []tensor.Any // for operators that take every type alike
	move    func(c *Call) *transfer    // for those that move elements; it is their infer, too
	takes   func(d dtype.DType) bool   // the types of the latter two; nil is all
	infer   func(c *Call) []tensor.Any // inputs may be Specs; nil when values decide the shapes

	fast func(d dtype.DType, l cpu.Level) bool // whether package simd has rows for it; nil is no
}

// Supports reports whether the deciding input may hold d.
func (o *opN) Supports(d dtype.DType) bool {
	return int(d) < dtype.Count && (o.run[d] != nil || (o.untyped != nil || o.move != nil) && (o.takes == nil || o.takes(d)))
}

// Infer returns the outputs' types and shapes.
func (o *opN) Infer(c *Call) (out []tensor.Any, err error) {
	err = tensor.Try(func() {
		o.check(c)
		if o.move != nil {
			m := o.move(c)
			out = one(spec(o.name, m.d, m.shape...))
			return
		}
		if o.infer == nil {
			for i, a := range c.Inputs {
				if _, spec := a.(tensor.Spec); spec {
					panic(unknown(o.name, i))
				}
			}
			out = o.compute(c)
			return
		}
		out = o.infer(c)
	})
	return out, err
}

// Run computes the outputs.
func (o *opN) Run(c *Call) (out []tensor.Any, err error) {
	err = tensor.Try(func() {
		o.check(c)
		out = o.compute(c)
	})
	return out, err
}

func (o *opN) compute(c *Call) []tensor.Any {
	if o.untyped != nil || o.move != nil {
		if o.least > 0 && o.run[c.in(o.by).DType()] != nil {
			return o.run[c.in(o.by).DType()](c)
		}
		if o.untyped != nil {
			return o.untyped(c)
		}
		m := o.move(c)
		m.orion = c.orion
		return one(m.run(c.Context))
	}
	return o.run[c.in(o.by).DType()](c)
}

func (o *opN) check(c *Call) {
	needs(o.name, c, o.least)
	if o.most >= 0 {
		takes(o.name, c, max(o.least, o.most))
	}
	if o.least > 0 {
		d := c.in(o.by).DType()
		must(o.name, o.Supports(d), d)
	}
}

// complete panics when the call is nil, and sets the attributes that every operator may ask for.
func (c *Call) complete(name string) {
	if c == nil {
		panic(fail(name, tensor.ErrValue, "there is no call: it is nil"))
	}
	if c.Attrs == nil {
		c.Attrs = NoAttrs{}
	}
}

// needs panics unless the first n inputs are there.
func needs(name string, c *Call, n int) {
	c.complete(name)
	for i := range n {
		if c.in(i) == nil {
			panic(fail(name, tensor.ErrShape, "input %d is missing; it needs %d", i, n))
		}
	}
}

// takes panics when there are more than n inputs.
func takes(name string, c *Call, n int) {
	for i := n; i < len(c.Inputs); i++ {
		if c.Inputs[i] != nil {
			panic(fail(name, tensor.ErrShape, "it has %d inputs and takes %d at most", len(c.Inputs), n))
		}
	}
}

// oneType panics unless all inputs that are there hold the same type.
func oneType(name string, ins ...tensor.Any) {
	for _, a := range ins {
		if a != nil && a.DType() != ins[0].DType() {
			panic(fail(name, tensor.ErrDType, "operands hold %v and %v; convert one with op.Cast", ins[0].DType(), a.DType()))
		}
	}
}

// as returns input i as a Tensor[T], the zero Tensor when it is absent.
func as[T num.Elem](name string, c *Call, i int) tensor.Tensor[T] {
	if a := c.in(i); a != nil {
		return held[T](name, a, i)
	}
	return tensor.Tensor[T]{}
}

// held returns a, which is input i, as a Tensor[T].
func held[T num.Elem](name string, a tensor.Any, i int) tensor.Tensor[T] {
	t, ok := a.(tensor.Tensor[T])
	if !ok {
		if _, spec := a.(tensor.Spec); spec {
			panic(unknown(name, i))
		}
		if want := dtype.Of[T](); a.DType() == want {
			panic(fail(name, tensor.ErrDType, "input %d is a %T of %v, whose elements can't be read; unpack it", i, a, want))
		}
		panic(fail(name, tensor.ErrDType, "input %d holds %v, want %v", i, a.DType(), dtype.Of[T]()))
	}
	return t
}

func unknown(name string, i int) *tensor.Error {
	return fail(name, ErrUnknown, "the value of input %d is not known before the run", i)
}

// ints returns the elements of an integer input in row-major order: int64 or
// int32, of any rank. ok is false when the input is absent.
func ints(name string, c *Call, i int) (v []int, ok bool) {
	switch a := c.in(i).(type) {
	case nil:
		return nil, false
	case tensor.Tensor[int64]:
		v = make([]int, 0, fits(name, a.Len(), 8))
		for x := range a.Values() {
			if int64(int(x)) != x {
				panic(fail(name, tensor.ErrOverflow, "value %d of input %d doesn't fit an int", x, i))
			}
			v = append(v, int(x))
		}
	case tensor.Tensor[int32]:
		v = make([]int, 0, fits(name, a.Len(), 8))
		for x := range a.Values() {
			v = append(v, int(x))
		}
	case tensor.Spec:
		panic(unknown(name, i))
	default:
		panic(fail(name, tensor.ErrDType, "input %d holds %v, want int64 or int32", i, a.DType()))
	}
	return v, true
}

// attrInts returns an attribute of integers as ints; one that doesn't fit is as
// far away as an int can be, and no better an axis or extent.
func attrInts(c *Call, name string) ([]int, bool) {
	v, ok := c.Attrs.Ints(name)
	if !ok {
		return nil, false
	}
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(max(min(x, math.MaxInt), math.MinInt))
	}
	return out, true
}

// spec describes an output.
func spec(name string, d dtype.DType, shape ...int) tensor.Any {
	s, err := tensor.NewSpec(d, shape...)
	if err != nil {
		panic(fail(name, tensor.ErrShape, "the result's shape: %v", err))
	}
	return s
}

// one is a list of a single output.
func one(a tensor.Any) []tensor.Any { return []tensor.Any{a} }

func options(c *Call) []Option {
	var opts []Option
	if c.Context != nil {
		opts = append(opts, Context(c.Context))
	}
	if c.orion {
		opts = append(opts, Orion())
	}
	if c.rectify {
		opts = append(opts, Rectify())
	}
	return opts
}

// axisOf resolves a possibly negative axis.
func axisOf(name string, axis, rank int) int {
	a := axis
	if a < 0 {
		a += rank
	}
	if uint(a) >= uint(rank) {
		panic(fail(name, tensor.ErrAxis, "axis %d of a tensor of rank %d; axes are %d to %d", axis, rank, -rank, rank-1))
	}
	return a
}

// Supports reports whether the operand may hold d.
func (o *op1) Supports(d dtype.DType) bool {
	if d.IsFixed() {
		return o.fixed != nil
	}
	if d.IsNarrow() {
		return o.rows.F32 != nil
	}
	return int(d) < dtype.Count && run1[d] != nil && rowSet1(&o.rows, d)
}

// Infer returns the operand's type and shape.
func (o *op1) Infer(c *Call) (out []tensor.Any, err error) {
	err = tensor.Try(func() {
		needs(o.name, c, 1)
		takes(o.name, c, 1)
		must(o.name, o.Supports(c.in(0).DType()), c.in(0).DType())
		out = one(spec(o.name, c.in(0).DType(), tensor.Shape(c.in(0))...))
	})
	return out, err
}

// Run computes the operator.
func (o *op1) Run(c *Call) (out []tensor.Any, err error) {
	err = tensor.Try(func() {
		needs(o.name, c, 1)
		takes(o.name, c, 1)
		d := c.in(0).DType()
		must(o.name, o.Supports(d), d)
		out = one(run1[d](o, c.in(0), options(c)))
	})
	return out, err
}

func any1[T num.Elem](o *op1, a tensor.Any, opts []Option) tensor.Any {
	t := held[T](o.name, a, 0)
	return apply1(o, &t, opts)
}

var run1 = [dtype.Count]func(o *op1, a tensor.Any, opts []Option) tensor.Any{
	dtype.Bool: any1[bool], dtype.Int8: any1[int8], dtype.Int16: any1[int16], dtype.Int32: any1[int32], dtype.Int64: any1[int64],
	dtype.Uint8: any1[uint8], dtype.Uint16: any1[uint16], dtype.Uint32: any1[uint32], dtype.Uint64: any1[uint64],
	dtype.Float8E4M3: any1[num.F8E4M3], dtype.Float8E5M2: any1[num.F8E5M2], dtype.Float16: any1[num.F16], dtype.BFloat16: any1[num.BF16],
	dtype.Float32: any1[float32], dtype.Float64: any1[float64], dtype.Complex64: any1[complex64], dtype.Complex128: any1[complex128],
	dtype.FP8x23: any1[num.FP8x23], dtype.FP16x16: any1[num.FP16x16], dtype.FP32x32: any1[num.FP32x32], dtype.FP64x64: any1[num.FP64x64],
}

func rowSet1(r *rows1, d dtype.DType) bool {
	return [dtype.Count]bool{dtype.Bool: r.Bool != nil, dtype.Int8: r.I8 != nil, dtype.Int16: r.I16 != nil, dtype.Int32: r.I32 != nil,
		dtype.Int64: r.I64 != nil, dtype.Uint8: r.U8 != nil, dtype.Uint16: r.U16 != nil, dtype.Uint32: r.U32 != nil,
		dtype.Uint64: r.U64 != nil, dtype.Float32: r.F32 != nil, dtype.Float64: r.F64 != nil,
		dtype.Complex64: r.C64 != nil, dtype.Complex128: r.C128 != nil}[d]
}

// Supports reports whether the operands may hold d.
func (o *op2) Supports(d dtype.DType) bool {
	if d.IsFixed() {
		return o.fixed != nil
	}
	if d.IsNarrow() {
		d = dtype.Float32
	}
	return int(d) < dtype.Count && rowSet2(&o.rows, d)
}

func rowSet2(r *rows2, d dtype.DType) bool {
	return [dtype.Count]bool{dtype.Bool: r.Bool != nil, dtype.Int8: r.I8 != nil, dtype.Int16: r.I16 != nil, dtype.Int32: r.I32 != nil,
		dtype.Int64: r.I64 != nil, dtype.Uint8: r.U8 != nil, dtype.Uint16: r.U16 != nil, dtype.Uint32: r.U32 != nil,
		dtype.Uint64: r.U64 != nil, dtype.Float32: r.F32 != nil, dtype.Float64: r.F64 != nil,
		dtype.Complex64: r.C64 != nil, dtype.Complex128: r.C128 != nil}[d]
}

// Infer returns the operands' type and the shape they stretch to together.
func (o *op2) Infer(c *Call) (out []tensor.Any, err error) {
	err = tensor.Try(func() {
		c, n := o.check(c)
		out = one(spec(o.name, c.in(0).DType(), stretch(o.name, c.Inputs[:n]...)...))
	})
	return out, err
}

// check looks at the inputs and returns the call in its later form, and how many there are.
func (o *op2) check(c *Call) (*Call, int) {
	c.complete(o.name)
	n := 2
	if o.fold {
		n = max(1, len(c.Inputs))
	}
	needs(o.name, c, n)
	takes(o.name, c, n)
	if slices.Contains(o.attrs, "broadcast") {
		c = early(o.name, c)
	}
	oneType(o.name, c.Inputs[:n]...)
	must(o.name, o.Supports(c.in(0).DType()), c.in(0).DType())
	return c, n
}

// stretch returns the shape that inputs stretch to together.
func stretch(name string, ins ...tensor.Any) []int {
	ls := make([]*layout.Layout, len(ins))
	for i, a := range ins {
		l := a.Layout()
		ls[i] = &l
	}
	return broadcastShape(name, nil, ls...)
}

// Run computes the operator.
func (o *op2) Run(c *Call) (out []tensor.Any, err error) {
	err = tensor.Try(func() {
		c, _ := o.check(c)
		a := c.in(0)
		if !o.fold {
			out = one(run2[a.DType()](o, a, c.in(1), options(c)))
			return
		}
		if o.terms != nil && o.terms[a.DType()] != nil && len(c.Inputs) > 2 {
			out = one(o.terms[a.DType()](c))
			return
		}
		for _, b := range c.Inputs[1:] {
			a = run2[a.DType()](o, a, b, options(c))
		}
		out = one(a)
	})
	return out, err
}

func any2[T num.Elem](o *op2, a, b tensor.Any, opts []Option) tensor.Any {
	t, u := held[T](o.name, a, 0), held[T](o.name, b, 1)
	return apply2(o, &t, &u, opts)
}

var run2 = [dtype.Count]func(o *op2, a, b tensor.Any, opts []Option) tensor.Any{
	dtype.Bool: any2[bool], dtype.Int8: any2[int8], dtype.Int16: any2[int16], dtype.Int32: any2[int32], dtype.Int64: any2[int64],
	dtype.Uint8: any2[uint8], dtype.Uint16: any2[uint16], dtype.Uint32: any2[uint32], dtype.Uint64: any2[uint64],
	dtype.Float8E4M3: any2[num.F8E4M3], dtype.Float8E5M2: any2[num.F8E5M2], dtype.Float16: any2[num.F16], dtype.BFloat16: any2[num.BF16],
	dtype.Float32: any2[float32], dtype.Float64: any2[float64], dtype.Complex64: any2[complex64], dtype.Complex128: any2[complex128],
	dtype.FP8x23: any2[num.FP8x23], dtype.FP16x16: any2[num.FP16x16], dtype.FP32x32: any2[num.FP32x32], dtype.FP64x64: any2[num.FP64x64],
}

// Supports reports whether the operands may hold d.
func (o *cmp2) Supports(d dtype.DType) bool {
	if d.IsFixed() {
		return o.order != nil
	}
	if d.IsNarrow() {
		d = dtype.Float32
	}
	return int(d) < dtype.Count && rowSetCmp(&o.rows, d)
}

func rowSetCmp(r *rowsCmp, d dtype.DType) bool {
	return [dtype.Count]bool{dtype.Bool: r.Bool != nil, dtype.Int8: r.I8 != nil, dtype.Int16: r.I16 != nil, dtype.Int32: r.I32 != nil,
		dtype.Int64: r.I64 != nil, dtype.Uint8: r.U8 != nil, dtype.Uint16: r.U16 != nil, dtype.Uint32: r.U32 != nil,
		dtype.Uint64: r.U64 != nil, dtype.Float32: r.F32 != nil, dtype.Float64: r.F64 != nil,
		dtype.Complex64: r.C64 != nil, dtype.Complex128: r.C128 != nil}[d]
}

// Infer returns bool and the shape the operands stretch to together.
func (o *cmp2) Infer(c *Call) (out []tensor.Any, err error) {
	err = tensor.Try(func() {
		needs(o.name, c, 2)
		takes(o.name, c, 2)
		oneType(o.name, c.Inputs[:2]...)
		must(o.name, o.Supports(c.in(0).DType()), c.in(0).DType())
		out = one(spec(o.name, dtype.Bool, stretch(o.name, c.Inputs[:2]...)...))
	})
	return out, err
}

// Run computes the operator.
func (o *cmp2) Run(c *Call) (out []tensor.Any, err error) {
	err = tensor.Try(func() {
		needs(o.name, c, 2)
		takes(o.name, c, 2)
		oneType(o.name, c.Inputs[:2]...)
		d := c.in(0).DType()
		must(o.name, o.Supports(d), d)
		out = one(runCmp[d](o, c.in(0), c.in(1), options(c)))
	})
	return out, err
}

func anyCmp[T num.Elem](o *cmp2, a, b tensor.Any, opts []Option) tensor.Any {
	t, u := held[T](o.name, a, 0), held[T](o.name, b, 1)
	return applyCmp(o, &t, &u, opts)
}

var runCmp = [dtype.Count]func(o *cmp2, a, b tensor.Any, opts []Option) tensor.Any{
	dtype.Bool: anyCmp[bool], dtype.Int8: anyCmp[int8], dtype.Int16: anyCmp[int16], dtype.Int32: anyCmp[int32], dtype.Int64: anyCmp[int64],
	dtype.Uint8: anyCmp[uint8], dtype.Uint16: anyCmp[uint16], dtype.Uint32: anyCmp[uint32], dtype.Uint64: anyCmp[uint64],
	dtype.Float8E4M3: anyCmp[num.F8E4M3], dtype.Float8E5M2: anyCmp[num.F8E5M2], dtype.Float16: anyCmp[num.F16], dtype.BFloat16: anyCmp[num.BF16],
	dtype.Float32: anyCmp[float32], dtype.Float64: anyCmp[float64], dtype.Complex64: anyCmp[complex64], dtype.Complex128: anyCmp[complex128],
	dtype.FP8x23: anyCmp[num.FP8x23], dtype.FP16x16: anyCmp[num.FP16x16], dtype.FP32x32: anyCmp[num.FP32x32], dtype.FP64x64: anyCmp[num.FP64x64],
}

// isReal says which types have arithmetic and an order.
func isReal(d dtype.DType) bool { return d.IsInteger() || d.IsFloat() }
