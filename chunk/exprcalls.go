package chunk

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Function is a function of expressions.
type Function struct {
	Names []string // one or several that mean the same
	Args  string   // the arguments, with the values of those that may be left out
	Op    string   // what it is in package op, or here
	call  func(c *call) (term, error)
}

// String shows how the function is called.
func (f Function) String() string { return strings.Join(f.Names, ", ") + "(" + f.Args + ")" }

// Functions returns all functions that Parse knows: elementwise ones, then reductions, then the rest.
func Functions() []Function { return slices.Clone(functions()) }

// elementwise lists operators by their number of operands, each with the name in NumPy or PyTorch
// where that isn't its own in lower snake case.
var elementwise = map[int]string{
	1: `Abs Acos:arccos Acosh:arccosh Asin:arcsin Asinh:arcsinh Atan:arctan Atanh:arctanh BitwiseNot:bitwise_not,invert Cbrt Ceil Celu
Cos Cosh Elu Erf Exp Exp2 Expm1 Floor Gelu HardSigmoid:hard_sigmoid HardSwish:hard_swish IsFinite:isfinite IsInf:isinf
IsNaN:isnan LeakyRelu:leaky_relu Log Log10 Log1p Log2 Mish Neg:negative Not:logical_not Reciprocal Relu Round Rsqrt Selu Sigmoid
Sign SignBit:signbit Sin Sinh Softplus Softsign Sqrt Square Tan Tanh Trunc`,
	2: `Add Atan2:arctan2 And:logical_and BitwiseAnd:bitwise_and BitwiseOr:bitwise_or BitwiseXor:bitwise_xor CopySign:copysign Div:divide
Equal FloorDiv:floor_divide FMax:fmax FMin:fmin Gcd Greater GreaterOrEqual:greater_equal Hypot Lcm Less LessOrEqual:less_equal
Max:maximum Min:minimum Mod:remainder Mul:multiply NextAfter:nextafter NotEqual:not_equal Or:logical_or Pow:power Sub:subtract Xor:logical_xor`,
}

// reductions lists reductions with their names.
const reductions = `ReduceSum:sum ReduceMean:mean Var:var Std:std ReduceMin:min,amin ReduceMax:max,amax ReduceProd:prod Any:any AllTrue:all
Ptp:ptp ArgMax:argmax ArgMin:argmin NanSum:nansum NanMean:nanmean NanMin:nanmin NanMax:nanmax NanArgMax:nanargmax NanArgMin:nanargmin
CountNonzero:count_nonzero ReduceLogSumExp:logsumexp ReduceLogSum:logsum ReduceL1:norm1 ReduceL2:norm ReduceSumSquare:sumsquare
Median:median Quantile:quantile`

// fractional lists the reductions whose result of integers is a float, summed those whose result of narrow integers is one of 64
// bits, as in NumPy.
var (
	fractional = []string{"ReduceMean", "NanMean", "Var", "Std", "Median", "Quantile", "ReduceL2"}
	summed     = []string{"ReduceSum", "ReduceProd", "ReduceSumSquare", "ReduceL1"}
)

