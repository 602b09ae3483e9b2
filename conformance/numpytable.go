package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// numpyOps are NumPy's functions by name. Mixed operands are promoted first. Functions that are one operator each have their names from
// the expressions of package chunk.
var numpyOps = func() map[string]numpyFunc {
	m := numpyForms
	for _, f := range chunk.Functions() {
		for _, name := range f.Names {
			switch {
			case m[name] != nil:
			case slices.Contains(numpyPromoted, f.Op):
				m[name] = promoted(f.Op)
			case slices.Contains(numpyFloats, f.Op):
				m[name] = inFloats(f.Op)
			case numpyReduced[f.Op] != nil:
				m[name] = reduction(f.Op, numpyReduced[f.Op])
			}
		}
	}
	return m
}()

// numpyPromoted are operators that take their operands in one type, numpyFloats operators that take floats.
var (
	numpyPromoted = strings.Fields("Add Sub Mul FloorDiv Max Min FMax FMin Less LessOrEqual Equal NotEqual BitwiseAnd BitwiseOr BitwiseXor BitwiseNot " +
		"Gcd Lcm Sign Square Neg Reciprocal IsNaN IsInf IsFinite Ceil Floor Trunc")
	numpyFloats = strings.Fields("CopySign NextAfter Hypot Atan2 SignBit Exp Exp2 Expm1 Log Log2 Log10 Log1p Sqrt Cbrt Sin Cos Tan Asin Acos " +
		"Sinh Cosh Tanh Asinh Acosh Atanh")
)

// numpyReduced are reductions, and the types of their results.
var numpyReduced = map[string]func(dtype.DType) dtype.DType{"ReduceSum": summable, "ReduceProd": summable, "ReduceMean": realOf,
	"ReduceMin": same, "ReduceMax": same, "Var": realOf, "Std": realOf, "Median": realOf}

// numpyForms are the functions that are more than an operator.
var numpyForms = map[string]numpyFunc{
	"true_divide": inFloats("Div"), "absolute": promoted("Abs"), "remainder": typedPair(numpyTyped.mod), "fmod": typedPair(numpyTyped.fMod), "power": power,
	"logical_and": logical("And"), "left_shift": shifted(op.ShiftLeft), "right_shift": shifted(op.ShiftRight), "round": round, "clip": clip,
	"ptp": counted(numpyTyped.ptp),
	"any": counted(numpyTyped.any), "all": counted(numpyTyped.all), "count_nonzero": counted(numpyTyped.countNonzero),
	"nansum": nanless("NanSum", "ReduceSum", summable), "nanmax": nanless("NanMax", "ReduceMax", same),
	"argmax": argReduction("ArgMax"), "argmin": argReduction("ArgMin"), "nanargmax": nanArg("NanArgMax", "ArgMax"),
	"cumsum": cumulative("CumSum"), "cumprod": cumulative("CumProd"),

	"where": where, "take": taken, "take_along_axis": takeAlongAxis, "nonzero": nonzero, "sort": sorted(numpyTyped.sort), "argsort": sorted(numpyTyped.argSort),
	"stack": stack, "concatenate": concatenate, "pad": pad, "repeat": repeat, "roll": roll, "tile": tile,
	"split": split(true), "array_split": split(false), "boolean_index": booleanIndex, "fancy_index": fancyIndex,

	"matmul": promoted("MatMul"), "dot": dot, "inner": promoted("Inner"), "tensordot": tensorDot, "einsum": einsum,
	"trace": trace, "triu": triangle(1), "tril": triangle(0),

	"broadcast_shapes": broadcastShapes, "broadcast_to": broadcastTo, "astype": asType, "promote": promote,
}

func power(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	in, err := n.common(in)
	if err != nil {
		return nil, err
	}
	return call("Pow", in, attrs{})
}

// typedPair is an elementwise function of the typed form.
func typedPair(f func(t numpyTyped, a, b tensor.Any) tensor.Any) numpyFunc {
	return func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		in, err := n.common(in)
		if err != nil {
			return nil, err
		}
		return typedOf(in[0], func(t numpyTyped) []tensor.Any { return []tensor.Any{f(t, in[0], in[1])} })
	}
}

func shifted(to op.ShiftDirection) numpyFunc {
	return typedPair(func(t numpyTyped, a, b tensor.Any) tensor.Any { return t.shift(a, b, to) })
}

// round is a scaled rint, as NumPy computes it.
func round(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	var decimals int
	n.arg("decimals", &decimals)
	scale := tensor.Full(1.0)
	for range max(decimals, -decimals) {
		scale.Set(scale.Item() * 10)
	}
	s := cast(scale.Any(), in[0].DType())
	before, after := "Mul", "Div"
	if decimals < 0 {
		before, after = after, before
	}
	out, err := call(before, []tensor.Any{in[0], s}, attrs{})
	if err == nil {
		out, err = call("Round", out, attrs{})
	}
	if err == nil {
		out, err = call(after, []tensor.Any{out[0], s}, attrs{})
	}
	return out, err
}

