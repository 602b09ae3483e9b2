package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A call is what an operator gets.
type call struct {
	in   []tensor.Any
	ints []int // axes and numbers
	more []int
	flag bool
	elem []byte
	opts []op.Option
}

// An operator is a function of package op for the types that it takes.
type operator struct {
	name  string
	takes func(d dtype.DType) bool
	do    func(c *call) tensor.Any
	draw  func(r *running, d dtype.DType) *drawn // chooses the operands
	def   func(d dtype.DType, c *call, in []array) *answer
	self  bool // without a target the result is the operand itself
}

// An answer is a result by a plain definition, or that there is an error.
type answer struct {
	array
	failed bool
}

// A drawn is a call with live values. in[i] of the call is vs[i].
type drawn struct {
	call
	vs   []*value
	text string
}

var (
	table     = map[string]*operator{}
	operators []*operator
)

// Groups of element types, as package num has them.
func anyType(dtype.DType) bool      { return true }
func isNumber(d dtype.DType) bool   { return d != dtype.Bool && !d.IsStored() }
func isReal(d dtype.DType) bool     { return isNumber(d) && !d.IsComplex() }
func isSum(d dtype.DType) bool      { return isNumber(d) || d == dtype.Bool }
func isOrdered(d dtype.DType) bool  { return isReal(d) || d == dtype.Bool }
func isSorted(d dtype.DType) bool   { return isOrdered(d) && !d.IsFixed() }
func isInteger(d dtype.DType) bool  { return isReal(d) && d.IsInteger() }
func isFraction(d dtype.DType) bool { return isReal(d) && !d.IsInteger() }
func isFloat(d dtype.DType) bool    { return isReal(d) && d.IsFloat() }
func isTruth(d dtype.DType) bool    { return d == dtype.Bool }

// has adds an operator for the types that takes names.
func has(takes func(d dtype.DType) bool, name string, f func(c *call) tensor.Any) {
	o := &operator{name: name, takes: takes, do: f}
	table[name] = o
	operators = append(operators, o)
}

// An operator's function forgets the element type, and finds it in the tensor. So one instance of it does for all types.

func has1[T, R num.Elem](takes func(d dtype.DType) bool, name string, f func(a tensor.Tensor[T], opts ...op.Option) tensor.Tensor[R]) {
	has(takes, name, func(c *call) tensor.Any { return f(seenAs[T](c.in[0]), c.opts...).Any() })
}

func has2[T, R num.Elem](takes func(d dtype.DType) bool, name string, f func(a, b tensor.Tensor[T], opts ...op.Option) tensor.Tensor[R]) {
	has(takes, name, func(c *call) tensor.Any { return f(seenAs[T](c.in[0]), seenAs[T](c.in[1]), c.opts...).Any() })
}

func hasAxes[T, R num.Elem](takes func(d dtype.DType) bool, name string, f func(a tensor.Tensor[T], axes []int, opts ...op.Option) tensor.Tensor[R]) {
	has(takes, name, func(c *call) tensor.Any { return f(seenAs[T](c.in[0]), c.ints, c.opts...).Any() })
}

func hasAxis[T, R num.Elem](takes func(d dtype.DType) bool, name string, f func(a tensor.Tensor[T], axis int, opts ...op.Option) tensor.Tensor[R]) {
	has(takes, name, func(c *call) tensor.Any { return f(seenAs[T](c.in[0]), c.ints[0], c.opts...).Any() })
}

