package chunk

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	bigint "math/big"
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
	case sign == "-" && t.IsInteger():
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

// constant returns a number or a truth value as an element of a type: a float that is nearest, an integer exactly.
func constant(t term, d dtype.DType) (Array, error) {
	numbers, boolean := d.IsInteger() || d.IsFloat() || d.IsComplex(), d == dtype.Bool
	var v tensor.Any
	switch {
	case t.Kind == expr.Bool && boolean:
		return Value(tensor.Scalar(t.Int == 1).Any()), nil
	case t.Kind != expr.Bool && !t.IsNumber():
		return Array{}, expr.Wrong(t.At, op.ErrUnsupported, "%s, where an array or a number is wanted", t.Kind)
	case t.IsInteger() && d.IsInteger() && outside(t.Node, d) != 0:
		least, most := ends(d)
		return Array{}, expr.Wrong(t.At, tensor.ErrDType, "%s doesn't fit elements of %v, from %v to %v; cast the array to a type that holds both, as in cast(x, '%v')", text(t.Node), d, least, most, holding(d, t.Integer()))
	case t.Kind == expr.Bool || !numbers || t.Kind == expr.Float && d.IsInteger() || outside(t.Node, d) != 0:
		return Array{}, expr.Wrong(t.At, tensor.ErrDType, "%s doesn't fit elements of %v; cast the array to another type, as in cast(x, 'float64')", text(t.Node), d)
	case d == dtype.Uint64:
		v = tensor.Scalar(t.Integer().Uint64()).Any()
	case d.IsInteger():
		v = tensor.Scalar(t.Integer().Int64()).Any()
	default:
		v = tensor.Scalar(t.Value()).Any()
	}
	r, err := run(named("CastLike"), op.AttrMap{"saturate": int64(0)}, v, tensor.EmptyOf(d))
	if err != nil {
		return Array{}, &expr.Error{At: t.At, Err: err}
	}
	return Value(r), nil
}

// text is a constant in an error.
func text(n expr.Node) string {
	switch {
	case n.Kind == expr.Float:
		return fmt.Sprint(n.Float)
	case n.IsInteger():
		if s := n.Integer().String(); len(s) > 40 {
			return s[:40] + "…"
		}
		return n.Integer().String()
	}
	return n.Kind.String()
}

// ends returns the least and the most integer of a type of integers.
func ends(d dtype.DType) (least, most *bigint.Int) {
	one := bigint.NewInt(1)
	if d.IsSigned() {
		most = new(bigint.Int).Lsh(one, uint(d.Bits()-1))
		return new(bigint.Int).Neg(most), most.Sub(most, one)
	}
	most = new(bigint.Int).Lsh(one, uint(d.Bits()))
	return new(bigint.Int), most.Sub(most, one)
}

// holding returns the smallest type that has all integers of d, and i, or float64.
func holding(d dtype.DType, i *bigint.Int) dtype.DType {
	least, most := ends(d)
	for _, w := range []dtype.DType{dtype.Int16, dtype.Int32, dtype.Int64, dtype.Uint64} {
		from, to := ends(w)
		if from.Cmp(least) <= 0 && from.Cmp(i) <= 0 && to.Cmp(most) >= 0 && to.Cmp(i) >= 0 {
			return w
		}
	}
	return dtype.Float64
}

// rounded returns the number of a float type, or of the parts of a complex one, that is nearest to v: an infinity, or NaN where the type has none,
// for a number that is too large.
func rounded(v float64, d dtype.DType) float64 {
	switch {
	case d.IsNarrow():
		return d.Format().Value(d.Format().Round(v))
	case d == dtype.Float32 || d == dtype.Complex64:
		return float64(float32(v))
	}
	return v
}

// outside returns -1 for a number below all elements of a type, 1 for one above all, and 0 for others.
func outside(n expr.Node, d dtype.DType) int {
	if d.IsInteger() && n.IsInteger() {
		least, most := ends(d)
		return min(0, n.Integer().Cmp(least)) + max(0, n.Integer().Cmp(most))
	}
	v := n.Value()
	finite, r := n.IsInteger() || v-v == 0, rounded(v, d)
	if finite && r-r != 0 || v == v && r != r {
		return int(math.Copysign(1, v))
	}
	return 0
}

