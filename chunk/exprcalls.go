package chunk

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/chunk/internal/expr"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Function is a function of expressions.
type Function struct {
	Names []string // one or several that mean the same
	Args  string   // the arguments, with the values of the arguments that may be left out
	Op    string   // its name in package op, or here
	call  func(c *call) (term, error)
}

// String shows how the function is called.
func (f Function) String() string { return strings.Join(f.Names, ", ") + "(" + f.Args + ")" }

// Functions returns all functions that Parse knows: elementwise ones, then reductions, then the rest.
func Functions() []Function { return slices.Clone(functions()) }

// elementwise lists operators by their number of operands, each with its names in expressions. NumPy's or PyTorch's is the
// first. An operator without names has its own in lower case.
var elementwise = map[int]string{
	1: `Abs Acos:arccos,acos Acosh:arccosh,acosh Asin:arcsin,asin Asinh:arcsinh,asinh Atan:arctan,atan Atanh:arctanh,atanh
BitwiseNot:bitwise_not,invert Cbrt Ceil Celu Cos Cosh Elu Erf Exp Exp2 Expm1 Floor Gelu HardSigmoid:hard_sigmoid HardSwish:hard_swish
IsFinite:isfinite IsInf:isinf IsNaN:isnan LeakyRelu:leaky_relu Log Log10 Log1p Log2 Mish Neg:negative,neg
Not:logical_not,not Reciprocal Relu Round Rsqrt Selu Sigmoid Sign SignBit:signbit Sin Sinh Softplus Softsign Sqrt Square Tan
Tanh Trunc`,
	2: `Add Atan2:arctan2,atan2 And:logical_and,and BitwiseAnd:bitwise_and BitwiseOr:bitwise_or BitwiseXor:bitwise_xor
CopySign:copysign Div:divide,div Equal FloorDiv:floor_divide,floor_div FMax:fmax FMin:fmin Gcd Greater
GreaterOrEqual:greater_equal,greater_or_equal Hypot Lcm Less LessOrEqual:less_equal,less_or_equal Max:maximum Min:minimum
Mod:remainder,mod Mul:multiply,mul NextAfter:nextafter NotEqual:not_equal Or:logical_or,or Pow:power,pow Sub:subtract,sub
Xor:logical_xor,xor`,
}

// reductions lists reductions with their names.
const reductions = `ReduceSum:sum,reduce_sum ReduceMean:mean,reduce_mean Var Std ReduceMin:min,amin,reduce_min ReduceMax:max,amax,reduce_max
ReduceProd:prod,reduce_prod Any All:all Ptp ArgMax:argmax ArgMin:argmin NanSum:nansum
NanMean:nanmean NanMin:nanmin NanMax:nanmax NanArgMax:nanargmax NanArgMin:nanargmin
CountNonZero:count_nonzero ReduceLogSumExp:logsumexp,reduce_log_sum_exp ReduceLogSum:logsum,reduce_log_sum ReduceL1:norm1,reduce_l1
ReduceL2:norm,reduce_l2 ReduceSumSquare:sumsquare,reduce_sum_square Median Quantile`

// listed returns the operators of a list with their names.
func listed(list string) (ops []string, names [][]string) {
	for entry := range strings.FieldsSeq(list) {
		o, others, some := strings.Cut(entry, ":")
		if !some {
			others = strings.ToLower(o)
		}
		ops, names = append(ops, o), append(names, strings.Split(others, ","))
	}
	return ops, names
}