func init() {
	has(anyType, "Where", func(c *call) tensor.Any {
		return op.Where(seenAs[bool](c.in[0]), erased(c.in[1]), erased(c.in[2]), c.opts...).Any()
	})
	has(anyType, "Concat", func(c *call) tensor.Any { return op.Concat(many[int32](c.in), c.ints[0], c.opts...).Any() })
	has(anyType, "Stack", func(c *call) tensor.Any { return op.Stack(many[int32](c.in), c.ints[0], c.opts...).Any() })
	has(anyType, "Gather", func(c *call) tensor.Any {
		return op.Gather(erased(c.in[0]), seenAs[int64](c.in[1]), c.ints[0], c.opts...).Any()
	})
	has(anyType, "Take", func(c *call) tensor.Any {
		return op.Take(erased(c.in[0]), seenAs[int64](c.in[1]), c.ints[0], op.TakeRaise, c.opts...).Any()
	})
	has(anyType, "GatherElements", func(c *call) tensor.Any {
		return op.GatherElements(erased(c.in[0]), seenAs[int64](c.in[1]), c.ints[0], c.opts...).Any()
	})
	has(anyType, "ScatterElements", func(c *call) tensor.Any {
		return op.ScatterElements(erased(c.in[0]), seenAs[int64](c.in[1]), erased(c.in[2]), c.ints[0], op.ScatterReplace, c.opts...).Any()
	})
	has(anyType, "ScatterND", func(c *call) tensor.Any {
		return op.ScatterND(erased(c.in[0]), seenAs[int64](c.in[1]), erased(c.in[2]), op.ScatterReplace, c.opts...).Any()
	})
	has(anyType, "Pad", func(c *call) tensor.Any { return typeOf[c.in[0].DType()].pad(c) })
	has(anyType, "Tile", func(c *call) tensor.Any { return op.Tile(erased(c.in[0]), c.ints, c.opts...).Any() })
	has(anyType, "Repeat", func(c *call) tensor.Any {
		return op.Repeat(erased(c.in[0]), c.more, c.ints[0], c.opts...).Any()
	})
	has(anyType, "Roll", func(c *call) tensor.Any { return op.Roll(erased(c.in[0]), c.more[0], c.ints[0], c.opts...).Any() })
	has(anyType, "Compress", func(c *call) tensor.Any {
		return op.Compress(erased(c.in[0]), seenAs[bool](c.in[1]), c.ints[0], c.opts...).Any()
	})
	has(anyType, "Tril", func(c *call) tensor.Any { return op.Tril(erased(c.in[0]), c.more[0], c.opts...).Any() })
	has(anyType, "Triu", func(c *call) tensor.Any { return op.Triu(erased(c.in[0]), c.more[0], c.opts...).Any() })
	has1(anyType, "NonZero", op.NonZero[int32])
	has1(anyType, "Identity", op.Identity[int32])
	hasAxes(anyType, "All", op.All[int32])
	hasAxes(anyType, "Any", op.Any[int32])
	hasAxes(anyType, "CountNonZero", op.CountNonZero[int32])

	has2(isNumber, "Add", op.Add[int32])
	has2(isNumber, "Sub", op.Sub[int32])
	has2(isNumber, "Mul", op.Mul[int32])
	has2(isNumber, "Div", op.Div[int32])
	has1(isNumber, "Neg", op.Neg[int32])
	hasAxes(isNumber, "ReduceSum", op.ReduceSum[int32])
	hasAxes(isNumber, "ReduceMean", op.ReduceMean[int32])
	has2(isSum, "MatMul", op.MatMul[int32])
	has2(isSum, "Equal", op.Equal[int32])
	has2(isSum, "NotEqual", op.NotEqual[int32])

	has1(isReal, "Abs", op.Abs[int32])
	has1(isReal, "Sign", op.Sign[int32])
	has1(isReal, "Square", op.Square[int32])
	has2(isReal, "Max", op.Max[int32])
	has2(isReal, "Min", op.Min[int32])
	has2(isReal, "Less", op.Less[int32])
	has2(isReal, "GreaterOrEqual", op.GreaterOrEqual[int32])
	has2(isReal, "PRelu", op.PRelu[int32])
	has2(isReal, "Mod", op.Mod[int32])
	has2(isReal, "Pow", op.Pow[int32])
	hasAxes(isReal, "ReduceProd", op.ReduceProd[int32])
	hasAxes(isReal, "ReduceL1", op.ReduceL1[int32])
	has(isReal, "ArgMax", func(c *call) tensor.Any {
		return op.ArgMax(erased(c.in[0]), c.ints[0], op.ArgOptions{LastIndex: c.flag}, c.opts...).Any()
	})
	has(isReal, "ArgMin", func(c *call) tensor.Any {
		return op.ArgMin(erased(c.in[0]), c.ints[0], op.ArgOptions{LastIndex: c.flag}, c.opts...).Any()
	})
	has(isReal, "CumSum", func(c *call) tensor.Any {
		return op.CumSum(erased(c.in[0]), c.ints[0], op.CumOptions{Reverse: c.flag}, c.opts...).Any()
	})
	hasAxes(isOrdered, "ReduceMax", op.ReduceMax[int32])
	hasAxes(isOrdered, "ReduceMin", op.ReduceMin[int32])
	hasAxis(isSorted, "Sort", op.Sort[int32])
	hasAxis(isSorted, "ArgSort", op.ArgSort[int32])

	has2(isInteger, "BitwiseAnd", op.BitwiseAnd[int32])
	has2(isInteger, "BitwiseOr", op.BitwiseOr[int32])
	has2(isInteger, "BitwiseXor", op.BitwiseXor[int32])
	has1(isInteger, "BitwiseNot", op.BitwiseNot[int32])

	has1(isFraction, "Relu", op.Relu[float32])
	has1(isFraction, "Floor", op.Floor[float32])
	has1(isFraction, "Ceil", op.Ceil[float32])
	has1(isFraction, "Trunc", op.Trunc[float32])
	has1(isFraction, "Round", op.Round[float32])
	has1(isFraction, "Sigmoid", op.Sigmoid[float32])
	has1(isFraction, "Tanh", op.Tanh[float32])
	has(isFraction, "LeakyRelu", func(c *call) tensor.Any {
		return op.LeakyRelu(seenAs[float32](c.in[0]), 0.25, c.opts...).Any()
	})
	hasAxis(isFraction, "Softmax", op.Softmax[float32])
	hasAxes(isFraction, "ReduceL2", op.ReduceL2[float32])
	has1(isFloat, "Exp", op.Exp[float32])
	has1(isFloat, "Sqrt", op.Sqrt[float32])
	has1(isFloat, "IsNaN", op.IsNaN[float32])
	hasAxes(isFloat, "NanSum", op.NanSum[float32])
	hasAxes(isFloat, "Median", op.Median[float32])
	has2(isFloat, "CopySign", op.CopySign[float32])
	has2(isFloat, "Hypot", op.Hypot[float32])

	has2(isTruth, "And", op.And)
	has2(isTruth, "Or", op.Or)
	has2(isTruth, "Xor", op.Xor)
	has1(isTruth, "Not", op.Not)

	table["Identity"].self = true
	for name, f := range definitions {
		table[name].def = f
	}
	for _, group := range alike {
		for _, name := range strings.Fields(group.names) {
			table[name].draw = group.draw
		}
	}
	for name, f := range drawings {
		table[name].draw = f
	}
}

