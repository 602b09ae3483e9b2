package op

import (
	"errors"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// InFixed returns the run-time form of an operator for programs whose real numbers are all of
// the fixed-point format d:
//
//   - Cast to a type of floats converts to d;
//   - results that are floats whatever the operands, such as the results of HannWindow, are rounded to d;
//   - an operator that doesn't take d is computed in float64 and rounded once to d, if d is
//     FP8x23 or FP16x16, whose numbers float64 holds; of a wider format it is the operator's error.
//
// Integers and truth values keep their types. A result beyond the format, or without a
// value in it, is an error.
//
// It panics when o is nil or d is no fixed-point format.
func InFixed(o *Op, d dtype.DType) *Op {
	if !d.IsFixed() {
		panic(plan.Fail("InFixed", tensor.ErrDType, "%v isn't a fixed-point format", d))
	}
	in := o.some("InFixed")
	inFloat64 := d.Size() < 8 // which holds the numbers of the format
	takes := func(x dtype.DType) bool { return o.Supports(x) || x == d && inFloat64 && o.Supports(dtype.Float64) }
	return (*Op)(plan.VariantOf(in, d, takes, func(c *plan.Use, p *plan.Draft) {
		f := *c
		if to := c.Attrs.Int("to", 0); plan.AboutOf(in).Converts && len(c.Inputs) == 1 && isFloatCode(to) {
			f.Inputs, f.Attrs = []tensor.Any{c.Inputs[0], plan.Spec("CastLike", d)}, plan.NoAttrs{}
			castLike.Plan(&f, p)
			return
		}
		f.Attrs = wideAttrs{c.Attrs}
		results := func(call func(o *plan.Op, c *plan.Use) ([]tensor.Any, error)) (out []tensor.Any) {
			f.Context = c.Context
			out, err := call(in, &f)
			if errors.Is(err, tensor.ErrDType) && inFloat64 {
				out, p.Err = inWider(in, &f, d, call, err)
				return out
			}
			if p.Err = err; err == nil {
				out, p.Err = inFormat(d, o.Name(), out)
			}
			return out
		}
		if !p.Brief {
			p.Price = fixedPrice(in, &f, d, inFloat64)
		}
		p.Late = func() []tensor.Any { return results(plan.Inferred) }
		p.Run = func() { p.To = results(plan.Ran) }
	}))
}

// fixedPrice returns the price of a call with fixed point, in float64 where the operator doesn't take the format d.
func fixedPrice(o *plan.Op, c *plan.Use, d dtype.DType, inFloat64 bool) plan.Price {
	e := *c
	as := func(to dtype.DType) (plan.Price, error) {
		e.Inputs = slices.Clone(c.Inputs)
		for i, a := range e.Inputs {
			if !a.IsZero() && a.DType() == d {
				e.Inputs[i] = plan.Spec("InFixed", to, a.Shape()...)
			}
		}
		return plan.PriceOf(o, &e)
	}
	price, err := as(d)
	if errors.Is(err, tensor.ErrDType) && inFloat64 {
		price, _ = as(dtype.Float64)
	}
	return price
}

// inWider makes a call with fixed point in float64. If that isn't one of the operator's types
// either, the error is refused.
func inWider(o *plan.Op, c *plan.Use, d dtype.DType, call func(o *plan.Op, c *plan.Use) ([]tensor.Any, error), refused error) (out []tensor.Any, err error) {
	e := *c
	e.Inputs = slices.Clone(c.Inputs)
	var spent []tensor.Any
	defer func() {
		for _, a := range spent {
			if !a.IsSpec() {
				a.Close()
			}
		}
	}()
	for i, a := range c.Inputs {
		if a.IsZero() || a.DType() != d {
			continue
		}
		if e.Inputs[i], err = converted(a, dtype.Float64); err != nil {
			return nil, err
		}
		spent = append(spent, e.Inputs[i])
	}
	if len(spent) == 0 {
		return nil, refused
	}
	if out, err = call(o, &e); errors.Is(err, tensor.ErrDType) {
		err = refused
	}
	if err != nil {
		return nil, err
	}
	for _, a := range out {
		if !a.IsZero() && a.DType() == dtype.Float64 {
			spent = append(spent, a)
		}
	}
	return inFormat(d, plan.AboutOf(o).Name, out)
}

// inFormat returns results with the floats among them in a format.
func inFormat(d dtype.DType, name string, out []tensor.Any) ([]tensor.Any, error) {
	out = slices.Clone(out)
	for i, a := range out {
		if a.IsZero() || !a.DType().IsFloat() {
			continue
		}
		var err error
		if out[i], err = converted(a, d); err != nil {
			return nil, plan.Fail(name, err, "result %d, computed in %v: %v", i, a.DType(), err)
		}
	}
	return out, nil
}

// converted is inType with an error where an element has no value in the type.
func converted(a tensor.Any, d dtype.DType) (out tensor.Any, err error) {
	err = tensor.Try(func() { out = pointwise.InType(a, d) })
	return out, err
}

// isFloatCode reports whether code is ONNX's for a type of real floats.
func isFloatCode(code int64) bool {
	return code > 0 && code < int64(len(pointwise.CastTypes)) && pointwise.CastTypes[code].IsFloat()
}

// wideAttrs have float64 where an attribute asks for results of floats, which are rounded to
// the format then.
type wideAttrs struct{ Attrs }

func (a wideAttrs) Int(name string, def int64) int64 {
	const float64Code = 11
	v := a.Attrs.Int(name, def)
	if (name == "dtype" || name == "output_datatype") && isFloatCode(v) {
		return float64Code
	}
	return v
}
