package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// rowsP is rows1 for rows that take one or two numbers besides.
type rowsP = simd.RowsP

func rowPOf[T num.Elem](r *rowsP) func(dst, a []T, p, q T) {
	var p any
	switch any((*T)(nil)).(type) {
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
	f, _ := p.(func(dst, a []T, p, q T))
	return f
}

// applyWith is the typed form of an operator with rows of rowsP. p and q are for
// types that are computed in themselves, wide for narrow floats.
func applyWith[T num.Elem](name string, cost int, r *rowsP, fast *simd.Levels[*rowsP], a *tensor.Tensor[T], p, q T, wide [2]float32, opts []Option) tensor.Tensor[T] {
	k := kernel[T, T]{p: p, q: q}
	if f := fastest(fast); f != nil {
		k.with = rowPOf[T](f)
	}
	j := job{name: name, cost: quick(cost)}
	j.heed(opts)
	if k.past = k.with != nil; !k.past {
		k.with, k.canon, j.cost = rowPOf[T](r), canonOf[T](), max(cost, 1)
	}
	ins := [3]*tensor.Tensor[T]{a}
	if t := ready[T](opts); t != nil && k.with != nil && dense(&j, t, nil, &ins, 1, &k) {
		return *t
	}
	return generalWith(r, fast, wide, &j, &ins, &k, opts)
}

//go:noinline
func generalWith[T num.Elem](r *rowsP, fast *simd.Levels[*rowsP], wide [2]float32, j *job, ins *[3]*tensor.Tensor[T], k *kernel[T, T], opts []Option) tensor.Tensor[T] {
	if isLazy(ins[0]) {
		name, cost, p, q := j.name, j.cost, k.p, k.q
		return noted[T](note{name: name, cost: cost, args: []arg{argOf(name, ins[0])},
			run: func(in []any, opts []Option) {
				applyWith(name, cost, r, fast, in[0].(*tensor.Tensor[T]), p, q, wide, opts)
			}}, opts, ins[0].LayoutRef())
	}
	s := read(opts)
	var few [8]int
	dst := target[T](j.name, &s, appendShape(few[:0], ins[0].LayoutRef()))
	j.ctx = s.ctx()
	if k.with != nil {
		elementwise(*j, &dst, ins, 1, k, nil, nil)
		return dst
	}
	d := dtype.Of[T]()
	must(j.name, d.IsNarrow() && r.F32 != nil, d)
	row := r.F32
	if f := fastest(fast); f != nil && f.F32 != nil {
		row = f.F32
	}
	inFloat32(*j, &dst, ins, 1, &kernel[float32, float32]{with: row, p: wide[0], q: wide[1]})
	return dst
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

// applyP is the typed form of an opP. The numbers are rounded to the type that is
// computed in.
func applyP[T num.Elem](o *opP, a *tensor.Tensor[T], p, q float64, opts []Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		return applyFixedP(o.name, o.fixed, a, fixedNumber[T](o.name, p), fixedNumber[T](o.name, q), opts)
	}
	return applyWith(o.name, o.cost, &o.rows, o.fast, a, floatAs[T](p), floatAs[T](q), [2]float32{float32(p), float32(q)}, opts)
}

// floatAs returns v as a float32 or float64; 0 for other types.
func floatAs[T num.Elem](v float64) (x T) {
	switch x := any(&x).(type) {
	case *float32:
		*x = float32(v)
	case *float64:
		*x = v
	}
	return x
}

// Supports reports whether the operand may hold d.
func (o *opP) Supports(d dtype.DType) bool {
	return int(d) < dtype.Count && runP[d] != nil && (o.fixed != nil || !d.IsFixed())
}

// Infer returns the operand's type and shape.
func (o *opP) Infer(c *Call) (out []tensor.Any, err error) {
	err = tensor.Try(func() {
		needs(o.name, c, 1)
		takes(o.name, c, 1)
		must(o.name, o.Supports(c.in(0).DType()), c.in(0).DType())
		out = one(spec(o.name, c.in(0).DType(), tensor.Shape(c.in(0))...))
	})
	return out, err
}

// Run computes the operator.
func (o *opP) Run(c *Call) (out []tensor.Any, err error) {
	err = tensor.Try(func() {
		needs(o.name, c, 1)
		takes(o.name, c, 1)
		d := c.in(0).DType()
		must(o.name, o.Supports(d), d)
		v := o.def
		for i, name := range o.attrs {
			v[i] = c.Attrs.Float(name, v[i])
		}
		out = one(runP[d](o, c.in(0), float64(v[0]), float64(v[1]), options(c)))
	})
	return out, err
}

func anyP[T num.Elem](o *opP, a tensor.Any, p, q float64, opts []Option) tensor.Any {
	t := held[T](o.name, a, 0)
	return applyP(o, &t, p, q, opts)
}

var runP = [dtype.Count]func(o *opP, a tensor.Any, p, q float64, opts []Option) tensor.Any{
	dtype.Float8E4M3: anyP[num.F8E4M3], dtype.Float8E5M2: anyP[num.F8E5M2], dtype.Float16: anyP[num.F16], dtype.BFloat16: anyP[num.BF16],
	dtype.Float32: anyP[float32], dtype.Float64: anyP[float64],
	dtype.FP8x23: anyP[num.FP8x23], dtype.FP16x16: anyP[num.FP16x16], dtype.FP32x32: anyP[num.FP32x32], dtype.FP64x64: anyP[num.FP64x64],
}