func clip(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	return call("Clip", in, attrs{})
}

// nanless is a reduction that passes over NaN, of which integers have none.
func nanless(name, other string, to func(dtype.DType) dtype.DType) numpyFunc {
	floats, rest := reduction(name, same), reduction(other, to)
	return func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		if in[0].DType().IsFloat() {
			return floats(n, in)
		}
		return rest(n, in)
	}
}

func nanArg(name, other string) numpyFunc {
	floats, rest := argReduction(name), argReduction(other)
	return func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		if in[0].DType().IsFloat() {
			return floats(n, in)
		}
		return rest(n, in)
	}
}

func cumulative(name string) numpyFunc {
	return func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		x, axis := in[0], int64(0)
		d := summable(x.DType())
		var to string
		if n.arg("dtype", &to) {
			var err error
			if d, err = dtype.Parse(to); err != nil {
				return nil, unsupported{err.Error()}
			}
		}
		if !n.arg("axis", &axis) {
			flat, err := tensor.Reshape(x, -1)
			if err != nil {
				return nil, err
			}
			x = flat
		} else if x.Rank() == 0 { // NumPy's functions over an axis take a scalar for a row of one
			row, err := tensor.Reshape(x, 1)
			if err != nil {
				return nil, err
			}
			x = row
		}
		if d == dtype.Bool { // whether any is true so far, or all are
			out, err := callOpset(name, 14, []tensor.Any{cast(x, dtype.Int64), tensor.Full(axis).Any()}, attrs{})
			if err != nil {
				return nil, err
			}
			return []tensor.Any{cast(out[0], d)}, nil
		}
		return callOpset(name, 14, []tensor.Any{cast(x, d), tensor.Full(axis).Any()}, attrs{})
	}
}

func where(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	xy, err := n.common(in[1:])
	if err != nil {
		return nil, err
	}
	return call("Where", append([]tensor.Any{cast(in[0], dtype.Bool)}, xy...), attrs{})
}

// flatUnless returns x, flattened if there is no axis, and the axis.
func flatUnless(n *numpyCall, x tensor.Any) (tensor.Any, int64, error) {
	var axis int64
	if n.arg("axis", &axis) {
		return x, axis, nil
	}
	flat, err := tensor.Reshape(x, -1)
	return flat, 0, err
}

func taken(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	x, axis, err := flatUnless(n, in[0])
	if err != nil {
		return nil, err
	}
	mode := "raise"
	n.arg("mode", &mode)
	how := map[string]op.TakeMode{"raise": op.TakeRaise, "wrap": op.TakeWrap, "clip": op.TakeClip}[mode]
	at := typed[int64](cast(in[1], dtype.Int64))
	return typedOf(x, func(t numpyTyped) []tensor.Any { return []tensor.Any{t.take(x, at, int(axis), how)} })
}

func takeAlongAxis(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	x, axis, err := flatUnless(n, in[0])
	if err != nil {
		return nil, err
	}
	at := typed[int64](cast(in[1], dtype.Int64))
	return typedOf(x, func(t numpyTyped) []tensor.Any { return []tensor.Any{t.takeAlongAxis(x, at, int(axis))} })
}

// nonzero gives an array per axis; ONNX's is their stack.
func nonzero(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	out, err := callOpset("NonZero", 13, in, attrs{})
	if err != nil {
		return nil, err
	}
	rows := make([]tensor.Any, out[0].Dim(0))
	for i := range rows {
		if rows[i], err = tensor.Slice(out[0], tensor.I(i)); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func sorted(f func(t numpyTyped, a tensor.Any, axis int) tensor.Any) numpyFunc {
	return func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		x, axis, err := flatUnless(n, in[0])
		if err != nil {
			return nil, err
		}
		return typedOf(x, func(t numpyTyped) []tensor.Any { return []tensor.Any{f(t, x, int(axis))} })
	}
}

func stack(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	in, err := n.common(in)
	if err != nil {
		return nil, err
	}
	var axis int
	n.arg("axis", &axis)
	return typedOf(in[0], func(t numpyTyped) []tensor.Any { return []tensor.Any{t.stack(axis, in)} })
}

func concatenate(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	in, err := n.common(in)
	if err != nil {
		return nil, err
	}
	var axis int64
	if !n.arg("axis", &axis) {
		for i := range in {
			if in[i], err = tensor.Reshape(in[i], -1); err != nil {
				return nil, err
			}
		}
	}
	return callOpset("Concat", 13, in, attrs{"axis": axis})
}

// counted is a reduction of the typed form.
func counted(f func(t numpyTyped, a tensor.Any, axes []int, opts []op.Option) tensor.Any) numpyFunc {
	return func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		var keep bool
		var axes []int
		var opts []op.Option
		if n.arg("keepdims", &keep); keep {
			opts = append(opts, op.KeepDims())
		}
		n.arg("axis", &axes)
		return typedOf(in[0], func(t numpyTyped) []tensor.Any { return []tensor.Any{f(t, in[0], axes, opts)} })
	}
}

