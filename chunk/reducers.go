package chunk

import (
	"maps"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A reducer defines the values that a reduction keeps of the elements that it has seen, its state: a number of planes,
// each with the shape of the kept axes.
type reducer struct {
	place bool                            // it finds a place on one axis
	sum   bool                            // its state is op.ReduceSum's result
	asSum bool                            // in expressions the result of integers and truth values is an integer of 64 bits, as in NumPy
	real  bool                            // in expressions the result of these is a float
	truth string                          // in expressions the reduction of truth values in its place
	plain string                          // in expressions the reduction of integers and truth values, which have no NaN, in its place
	first string                          // in expressions its arguments before axis
	then  string                          // and after it
	wide  func(d dtype.DType) dtype.DType // the type that elements are converted to first, piece by piece; nil: they stay
	// result returns the result's type, or the error of an element type that the reduction doesn't take.
	result func(name string, d dtype.DType) (dtype.DType, error)
	// state returns the number of planes and their type.
	state func(d dtype.DType) (int, dtype.DType)
	// block returns the state of elements; at is where they begin on the reduced axis of a place. A nil block is of a
	// reduction that needs all elements at once.
	block func(f *folded, e *evaluator, t tensor.Any, at int) (tensor.Any, error)
	// whole returns the result of all elements, where block is nil.
	whole func(f *folded, e *evaluator, t tensor.Any) (tensor.Any, error)
	// merge joins the states of na and of nb elements, which follow them.
	merge func(f *folded, e *evaluator, a, b tensor.Any, na, nb int) (tensor.Any, error)
	// finish makes the result of the state of n elements.
	finish func(f *folded, e *evaluator, s tensor.Any, n int) (tensor.Any, error)
}

// in returns the reducer whose elements, states and result have one type.
func (r reducer) in(d dtype.DType) *reducer {
	r.wide, r.state = func(dtype.DType) dtype.DType { return d }, kindOf(1, d)
	return &r
}

func reducerNames() []string { return slices.Sorted(maps.Keys(reducers)) }

// A piece has at most pieceLen elements, and at most pieceKept elements of the result. In a wide type it still fits the second-level cache.
const (
	pieceLen  = 1 << 16
	pieceKept = 1 << 9
)

// reduced returns the state of a part of the array that is reduced. A large one is halved until its pieces are small, along
// the kept axes first.
func (f *folded) reduced(e *evaluator, t tensor.Any, b box) (tensor.Any, error) {
	d := t.DType()
	if f.r.wide != nil {
		d = f.r.wide(d)
	}
	if x, ok := tensor.As[float32](t); ok && f.r.sum {
		var s tensor.Any
		err := tensor.Try(func() { s = op.SumAs[float64](x, f.axes, op.Context(e.ctx)).Any() })
		c := chain{e: e, err: err}
		return f.joined(&c, e.own(s))
	}
	if t.DType() == d || t.Len() <= pieceLen {
		at := 0
		if f.r.place {
			at = b.from[f.axes[0]]
		}
		mark := len(e.held)
		t, err := e.cast(t, d)
		if err == nil {
			t, err = f.r.block(f, e, t, at)
		}
		if err == nil {
			e.release(mark, t)
		}
		return t, err
	}
	kept := bytesOf(dtype.Uint8, gathered(t.Shape(), f.kept)) > pieceKept
	list := f.axes
	if kept {
		list = f.kept
	}
	axis := list[0]
	for _, a := range list {
		if t.Dim(axis) == 1 {
			axis = a
		}
	}
	if t.Dim(axis) == 1 { // the other axes alone are long
		kept, list = !kept, append(slices.Clone(f.kept), f.axes...)
		for _, a := range list {
			if t.Dim(a) > 1 {
				axis, kept = a, slices.Contains(f.kept, a)
				break
			}
		}
	}
	half := t.Dim(axis) / 2
	parts := [2]box{{b.from, slices.Clone(b.to)}, {slices.Clone(b.from), b.to}}
	parts[0].to[axis] = b.from[axis] + half
	parts[1].from[axis] = b.from[axis] + half
	mark := len(e.held)
	var out tensor.Any
	if kept {
		var err error
		if out, err = f.empty(t); err != nil {
			return out, err
		}
		mark = len(e.held) + 1
		e.own(out)
	}
	var states [2]tensor.Any
	var counts [2]int
	done := 0
	for i, p := range parts {
		at := all(t.Shape())
		at.from[axis], at.to[axis] = p.from[axis]-b.from[axis], p.to[axis]-b.from[axis]
		if i == 0 {
			at.to = slices.Clone(at.to)
			at.to[axis] = half
		}
		piece, err := at.of(t)
		if err == nil {
			states[i], err = f.reduced(e, piece, p)
		}
		if err != nil {
			return out, err
		}
		counts[i] = int(bytesOf(dtype.Uint8, gathered(p.shape(), f.axes)))
		if kept {
			where := all(out.Shape())
			k := 1 + slices.Index(f.kept, axis)
			n := states[i].Dim(k)
			where.from[k], where.to = done, slices.Clone(where.to)
			where.to[k] = done + n
			done += n
			dst, err := where.of(out)
			if err == nil {
				err = tensor.Copy(dst, states[i])
			}
			if err != nil {
				return out, err
			}
			e.release(mark, tensor.Any{})
		}
	}
	if kept {
		return out, nil
	}
	s, err := f.r.merge(f, e, states[0], states[1], counts[0], counts[1])
	if err != nil {
		return s, err
	}
	e.release(mark, s)
	return s, nil
}

// empty returns a state for the kept axes of t.
func (f *folded) empty(t tensor.Any) (tensor.Any, error) {
	return tensor.Make(f.acc, append([]int{f.planes}, gathered(t.Shape(), f.kept)...)...)
}

// joined returns the state of planes, unless one of them failed.
func (f *folded) joined(c *chain, planes ...tensor.Any) (tensor.Any, error) {
	if c.err != nil {
		return tensor.Any{}, c.err
	}
	shape := append([]int{1}, planes[0].Shape()...)
	if len(planes) == 1 {
		return tensor.Reshape(planes[0], shape...)
	}
	shape[0] = len(planes)
	out, err := tensor.Make(f.acc, shape...)
	if err != nil {
		return out, err
	}
	c.e.own(out)
	for i, p := range planes {
		dst, err := tensor.Slice(out, tensor.I(i))
		if err == nil {
			err = tensor.Copy(dst, p)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// plane returns plane i of a state.
func plane(s tensor.Any, i int) tensor.Any {
	p, err := tensor.Slice(s, tensor.I(i))
	if err != nil {
		return tensor.Any{} // the operator that takes it names the mistake
	}
	return p
}

// A chain runs operators one after the other until one fails.
type chain struct {
	e   *evaluator
	err error
}

func (c *chain) call(name string, in ...tensor.Any) (t tensor.Any) {
	if c.err == nil {
		t, c.err = c.e.call(name, nil, in...)
	}
	return t
}

func (c *chain) reduce(name string, t tensor.Any, axes []int) (r tensor.Any) {
	if c.err == nil {
		r, c.err = c.e.reduce(name, t, axes)
	}
	return r
}

func (c *chain) cast(t tensor.Any, d dtype.DType) (r tensor.Any) {
	if c.err == nil {
		r, c.err = c.e.cast(t, d)
	}
	return r
}

// The types that a reduction takes and gives.

func same(name string, d dtype.DType) (dtype.DType, error) { return sameAs(name)(name, d) }

// sameAs takes the types that an operator of package op takes.
func sameAs(o string) func(string, dtype.DType) (dtype.DType, error) {
	return func(name string, d dtype.DType) (dtype.DType, error) {
		if !named(o).Supports(d) || d.IsComplex() {
			return d, fail(name, op.ErrUnsupported, "elements of %v; Cast them first", d)
		}
		return d, nil
	}
}

func floats(name string, d dtype.DType) (dtype.DType, error) {
	if !d.IsFloat() {
		return d, fail(name, op.ErrUnsupported, "elements of %v; Cast them to a float first", d)
	}
	return d, nil
}

func mean(name string, d dtype.DType) (dtype.DType, error) {
	if d == dtype.Int64 || d == dtype.Uint64 {
		return d, fail(name, op.ErrUnsupported, "the sum of elements of %v may be beyond it; Cast them to float64 first", d)
	}
	return same(name, d)
}

func gives(d dtype.DType) func(string, dtype.DType) (dtype.DType, error) {
	return func(name string, of dtype.DType) (dtype.DType, error) {
		if _, err := same(name, of); err != nil {
			return d, err
		}
		return d, nil
	}
}

func truth(d dtype.DType) func(string, dtype.DType) (dtype.DType, error) {
	return func(name string, of dtype.DType) (dtype.DType, error) { return d, nil }
}

// The states.

func own(planes int) func(dtype.DType) (int, dtype.DType) {
	return func(d dtype.DType) (int, dtype.DType) { return planes, d }
}

func sums(planes int) func(dtype.DType) (int, dtype.DType) {
	return func(d dtype.DType) (int, dtype.DType) { return planes, sumType(d) }
}

// sumType is the type of a sum: of floats float64, of integers their own.
func sumType(d dtype.DType) dtype.DType {
	if d.IsFloat() {
		return dtype.Float64
	}
	return d
}

// meanType is the type of a sum that is exact for integers of less than 64 bits.
func meanType(d dtype.DType) dtype.DType {
	if d.IsFloat() {
		return dtype.Float64
	}
	return dtype.Int64
}

func kindOf(planes int, k dtype.DType) func(dtype.DType) (int, dtype.DType) {
	return func(dtype.DType) (int, dtype.DType) { return planes, k }
}

func means(d dtype.DType) (int, dtype.DType) { return 1, meanType(d) }

// places holds a value and where it is. A float64 holds both exactly, but for 64-bit integers.
func places(d dtype.DType) (int, dtype.DType) {
	if d == dtype.Int64 || d == dtype.Uint64 {
		return 2, d
	}
	return 2, dtype.Float64
}

// by returns the block of reductions of the elements.
func by(names ...string) func(*folded, *evaluator, tensor.Any, int) (tensor.Any, error) {
	return func(f *folded, e *evaluator, t tensor.Any, _ int) (tensor.Any, error) {
		c := chain{e: e}
		out := make([]tensor.Any, len(names))
		for i, name := range names {
			out[i] = c.reduce(name, t, f.axes)
		}
		return f.joined(&c, out...)
	}
}

// with returns the merge by an operator on all planes; ofTruth is another one, for truth values.
func with(name string, ofTruth ...string) func(*folded, *evaluator, tensor.Any, tensor.Any, int, int) (tensor.Any, error) {
	return func(f *folded, e *evaluator, a, b tensor.Any, _, _ int) (tensor.Any, error) {
		if f.acc == dtype.Bool && len(ofTruth) > 0 {
			return e.call(ofTruth[0], nil, a, b)
		}
		return e.call(name, nil, a, b)
	}
}

// then returns the finish by elementwise operators in float64, rounded to the result's type at the end.
func then(names ...string) func(*folded, *evaluator, tensor.Any, int) (tensor.Any, error) {
	return func(f *folded, e *evaluator, s tensor.Any, _ int) (tensor.Any, error) {
		c := chain{e: e}
		t := plane(s, 0)
		for _, name := range names {
			t = c.call(name, t)
		}
		return c.cast(t, f.result), c.err
	}
}

func scalar(v float64) tensor.Any { return tensor.Scalar(v).Any() }

// over divides the first plane by the count.
func over(f *folded, e *evaluator, s tensor.Any, n int) (tensor.Any, error) {
	c := chain{e: e}
	by := scalar(float64(n))
	if f.acc == dtype.Int64 {
		by = tensor.Scalar(int64(max(n, 1))).Any()
	}
	return c.cast(c.call("Div", plane(s, 0), by), f.result), c.err
}

// present is the state of NanMean: the sum of the elements that aren't NaN, and, as float64, their number.
func present(f *folded, e *evaluator, t tensor.Any, _ int) (tensor.Any, error) {
	c := chain{e: e}
	n := c.cast(c.call("Not", c.call("IsNaN", t)), dtype.Float64)
	return f.joined(&c, c.reduce("NanSum", t, f.axes), c.reduce("ReduceSum", n, f.axes))
}

// spread is the state of Var and Std: the mean, and the sum of the squares of the distances from it.
func spread(f *folded, e *evaluator, t tensor.Any, _ int) (tensor.Any, error) {
	n := 1
	for _, a := range f.axes {
		n *= t.Dim(a)
	}
	c := chain{e: e}
	v := c.reduce("Var", t, f.axes)
	return f.joined(&c, c.reduce("ReduceMean", t, f.axes), c.call("Mul", v, scalar(float64(n))))
}

// spreads joins two states of spread by the formulas of Chan, Golub and LeVeque, "Updating Formulae and a Pairwise
// Algorithm for Computing Sample Variances", 1979.
func spreads(f *folded, e *evaluator, a, b tensor.Any, na, nb int) (tensor.Any, error) {
	switch {
	case na == 0:
		return b, nil
	case nb == 0:
		return a, nil
	}
	x, y, n := float64(na), float64(nb), float64(na)+float64(nb)
	c := chain{e: e}
	d := c.call("Sub", plane(b, 0), plane(a, 0))
	mean := c.call("Add", plane(a, 0), c.call("Mul", d, scalar(y/n)))
	m := c.call("Add", c.call("Add", plane(a, 1), plane(b, 1)), c.call("Mul", c.call("Mul", d, d), scalar(x/n*y)))
	return f.joined(&c, mean, m)
}

func variance(names ...string) func(*folded, *evaluator, tensor.Any, int) (tensor.Any, error) {
	return func(f *folded, e *evaluator, s tensor.Any, n int) (tensor.Any, error) {
		c := chain{e: e}
		t := c.call("Div", plane(s, 1), scalar(float64(max(n-f.how.DDoF, 0))))
		for _, name := range names {
			t = c.call(name, t)
		}
		return c.cast(t, f.result), c.err
	}
}

// exps is the state of ReduceLogSumExp: the largest element m, and the sum of exp(x − m). Where m isn't finite, exp(x) is added.
func exps(f *folded, e *evaluator, t tensor.Any, _ int) (tensor.Any, error) {
	c := chain{e: e}
	m := c.reduce("ReduceMax", t, f.axes)
	shape := t.Shape()
	for _, a := range f.axes {
		shape[a] = 1
	}
	wide := m
	if c.err == nil {
		wide, c.err = tensor.Reshape(m, shape...)
	}
	return f.joined(&c, m, c.reduce("ReduceSum", c.call("Exp", c.call("Sub", t, c.finite(wide))), f.axes))
}

// finite returns t with 0 where it isn't finite.
func (c *chain) finite(t tensor.Any) tensor.Any {
	return c.call("Where", c.call("Equal", c.call("Sub", t, t), scalar(0)), t, scalar(0))
}

func mergeExps(f *folded, e *evaluator, a, b tensor.Any, _, _ int) (tensor.Any, error) {
	c := chain{e: e}
	m := c.call("Max", plane(a, 0), plane(b, 0))
	at := c.finite(m)
	term := func(s tensor.Any) tensor.Any { // 0 · exp(−∞) where a part has −∞ alone
		return c.call("Mul", plane(s, 1), c.call("Exp", c.call("Sub", plane(s, 0), at)))
	}
	sum := c.call("Add", term(a), term(b))
	return f.joined(&c, m, sum)
}

func finishExps(f *folded, e *evaluator, s tensor.Any, _ int) (tensor.Any, error) {
	c := chain{e: e}
	return c.cast(c.call("Add", c.call("Log", plane(s, 1)), c.finite(plane(s, 0))), f.result), c.err
}

// placed is the state of a place: the value, and its index on the axis.
func placed(value string) func(*folded, *evaluator, tensor.Any, int) (tensor.Any, error) {
	return func(f *folded, e *evaluator, t tensor.Any, at int) (tensor.Any, error) {
		c := chain{e: e}
		v := c.cast(c.reduce(value, t, f.axes), f.acc)
		i := f.choose(&c, t, f.axes[0])
		i = c.call("Add", i, tensor.Scalar(int64(at)).Any())
		return f.joined(&c, v, c.cast(i, f.acc))
	}
}

// choose runs the operator of a place along an axis.
func (f *folded) choose(c *chain, t tensor.Any, axis int) (r tensor.Any) {
	attrs := op.AttrMap{"axis": int64(axis), "keepdims": int64(0)}
	if f.how.Last {
		attrs["select_last_index"] = int64(1)
	}
	if c.err == nil {
		r, c.err = c.e.call(f.name, attrs, t)
	}
	return r
}

// nearer joins two places: the operator itself chooses between the values.
func nearer(f *folded, e *evaluator, a, b tensor.Any, _, _ int) (tensor.Any, error) {
	c := chain{e: e}
	both, err := f.joined(&c, plane(a, 0), plane(b, 0))
	if err != nil {
		return both, err
	}
	second := c.cast(f.choose(&c, both, 0), dtype.Bool)
	return c.call("Where", second, b, a), c.err
}

func index(f *folded, e *evaluator, s tensor.Any, _ int) (tensor.Any, error) {
	return e.cast(plane(s, 1), dtype.Int64)
}

func difference(f *folded, e *evaluator, s tensor.Any, _ int) (tensor.Any, error) {
	return e.call("Sub", nil, plane(s, 0), plane(s, 1))
}

// truths returns the block of a reduction of truth values, as numbers of the state's type.
func truths(name string) func(*folded, *evaluator, tensor.Any, int) (tensor.Any, error) {
	return func(f *folded, e *evaluator, t tensor.Any, _ int) (tensor.Any, error) {
		c := chain{e: e}
		return f.joined(&c, c.reduce(name, c.cast(c.cast(t, dtype.Bool), f.acc), f.axes))
	}
}

var reducers = map[string]*reducer{
	"ReduceSum":       {asSum: true, truth: "CountNonZero", sum: true, wide: sumType, result: same, state: sums(1), block: by("ReduceSum"), merge: with("Add"), finish: then()},
	"ReduceSumSquare": {asSum: true, wide: sumType, result: same, state: sums(1), block: by("ReduceSumSquare"), merge: with("Add"), finish: then()},
	"ReduceL1":        {asSum: true, wide: sumType, result: same, state: sums(1), block: by("ReduceL1"), merge: with("Add"), finish: then()},
	"ReduceProd":      {asSum: true, wide: sumType, result: same, state: sums(1), block: by("ReduceProd"), merge: with("Mul"), finish: then()},
	"ReduceL2":        {real: true, wide: sumType, result: floats, state: sums(1), block: by("ReduceSumSquare"), merge: with("Add"), finish: then("Sqrt")},
	"ReduceLogSum":    {sum: true, wide: sumType, result: floats, state: sums(1), block: by("ReduceSum"), merge: with("Add"), finish: then("Log")},
	"ReduceMean":      {real: true, sum: true, wide: meanType, result: mean, state: means, block: by("ReduceSum"), merge: with("Add"), finish: over},
	"ReduceLogSumExp": {wide: sumType, result: floats, state: sums(2), block: exps, merge: mergeExps, finish: finishExps},
	"ReduceMax":       {result: same, state: own(1), block: by("ReduceMax"), merge: with("Max", "Or"), finish: then()},
	"ReduceMin":       {result: same, state: own(1), block: by("ReduceMin"), merge: with("Min", "And"), finish: then()},
	"NanMax":          {plain: "ReduceMax", result: same, state: own(1), block: by("NanMax"), merge: with("FMax"), finish: then()},
	"NanMin":          {plain: "ReduceMin", result: same, state: own(1), block: by("NanMin"), merge: with("FMin"), finish: then()},
	"NanSum":          {plain: "ReduceSum", wide: sumType, result: same, state: sums(1), block: by("NanSum"), merge: with("Add"), finish: then()},
	"NanMean": {real: true, wide: sumType, result: same, state: sums(2), block: present, merge: with("Add"), finish: func(f *folded, e *evaluator, s tensor.Any, _ int) (tensor.Any, error) {
		c := chain{e: e}
		return c.cast(c.call("Div", plane(s, 0), plane(s, 1)), f.result), c.err
	}},
	"Var":          {then: "ddof=0, ", real: true, wide: sumType, result: same, state: sums(2), block: spread, merge: spreads, finish: variance()},
	"Std":          {then: "ddof=0, ", real: true, wide: sumType, result: same, state: sums(2), block: spread, merge: spreads, finish: variance("Sqrt")},
	"Ptp":          {result: sameAs("ReduceMax"), state: own(2), block: by("ReduceMax", "ReduceMin"), merge: widest, finish: difference},
	"ArgMax":       {place: true, result: gives(dtype.Int64), state: places, block: placed("ReduceMax"), merge: nearer, finish: index},
	"ArgMin":       {place: true, result: gives(dtype.Int64), state: places, block: placed("ReduceMin"), merge: nearer, finish: index},
	"NanArgMax":    {plain: "ArgMax", place: true, result: gives(dtype.Int64), state: places, block: placed("NanMax"), merge: nearer, finish: index},
	"NanArgMin":    {plain: "ArgMin", place: true, result: gives(dtype.Int64), state: places, block: placed("NanMin"), merge: nearer, finish: index},
	"Any":          {result: truth(dtype.Bool), state: kindOf(1, dtype.Bool), block: truths("ReduceMax"), merge: with("Or"), finish: then()},
	"All":          {result: truth(dtype.Bool), state: kindOf(1, dtype.Bool), block: truths("ReduceMin"), merge: with("And"), finish: then()},
	"CountNonZero": {result: truth(dtype.Int64), state: kindOf(1, dtype.Int64), block: truths("ReduceSum"), merge: with("Add"), finish: then()},
	"Median":       {real: true, result: quantiles, state: own(1), whole: quantile(0.5)},
	"Quantile":     {first: "q, ", real: true, result: quantiles, state: own(1), whole: quantile(-1)},
}

func widest(f *folded, e *evaluator, a, b tensor.Any, _, _ int) (tensor.Any, error) {
	c := chain{e: e}
	hi, lo := c.call("Max", plane(a, 0), plane(b, 0)), c.call("Min", plane(a, 1), plane(b, 1))
	return f.joined(&c, hi, lo)
}

// quantile returns the whole of Quantile, of the given part or, with a negative one, of the part that is asked for.
func quantile(q float64) func(*folded, *evaluator, tensor.Any) (tensor.Any, error) {
	return func(f *folded, e *evaluator, t tensor.Any) (r tensor.Any, err error) {
		if q < 0 {
			return quantile(f.how.Q)(f, e, t)
		}
		of := quantileTypes[t.DType()]
		err = tensor.Try(func() { r = of(t, q, f.axes, op.Context(e.ctx)) })
		return e.own(r), err
	}
}

// The operator takes q as a float32 at run time, which isn't exact.
var quantileTypes = map[dtype.DType]func(t tensor.Any, q float64, axes []int, o op.Option) tensor.Any{
	dtype.Float16: quantileOf[num.F16], dtype.BFloat16: quantileOf[num.BF16], dtype.Float32: quantileOf[float32], dtype.Float64: quantileOf[float64],
}

func quantileOf[T num.Floating](t tensor.Any, q float64, axes []int, o op.Option) tensor.Any {
	x, _ := tensor.As[T](t)
	return op.Quantile(x, q, axes, o).Any()
}

func quantiles(name string, d dtype.DType) (dtype.DType, error) {
	if quantileTypes[d] == nil {
		return d, fail(name, op.ErrUnsupported, "elements of %v; Cast them to a float of 16 bits or more first", d)
	}
	return d, nil
}
