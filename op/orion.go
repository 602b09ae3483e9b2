package op

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Orion asks for the results of Orion's operators where they differ from ONNX. It is for
// programs that must match results of Orion, version 0.2.5, and changes these operators
// alone:
//
//   - Round goes away from zero on a tie;
//   - Clip with lo > hi gives lo below lo, and hi elsewhere;
//   - ArgMax, ArgMin and ReduceProd of a vector keep its axis, and the MatMul of two
//     vectors has shape (1);
//   - QuantizeLinear and the QLinear operators cut off, toward zero, a number that ONNX
//     rounds to nearest, after adding the zero point, and int8 ends at −127;
//   - Mul and Div of fixed point cut off, toward zero, the part below a unit.
//
// The bounds of a Clip of fixed point that has none are the last numbers of the format;
// Orion's, ±2^31 units of 32 bits, are no others for words in two's complement. Its tables
// of functions are not copied: these are rounded to nearest. Nor is its product of matrices
// that cuts off each product.
//
// A difference that would change the type of a result has a run-time form alone: see InOrion. In
// place of Orion's panics integers wrap, and its faults are not copied: transposes of
// rank 2 follow their axes, broadcasts of unequal ranks are right.
func Orion() Option { return plan.WithFlags(plan.Orion) }

// orionClipping is Clip.
var orionClipping = pointwise.Operator{About: plan.About{Name: "Clip"}, Cost: 2,
	Rows: exec.With(nil, &rowsP{I8: orionClipRow[int8], I16: orionClipRow[int16], I32: orionClipRow[int32], I64: orionClipRow[int64],
		U8: orionClipRow[uint8], U16: orionClipRow[uint16], U32: orionClipRow[uint32], U64: orionClipRow[uint64],
		F32: orionClipRow[float32], F64: orionClipRow[float64]}),
	Fixed: &pointwise.FixedP{FP8x23: orionClippedFixed[fixed.FP8x23], FP16x16: orionClippedFixed[fixed.FP16x16], FP32x32: orionClippedFixed[fixed.FP32x32], FP64x64: orionClippedFixed[fixed.FP64x64]}}

func orionClipRow[T num.Native](dst, a []T, lo, hi T) {
	for i, x := range a[:len(dst)] {
		switch {
		case x < lo:
			x = lo
		case x > hi:
			x = hi
		}
		dst[i] = x
	}
}

func orionClippedFixed[T num.Fixed](x, lo, hi T, mode ...fixed.Mode) (T, error) {
	if fixed.Compare(x, lo) < 0 {
		return lo, nil
	}
	return minFixed(x, hi)
}

// InOrion returns the run-time form of an operator under the option Orion, where the
// types are Orion's, too:
//
//   - Equal, Greater and GreaterOrEqual give 0 and 1 of uint32, Less and
//     LessOrEqual of int32; And, Or and Xor take numbers, where any but 0 is
//     true, and give uint32 then;
//   - the condition of Where has the type of the other two, true where it isn't 0;
//   - ArgMax gives int32, ArgMin and NonZero uint32, Unique its indices as int32;
//   - an absent lower bound of Clip is the negated largest number, −127 for int8;
//   - QuantizeLinear takes fixed point with a scale and a zero point of its format, or of
//     int8, that broadcast: the quotient cut off, the zero point added, cut off to int8.
//     DequantizeLinear with a scale of fixed point gives such numbers, the product cut off;
//   - IsInf takes int8 and int32; ± the largest number are their infinities, ±127 for int8.
func InOrion(o *Op) *Op {
	in, f := o.some("InOrion"), new(inOrion)
	if v := plan.AboutOf(in).Orion; v != nil {
		f = v.(*inOrion)
	}
	if f.op != nil {
		in = plan.OpOf(f.op)
		if d := plan.FixedOf(o.of()); d != dtype.Invalid {
			in = InFixed((*Op)(in), d).of()
		}
	}
	takes := func(d dtype.DType) bool { return o.Supports(d) || f.also.Has(d) }
	return (*Op)(plan.VariantOf(o.of(), dtype.Invalid, takes, func(c *plan.Use, p *plan.Draft) {
		if f.instead != nil && f.instead(c, p) {
			return
		}
		d := f.call(c)
		if f.gives == dtype.Invalid || f.bools && c.In(0).DType() == dtype.Bool {
			plan.Planned(in, d, p)
			if f.vector && !p.Brief && c.In(0).Rank() == 1 && p.Out[0].Rank() == 0 {
				p.Gives(p.Out[0].DType(), 1) // inferred without the option; the computed result has it
			}
			return
		}
		p.Through(in, d, func(out []tensor.Any) []tensor.Any { return f.results(c, out) })
	}))
}

// inOrion is the difference that InOrion makes to an operator.
type inOrion struct {
	gives   dtype.DType // the type of the results from result `first` on, if it is another
	first   int
	bools   bool                                  // of bool the results are bool all the same
	truth   int                                   // so many inputs are true where they aren't 0
	also    plan.Types                            // further types of the deciding input
	input   func(c *plan.Use)                     // changes the inputs
	instead func(c *plan.Use, p *plan.Draft) bool // plans other calls, and reports whether it has
	op      plan.Table                            // another operator
	vector  bool                                  // of a vector the result has one axis
}

