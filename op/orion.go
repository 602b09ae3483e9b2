package op

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Orion asks for what Orion's operators do where that isn't what ONNX says. It is for
// those who must match results of Orion, version 0.2.5, and changes these operators
// alone:
//
//   - Round goes away from zero on a tie;
//   - Clip with lo > hi gives lo below lo, and hi elsewhere;
//   - ArgMax, ArgMin and ReduceProd of a vector keep its axis, and the MatMul of two
//     vectors has shape (1);
//   - QuantizeLinear and the QLinear operators cut off, toward zero, what ONNX rounds
//     to nearest, after adding the zero point, and int8 ends at −127;
//   - Mul and Div of fixed point cut off, toward zero, what is below a unit.
//
// The bounds of a Clip of fixed point that has none are the last numbers of the format;
// Orion's, ±2^31 units of 32 bits, are no others for words in two's complement. Its tables
// of functions are not copied: these are rounded to nearest. Nor is its product of matrices
// that cuts off each product.
//
// What would change the type of a result has a run-time form alone: see InOrion. In
// place of Orion's panics integers wrap, and its faults are not copied: transposes of
// rank 2 follow their axes, broadcasts of unequal ranks are right.
func Orion() Option { return Option{flags: orion} }

// orionClipRows are Clip's.
var orionClipRows = rowsP{I8: orionClipRow[int8], I16: orionClipRow[int16], I32: orionClipRow[int32], I64: orionClipRow[int64],
	U8: orionClipRow[uint8], U16: orionClipRow[uint16], U32: orionClipRow[uint32], U64: orionClipRow[uint64],
	F32: orionClipRow[float32], F64: orionClipRow[float64]}

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

var orionClipFixed = fixedP{FP8x23: orionClippedFixed[num.FP8x23], FP16x16: orionClippedFixed[num.FP16x16], FP32x32: orionClippedFixed[num.FP32x32], FP64x64: orionClippedFixed[num.FP64x64]}

func orionClippedFixed[T num.Fixed](x, lo, hi T, mode ...num.FixedMode) (T, error) {
	if num.CompareFixed(x, lo) < 0 {
		return lo, nil
	}
	return minFixed(x, hi)
}

// InOrion returns the run-time form of an operator under the option Orion, where the
// types are Orion's, too:
//
//   - Equal, Greater and GreaterOrEqual give 0 and 1 of uint32, Less and
//     LessOrEqual of int32; And, Or and Xor take numbers, true being those that aren't
//     0, and give uint32 then;
//   - the condition of Where has the type of the other two, true where it isn't 0;
//   - ArgMax gives int32, ArgMin and NonZero uint32, Unique its indices as int32;
//   - an absent lower bound of Clip is −127 for int8, and −(2^31 − 1) for int32;
//   - QuantizeLinear takes fixed point with a scale and a zero point of its format, or of
//     int8, that broadcast: the quotient cut off, the zero point added, cut off to int8.
//     DequantizeLinear with a scale of fixed point gives such numbers, the product cut off;
//   - IsInf takes int8 and int32, for which ±127 and ±(2^31 − 1) are the infinities.
func InOrion(o Op) Op { return orionOp{some("InOrion", o)} }

type orionOp struct{ Op }

// orionResults has the types of results that differ from ONNX's.
var orionResults = map[string]dtype.DType{"Equal": dtype.Uint32, "Greater": dtype.Uint32, "GreaterOrEqual": dtype.Uint32, "And": dtype.Uint32, "Or": dtype.Uint32, "Xor": dtype.Uint32,
	"Less": dtype.Int32, "LessOrEqual": dtype.Int32, "ArgMax": dtype.Int32, "ArgMin": dtype.Uint32, "NonZero": dtype.Uint32, "Unique": dtype.Int32}

func (o orionOp) Supports(d dtype.DType) bool {
	return o.Op.Supports(d) || (o.logic() || o.Name() == "QuantizeLinear") && d.IsFixed() || o.logic() && reals.has(d) || o.Name() == "IsInf" && (d == dtype.Int8 || d == dtype.Int32)
}

func (o orionOp) logic() bool { return o.Name() == "And" || o.Name() == "Or" || o.Name() == "Xor" }

// call returns c with the inputs that the operator takes here.
func (o orionOp) call(c *Call) *Call {
	d := *c
	d.orion = true
	d.Inputs = slices.Clone(c.Inputs)
	truth := func(n int) {
		for i := range min(n, len(d.Inputs)) {
			if a := d.Inputs[i]; !a.IsZero() {
				d.Inputs[i] = retyped(a, dtype.Bool)
			}
		}
	}
	switch o.Name() {
	case "And", "Or", "Xor":
		truth(2)
	case "Where":
		truth(1)
	case "IsInf":
		if a := c.in(0); !a.IsZero() && a.DType().IsInteger() && o.Supports(a.DType()) {
			d.Inputs[0] = infinities(a)
		}
	case "Clip":
		if c.Opset < 11 || c.in(0).IsZero() || !c.in(1).IsZero() {
			break
		}
		for len(d.Inputs) < 2 {
			d.Inputs = append(d.Inputs, tensor.Any{})
		}
		switch c.in(0).DType() {
		case dtype.Int8:
			d.Inputs[1] = tensor.Scalar[int8](-math.MaxInt8).Any()
		case dtype.Int32:
			d.Inputs[1] = tensor.Scalar[int32](-math.MaxInt32).Any()
		}
	}
	return &d
}

