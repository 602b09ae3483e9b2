package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// opCase is one call of a NumPy function.
type opCase struct {
	ID        string
	Op        string
	In        []*array
	Args      map[string]json.RawMessage
	Out       []*array
	Error     *struct{ Type, Msg string }
	Tol       string
	Defined   []bool
	Saturated []json.RawMessage
}

func numpyOp(raw json.RawMessage, _ string) (string, func() error, error) {
	c := new(opCase)
	if err := strict(raw, c); err != nil {
		return "", nil, err
	}
	return c.ID, c.run, nil
}

func (c *opCase) run() error {
	f := numpyOps[c.Op]
	if f == nil {
		return unsupported{"no counterpart of NumPy's " + c.Op}
	}
	in := make([]tensor.Any, len(c.In))
	for i, a := range c.In {
		var err error
		if in[i], err = a.tensor(); err != nil {
			return err
		}
	}
	got, err := f(&numpyCall{c: c}, in)
	var u unsupported
	switch {
	case errors.As(err, &u):
		return err
	case c.Error != nil:
		if err == nil {
			return fmt.Errorf("got %d results, want an error: %s", len(got), c.Error.Msg)
		}
		var typed *tensor.Error
		if !errors.As(err, &typed) {
			return fmt.Errorf("the error isn't a *tensor.Error: %w", err)
		}
		return nil
	case err != nil:
		return err
	case len(got) != len(c.Out):
		return fmt.Errorf("got %d results, want %d", len(got), len(c.Out))
	}
	for i, a := range c.Out {
		if err := c.compare(got[i], a, in); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

// compare compares one result within the tolerance that the case names.
func (c *opCase) compare(got tensor.Any, a *array, in []tensor.Any) error {
	if c.Defined != nil && c.Saturated != nil { // the promised elements where NumPy leaves them open
		a = &array{a.DType, a.Shape, slices.Clone(a.Data)}
		for i, ok := range c.Defined {
			if !ok {
				a.Data[i] = c.Saturated[i]
			}
		}
	}
	want, err := a.tensor()
	if err != nil {
		return err
	}
	g, w, err := bothValues(got, want)
	if err != nil {
		return err
	}
	d := want.DType()
	terms := 0.0
	if c.Tol == "sum" && d.IsFloat() {
		terms = magnitude(in)
	}
	for i := range w {
		if !c.within(g[i], w[i], d, terms) {
			return fmt.Errorf("element %d: got %v, want %v", i, g[i], w[i])
		}
	}
	return nil
}

// magnitude is a bound on the sum of the absolute values of the terms: the product
// of the operands' own sums.
func magnitude(in []tensor.Any) float64 {
	m := 1.0
	for _, a := range in {
		v, err := values(a)
		if err != nil {
			return 0
		}
		s := 0.0
		for _, x := range v {
			if f, ok := x.(float64); ok && !math.IsNaN(f) && !math.IsInf(f, 0) {
				s += math.Abs(f)
			}
		}
		m *= max(s, 1)
	}
	return m
}

func (c *opCase) within(got, want any, d dtype.DType, terms float64) bool {
	g, ok := got.(float64)
	if !ok {
		return got == want
	}
	w := want.(float64)
	switch c.Tol {
	case "exact":
		return near(g, w, exactly, true)
	case "arith":
		return ulps(g, w, d) <= 1
	case "math":
		if d == dtype.Float16 {
			return ulps(g, w, d) <= 1
		}
		tiny := 1e-44
		if d == dtype.Float64 {
			tiny = 1e-300
		}
		return math.Abs(g-w) <= tiny || ulps(g, w, d) <= 4
	case "sum":
		rtol := map[dtype.DType]float64{dtype.Float16: 2e-3, dtype.Float32: 1e-5, dtype.Float64: 1e-12}[d]
		return near(g, w, tolerance{rtol: rtol, atol: float64(rtol * terms)}, true)
	}
	return false
}

// ulps is how many numbers of a type lie between two; infinite for numbers that can't be
// counted.
func ulps(g, w float64, d dtype.DType) float64 {
	switch {
	case g == w || g != g && w != w:
		return 0
	case g != g || w != w:
		return math.Inf(1)
	}
	bits, least := 52, -1074
	switch d {
	case dtype.Float32:
		bits, least = 23, -149
	case dtype.Float16:
		bits, least = 10, -24
	}
	most := map[int]float64{52: math.MaxFloat64, 23: math.MaxFloat32, 10: 65504}[bits]
	g, w = max(-most, min(g, most)), max(-most, min(w, most)) // ∞ is one step above the largest
	_, e := math.Frexp(max(math.Abs(g), math.Abs(w)))
	return math.Abs(g-w) / math.Ldexp(1, max(e-1-bits, least))
}

type attrs = op.AttrMap

// numpyCall is a case being run: it reads arguments and calls operators.
type numpyCall struct{ c *opCase }

// arg reads an argument into to; absent and null leave it alone and give false.
func (n *numpyCall) arg(name string, to any) bool {
	raw, ok := n.c.Args[name]
	if !ok || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, to); err != nil {
		panic(fmt.Sprintf("argument %s of %s: %v", name, n.c.Op, err))
	}
	return true
}

// call runs an operator by name, with the meaning of an opset whose reductions take
// their axes as an attribute.
func call(name string, in []tensor.Any, a attrs) ([]tensor.Any, error) {
	return callOpset(name, 11, in, a)
}

func callOpset(name string, opset int, in []tensor.Any, a attrs) ([]tensor.Any, error) {
	o, ok := all.Lookup(name)
	if !ok {
		return nil, unsupported{"no operator " + name}
	}
	if len(in) > 0 && !in[0].IsZero() && !o.Supports(in[0].DType()) {
		return nil, unsupported{fmt.Sprintf("%s is not defined for %v", name, in[0].DType())}
	}
	return o.Run(&op.Call{Inputs: in, Attrs: a, Opset: opset})
}

// cast converts an operand.
func cast(t tensor.Any, d dtype.DType) tensor.Any {
	if t.DType() == d {
		return t
	}
	like, err := tensor.NewSpec(d)
	if err != nil {
		panic(err)
	}
	out, err := call("CastLike", []tensor.Any{t, like.Any()}, attrs{})
	if err != nil {
		panic(err)
	}
	return out[0]
}

// common casts operands to the type that NumPy would compute in. NumPy 1.24 looks at
// the values of scalars beside arrays, which no table can say: then the
// result type that the case names decides.
func (n *numpyCall) common(in []tensor.Any) ([]tensor.Any, error) {
	scalars := slices.ContainsFunc(in, func(a tensor.Any) bool { return a.Rank() == 0 })
	arrays := slices.ContainsFunc(in, func(a tensor.Any) bool { return a.Rank() > 0 })
	if scalars && arrays && n.c.Out != nil && n.c.Out[0].DType != "bool" {
		d, err := dtype.Parse(n.c.Out[0].DType)
		if err != nil {
			return nil, unsupported{err.Error()}
		}
		return castAll(in, d), nil
	}
	d := in[0].DType()
	for _, a := range in[1:] {
		p, ok := dtype.Promote(d, a.DType())
		if !ok {
			return nil, fmt.Errorf("no promotion of %v and %v", d, a.DType())
		}
		d = p
	}
	return castAll(in, d), nil
}

func castAll(in []tensor.Any, d dtype.DType) []tensor.Any {
	out := make([]tensor.Any, len(in))
	for i, a := range in {
		out[i] = cast(a, d)
	}
	return out
}

// realOf is the type of the results of functions that leave the integers.
func realOf(d dtype.DType) dtype.DType {
	if d.IsFloat() || d.IsComplex() {
		return d
	}
	return dtype.Float64
}

type numpyFunc func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error)