var functions = sync.OnceValue(func() []Function {
	var fs []Function
	for n, args := range map[int]string{1: "x", 2: "x, y"} {
		ops, names := listed(elementwise[n])
		for i, o := range ops {
			fs = append(fs, Function{names[i], args, o, func(c *call) (term, error) { return mapWith(c.at, o, nil, c.args...) }})
		}
	}
	slices.SortFunc(fs, func(a, b Function) int { return strings.Compare(a.Op, b.Op) })
	fs = append(fs,
		Function{[]string{"fmod"}, "x, y", "FMod", func(c *call) (term, error) {
			return mapWith(c.at, "Mod", op.AttrMap{"fmod": int64(1)}, c.args...)
		}},
		Function{[]string{"clip"}, "x, low=None, high=None", "Max, Min", callClip},
		Function{[]string{"where"}, "condition, x, y", "Where", callWhere},
		Function{[]string{"cast", "astype"}, "x, dtype", "CastLike", callCast})
	ops, names := listed(reductions)
	for i, o := range ops {
		r := reducers[o]
		fs = append(fs, Function{names[i], "x, " + r.first + "axis=None, " + r.then + "keepdims=False", o, func(c *call) (term, error) { return c.reduce(o, r) }})
	}
	return append(fs,
		Function{[]string{"matmul"}, "x, y", "MatMul", func(c *call) (term, error) { return operate(c.at, "@", c.args[0], c.args[1]) }},
		Function{[]string{"tensordot"}, "x, y, axes=2", "TensorDot", callTensorDot},
		Function{[]string{"transpose", "permute"}, "x, axes=None", "Transpose", func(c *call) (term, error) {
			return c.with(func(x Array) Array { return Transpose(x, c.ints(1)...) })
		}},
		Function{[]string{"concatenate", "concat"}, "arrays, axis=0", "Concat", func(c *call) (term, error) {
			return c.with(func(Array) Array { return Concat(c.int(1), c.arrays(0)...) })
		}},
		Function{[]string{"stack"}, "arrays, axis=0", "Stack", func(c *call) (term, error) {
			return c.with(func(Array) Array { return Stack(c.int(1), c.arrays(0)...) })
		}},
		Function{[]string{"rechunk"}, "x, chunks", "chunk.Rechunk", func(c *call) (term, error) {
			return c.with(func(x Array) Array { return Rechunk(x, c.ints(1)...) })
		}},
		Function{[]string{"histogram"}, "x, bins, range", "chunk.Histogram", func(c *call) (term, error) {
			return c.with(func(x Array) Array { lo, hi := c.span(2); return Histogram(x, c.int(1), lo, hi) })
		}},
		Function{[]string{"percentile"}, "x, q, bins, range", "chunk.Percentile of chunk.Histogram", func(c *call) (term, error) {
			return c.with(func(x Array) Array {
				lo, hi := c.span(3)
				a := Percentile(Histogram(x, c.int(2), lo, hi), lo, hi, c.floats(1)...)
				if c.args[1].Kind != expr.List && a.err == nil {
					a = Slice(a, tensor.I(0)) // as in NumPy
				}
				return a
			})
		}})
})

var functionNamed = sync.OnceValue(func() map[string]Function {
	m := map[string]Function{}
	for _, f := range functions() {
		for _, name := range f.Names {
			m[name] = f
		}
	}
	return m
})

// A call is a function at work on its arguments, in the order of Function.Args. Its methods keep the first mistake.
type call struct {
	at   int
	f    Function
	args []term
	err  error
}

// with makes the result of arguments, whose mistakes go first. The first argument is an array, or a list.
func (c *call) with(f func(x Array) Array) (term, error) {
	x := c.args[0].array
	if c.args[0].Kind != expr.List {
		x = c.array(0)
	}
	if c.err != nil {
		return term{}, c.err
	}
	a := f(x)
	if c.err != nil {
		return term{}, c.err
	}
	return made(c.at, a)
}

// miss keeps the mistake that argument i isn't of a kind.
func (c *call) miss(t term, want string) {
	if c.err == nil {
		c.err = expr.Wrong(t.At, tensor.ErrValue, "%s, where %s is wanted: it is %v", t.Kind, want, c.f)
	}
}

func (c *call) array(i int) Array {
	if !c.args[i].isArray() {
		c.miss(c.args[i], "an array")
	}
	return c.args[i].array
}

func (c *call) arrays(i int) []Array {
	if c.args[i].Kind != expr.List {
		c.miss(c.args[i], "a list of arrays, as [x, y],")
	}
	var out []Array
	for _, t := range c.args[i].list {
		if !t.isArray() {
			c.miss(t, "an array")
		}
		out = append(out, t.array)
	}
	return out
}

func (c *call) int(i int) int {
	t := c.args[i]
	if t.Kind != expr.Int || int64(int(t.Int)) != t.Int {
		c.miss(t, "an integer")
	}
	return int(t.Int)
}

// ints takes an integer or a list of them; None is nil.
func (c *call) ints(i int) []int { return c.intsOf(c.args[i]) }

func (c *call) intsOf(t term) []int {
	list := t.list
	switch t.Kind {
	case expr.None:
		return nil
	case expr.Int:
		list = []term{t}
	case expr.List:
	default:
		c.miss(t, "an integer or a list of integers")
	}
	out := make([]int, len(list))
	for k, n := range list {
		if out[k] = int(n.Int); n.Kind != expr.Int || int64(out[k]) != n.Int {
			c.miss(n, "an integer")
		}
	}
	return out
}

func (c *call) floats(i int) []float64 {
	list := c.args[i].list
	if c.args[i].Kind != expr.List {
		list = c.args[i : i+1]
	}
	out := make([]float64, len(list))
	for k, n := range list {
		if out[k] = n.Value(); !n.IsNumber() {
			c.miss(n, "a number")
		}
	}
	return out
}

// span takes the two ends of a range.
func (c *call) span(i int) (low, high float64) {
	ends := c.floats(i)
	if len(ends) != 2 {
		c.miss(c.args[i], "a range, as (0, 1),")
		return 0, 1
	}
	return ends[0], ends[1]
}