// call returns c with the inputs that the operator takes here.
func (f *inOrion) call(c *plan.Use) *plan.Use {
	d := *c
	d.Flags |= plan.Orion
	d.Inputs = slices.Clone(c.Inputs)
	for i := range min(f.truth, len(d.Inputs)) {
		if a := d.Inputs[i]; !a.IsZero() {
			d.Inputs[i] = pointwise.InType(a, dtype.Bool)
		}
	}
	if f.input != nil {
		f.input(&d)
	}
	return &d
}

// The forms of operators that are alike.
var (
	orionUint32 = inOrion{gives: dtype.Uint32}
	orionInt32  = inOrion{gives: dtype.Int32}
	orionLogic  = inOrion{gives: dtype.Uint32, bools: true, truth: 2, also: plan.Reals | plan.Fixeds}
	orionVector = inOrion{vector: true}
)

// orionClip sets the lower bound of Clip where there is none.
func orionClip(c *plan.Use) {
	if c.Opset < 11 || c.In(0).IsZero() || !c.In(1).IsZero() {
		return
	}
	for len(c.Inputs) < 2 {
		c.Inputs = append(c.Inputs, tensor.Any{})
	}
	switch c.In(0).DType() {
	case dtype.Int8:
		c.Inputs[1] = tensor.Scalar[int8](-math.MaxInt8).Any()
	case dtype.Int32:
		c.Inputs[1] = tensor.Scalar[int32](-math.MaxInt32).Any()
	}
}

// orionIsInf makes integers floats.
func orionIsInf(c *plan.Use) {
	if d := c.In(0).DType(); d == dtype.Int8 || d == dtype.Int32 {
		c.Inputs[0] = infinities(c.In(0))
	}
}

// infinities returns integers as floats, and the integers that stand for infinities as infinities.
func infinities(a tensor.Any) tensor.Any {
	if a.IsSpec() {
		return plan.Spec("IsInf", dtype.Float64, a.Shape()...)
	}
	most := float64(math.MaxInt32)
	if a.DType() == dtype.Int8 {
		most = math.MaxInt8
	}
	x := pointwise.InType(a, dtype.Float64)
	for i, v := range move.ElemsOf[float64](&x) {
		if math.Abs(v) == most {
			move.ElemsOf[float64](&x)[i] = math.Copysign(math.Inf(1), v)
		}
	}
	return x
}

// results gives results the types that Orion has.
func (f *inOrion) results(c *plan.Use, out []tensor.Any) []tensor.Any {
	for i := f.first; i < len(out); i++ {
		out[i] = pointwise.InType(out[i], f.gives)
	}
	if f.vector && c.In(0).Rank() == 1 && out[0].Rank() == 0 {
		out[0] = plan.Spec("InOrion", out[0].DType(), 1) // inferred without the option; the computed result has it
	}
	return out
}

// orionQuantize is QuantizeLinear, and orionDequantize DequantizeLinear, with a scale of fixed
// point.
func orionQuantize(c *plan.Use, p *plan.Draft) bool { return planQuantizeFixed(p, c, false) }

func orionDequantize(c *plan.Use, p *plan.Draft) bool { return planQuantizeFixed(p, c, true) }

func planQuantizeFixed(p *plan.Draft, c *plan.Use, back bool) bool {
	format := c.In(1).DType()
	if !format.IsFixed() {
		return false
	}
	name, d := "QuantizeLinear", dtype.Int8
	if back {
		name, d = "DequantizeLinear", format
	}
	p.Gives(d, c.In(0).Shape()...)
	p.Copies(format.Size(), 2, 1)
	operand := func(i int) *tensor.Any {
		if c.In(i).IsZero() {
			zero, err := tensor.Make(format) // of 0
			if err != nil {
				panic(err)
			}
			return &zero
		}
		t := pointwise.InType(c.In(i), format)
		if rank := c.In(0).Rank(); t.Rank() == 1 && t.Len() > 1 && rank > 1 { // ONNX's vector along an axis
			shape := make([]int, rank)
			for k := range shape {
				shape[k] = 1
			}
			shape[plan.AxisOf(name, plan.AttrInt(c, "axis", 1), rank)] = t.Len()
			t = t.Reshape(shape...)
		}
		return &t
	}
	p.Run = func() {
		var x, y, r tensor.Any
		if back {
			sub.Call(&x, nil, operand(0), operand(2))
			mul.Call(&r, []Option{Orion()}, &x, operand(1))
		} else {
			div.Call(&x, []Option{Orion()}, operand(0), operand(1))
			add.Call(&y, []Option{Saturate()}, &x, operand(2))
			limit(&x, &y, pointwise.FixedWord(name, format, -math.MaxInt8), pointwise.FixedWord(name, format, math.MaxInt8), nil)
			pointwise.Convert(&r, "Cast", dtype.Int8, &x, nil)
		}
		p.To = plan.One(r)
	}
	return true
}
