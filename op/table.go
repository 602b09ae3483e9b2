package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// about is what every operator says of itself.
type about struct {
	name  string
	onnx  []int    // opsets that define it, ascending
	attrs []string // ONNX attributes it understands
}

func (a *about) Name() string         { return a.name }
func (a *about) Versions() []int      { return a.onnx }
func (a *about) Attributes() []string { return a.attrs }

// rows1 has the row of a one-operand operator for each element type; an absent
// one means the operator makes no sense there. Narrow floats use F32, unless the
// operator only touches sign bits and has B16 and B8.
type rows1 struct {
	Bool func(dst, a []bool)
	I8   func(dst, a []int8)
	I16  func(dst, a []int16)
	I32  func(dst, a []int32)
	I64  func(dst, a []int64)
	U8   func(dst, a []uint8)
	U16  func(dst, a []uint16)
	U32  func(dst, a []uint32)
	U64  func(dst, a []uint64)
	F32  func(dst, a []float32)
	F64  func(dst, a []float64)
	B16  func(dst, a []uint16)
	B8   func(dst, a []uint8)
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
	}
	f, _ := p.(func(dst, a []T))
	return f
}

// rows2 is rows1 for two operands.
type rows2 struct {
	Bool func(dst, a, b []bool)
	I8   func(dst, a, b []int8)
	I16  func(dst, a, b []int16)
	I32  func(dst, a, b []int32)
	I64  func(dst, a, b []int64)
	U8   func(dst, a, b []uint8)
	U16  func(dst, a, b []uint16)
	U32  func(dst, a, b []uint32)
	U64  func(dst, a, b []uint64)
	F32  func(dst, a, b []float32)
	F64  func(dst, a, b []float64)
	B16  func(dst, a, b []uint16)
	B8   func(dst, a, b []uint8)
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
	}
	f, _ := p.(func(dst, a, b []T))
	return f
}

// rowsCmp is rows2 for a result of bool.
type rowsCmp struct {
	Bool func(dst []bool, a, b []bool)
	I8   func(dst []bool, a, b []int8)
	I16  func(dst []bool, a, b []int16)
	I32  func(dst []bool, a, b []int32)
	I64  func(dst []bool, a, b []int64)
	U8   func(dst []bool, a, b []uint8)
	U16  func(dst []bool, a, b []uint16)
	U32  func(dst []bool, a, b []uint32)
	U64  func(dst []bool, a, b []uint64)
	F32  func(dst []bool, a, b []float32)
	F64  func(dst []bool, a, b []float64)
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
	}
	f, _ := p.(func(dst []bool, a, b []T))
	return f
}

// op1 is an operator that gives each element of its operand a new value.
type op1 struct {
	about
	keep bool // NaN bits pass through: nothing is computed
	cost int  // of a row, in units of an addition; 0 means 1
	rows rows1
}

// op2 is an operator over pairs of elements of two operands that broadcast.
type op2 struct {
	about
	zero      bool // fails on an integer second operand of 0
	canonical bool // the rows store no NaN but the canonical one: in one pass where a second look costs a fifth
	cost      int
	rows      rows2
	fold      bool // ONNX's form takes one or more inputs, folded from the left
}

// cmp2 is op2 with a result of bool.
type cmp2 struct {
	about
	rows rowsCmp
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
	k := kernel[T, T]{one: row1Of[T](&o.rows)}
	if !o.keep {
		k.canon = canonOf[T]()
	}
	j := job{name: o.name, cost: max(o.cost, 1)}
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
	s := read(opts)
	var few [8]int
	dst := target[T](o.name, &s, appendShape(few[:0], ins[0].LayoutRef()))
	j.ctx = s.ctx()
	switch d := dtype.Of[T](); {
	case k.one != nil:
		elementwise(*j, &dst, ins, 1, k, nil, nil)
	case d.IsNarrow() && d.Size() == 2 && o.rows.B16 != nil:
		inWords(*j, &dst, ins, 1, &kernel[uint16, uint16]{one: o.rows.B16}, nil)
	case d.IsNarrow() && d.Size() == 1 && o.rows.B8 != nil:
		inWords(*j, &dst, ins, 1, nil, &kernel[uint8, uint8]{one: o.rows.B8})
	default:
		must(o.name, d.IsNarrow() && o.rows.F32 != nil, d)
		inFloat32(*j, &dst, ins, 1, &kernel[float32, float32]{one: o.rows.F32})
	}
	return dst
}

