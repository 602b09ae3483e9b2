package chunk

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/chunk/internal/expr"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A term is the value of a node: a number or a text, a list of terms, or an array.
type term struct {
	expr.Node
	array Array // if Kind is expr.Name or above
	list  []term
}

func (t term) isArray() bool { return t.Kind >= expr.Name }

// made is the term of an array that was made at a place.
func made(at int, a Array) (term, error) {
	err := a.Err()
	var inner *ExprError
	if err != nil && !errors.As(err, &inner) {
		err = &expr.Error{At: at, Err: err}
	}
	return term{Node: expr.Node{Kind: expr.Name, At: at}, array: a}, err
}

// signed applies an operator that stands before t.
func signed(at int, sign string, t term) (term, error) {
	switch {
	case sign == "-" && t.Kind == expr.Float:
		t.Float = -t.Float
		return t, nil
	case sign == "-" && t.Kind == expr.Int:
		return numeric(at, "-", term{Node: expr.Node{Kind: expr.Int}}, t)
	case sign == "-" && t.isArray():
		return mapWith(at, "Neg", nil, t)
	case sign == "+" && (t.IsNumber() || t.isArray()):
		return t, nil
	case sign == "~" && t.isArray() && t.array.DType() == dtype.Bool:
		return mapWith(at, "Not", nil, t)
	case sign == "~" && t.isArray():
		return mapWith(at, "BitwiseNot", nil, t)
	}
	return t, expr.Wrong(at, op.ErrUnsupported, "%s of %s", sign, t.Kind)
}

// numeric is an operator of two numbers.
func numeric(at int, sign string, a, b term) (term, error) {
	n, err := expr.Fold(at, sign, a.Node, b.Node)
	return term{Node: n}, err
}

var operators = map[string]string{"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "//": "FloorDiv", "%": "Mod", "**": "Pow",
	"==": "Equal", "!=": "NotEqual", "<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual",
	"&": "BitwiseAnd", "|": "BitwiseOr", "^": "BitwiseXor", "<<": "BitShift", ">>": "BitShift"}

// operate applies an operator that stands between a and b.
func operate(at int, sign string, a, b term) (term, error) {
	if a.IsNumber() && b.IsNumber() {
		return numeric(at, sign, a, b)
	}
	if sign == "@" {
		if !a.isArray() || !b.isArray() {
			return a, expr.Wrong(at, op.ErrUnsupported, "%s @ %s; it takes arrays", a.Kind, b.Kind)
		}
		return made(at, MatMul(a.array, b.array))
	}
	name := operators[sign]
	var attrs op.AttrMap
	d := a.array.DType()
	if !a.isArray() {
		d = b.array.DType()
	}
	switch {
	case d == dtype.Bool && strings.Contains("&|^", sign):
		name = map[string]string{"&": "And", "|": "Or", "^": "Xor"}[sign]
	case sign == "<<":
		attrs = op.AttrMap{"direction": "LEFT"}
	case sign == ">>":
		attrs = op.AttrMap{"direction": "RIGHT"}
	}
	return mapWith(at, name, attrs, a, b)
}

// remainder is op.Mod of floats, for which the operator of ONNX isn't defined: FMod, which is exact, plus y where it has the other
// sign, and 0 with the sign of y.
func remainder(at int, x, y term) (term, error) {
	zero := term{Node: expr.Node{Kind: expr.Int, At: at}}
	var err error
	do := func(name string, in ...term) (t term) {
		if err == nil {
			t, err = mapWith(at, name, nil, in...)
		}
		return t
	}
	r, err := mapWith(at, "Mod", op.AttrMap{"fmod": int64(1)}, x, y)
	if err != nil {
		return r, err
	}
	if !y.isArray() {
		if y.array, err = constant(y, r.array.DType()); err != nil {
			return r, err
		}
		y.Kind = expr.Name
	}
	other := do("Xor", do("Less", r, zero), do("Less", y, zero))
	where := func(c, x, y term) (t term) {
		if err == nil {
			t, err = made(at, Map("Where", nil, c.array, x.array, y.array))
		}
		return t
	}
	return where(do("Equal", r, zero), do("CopySign", zero, y), where(other, do("Add", r, y), r)), err
}