// compared compares an array with an integer of any size, exactly. Where the type has no such element, an element that no other one separates from
// the integer takes its place: if it is below, x < 300 is x <= 255.
func compared(at int, name string, ts []term) (term, error) {
	ts = slices.Clone(ts)
	k := slices.IndexFunc(ts, term.IsInteger)
	c, x := &ts[k], &ts[1-k]
	if x.array.DType() == dtype.Bool {
		x.array = converted(x.array, dtype.Uint8)
	}
	side := c.near(x.array.DType())
	switch {
	case side == 0:
	case name == "Equal" || name == "NotEqual":
		return always(at, *x, name == "NotEqual")
	case (side < 0) == (k == 1):
		name = cmp.Or(map[string]string{"Less": "LessOrEqual", "GreaterOrEqual": "Greater"}[name], name)
	default:
		name = cmp.Or(map[string]string{"LessOrEqual": "Less", "Greater": "GreaterOrEqual"}[name], name)
	}
	var err error
	if c.array, err = constant(*c, x.array.DType()); err != nil {
		return *c, err
	}
	return made(at, Map(name, nil, ts[0].array, ts[1].array))
}

// always is a truth value for each element of x.
func always(at int, x term, v bool) (term, error) {
	join := "And"
	if v {
		join = "Or"
	}
	return made(at, Map(join, nil, Map("NotEqual", nil, x.array, x.array), Value(tensor.Scalar(v).Any())))
}

// near makes an integer an element of a type that has none between it and the integer. It returns -1 if the element is below, 1 if it is above.
func (t *term) near(d dtype.DType) int {
	i := t.Integer()
	if d.IsInteger() {
		least, most := ends(d)
		switch outside(t.Node, d) {
		case -1:
			t.Kind, t.Int, t.Big = expr.Big, 0, least
			return 1
		case 1:
			t.Kind, t.Int, t.Big = expr.Big, 0, most
			return -1
		}
		return 0
	}
	r := rounded(t.Value(), d)
	if r != r {
		r = d.Format().Value(d.Format().Saturate(t.Value()))
	}
	t.Kind, t.Float = expr.Float, r
	return new(bigint.Float).SetFloat64(r).Cmp(new(bigint.Float).SetInt(i))
}

// mapWith applies an elementwise operator; constants take the type of the first array.
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
	floats := d.IsFloat() || d.IsComplex()
	switch name {
	case "Mod":
		if attrs == nil && d.IsFloat() {
			return remainder(at, ts[0], ts[1])
		}
	case "FMax", "FMin": // only floats have NaN
		if !floats {
			name = name[1:]
		}
	case "IsNaN", "IsInf", "IsFinite":
		if !floats {
			return always(at, ts[0], name == "IsFinite")
		}
	case "Equal", "NotEqual", "Less", "LessOrEqual", "Greater", "GreaterOrEqual":
		if slices.ContainsFunc(ts, term.IsInteger) {
			return compared(at, name, ts)
		}
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
	if name == "Pow" && d.IsInteger() && d.IsSigned() {
		switch y := ts[1]; {
		case y.isArray():
			in[1] = Array{n: newNode(exponents{}, y.array.n.dtype, y.array.n.shape, y.array.n.chunks, y.array.n)}
		case y.Integer().Sign() < 0:
			return y, expr.Wrong(y.At, tensor.ErrValue, "an integer to the power %s is no integer; cast the array to a float, as in cast(x, 'float64')", text(y.Node))
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

// exponents is the exponents of integers, none of which may be negative, as in NumPy.
type exponents struct{}

func (exponents) text() string { return "Exponents" }

func (exponents) eval(e *evaluator, n *node, b box) (tensor.Any, error) {
	t, err := e.eval(n.in[0], b)
	if err != nil {
		return t, err
	}
	mark := len(e.held)
	zero, err := tensor.Make(n.dtype)
	if err != nil {
		return t, err
	}
	natural, err := e.call("GreaterOrEqual", nil, t, zero)
	if err != nil {
		return t, err
	}
	at := e.zeroIn(natural, make([]int, len(b.from)))
	e.release(mark, t)
	if at == nil {
		return t, nil
	}
	index := make([]tensor.Index, len(at))
	for i := range at {
		index[i] = tensor.I(at[i])
		at[i] += b.from[i]
	}
	y, err := tensor.Slice(t, index...)
	if err == nil {
		err = fail("Parse", tensor.ErrValue, "the exponent at index %v is %v, and an integer to a negative power is no integer; cast the operands to floats, as in cast(x, 'float64')", at, y)
	}
	return t, err
}

func (exponents) cost(n *node, b box) cost {
	c := n.in[0].kind.cost(n.in[0], b)
	c.peak = max(c.peak, plus(c.size, bytesOf(dtype.Bool, b.shape())))
	return c
}