// named returns the place of an argument, or -1.
func (c *call) named(name string) int {
	return slices.IndexFunc(strings.Split(c.f.Args, ", "), func(s string) bool { return strings.Split(s, "=")[0] == name })
}

func (c *call) reduce(name string, r *reducer) (term, error) {
	return c.with(func(x Array) Array {
		how := Reducing{Axes: c.ints(c.named("axis"))}
		keep := c.args[c.named("keepdims")]
		if how.KeepDims = keep.Int == 1; keep.Kind != expr.Bool {
			c.miss(keep, "True or False")
		}
		if i := c.named("ddof"); i >= 0 {
			how.DDoF = c.int(i)
		}
		if i := c.named("q"); i >= 0 {
			if how.Q = c.args[i].Value(); !c.args[i].IsNumber() {
				c.miss(c.args[i], "a number")
			}
		}
		if how.Axes == nil && r.place && len(x.Shape()) == 1 {
			how.Axes = []int{0}
		}
		d := x.DType()
		whole := d.IsInteger() || d == dtype.Bool
		if whole && r.plain != "" {
			name, r = r.plain, reducers[r.plain]
		}
		if r.place && d == dtype.Bool {
			x = converted(x, dtype.Uint8)
		}
		if r.real && whole {
			x = converted(x, dtype.Float64)
		} else if r.truth != "" && d == dtype.Bool {
			name = r.truth
		} else if r.asSum && whole && x.err == nil {
			wide := dtype.Int64
			if d.IsInteger() && !d.IsSigned() {
				wide = dtype.Uint64
			}
			return r.in(wide).reduce(name, x.n, wide, how)
		}
		return Reduce(name, x, how)
	})
}

func callClip(c *call) (t term, err error) {
	t = c.args[0]
	if c.array(0); c.err != nil {
		return t, c.err
	}
	for i, name := range []string{"Max", "Min"} {
		by := c.args[i+1]
		beyond := by.IsNumber() && outside(by.Node, t.array.DType()) == 2*i-1 // as in NumPy, it bounds nothing
		if err == nil && by.Kind != expr.None && !beyond {
			t, err = mapWith(c.at, name, nil, t, by)
		}
	}
	return t, err
}

func callWhere(c *call) (term, error) {
	x, y := c.args[1], c.args[2]
	d := x.array.DType()
	if !x.isArray() {
		d = y.array.DType()
	}
	if d == dtype.Invalid {
		return x, expr.Wrong(c.at, tensor.ErrDType, "x and y are constants, which don't say a type; cast(condition, 'float32') gives 1 and 0")
	}
	if a := c.array(0); c.err == nil && a.DType() != dtype.Bool {
		return x, expr.Wrong(c.args[0].At, tensor.ErrDType, "the condition is of %v; a comparison gives the truth values that are wanted", a.DType())
	}
	for i, t := range c.args {
		if !t.isArray() && i > 0 && c.err == nil {
			c.args[i].array, c.err = constant(t, d)
			c.args[i].Kind = expr.Name
		}
	}
	if c.err == nil && c.args[1].array.DType() != c.args[2].array.DType() {
		c.err = expr.Wrong(c.at, tensor.ErrDType, "x is of %v and y of %v; cast one", c.args[1].array.DType(), c.args[2].array.DType())
	}
	if c.err != nil {
		return x, c.err
	}
	return made(c.at, Map("Where", nil, c.args[0].array, c.args[1].array, c.args[2].array))
}

func callCast(c *call) (term, error) {
	t := c.args[1]
	if t.Kind != expr.Text {
		c.miss(t, "the name of an element type, as 'float32',")
		return t, c.err
	}
	d, err := dtype.Parse(t.Text)
	if err == nil && d.Size() == 0 {
		err = fmt.Errorf("no array has elements of %v", d)
	}
	if err != nil {
		return t, &expr.Error{At: t.At, Err: err}
	}
	return c.with(func(x Array) Array { return converted(x, d) })
}

func callTensorDot(c *call) (term, error) {
	return c.with(func(x Array) Array {
		y, axes := c.array(1), c.args[2]
		var a, b []int
		switch {
		case axes.Kind == expr.Int && axes.Int >= 0 && axes.Int <= int64(len(x.Shape())):
			for i := range int(axes.Int) {
				a, b = append(a, len(x.Shape())-int(axes.Int)+i), append(b, i)
			}
		case axes.Kind == expr.List && len(axes.list) == 2:
			a, b = c.intsOf(axes.list[0]), c.intsOf(axes.list[1])
		default:
			c.miss(axes, "a number of axes, or a pair of lists, as ([1], [0]),")
		}
		return TensorDot(x, y, a, b)
	})
}
