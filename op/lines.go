package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// A liner is an operator that gives every line along an axis new values: Softmax and its
// like. Its rows are as exec.LineRow says; narrow floats use f32.
type liner struct {
	about
	f32   func(dst, w, a []float32, n int, stream bool)
	f64   func(dst, w, a []float64, n int, stream bool)
	fixed fixedMap
	fast  func(d dtype.DType, l cpu.Level) bool
}

// fixedMap has a function from a line to a line for each format; dst isn't x.
type fixedMap struct {
	FP8x23  func(dst, x []fixed.FP8x23, mode []fixed.Mode) error
	FP16x16 func(dst, x []fixed.FP16x16, mode []fixed.Mode) error
	FP32x32 func(dst, x []fixed.FP32x32, mode []fixed.Mode) error
	FP64x64 func(dst, x []fixed.FP64x64, mode []fixed.Mode) error
}

func (m *fixedMap) line(d dtype.DType, dst, x exec.Run, mode []fixed.Mode) error {
	switch d {
	case dtype.FP8x23:
		return m.FP8x23(exec.Of[fixed.FP8x23](dst), exec.Of[fixed.FP8x23](x), mode)
	case dtype.FP16x16:
		return m.FP16x16(exec.Of[fixed.FP16x16](dst), exec.Of[fixed.FP16x16](x), mode)
	case dtype.FP32x32:
		return m.FP32x32(exec.Of[fixed.FP32x32](dst), exec.Of[fixed.FP32x32](x), mode)
	}
	return m.FP64x64(exec.Of[fixed.FP64x64](dst), exec.Of[fixed.FP64x64](x), mode)
}

// along computes r from the lines of a along one axis.
func (o *liner) along(r, a *tensor.Any, axis int, opts []Option) {
	present(o.name, a)
	o.call(r, a, axisOf(o.name, axis, a.Rank()), 1, opts)
}

// call computes r from the lines of a, each of which has the tail axes from axis on.
func (o *liner) call(r, a *tensor.Any, axis, tail int, opts []Option) {
	present(o.name, a)
	s, d := read(opts), a.DType()
	must(o.name, o.Supports(d), d)
	var few [layout.Inline]int
	aimShape(r, o.name, &s, d, appendShape(few[:0], a.LayoutRef()))
	if d.IsFixed() {
		o.inFixed(r, a, axis, tail, &s)
		return
	}
	in := *a
	if exec.MustCopy(a, r) {
		in = a.Clone()
	}
	cost := 20
	if simd.Exp.Best() != nil {
		cost = quick(cost)
	}
	row := exec.Forget[exec.LineRow](o.f32)
	if d == dtype.Float64 {
		row = exec.Forget[exec.LineRow](o.f64)
	}
	exec.Lines(exec.Job{Name: o.name, Ctx: s.ctx(), Cost: cost}, &in, axis, tail, r, row, widenOf(d), narrowOf(d))
	drop(&in, a)
}

// inFixed is call for fixed point: lines of a copy with their axes last. An error names the
// element.
func (o *liner) inFixed(r, a *tensor.Any, axis, tail int, s *settings) {
	shape, d := a.Shape(), a.DType()
	if r.Len() == 0 {
		return
	}
	order := make([]int, 0, len(shape))
	for i := range shape {
		if i < axis || i >= axis+tail {
			order = append(order, i)
		}
	}
	for i := axis; i < axis+tail; i++ {
		order = append(order, i)
	}
	x := a.Permute(order...).Contiguous()
	y := tensor.EmptyOf(d, x.Shape()...)
	n, after := elements(shape[axis:axis+tail]), elements(shape[axis+tail:])
	from, to := exec.RunIn(&x), exec.RunIn(&y)
	modes := stateOf(s, d).modes
	var bad exec.Failure
	exec.Split(o.name, s.ctx(), x.Len()/n, 30*n, func(first, till int) {
		for l := first; l < till; l++ {
			err := o.fixed.line(d, exec.Part(to, d, l*n, n), exec.Part(from, d, l*n, n), modes)
			bad.Note((l/after*n+faultAt(err))*after+l%after, err)
		}
	})
	drop(&x, a)
	refuse(o.name, &bad, shape)
	back := make([]int, len(order))
	for i, at := range order {
		back[at] = i
	}
	r.CopyFrom(y.Permute(back...))
	y.Close()
}

// refuse panics if a result of a shape has an element that there isn't.
func refuse(name string, bad *exec.Failure, shape []int) {
	if bad.Err != nil {
		panic(unfit(name, unravel(bad.At, shape), bad.Err))
	}
}

// trying computes r by f, which may find elements that there aren't: of an Into target
// nothing is written then.
func trying(r *tensor.Any, name string, s *settings, d dtype.DType, shape []int, f func(out *tensor.Any, bad *exec.Failure)) {
	aimShape(r, name, s, d, shape)
	if r.Len() == 0 {
		return
	}
	out := *r
	if s.into != nil {
		out = tensor.EmptyOf(d, slices.Clone(shape)...)
	}
	bad := new(exec.Failure)
	f(&out, bad)
	refuse(name, bad, shape)
	if s.into != nil {
		r.CopyFrom(out)
	}
}

// faultAt returns which element of a row an error of package num names.
func faultAt(err error) int {
	if e, ok := err.(*fixed.Error); ok {
		return e.Index
	}
	return 0
}

// Supports reports whether the operand may hold d.
func (o *liner) Supports(d dtype.DType) bool { return (floats | fixeds).has(d) }

// lines checks a call and reads the axis, and how many axes make a line: one since opset 13.
func (o *liner) lines(c *Call) (axis, tail int) {
	needs(o.name, c, 1)
	takes(o.name, c, 1)
	d := c.in(0).DType()
	must(o.name, o.Supports(d), d)
	rank := c.in(0).Rank()
	if c.Opset >= 13 {
		return axisOf(o.name, attrInt(c, "axis", -1), rank), 1
	}
	axis = attrInt(c, "axis", 1)
	if axis == rank { // a line of nothing is one element
		return rank, 0
	}
	axis = axisOf(o.name, axis, rank)
	return axis, rank - axis
}

func (o *liner) has(d dtype.DType, l cpu.Level) bool { return o.fast != nil && o.fast(d, l) }

func (o *liner) effort() flops { return flops{each: 5} }

func (o *liner) plan(c *Call, p *Plan) {
	axis, tail := o.lines(c)
	a := c.with(o.name, 0)
	p.stretched(a.DType(), c, 1)
	p.by(c, 0, func(r *tensor.Any, opts []Option) { o.call(r, a, axis, tail, opts) })
}