// apply2 is the typed form of an op2.
func apply2[T num.Elem](o *op2, a, b *tensor.Tensor[T], opts []Option) tensor.Tensor[T] {
	k := kernel[T, T]{two: row2Of[T](&o.rows)}
	if !o.canonical {
		k.canon = canonOf[T]()
	}
	j := job{name: o.name, cost: max(o.cost, 1)}
	ins := [3]*tensor.Tensor[T]{a, b}
	zero := o.zero && dtype.Of[T]().IsInteger()
	if t := ready[T](opts); t != nil && k.two != nil && !zero && dense(&j, t, nil, &ins, 2, &k) {
		return *t
	}
	return general2(o, zero, &j, &ins, &k, opts)
}

//go:noinline
func general2[T num.Elem](o *op2, zero bool, j *job, ins *[3]*tensor.Tensor[T], k *kernel[T, T], opts []Option) tensor.Tensor[T] {
	s := read(opts)
	var few [8]int
	dst := target[T](o.name, &s, broadcast2(o.name, few[:0], ins[0].LayoutRef(), ins[1].LayoutRef()))
	j.ctx = s.ctx()
	if zero && dst.Len() > 0 {
		refuseZero(o.name, *ins[1])
	}
	switch d := dtype.Of[T](); {
	case k.two != nil:
		elementwise(*j, &dst, ins, 2, k, nil, nil)
	case d.IsNarrow() && d.Size() == 2 && o.rows.B16 != nil:
		inWords(*j, &dst, ins, 2, &kernel[uint16, uint16]{two: o.rows.B16}, nil)
	case d.IsNarrow() && d.Size() == 1 && o.rows.B8 != nil:
		inWords(*j, &dst, ins, 2, nil, &kernel[uint8, uint8]{two: o.rows.B8})
	default:
		must(o.name, d.IsNarrow() && o.rows.F32 != nil, d)
		inFloat32(*j, &dst, ins, 2, &kernel[float32, float32]{two: o.rows.F32})
	}
	return dst
}

// applyCmp is the typed form of a cmp2.
func applyCmp[T num.Elem](o *cmp2, a, b *tensor.Tensor[T], opts []Option) tensor.Tensor[bool] {
	k := kernel[T, bool]{two: rowCmpOf[T](&o.rows)}
	j := job{name: o.name, cost: 1}
	ins := [3]*tensor.Tensor[T]{a, b}
	if t := ready[bool](opts); t != nil && k.two != nil && dense(&j, t, nil, &ins, 2, &k) {
		return *t
	}
	return generalCmp(o, &j, &ins, &k, opts)
}

//go:noinline
func generalCmp[T num.Elem](o *cmp2, j *job, ins *[3]*tensor.Tensor[T], k *kernel[T, bool], opts []Option) tensor.Tensor[bool] {
	s := read(opts)
	var few [8]int
	dst := target[bool](o.name, &s, broadcast2(o.name, few[:0], ins[0].LayoutRef(), ins[1].LayoutRef()))
	j.ctx = s.ctx()
	if k.two != nil {
		elementwise(*j, &dst, ins, 2, k, nil, nil)
		return dst
	}
	d := dtype.Of[T]()
	must(o.name, d.IsNarrow() && o.rows.F32 != nil, d)
	asFloat32(*j, &dst, ins, 2, &kernel[float32, bool]{two: o.rows.F32})
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