func pad(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	var width [][2]int64
	var mode string
	n.arg("pad_width", &width)
	n.arg("mode", &mode)
	if len(width) == 1 { // one pair for all axes
		width = slices.Repeat(width, in[0].Rank())
	}
	var pads []int64
	for side := range 2 {
		for _, w := range width {
			pads = append(pads, w[side])
		}
	}
	return callOpset("Pad", 19, []tensor.Any{in[0], tensor.FromSlice(pads).Any()}, attrs{"mode": mode})
}

func repeat(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	x, axis, err := flatUnless(n, in[0])
	if err != nil {
		return nil, err
	}
	counts := make([]int, 1)
	if raw := n.c.Args["repeats"]; len(raw) > 0 && raw[0] == '[' {
		n.arg("repeats", &counts)
	} else {
		n.arg("repeats", &counts[0])
	}
	return typedOf(x, func(t numpyTyped) []tensor.Any { return []tensor.Any{t.repeat(x, counts, int(axis))} })
}

func roll(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	x, axis, err := flatUnless(n, in[0])
	if err != nil {
		return nil, err
	}
	var shift int
	n.arg("shift", &shift)
	out, err := typedOf(x, func(t numpyTyped) []tensor.Any { return []tensor.Any{t.roll(x, shift, int(axis))} })
	if err == nil && x.Rank() != in[0].Rank() {
		out[0], err = tensor.Reshape(out[0], in[0].Shape()...)
	}
	return out, err
}

func tile(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	var reps []int64
	n.arg("reps", &reps)
	x := in[0]
	for len(reps) < x.Rank() { // NumPy lines up the last axes
		reps = append([]int64{1}, reps...)
	}
	shape := x.Shape()
	for len(shape) < len(reps) {
		shape = append([]int{1}, shape...)
	}
	x, err := tensor.Reshape(x, shape...)
	if err != nil {
		return nil, err
	}
	return call("Tile", []tensor.Any{x, tensor.FromSlice(reps).Any()}, attrs{})
}

// split cuts an axis into equal parts, or for array_split into nearly equal ones.
func split(equal bool) numpyFunc {
	return func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		var axis, sections int
		n.arg("axis", &axis)
		n.arg("sections", &sections)
		a := in[0]
		if at := axis + a.Rank(); equal && at >= 0 && axis < a.Rank() && (sections <= 0 || a.Dim(at%a.Rank())%sections != 0) {
			return nil, &tensor.Error{Op: "numpy.split", Text: fmt.Sprintf("%d parts of axis %d", sections, axis), Err: tensor.ErrShape}
		}
		return typedOf(a, func(t numpyTyped) []tensor.Any { return t.arraySplit(a, axis, sections) })
	}
}

// booleanIndex picks the elements, or parts, where a mask over the first axes is
// true.
func booleanIndex(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	at, err := callOpset("NonZero", 13, in[1:], attrs{})
	if err != nil {
		return nil, err
	}
	for i := range in[1].Rank() {
		if i >= in[0].Rank() || in[0].Dim(i) != in[1].Dim(i) {
			return nil, &tensor.Error{Op: "op.GatherND", Text: "the mask doesn't fit", Err: tensor.ErrShape}
		}
	}
	idx, err := tensor.Permute(at[0], 1, 0)
	if err != nil {
		return nil, err
	}
	return callOpset("GatherND", 13, []tensor.Any{in[0], idx}, attrs{})
}

// fancyIndex picks the elements, or parts, at arrays of indices that broadcast.
func fancyIndex(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	shapes := make([][]int, len(in)-1)
	for i, a := range in[1:] {
		shapes[i] = a.Shape()
	}
	full, err := broadcastShape(shapes)
	if err != nil {
		return nil, err
	}
	parts := make([]tensor.Any, len(shapes))
	for i, a := range in[1:] {
		if parts[i], err = tensor.BroadcastTo(a, full...); err == nil {
			parts[i], err = tensor.Reshape(parts[i], append(slices.Clone(full), 1)...)
		}
		if err != nil {
			return nil, err
		}
	}
	idx, err := callOpset("Concat", 13, parts, attrs{"axis": int64(-1)})
	if err != nil {
		return nil, err
	}
	return callOpset("GatherND", 13, []tensor.Any{in[0], idx[0]}, attrs{})
}

