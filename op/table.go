package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// about is what every operator says of itself.
type about struct {
	name  string
	onnx  []int    // opsets that define it, ascending
	attrs []string // ONNX attributes it understands
	why   string   // why numbers of some type are left out; empty for the reasons that Why finds by itself
}

func (a *about) Name() string         { return a.name }
func (a *about) Versions() []int      { return a.onnx }
func (a *about) Attributes() []string { return a.attrs }

// rows1 has the row of a one-operand operator for each element type; an absent
// one means the operator makes no sense there. Narrow floats use F32, unless the
// operator only touches sign bits and has B16 and B8. rows2 is that for two
// operands, and rowsCmp for a result of bool besides.
//
// An operator lists its rows twice: rows, plain Go, which define it; and fast,
// those of package simd that there are, which give the same bits, NaNs canonical
// already.
type (
	rows1   = simd.Rows1
	rows2   = simd.Rows2
	rowsCmp = simd.RowsCmp
)

// fastest returns the rows of an operator for the instruction set in use, or nil.
func fastest[R any](l *simd.Levels[*R]) *R {
	if l == nil {
		return nil
	}
	return l.Best()
}

func row1Of[T num.Elem](r *rows1) func(dst, a []T) {
	var p any
	switch any((*T)(nil)).(type) {
	case *bool:
		p = r.Bool
	case *int8:
		p = r.I8
	case *int16:
		p = r.I16
	case *int32:
		p = r.I32
	case *int64:
		p = r.I64
	case *uint8:
		p = r.U8
	case *uint16:
		p = r.U16
	case *uint32:
		p = r.U32
	case *uint64:
		p = r.U64
	case *float32:
		p = r.F32
	case *float64:
		p = r.F64
	case *complex64:
		p = r.C64
	case *complex128:
		p = r.C128
	}
	f, _ := p.(func(dst, a []T))
	return f
}

func row2Of[T num.Elem](r *rows2) func(dst, a, b []T) {
	var p any
	switch any((*T)(nil)).(type) {
	case *bool:
		p = r.Bool
	case *int8:
		p = r.I8
	case *int16:
		p = r.I16
	case *int32:
		p = r.I32
	case *int64:
		p = r.I64
	case *uint8:
		p = r.U8
	case *uint16:
		p = r.U16
	case *uint32:
		p = r.U32
	case *uint64:
		p = r.U64
	case *float32:
		p = r.F32
	case *float64:
		p = r.F64
	case *complex64:
		p = r.C64
	case *complex128:
		p = r.C128
	}
	f, _ := p.(func(dst, a, b []T))
	return f
}

func rowCmpOf[T num.Elem](r *rowsCmp) func(dst []bool, a, b []T) {
	var p any
	switch any((*T)(nil)).(type) {
	case *bool:
		p = r.Bool
	case *int8:
		p = r.I8
	case *int16:
		p = r.I16
	case *int32:
		p = r.I32
	case *int64:
		p = r.I64
	case *uint8:
		p = r.U8
	case *uint16:
		p = r.U16
	case *uint32:
		p = r.U32
	case *uint64:
		p = r.U64
	case *float32:
		p = r.F32
	case *float64:
		p = r.F64
	case *complex64:
		p = r.C64
	case *complex128:
		p = r.C128
	}
	f, _ := p.(func(dst []bool, a, b []T))
	return f
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
	cost      int
	rows      rows2
	fast      *simd.Levels[*rows2]
	fold      bool   // ONNX's form takes one or more inputs, folded from the left
	terms     *terms // of types that aren't folded, from three inputs on
	fixed     *fixed2
}

// terms has the run-time form of an operator that takes all its inputs at once. It isn't a
// map, which would be filled at start.
type terms [dtype.Count]func(c *Call) tensor.Any

// cmp2 is op2 with a result of bool.
type cmp2 struct {
	about
	rows  rowsCmp
	fast  *simd.Levels[*rowsCmp]
	order func(c int) bool // of fixed point, by -1, 0 or 1
}

// ready returns the Into target when it is the only option and a run of elements
// that may be written: then dense is tried before anything else is looked at, as
// shapes are right when layouts are equal. This is what makes a call cheap.
func ready[R num.Elem](opts []Option) *tensor.Tensor[R] {
	if len(opts) != 1 || opts[0].more != nil {
		return nil
	}
	dst, ok := opts[0].into.(*tensor.Tensor[R])
	if !ok || dst.IsReadOnly() || !dst.LayoutRef().IsRowMajor() {
		return nil
	}
	return dst
}