// constant returns a number or a truth value as an element of a type.
func constant(t term, d dtype.DType) (Array, error) {
	misfit := func(what any) (Array, error) {
		return Array{}, expr.Wrong(t.At, tensor.ErrDType, "%v doesn't fit elements of %v; cast the array to another type, as in cast(x, 'float64')", what, d)
	}
	var v tensor.Any
	switch {
	case t.Kind == expr.Bool && d == dtype.Bool:
		return Value(tensor.Scalar(t.Int == 1).Any()), nil
	case t.Kind == expr.Bool || d == dtype.Bool || d == dtype.Invalid:
		return misfit(t.Kind)
	case t.Kind == expr.Int:
		v = tensor.Scalar(t.Int).Any()
	case t.Kind != expr.Float:
		return Array{}, expr.Wrong(t.At, op.ErrUnsupported, "%s, where an array or a number is wanted", t.Kind)
	case !d.IsFloat() && !d.IsComplex():
		return misfit(t.Float)
	default:
		v = tensor.Scalar(t.Float).Any()
	}
	to := func(v tensor.Any, d dtype.DType) (r tensor.Any, err error) {
		return run(named("CastLike"), nil, v, tensor.EmptyOf(d))
	}
	r, err := to(v, d)
	if err != nil {
		return Array{}, &expr.Error{At: t.At, Err: err}
	}
	if d.IsFloat() && !math.IsInf(t.Value(), 0) || !d.IsFloat() && !d.IsComplex() {
		back, err := to(r, v.DType())
		if err != nil {
			return Array{}, &expr.Error{At: t.At, Err: err}
		}
		if i, ok := tensor.As[int64](back); ok && !d.IsFloat() && i.At() != t.Int {
			return misfit(t.Int)
		}
		if f, ok := tensor.As[float64](back); ok && math.IsInf(f.At(), 0) {
			return misfit(t.Float)
		}
	}
	return Value(r), nil
}

// mapped applies an elementwise operator; constants take the type of the first array.
func mapWith(at int, name string, attrs op.AttrMap, ts ...term) (term, error) {
	in := make([]Array, len(ts))
	d := dtype.Invalid
	for _, t := range ts {
		if t.isArray() {
			d = t.array.DType()
			break
		}
	}
	if d == dtype.Invalid {
		return term{}, expr.Wrong(at, op.ErrUnsupported, "%s of %s alone; one operand must be an array", name, ts[0].Kind)
	}
	if name == "Mod" && attrs == nil && d.IsFloat() {
		return remainder(at, ts[0], ts[1])
	}
	quotient := name == "Div" && !slices.ContainsFunc(ts, func(t term) bool { return t.isArray() && !t.array.DType().IsInteger() })
	if quotient {
		d = dtype.Float64
	}
	for i, t := range ts {
		if in[i] = t.array; t.isArray() && quotient {
			in[i] = converted(t.array, d)
		} else if !t.isArray() {
			var err error
			if in[i], err = constant(t, d); err != nil {
				return t, err
			}
		}
	}
	for _, a := range in[1:] {
		if a.DType() != in[0].DType() {
			return term{}, expr.Wrong(at, tensor.ErrDType, "%s of elements of %v and %v; cast them to one type, as in cast(x, '%v')", name, in[0].DType(), a.DType(), wider(in[0].DType(), a.DType()))
		}
	}
	return made(at, Map(name, attrs, in...))
}

// wider returns the type that holds both, as NumPy chooses it, or the first where none does.
func wider(a, b dtype.DType) dtype.DType {
	if d, ok := dtype.Promote(a, b); ok {
		return d
	}
	return a
}

// converted returns an array with its elements converted to a type.
func converted(x Array, d dtype.DType) Array {
	like, err := tensor.Make(d)
	if err != nil {
		return Array{err: err}
	}
	return Map("CastLike", nil, x, Value(like))
}