// operate calls an operator on live values.
func (r *running) operate() {
	o := operators[r.s.pick(len(operators))]
	d := r.dtype(func(d dtype.DType) bool { return o.takes(d) })
	if v := r.ref(func(v *value) bool { return o.takes(v.d) }); v != nil && r.s.weighted([]int{9, 1}) == 0 {
		d = v.d // most calls are on a type that lives
	}
	c := o.draw(r, d)
	if c == nil {
		return
	}
	r.call(o, d, c)
}

// call compares a call of an operator with its definition, or with the call on contiguous copies.
func (r *running) call(o *operator, d dtype.DType, c *drawn) {
	var in []array
	plain := c.call
	plain.in = nil
	for _, v := range c.vs {
		c.in = append(c.in, v.t)
		in = append(in, v.array())
		plain.in = append(plain.in, typeOf[v.d].plain(v.array()))
	}
	var want *answer
	var wantErr error
	if o.def != nil {
		want = o.def(d, &c.call, in)
	}
	if want == nil { // there is no definition for this
		var t tensor.Any
		want = new(answer)
		r.met("plain copies")
		if wantErr = r.try(func() { t = o.do(&plain) }); wantErr != nil {
			want.failed = true
		} else {
			want.array = array{t.DType(), t.Shape(), typeOf[t.DType()].elems(t, 0)}
		}
	} else {
		r.met("definition")
	}
	if want.failed && want.d == dtype.Invalid {
		want.array = array{d: d} // the error is all
	}
	text := fmt.Sprintf("op.%s[%v](%s%s)", o.name, d, names(c.vs), c.text)
	r.met("op " + o.name)
	r.met("type " + d.String())
	if r.s.rare(8) {
		c.opts = append(c.opts, op.Context(op.WithThreads(context.Background(), 1+r.s.pick(3))))
	}
	var into *value
	if !want.failed && r.s.weighted([]int{2, 3}) == 1 {
		into = r.target(want.array, c.vs)
	}
	if into != nil {
		for i, v := range c.vs { // the target may have been made over an operand
			if a := v.array(); string(a.b) != string(in[i].b) {
				return
			}
		}
		c.opts = append(c.opts, op.Into(erased(into.t)))
		text += " into " + into.name
		r.met("into")
		for _, v := range c.vs {
			if v.on == into.on && meets(v.view, into.view) {
				r.met("into an operand's memory")
				r.met("over " + o.name)
				break
			}
		}
	}
	r.say("v%d := %s", r.step, text)
	var t tensor.Any
	err := r.try(func() { t = o.do(&c.call) })
	switch {
	case want.failed && err == nil:
		r.fail("no error, want one: %v", wantErr)
	case want.failed && wantErr != nil && reason(err) != reason(wantErr):
		r.fail("the error %v, want %v", err, wantErr)
	case want.failed:
		if !errors.Is(err, fixed.ErrOverflow) && !errors.Is(err, fixed.ErrDomain) && !errors.Is(err, tensor.ErrValue) && wantErr == nil {
			r.fail("%v", err)
		}
		r.met("op error")
		return
	case err != nil:
		r.fail("%v, want %s", err, show(want.d, want.b))
	case into != nil:
		if !t.SameData(into.t) || !slices.Equal(t.Shape(), into.shape) {
			r.fail("the result isn't the target")
		}
		into.put(want.array)
		if got := typeOf[into.d].elems(t, 0); string(got) != string(want.b) {
			r.fail("%s has %s, want %s", into.name, show(want.d, got), show(want.d, want.b))
		}
	case o.self:
		r.add(c.vs[0].view, t)
	default:
		if got := typeOf[t.DType()].elems(t, 0); t.DType() == want.d && string(got) != string(want.b) {
			r.fail("the result is %s, want %s", show(want.d, got), show(want.d, want.b))
		}
		r.fresh(t, want.array)
	}
}