// apply1 is the typed form of an op1.
func apply1[T num.Elem](o *op1, a *tensor.Tensor[T], opts []Option) tensor.Tensor[T] {
	var k kernel[T, T]
	if r := fastest(o.rough); r != nil && read(opts).fast {
		k.one = row1Of[T](r)
	}
	if r := fastest(o.fast); r != nil && k.one == nil {
		k.one = row1Of[T](r)
	}
	j := job{name: o.name, cost: quick(o.cost)}
	j.heed(opts)
	if k.past = k.one != nil; !k.past {
		j.cost = max(o.cost, 1)
		if k.one = row1Of[T](&o.rows); !o.keep {
			k.canon = canonOf[T]()
		}
	}
	ins := [3]*tensor.Tensor[T]{a}
	if t := ready[T](opts); t != nil && k.one != nil && dense(&j, t, nil, &ins, 1, &k) {
		return *t
	}
	return general1(o, &j, &ins, &k, opts)
}

// general1 is apply1 for all other cases. Its frame is large, so it stays out of
// apply1's; and so with the others.
//
//go:noinline
func general1[T num.Elem](o *op1, j *job, ins *[3]*tensor.Tensor[T], k *kernel[T, T], opts []Option) tensor.Tensor[T] {
	if isLazy(ins[0]) {
		n := note{name: o.name, cost: j.cost, args: []arg{argOf(o.name, ins[0])},
			run: func(in []any, opts []Option) { apply1(o, in[0].(*tensor.Tensor[T]), opts) }}
		fast := read(opts).fast
		if n.alone = dtype.Of[T]().IsFixed(); n.alone || fast {
			n.also = kept(opts)
		}
		if r := fastest(o.fast); r != nil {
			n.ofSum = r.MulAddF32
		}
		if r := fastest(o.rough); r != nil && fast {
			n.ofSum = r.MulAddF32
		}
		return noted[T](n, opts, ins[0].LayoutRef())
	}
	s := read(opts)
	var few [8]int
	dst := target[T](o.name, &s, appendShape(few[:0], ins[0].LayoutRef()))
	j.ctx = s.ctx()
	switch d := dtype.Of[T](); {
	case d.IsFixed():
		must(o.name, o.fixed != nil, d)
		return applyFixed1(o, j, ins, dst, &s)
	case k.one != nil:
		elementwise(*j, &dst, ins, 1, k, nil, nil)
	case d.IsNarrow() && d.Size() == 2 && o.rows.B16 != nil:
		inWords(*j, &dst, ins, 1, &kernel[uint16, uint16]{one: o.rows.B16}, nil)
	case d.IsNarrow() && d.Size() == 1 && o.rows.B8 != nil:
		inWords(*j, &dst, ins, 1, nil, &kernel[uint8, uint8]{one: o.rows.B8})
	default:
		must(o.name, d.IsNarrow() && o.rows.F32 != nil, d)
		wide := kernel[float32, float32]{one: o.row32()}
		if o.function {
			wide = kernel[float32, float32]{via: (*settled)(o)}
		}
		inFloat32(*j, &dst, ins, 1, &wide)
	}
	return dst
}

func (o *op1) row32() func(dst, a []float32) {
	if r := fastest(o.fast); r != nil && r.F32 != nil {
		return r.F32
	}
	return o.rows.F32
}

// apply2 is the typed form of an op2.
func apply2[T num.Elem](o *op2, a, b *tensor.Tensor[T], opts []Option) tensor.Tensor[T] {
	var k kernel[T, T]
	if r := fastest(o.fast); r != nil {
		k.two = row2Of[T](r)
	}
	j := job{name: o.name, cost: quick(o.cost)}
	j.heed(opts)
	if k.past = k.two != nil; !k.past {
		j.cost = max(o.cost, 1)
		if k.two = row2Of[T](&o.rows); !o.canonical {
			k.canon = canonOf[T]()
		}
	}
	ins := [3]*tensor.Tensor[T]{a, b}
	zero := o.zero && dtype.Of[T]().IsInteger()
	if t := ready[T](opts); t != nil && k.two != nil && !zero && dense(&j, t, nil, &ins, 2, &k) {
		return *t
	}
	return general2(o, zero, &j, &ins, &k, opts)
}