// infinities returns integers as floats, those that stand for infinities as such.
func infinities(a tensor.Any) tensor.Any {
	if a.IsSpec() {
		return spec("IsInf", dtype.Float64, a.Shape()...)
	}
	x, most := castTo1[float64](a), float64(math.MaxInt32)
	if a.DType() == dtype.Int8 {
		most = math.MaxInt8
	}
	return Where(Equal(Abs(x), Scalar(most)), Mul(x, Scalar(math.Inf(1))), x).Any()
}

// results gives results the types that Orion has.
func (o orionOp) results(c *Call, out []tensor.Any) []tensor.Any {
	d, ok := orionResults[o.Name()]
	first := 0 // of Unique the entries keep their type
	if o.Name() == "Unique" {
		first = 1
	}
	if o.logic() && c.in(0).DType() == dtype.Bool {
		return out
	}
	for i := first; ok && i < len(out); i++ {
		out[i] = retyped(out[i], d)
	}
	if red, ok := o.Op.(*reduction); (ok && red.vector || o.Name() == "MatMul") && c.in(0).Rank() == 1 && out[0].Rank() == 0 {
		out[0] = spec(o.Name(), out[0].DType(), 1) // inferred without the option; what is computed has it
	}
	return out
}

// retyped returns a as bool, int32 or uint32; a Spec as a Spec.
func retyped(a tensor.Any, d dtype.DType) tensor.Any {
	if a.IsSpec() {
		return spec("Cast", d, a.Shape()...)
	}
	switch d {
	case dtype.Bool:
		return castTo1[bool](a).Any()
	case dtype.Int32:
		return castTo1[int32](a).Any()
	}
	return castTo1[uint32](a).Any()
}

// quantizers are QuantizeLinear and DequantizeLinear by the format of the scale.
var quantizers = [dtype.Count]func(c *Call, back bool) []tensor.Any{dtype.FP8x23: quantizeFixed[num.FP8x23],
	dtype.FP16x16: quantizeFixed[num.FP16x16], dtype.FP32x32: quantizeFixed[num.FP32x32], dtype.FP64x64: quantizeFixed[num.FP64x64]}

// quantizeFixed is QuantizeLinear, or back, DequantizeLinear.
func quantizeFixed[T num.Fixed](c *Call, back bool) []tensor.Any {
	name, d := "QuantizeLinear", dtype.Int8
	if back {
		name, d = "DequantizeLinear", dtype.Of[T]()
	}
	for i := range c.Inputs {
		if c.in(i).IsSpec() {
			return one(spec(name, d, c.in(0).Shape()...))
		}
	}
	operand := func(i int) (t tensor.Tensor[T]) {
		if c.in(i).IsZero() {
			return tensor.New[T]()
		}
		t = castTo1[T](c.in(i))
		if rank := c.in(0).Rank(); t.Rank() == 1 && t.Len() > 1 && rank > 1 { // ONNX's vector along an axis
			shape := make([]int, rank)
			for k := range shape {
				shape[k] = 1
			}
			shape[axisOf(name, int(c.Attrs.Int("axis", 1)), rank)] = t.Len()
			t = t.Reshape(shape...)
		}
		return t
	}
	if back {
		return one(Mul(Sub(operand(0), operand(2)), operand(1), Orion()).Any())
	}
	y := Add(Div(operand(0), operand(1), Orion()), operand(2), Saturate())
	return one(Cast[int8](Clip(y, fixedNumber[T](name, -math.MaxInt8), fixedNumber[T](name, math.MaxInt8))).Any())
}

func (o orionOp) Infer(c *Call) (out []tensor.Any, err error) {
	return o.through(c, Op.Infer)
}

func (o orionOp) Run(c *Call) (out []tensor.Any, err error) {
	return o.through(c, Op.Run)
}

// inner returns the operator that is called.
func (o orionOp) inner() Op {
	switch in := o.Op.(type) {
	case *op1:
		if in == &round {
			return &roundAway
		}
	case fixedOp:
		return fixedOp{orionOp{in.Op}.inner(), in.d}
	}
	return o.Op
}

func (o orionOp) through(c *Call, f func(Op, *Call) ([]tensor.Any, error)) (out []tensor.Any, err error) {
	if failed := tensor.Try(func() {
		c.complete(o.Name())
		if name := o.Name(); (name == "QuantizeLinear" || name == "DequantizeLinear") && !c.in(1).IsZero() && c.in(1).DType().IsFixed() {
			out = quantizers[c.in(1).DType()](c, name == "DequantizeLinear")
			return
		}
		if out, err = f(o.inner(), o.call(c)); err == nil {
			out = o.results(c, out)
		}
	}); failed != nil {
		return nil, failed
	}
	return out, err
}