// reason is the sentinel error of one.
func reason(err error) error {
	var e *tensor.Error
	errors.As(err, &e)
	return e.Err
}

// target chooses a live value for a result, or makes one over what the arena has.
func (r *running) target(a array, operands []*value) *value {
	fits := func(v *value) bool { return v.d == a.d && slices.Equal(v.shape, a.shape) && !v.frozen }
	over := func(v *value) bool {
		return fits(v) && slices.ContainsFunc(operands, func(u *value) bool { return u != v && meets(u.view, v.view) })
	}
	switch r.s.pick(3) {
	case 0:
		if v := r.ref(fits); v != nil {
			return v
		}
	case 1:
		if v := r.ref(over); v != nil {
			return v
		}
	}
	v := r.over(a.d, a.shape)
	if !slices.Equal(v.shape, a.shape) {
		return nil
	}
	return r.add(v.view, v.t)
}

// casts converts a value to any type.
func (r *running) casts() {
	v := r.subject(anyValue)
	to := types[r.s.pick(len(types))]
	a := v.array()
	want := &answer{array: array{d: to.d, shape: a.shape}}
	for i := range a.n() {
		b, ok, known := cast(to.d, v.d, a.elem(i))
		if !known {
			want = nil
			break
		}
		want.failed = want.failed || !ok
		want.b = append(want.b, b...)
	}
	o := &operator{name: "Cast to " + to.d.String(), do: func(c *call) tensor.Any { return to.cast(c.in[0], c.opts...) },
		def: func(dtype.DType, *call, []array) *answer { return want }, self: to.d == v.d}
	r.met("cast " + v.d.String() + " to " + to.d.String())
	r.call(o, v.d, &drawn{vs: []*value{v}})
}