// dot is NumPy's: of matrices the product, else the last axis of the first with the
// last but one of the second.
func dot(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	in, err := n.common(in)
	if err != nil {
		return nil, err
	}
	a, b := in[0], in[1]
	switch {
	case a.Rank() == 0 || b.Rank() == 0:
		return call("Mul", in, attrs{})
	case b.Rank() == 1:
		return call("TensorDot", in, attrs{"axes_a": []int64{-1}, "axes_b": []int64{0}})
	}
	return call("TensorDot", in, attrs{"axes_a": []int64{-1}, "axes_b": []int64{-2}})
}

func tensorDot(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	in, err := n.common(in)
	if err != nil {
		return nil, err
	}
	var axes [2][]int64
	if raw := n.c.Args["axes"]; len(raw) > 0 && raw[0] == '[' {
		var lists [2]any
		n.arg("axes", &lists)
		for i, l := range lists { // a list, or one axis
			if v, ok := l.([]any); ok {
				for _, x := range v {
					axes[i] = append(axes[i], int64(x.(float64)))
				}
			} else {
				axes[i] = []int64{int64(l.(float64))}
			}
		}
	} else {
		var count int64
		n.arg("axes", &count)
		for i := range count {
			axes[0], axes[1] = append(axes[0], i-count), append(axes[1], i)
		}
	}
	return call("TensorDot", in, attrs{"axes_a": axes[0], "axes_b": axes[1]})
}

func einsum(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	in, err := n.common(in)
	if err != nil {
		return nil, err
	}
	var equation string
	n.arg("subscripts", &equation)
	return callOpset("Einsum", 12, in, attrs{"equation": equation})
}

func trace(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	var offset int
	n.arg("offset", &offset)
	x := cast(in[0], summable(in[0].DType()))
	return typedOf(x, func(t numpyTyped) []tensor.Any { return []tensor.Any{t.trace(x, offset)} })
}

func triangle(upper int64) numpyFunc {
	return func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		var k int64
		n.arg("k", &k)
		x := in[0]
		if x.Rank() == 1 { // every row is the vector
			full, err := tensor.BroadcastTo(x, x.Dim(0), x.Dim(0))
			if err != nil {
				return nil, err
			}
			x = full
		}
		return callOpset("Trilu", 14, []tensor.Any{x, tensor.Full(k).Any()}, attrs{"upper": upper})
	}
}

// broadcastShape asks an operator that takes any number of operands.
func broadcastShape(shapes [][]int) ([]int, error) {
	in := make([]tensor.Any, len(shapes))
	for i, shape := range shapes {
		spec, err := tensor.NewSpec(dtype.Float32, shape...)
		if err != nil {
			return nil, err
		}
		in[i] = spec.Any()
	}
	sum, _ := op.Lookup("Sum")
	out, err := sum.Infer(&op.Call{Inputs: in, Attrs: op.AttrMap(nil), Opset: 13})
	if err != nil {
		return nil, err
	}
	return out[0].Shape(), nil
}

func broadcastShapes(n *numpyCall, _ []tensor.Any) ([]tensor.Any, error) {
	var shapes [][]int
	n.arg("shapes", &shapes)
	shape, err := broadcastShape(shapes)
	if err != nil {
		return nil, err
	}
	out := tensor.New[int64](len(shape))
	for i, e := range shape {
		out.Set(int64(e), i)
	}
	return []tensor.Any{out.Any()}, nil
}

func broadcastTo(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	var shape []int
	n.arg("shape", &shape)
	out, err := tensor.BroadcastTo(in[0], shape...)
	return []tensor.Any{out}, err
}

func asType(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
	var to string
	n.arg("dtype", &to)
	d, err := dtype.Parse(to)
	if err != nil {
		return nil, unsupported{err.Error()}
	}
	return []tensor.Any{cast(in[0], d)}, nil
}

// promote compares dtype.Promote; and the rules for casts that follow from it.
func promote(n *numpyCall, _ []tensor.Any) ([]tensor.Any, error) {
	var a, b, want string
	var can struct{ No, Equiv, Safe, SameKind, Unsafe bool }
	n.arg("a", &a)
	n.arg("b", &b)
	n.arg("result_type", &want)
	n.arg("can_cast", &can)
	x, errA := dtype.Parse(a)
	y, errB := dtype.Parse(b)
	if errA != nil || errB != nil {
		return nil, unsupported{"a type of NumPy alone"}
	}
	got, ok := dtype.Promote(x, y)
	switch {
	case !ok || got.String() != want:
		return nil, fmt.Errorf("%v and %v give %v, want %s", x, y, got, want)
	case (got == y) != can.Safe:
		return nil, fmt.Errorf("%v fits in %v: %t, want %t", x, y, got == y, can.Safe)
	case (x == y) != can.Equiv:
		return nil, fmt.Errorf("%v is %v: %t, want %t", x, y, x == y, can.Equiv)
	}
	return nil, nil
}
