package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Saturate makes Cast to float8 give the largest finite value instead of an
// infinity, or of NaN where there is none. It makes operators on fixed point give the last
// number of the format instead of failing on a result beyond it.
func Saturate() Option { return plan.WithFlags(plan.Saturate) }

// RoundScales makes Cast to float8_e8m0 round to the power of two that r says; without it,
// or with num.Up, to the one above. ONNX's attribute round_mode.
func RoundScales(r num.Rounding) Option {
	switch r {
	case num.Down:
		return plan.WithFlags(plan.RoundDown)
	case num.Nearest:
		return plan.WithFlags(plan.RoundNear)
	}
	return Option{}
}

// Cast returns a with every element converted to To:
//
//   - a float to an integer toward zero, a number beyond the integers to the
//     largest or smallest integer, NaN to 0;
//   - an integer to an integer of fewer bits, or of another sign, by its low bits;
//     To a type of 2 or 4 bits the low bits of the number rounded to nearest, ties to even;
//   - to a float with one rounding, to nearest, ties to even; a number too large
//     becomes an infinity (NaN where there is none), unless Saturate; every NaN the
//     canonical one. To float4_e2m1, without infinity and NaN, it saturates, and NaN
//     becomes -0;
//   - to float8_e8m0 with one rounding, see RoundScales; 0 and numbers too large or
//     too small become NaN, unless Saturate, and numbers below 0 NaN always;
//   - to fixed point with one rounding, to nearest, ties to even; NaN is an error that
//     names its index, and so is a number beyond the format, unless Saturate or, but for
//     infinities, Wrap; from fixed point as from a float;
//   - to bool, whether it isn't 0 (NaN isn't), and from bool to 0 or 1;
//   - a real number to a complex one with an imaginary part of +0, a complex one to
//     a real one without its imaginary part.
//
// To its own type it is a copy, bit for bit. A result of its own has the layout
// that Clone gives: the axes of a permuted tensor keep their order in memory.
// ONNX Cast, whose attribute saturate, 1 by default, is Saturate.
func Cast[To, From num.Elem](a tensor.Tensor[From], opts ...Option) (r tensor.Tensor[To]) {
	pointwise.Convert(exec.Ref(&r), "Cast", dtype.Of[To](), exec.Ref(&a), opts)
	return r
}

// CastAs is Cast for an operand whose element type is known at run time only. An operand of
// type To is returned itself unless there is an Into target. It panics where Cast does, and
// for an operand without elements. See tensor.As for a conversion that changes no element.
func CastAs[To num.Elem](a tensor.Any, opts ...Option) (r tensor.Tensor[To]) {
	if t, ok := tensor.As[To](a); ok && plan.Read("CastAs", opts).Into == nil {
		return t
	}
	pointwise.Convert(exec.Ref(&r), "CastAs", dtype.Of[To](), &a, opts)
	return r
}

var castOp = plan.Operator{About: plan.About{Name: "Cast", Shapes: true, FLOPs: plan.FLOPs{Free: true}, Converts: true, Versions: []int{6, 9, 13, 19, 21, 23, 24, 25}, Attrs: []string{"to", "saturate", "round_mode"}}, Least: 1,
	Planned: func(c *plan.Use, p *plan.Draft) { pointwise.PlanCast(p, "Cast", c, castTo(c)) }}

func castTo(c *plan.Use) dtype.DType { return pointwise.TypeOf("Cast", c.Attrs.Int("to", 0)) }