// promoted is an elementwise function of operands of one type.
func promoted(name string) numpyFunc {
	return func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		in, err := n.common(in)
		if err != nil {
			return nil, err
		}
		return call(name, in, attrs{})
	}
}

// inFloats is promoted for functions that leave the integers.
func inFloats(name string) numpyFunc {
	return func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		in, err := n.common(in)
		if err != nil {
			return nil, err
		}
		return call(name, castAll(in, realOf(in[0].DType())), attrs{})
	}
}

func logical(name string) numpyFunc {
	return func(_ *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		return call(name, castAll(in, dtype.Bool), attrs{})
	}
}

// reduction is a function over axes; to gives the type that integers become first.
func reduction(name string, to func(dtype.DType) dtype.DType) numpyFunc {
	return func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		a := attrs{"keepdims": int64(0)}
		var keep bool
		if n.arg("keepdims", &keep); keep {
			a["keepdims"] = int64(1)
		}
		var axes []int64
		if n.arg("axis", &axes) {
			a["axes"] = axes
		}
		var ddof int64
		if n.arg("ddof", &ddof) {
			a["ddof"] = ddof
		}
		return call(name, castAll(in, to(in[0].DType())), a)
	}
}

// argReduction is one over a single axis, or over all elements in order.
func argReduction(name string) numpyFunc {
	return func(n *numpyCall, in []tensor.Any) ([]tensor.Any, error) {
		a := attrs{"keepdims": int64(0)}
		var keep bool
		if n.arg("keepdims", &keep); keep {
			a["keepdims"] = int64(1)
		}
		x, rank := in[0], in[0].Rank()
		if x.DType() == dtype.Bool {
			x = cast(x, dtype.Uint8)
		}
		var axes []int64
		if n.arg("axis", &axes) {
			if len(axes) != 1 {
				return nil, unsupported{"several axes"}
			}
			a["axis"] = axes[0]
		} else {
			flat, err := tensor.Reshape(x, -1)
			if err != nil {
				return nil, err
			}
			x, a["axis"] = flat, int64(0)
		}
		out, err := call(name, []tensor.Any{x}, a)
		if err == nil && keep && axes == nil {
			shape := slices.Repeat([]int{1}, rank)
			out[0], err = tensor.Reshape(out[0], shape...)
		}
		return out, err
	}
}

func same(d dtype.DType) dtype.DType { return d }

// summable is the type that NumPy adds up in.
func summable(d dtype.DType) dtype.DType {
	switch {
	case d == dtype.Bool || d.IsSigned() && d.IsInteger():
		return dtype.Int64
	case d.IsInteger():
		return dtype.Uint64
	}
	return d
}