// snake writes a name of package op in lower case, with _ between words.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		upper := r >= 'A' && r <= 'Z'
		if upper && i > 0 && (name[i-1] >= 'a' && name[i-1] <= 'z' || i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z' && name[i-1] >= 'A' && name[i-1] <= 'Z') {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}

// listed returns the operators of a list with their names, NumPy's first. Names of other functions come from elsewhere.
func listed(list string) (ops []string, names [][]string) {
	taken := []string{"max", "min"}
	for _, entry := range strings.Fields(list) {
		o, others, _ := strings.Cut(entry, ":")
		var all []string
		if others != "" {
			all = strings.Split(others, ",")
		}
		if own := snake(o); !slices.Contains(all, own) && !slices.Contains(taken, own) {
			all = append(all, own)
		}
		ops, names = append(ops, o), append(names, all)
	}
	return ops, names
}

var functions = sync.OnceValue(func() []Function {
	var fs []Function
	for n, args := range map[int]string{1: "x", 2: "x, y"} {
		ops, names := listed(elementwise[n])
		for i, o := range ops {
			fs = append(fs, Function{names[i], args, o, func(c *call) (term, error) { return c.p.mapped(c.at, o, nil, c.args...) }})
		}
	}
	slices.SortFunc(fs, func(a, b Function) int { return strings.Compare(a.Op, b.Op) })
	fs = append(fs,
		Function{[]string{"fmod"}, "x, y", "FMod", func(c *call) (term, error) {
			return c.p.mapped(c.at, "Mod", op.AttrMap{"fmod": int64(1)}, c.args...)
		}},
		Function{[]string{"clip"}, "x, low=None, high=None", "Max, Min", callClip},
		Function{[]string{"where"}, "condition, x, y", "Where", callWhere},
		Function{[]string{"cast", "astype"}, "x, dtype", "CastLike", callCast})
	ops, names := listed(reductions)
	for i, o := range ops {
		args := "x, axis=None, keepdims=False"
		switch o {
		case "Var", "Std":
			args = "x, axis=None, ddof=0, keepdims=False"
		case "Quantile":
			args = "x, q, axis=None, keepdims=False"
		}
		fs = append(fs, Function{names[i], args, o, func(c *call) (term, error) { return c.reduce(o) }})
	}
	return append(fs,
		Function{[]string{"matmul"}, "x, y", "MatMul", func(c *call) (term, error) { return c.p.operate(c.at, "@", c.args[0], c.args[1]) }},
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
				if c.args[1].kind != listTerm && a.err == nil {
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
	p    *parser
	at   int
	f    Function
	args []term
	err  error
}

// call reads the arguments of a function behind its parenthesis, and calls it.
func (p *parser) call(at int, name string, first ...term) (term, error) {
	f, ok := functionNamed()[name]
	if !ok {
		return term{}, p.bad(at, op.ErrUnsupported, "there is no function %.60q%s", name, similar(name))
	}
	params := strings.Split(f.Args, ", ")
	c := &call{p: p, at: at, f: f, args: make([]term, len(params))}
	put := func(i int, t term) error {
		if c.args[i].kind != "" {
			return p.wrong(t.at, "the argument %s is given twice", strings.Split(params[i], "=")[0])
		}
		c.args[i] = t
		return nil
	}
	n := 0
	for _, t := range first {
		put(0, t)
		n++
	}
	open, named := p.at-1, false
	for !p.take(")") {
		begin := p.skip()
		i := n
		if key := p.name(); key != "" && p.sign() == "" && p.take("=") {
			i = slices.IndexFunc(params, func(s string) bool { return strings.Split(s, "=")[0] == key })
			if named = true; i < 0 {
				return term{}, p.wrong(begin, "%s has no argument %.60q: it is %v", name, key, f)
			}
		} else if p.at = begin; named {
			return term{}, p.wrong(begin, "an argument without a name after one with a name")
		} else {
			n++
		}
		t, err := p.expression(0)
		if err != nil {
			return t, err
		}
		if i >= len(params) {
			return t, p.wrong(t.at, "an argument too many: it is %v", f)
		}
		if err := put(i, t); err != nil {
			return t, err
		}
		if !p.take(",") {
			if err := p.want(")", open); err != nil {
				return t, err
			}
			break
		}
	}
	for i, param := range params {
		if c.args[i].kind != "" {
			continue
		}
		key, value, optional := strings.Cut(param, "=")
		if !optional {
			return term{}, p.wrong(at, "the argument %s isn't given: it is %v", key, f)
		}
		d, err := (&parser{text: value}).expression(0)
		if err != nil {
			return d, err
		}
		d.at = at
		c.args[i] = d
	}
	return f.call(c)
}

// similar suggests a function with a similar name.
func similar(name string) string {
	best, most := "", 2
	for _, f := range functions() {
		for _, other := range f.Names {
			if d := distance(strings.ToLower(name), other); d <= most && d < len(other) {
				best, most = other, d-1
			}
		}
	}
	if best == "" {
		return "; Functions and ashlar help compute list all"
	}
	return "; did you mean " + best + "?"
}

// distance is Levenshtein's, of names; 9 of long ones.
func distance(a, b string) int {
	if len(a) > 30 || len(a) > len(b)+2 || len(b) > len(a)+2 {
		return 9
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := left
			if a[i] != b[j] {
				d++
			}
			left = row[j+1]
			row[j+1] = min(d, left+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// with makes the result of arguments, whose mistakes go first. The first argument is an array, or a list.
func (c *call) with(f func(x Array) Array) (term, error) {
	x := c.args[0].array
	if c.args[0].kind != listTerm {
		x = c.array(0)
	}
	if c.err != nil {
		return term{}, c.err
	}
	a := f(x)
	if c.err != nil {
		return term{}, c.err
	}
	return c.p.made(c.at, a)
}

// miss keeps the mistake that argument i isn't of a kind.
func (c *call) miss(t term, want string) {
	if c.err == nil {
		c.err = c.p.bad(t.at, tensor.ErrValue, "%s, where %s is wanted: it is %v", t.kind, want, c.f)
	}
}

func (c *call) array(i int) Array {
	if c.args[i].kind != arrayTerm {
		c.miss(c.args[i], "an array")
	}
	return c.args[i].array
}

func (c *call) arrays(i int) []Array {
	if c.args[i].kind != listTerm {
		c.miss(c.args[i], "a list of arrays, as [x, y],")
	}
	var out []Array
	for _, t := range c.args[i].list {
		if t.kind != arrayTerm {
			c.miss(t, "an array")
		}
		out = append(out, t.array)
	}
	return out
}

func (c *call) int(i int) int {
	t := c.args[i]
	if t.kind != intTerm || int64(int(t.int)) != t.int {
		c.miss(t, "an integer")
	}
	return int(t.int)
}

// ints takes an integer or a list of them; None is nil.
func (c *call) ints(i int) []int { return c.intsOf(c.args[i]) }

func (c *call) intsOf(t term) []int {
	list := t.list
	switch t.kind {
	case noneTerm:
		return nil
	case intTerm:
		list = []term{t}
	case listTerm:
	default:
		c.miss(t, "an integer or a list of integers")
	}
	out := make([]int, len(list))
	for k, n := range list {
		if out[k] = int(n.int); n.kind != intTerm || int64(out[k]) != n.int {
			c.miss(n, "an integer")
		}
	}
	return out
}

func (c *call) floats(i int) []float64 {
	list := c.args[i].list
	if c.args[i].kind != listTerm {
		list = c.args[i : i+1]
	}
	out := make([]float64, len(list))
	for k, n := range list {
		if out[k] = n.value(); !n.number() {
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

func (c *call) reduce(name string) (term, error) {
	return c.with(func(x Array) Array {
		how := Reducing{Axes: c.ints(c.named("axis"))}
		keep := c.args[c.named("keepdims")]
		if how.KeepDims = keep.int == 1; keep.kind != boolTerm {
			c.miss(keep, "True or False")
		}
		if i := c.named("ddof"); i >= 0 {
			how.DDoF = c.int(i)
		}
		if i := c.named("q"); i >= 0 {
			if how.Q = c.args[i].value(); !c.args[i].number() {
				c.miss(c.args[i], "a number")
			}
		}
		if how.Axes == nil && reducers[name].place && len(x.Shape()) == 1 {
			how.Axes = []int{0}
		}
		if d := x.DType(); slices.Contains(fractional, name) && (d.IsInteger() || d == dtype.Bool) {
			x = converted(x, dtype.Float64)
		} else if name == "ReduceSum" && d == dtype.Bool {
			name = "CountNonzero"
		} else if slices.Contains(summed, name) && (d.IsInteger() || d == dtype.Bool) && x.err == nil {
			wide := dtype.Int64
			if d.IsInteger() && !d.IsSigned() {
				wide = dtype.Uint64
			}
			return reducers[name].in(wide).reduce(name, x.n, wide, how)
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
		if by := c.args[i+1]; err == nil && by.kind != noneTerm {
			t, err = c.p.mapped(c.at, name, nil, t, by)
		}
	}
	return t, err
}

func callWhere(c *call) (term, error) {
	x, y := c.args[1], c.args[2]
	d := x.array.DType()
	if x.kind != arrayTerm {
		d = y.array.DType()
	}
	if d == dtype.Invalid {
		return x, c.p.bad(c.at, tensor.ErrDType, "x and y are constants, which don't say a type; cast(condition, 'float32') gives 1 and 0")
	}
	if a := c.array(0); c.err == nil && a.DType() != dtype.Bool {
		return x, c.p.bad(c.args[0].at, tensor.ErrDType, "the condition is of %v; a comparison gives the truth values that are wanted", a.DType())
	}
	for i, t := range c.args {
		if t.kind != arrayTerm && i > 0 && c.err == nil {
			c.args[i].array, c.err = c.p.constant(t, d)
			c.args[i].kind = arrayTerm
		}
	}
	if c.err == nil && c.args[1].array.DType() != c.args[2].array.DType() {
		c.err = c.p.bad(c.at, tensor.ErrDType, "x is of %v and y of %v; cast one", c.args[1].array.DType(), c.args[2].array.DType())
	}
	if c.err != nil {
		return x, c.err
	}
	return c.p.mapped(c.at, "Where", nil, c.args...)
}

func callCast(c *call) (term, error) {
	t := c.args[1]
	if t.kind != textTerm {
		c.miss(t, "the name of an element type, as 'float32',")
		return t, c.err
	}
	d, err := dtype.Parse(t.text)
	if err == nil && d.Size() == 0 {
		err = fmt.Errorf("no array has elements of %v", d)
	}
	if err != nil {
		return t, &ExprError{c.p.text, t.at, err}
	}
	return c.with(func(x Array) Array { return converted(x, d) })
}

func callTensorDot(c *call) (term, error) {
	return c.with(func(x Array) Array {
		y, axes := c.array(1), c.args[2]
		var a, b []int
		switch {
		case axes.kind == intTerm && axes.int >= 0 && axes.int <= int64(len(x.Shape())):
			for i := range int(axes.int) {
				a, b = append(a, len(x.Shape())-int(axes.int)+i), append(b, i)
			}
		case axes.kind == listTerm && len(axes.list) == 2:
			a, b = c.intsOf(axes.list[0]), c.intsOf(axes.list[1])
		default:
			c.miss(axes, "a number of axes, or a pair of lists, as ([1], [0]),")
		}
		return TensorDot(x, y, a, b)
	})
}