//go:noinline
func general2[T num.Elem](o *op2, zero bool, j *job, ins *[3]*tensor.Tensor[T], k *kernel[T, T], opts []Option) tensor.Tensor[T] {
	if isLazy(ins[0], ins[1]) {
		fixed := dtype.Of[T]().IsFixed()
		var also []Option
		if fixed {
			also = kept(opts)
		}
		return noted[T](note{name: o.name, two: o, cost: j.cost, alone: zero || fixed, also: also, args: []arg{argOf(o.name, ins[0]), argOf(o.name, ins[1])},
			run: func(in []any, opts []Option) { apply2(o, in[0].(*tensor.Tensor[T]), in[1].(*tensor.Tensor[T]), opts) }}, opts, ins[0].LayoutRef(), ins[1].LayoutRef())
	}
	s := read(opts)
	var few [8]int
	dst := target[T](o.name, &s, broadcast2(o.name, few[:0], ins[0].LayoutRef(), ins[1].LayoutRef()))
	j.ctx = s.ctx()
	if zero && dst.Len() > 0 {
		refuseZero(o.name, *ins[1])
	}
	switch d := dtype.Of[T](); {
	case d.IsFixed():
		must(o.name, o.fixed != nil, d)
		return applyFixed2(o, j, ins, dst, &s)
	case k.two != nil:
		elementwise(*j, &dst, ins, 2, k, nil, nil)
	case d.IsNarrow() && d.Size() == 2 && o.rows.B16 != nil:
		inWords(*j, &dst, ins, 2, &kernel[uint16, uint16]{two: o.rows.B16}, nil)
	case d.IsNarrow() && d.Size() == 1 && o.rows.B8 != nil:
		inWords(*j, &dst, ins, 2, nil, &kernel[uint8, uint8]{two: o.rows.B8})
	default:
		must(o.name, d.IsNarrow() && o.rows.F32 != nil, d)
		two := o.rows.F32
		if r := fastest(o.fast); r != nil && r.F32 != nil {
			two = r.F32
		}
		inFloat32(*j, &dst, ins, 2, &kernel[float32, float32]{two: two})
	}
	return dst
}

// applyCmp is the typed form of a cmp2.
func applyCmp[T num.Elem](o *cmp2, a, b *tensor.Tensor[T], opts []Option) tensor.Tensor[bool] {
	var k kernel[T, bool]
	if r := fastest(o.fast); r != nil {
		k.two = rowCmpOf[T](r)
	}
	if k.past = k.two != nil; !k.past {
		k.two = rowCmpOf[T](&o.rows)
	}
	j := job{name: o.name, cost: 1}
	j.heed(opts)
	ins := [3]*tensor.Tensor[T]{a, b}
	if t := ready[bool](opts); t != nil && k.two != nil && dense(&j, t, nil, &ins, 2, &k) {
		return *t
	}
	return generalCmp(o, &j, &ins, &k, opts)
}

//go:noinline
func generalCmp[T num.Elem](o *cmp2, j *job, ins *[3]*tensor.Tensor[T], k *kernel[T, bool], opts []Option) tensor.Tensor[bool] {
	if isLazy(ins[0], ins[1]) {
		return noted[bool](note{name: o.name, args: []arg{argOf(o.name, ins[0]), argOf(o.name, ins[1])},
			run: func(in []any, opts []Option) { applyCmp(o, in[0].(*tensor.Tensor[T]), in[1].(*tensor.Tensor[T]), opts) }}, opts, ins[0].LayoutRef(), ins[1].LayoutRef())
	}
	s := read(opts)
	var few [8]int
	dst := target[bool](o.name, &s, broadcast2(o.name, few[:0], ins[0].LayoutRef(), ins[1].LayoutRef()))
	j.ctx = s.ctx()
	if k.two != nil {
		elementwise(*j, &dst, ins, 2, k, nil, nil)
		return dst
	}
	d := dtype.Of[T]()
	if d.IsFixed() && o.order != nil {
		elementwise(*j, &dst, ins, 2, &kernel[T, bool]{pair: ordering[T]{&o.rows, o.order}}, nil, nil)
		return dst
	}
	must(o.name, d.IsNarrow() && o.rows.F32 != nil, d)
	two := o.rows.F32
	if r := fastest(o.fast); r != nil && r.F32 != nil {
		two = r.F32
	}
	asFloat32(*j, &dst, ins, 2, &kernel[float32, bool]{two: two})
	return dst
}

// broadcast2 is broadcastShape for two operands, most often of one shape.
func broadcast2(name string, shape []int, a, b *layout.Layout) []int {
	if a.Same(b) {
		return appendShape(shape, a)
	}
	return broadcastShape(name, shape, a, b)
}

func must(name string, ok bool, d dtype.DType) {
	if !ok {
		panic(fail(name, tensor.ErrDType, "is not defined for %v; convert the operand with op.Cast", d))
	}
}

// refuseZero panics when an integer divisor is 0, before anything is written.
func refuseZero[T num.Elem](name string, b tensor.Tensor[T]) {
	var zero T
	c := b.Contiguous()
	data, off := c.Data()
	if i := slices.Index(data[off:off+c.Len()], zero); i >= 0 {
		panic(fail(name, tensor.ErrValue, "integer division by zero: the divisor at index %s is 0", shapeText(unravel(i, b.Shape()))))
	}
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
