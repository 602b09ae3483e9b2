package chunk

import (
	"math"
	bigint "math/big"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

var operators = map[string]string{"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "//": "FloorDiv", "%": "Mod", "**": "Pow",
	"==": "Equal", "!=": "NotEqual", "<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual",
	"&": "BitwiseAnd", "|": "BitwiseOr", "^": "BitwiseXor", "<<": "BitShift", ">>": "BitShift"}

// operate applies an operator that stands between a and b.
func (p *parser) operate(at int, sign string, a, b term) (term, error) {
	if a.number() && b.number() {
		return p.fold(at, sign, a, b)
	}
	if sign == "@" {
		if a.kind != arrayTerm || b.kind != arrayTerm {
			return a, p.bad(at, op.ErrUnsupported, "%s @ %s; it takes arrays", a.kind, b.kind)
		}
		return p.made(at, MatMul(a.array, b.array))
	}
	name := operators[sign]
	var attrs op.AttrMap
	d := a.array.DType()
	if a.kind != arrayTerm {
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
	return p.mapped(at, name, attrs, a, b)
}

// remainder is op.Mod of floats, for which the operator of ONNX isn't defined: FMod, which is exact, plus y where it has the other
// sign, and 0 with the sign of y.
func (p *parser) remainder(at int, x, y term) (term, error) {
	zero := term{kind: intTerm, at: at}
	var err error
	do := func(name string, in ...term) (t term) {
		if err == nil {
			t, err = p.mapped(at, name, nil, in...)
		}
		return t
	}
	r, err := p.mapped(at, "Mod", op.AttrMap{"fmod": int64(1)}, x, y)
	if err != nil {
		return r, err
	}
	if y.kind != arrayTerm {
		if y.array, err = p.constant(y, r.array.DType()); err != nil {
			return r, err
		}
		y.kind = arrayTerm
	}
	other := do("Xor", do("Less", r, zero), do("Less", y, zero))
	r = do("Where", do("Equal", r, zero), do("CopySign", zero, y), do("Where", other, do("Add", r, y), r))
	return r, err
}

// fold computes with two numbers.
func (p *parser) fold(at int, sign string, a, b term) (term, error) {
	t := term{kind: floatTerm, at: at}
	x, y := a.value(), b.value()
	if y == 0 && slices.Contains([]string{"/", "//", "%"}, sign) || x == 0 && y < 0 && sign == "**" {
		return t, p.bad(at, tensor.ErrValue, "a division by 0")
	}
	whole := a.kind == intTerm && b.kind == intTerm
	if whole && sign != "/" && !(sign == "**" && b.int < 0) {
		i, j, r := bigint.NewInt(a.int), bigint.NewInt(b.int), new(bigint.Int)
		switch sign {
		case "+":
			r.Add(i, j)
		case "-":
			r.Sub(i, j)
		case "*":
			r.Mul(i, j)
		case "//", "%":
			q, m := new(bigint.Int).DivMod(i, j, new(bigint.Int)) // the remainder isn't negative
			if m.Sign() != 0 && b.int < 0 {
				q.Sub(q, bigint.NewInt(1))
				m.Add(m, j)
			}
			if r = q; sign == "%" {
				r = m
			}
		case "**":
			if math.Pow(math.Abs(x), y) < 1<<63 {
				r.Exp(i, j, nil)
			} else {
				r.Lsh(bigint.NewInt(1), 64)
			}
		default:
			return t, p.bad(at, op.ErrUnsupported, "%s of numbers alone; one operand must be an array", sign)
		}
		if !r.IsInt64() {
			return t, p.bad(at, tensor.ErrValue, "an integer constant beyond 64 bits")
		}
		t.kind, t.int = intTerm, r.Int64()
		return t, nil
	}
	switch sign {
	case "+":
		t.float = x + y
	case "-":
		t.float = x - y
	case "*":
		t.float = x * y
	case "/":
		if t.float = x / y; whole && a.int != 0 { // rounded once
			t.float, _ = bigint.NewRat(a.int, b.int).Float64()
		}
	case "//", "%":
		q, r := divMod(x, y)
		if t.float = q; sign == "%" {
			t.float = r
		}
	case "**":
		r, err := run(byName()["Pow"], nil, scalar(x), scalar(y))
		if err != nil {
			return t, &ExprError{p.text, at, err}
		}
		v, _ := tensor.As[float64](r)
		t.float = v.At()
		switch finite := !math.IsInf(x, 0) && !math.IsInf(y, 0); {
		case t.float != t.float && x == x && y == y:
			return t, p.bad(at, tensor.ErrValue, "a fractional power of a negative number, which is complex")
		case math.IsInf(t.float, 0) && finite:
			return t, p.bad(at, tensor.ErrValue, "a power beyond the largest float64")
		}
	default:
		return t, p.bad(at, op.ErrUnsupported, "%s of numbers alone; one operand must be an array", sign)
	}
	return t, nil
}

// divMod returns Python's x // y and x % y of floats, where y isn't 0: the remainder has the sign of y.
func divMod(x, y float64) (q, r float64) {
	r = math.Mod(x, y)
	q = (x - r) / y
	if r == 0 {
		r = math.Copysign(0, y)
	} else if (r < 0) != (y < 0) {
		r += y
		q--
	}
	if q == 0 {
		return math.Copysign(0, x/y), r
	}
	floor := math.Floor(q)
	if q-floor > 0.5 { // q is whole but for its rounding
		floor++
	}
	return floor, r
}

// constant returns a number or a truth value as an element of a type.
func (p *parser) constant(t term, d dtype.DType) (Array, error) {
	misfit := func(what any) (Array, error) {
		return Array{}, p.bad(t.at, tensor.ErrDType, "%v doesn't fit elements of %v; cast the array to another type, as in cast(x, 'float64')", what, d)
	}
	var v tensor.Any
	switch {
	case t.kind == boolTerm && d == dtype.Bool:
		return Value(tensor.Scalar(t.int == 1).Any()), nil
	case t.kind == boolTerm || d == dtype.Bool || d == dtype.Invalid:
		return misfit(t.kind)
	case t.kind == intTerm:
		v = tensor.Scalar(t.int).Any()
	case t.kind != floatTerm:
		return Array{}, p.bad(t.at, op.ErrUnsupported, "%s, where an array or a number is wanted", t.kind)
	case !d.IsFloat() && !d.IsComplex():
		return misfit(t.float)
	default:
		v = tensor.Scalar(t.float).Any()
	}
	to := func(v tensor.Any, d dtype.DType) (r tensor.Any, err error) {
		return run(byName()["CastLike"], nil, v, tensor.EmptyOf(d))
	}
	r, err := to(v, d)
	if err != nil {
		return Array{}, &ExprError{p.text, t.at, err}
	}
	if d.IsFloat() && !math.IsInf(t.value(), 0) || !d.IsFloat() && !d.IsComplex() {
		back, err := to(r, v.DType())
		if err != nil {
			return Array{}, &ExprError{p.text, t.at, err}
		}
		if i, ok := tensor.As[int64](back); ok && !d.IsFloat() && i.At() != t.int {
			return misfit(t.int)
		}
		if f, ok := tensor.As[float64](back); ok && math.IsInf(f.At(), 0) {
			return misfit(t.float)
		}
	}
	return Value(r), nil
}

// mapped applies an elementwise operator; constants take the type of the first array.
func (p *parser) mapped(at int, name string, attrs op.AttrMap, ts ...term) (term, error) {
	in := make([]Array, len(ts))
	d := dtype.Invalid
	for _, t := range ts {
		if t.kind == arrayTerm {
			d = t.array.DType()
			break
		}
	}
	if d == dtype.Invalid {
		return term{}, p.bad(at, op.ErrUnsupported, "%s of %s alone; one operand must be an array", name, ts[0].kind)
	}
	if name == "Mod" && attrs == nil && d.IsFloat() {
		return p.remainder(at, ts[0], ts[1])
	}
	quotient := name == "Div" && !slices.ContainsFunc(ts, func(t term) bool { return t.kind == arrayTerm && !t.array.DType().IsInteger() })
	if quotient {
		d = dtype.Float64
	}
	for i, t := range ts {
		if in[i] = t.array; t.kind == arrayTerm && quotient {
			in[i] = converted(t.array, d)
		} else if t.kind != arrayTerm {
			var err error
			if in[i], err = p.constant(t, d); err != nil {
				return t, err
			}
		}
	}
	for _, a := range in[1:] {
		if a.DType() != in[0].DType() && name != "Where" && name != "CastLike" {
			return term{}, p.bad(at, tensor.ErrDType, "%s of elements of %v and %v; cast them to one type, as in cast(x, '%v')", name, in[0].DType(), a.DType(), wider(in[0].DType(), a.DType()))
		}
	}
	return p.made(at, Map(name, attrs, in...))
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
