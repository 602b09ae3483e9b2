package reduce

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/modes"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Liner is an operator that gives every line along an axis new values: Softmax and its
// like. Its rows obey exec.LineRow. Narrow floats use F32.
type Liner struct {
	plan.About
	F32   func(dst, w, a []float32, n int, stream bool)
	F64   func(dst, w, a []float64, n int, stream bool)
	Fixed FixedMap
}

// FixedMap has a function from a line to a line for each format. dst isn't x.
type FixedMap struct {
	FP8x23  func(dst, x []fixed.FP8x23, mode []fixed.Mode) error
	FP16x16 func(dst, x []fixed.FP16x16, mode []fixed.Mode) error
	FP32x32 func(dst, x []fixed.FP32x32, mode []fixed.Mode) error
	FP64x64 func(dst, x []fixed.FP64x64, mode []fixed.Mode) error
}

func (m *FixedMap) line(d dtype.DType, dst, x exec.Run, mode []fixed.Mode) error {
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

// Along computes r from the lines of a along one axis.
func (o *Liner) Along(r, a *tensor.Any, axis int, opts []plan.Option) {
	plan.Present(o.Name, a)
	o.Call(r, a, plan.AxisOf(o.Name, axis, a.Rank()), 1, opts)
}

// Call computes r from the lines of a. A line has the tail axes from axis on.
func (o *Liner) Call(r, a *tensor.Any, axis, tail int, opts []plan.Option) {
	plan.Present(o.Name, a)
	s, d := plan.Read(o.Name, opts), a.DType()
	plan.Must(o.Name, o.Supports(d), d)
	var few [modes.Inline]int
	plan.AimShape(r, o.Name, &s, d, plan.AppendShape(few[:0], a.LayoutRef()))
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
		cost = plan.Quick(cost)
	}
	row := exec.Forget[exec.LineRow](o.F32)
	if d == dtype.Float64 {
		row = exec.Forget[exec.LineRow](o.F64)
	}
	exec.Lines(exec.Job{Name: o.Name, Ctx: s.Ctx(), Cost: cost}, &in, axis, tail, r, row, cast.WidenOf(d), cast.NarrowOf(d))
	plan.Drop(&in, a)
}

// inFixed is Call for fixed point. It takes lines of a copy with their axes last. An error
// names the element.
func (o *Liner) inFixed(r, a *tensor.Any, axis, tail int, s *plan.Settings) {
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
	n, after := plan.Elements(shape[axis:axis+tail]), plan.Elements(shape[axis+tail:])
	from, to := exec.RunIn(&x), exec.RunIn(&y)
	modes := cast.StateOf(s, d).Modes
	var bad exec.Failure
	exec.Split(o.Name, s.Ctx(), x.Len()/n, 30*n, func(first, till int) {
		for l := first; l < till; l++ {
			err := o.Fixed.line(d, exec.Part(to, d, l*n, n), exec.Part(from, d, l*n, n), modes)
			bad.Note((l/after*n+FaultAt(err))*after+l%after, err)
		}
	})
	plan.Drop(&x, a)
	cast.Refuse(o.Name, &bad, shape)
	back := make([]int, len(order))
	for i, at := range order {
		back[at] = i
	}
	r.CopyFrom(y.Permute(back...))
	y.Close()
}

// Trying computes r by f, which may find elements without a result. Then nothing is written
// to an Into target.
func Trying(r *tensor.Any, name string, s *plan.Settings, d dtype.DType, shape []int, f func(out *tensor.Any, bad *exec.Failure)) {
	plan.AimShape(r, name, s, d, shape)
	if r.Len() == 0 {
		return
	}
	out := *r
	if s.Into != nil {
		out = tensor.EmptyOf(d, slices.Clone(shape)...)
	}
	bad := new(exec.Failure)
	f(&out, bad)
	cast.Refuse(name, bad, shape)
	if s.Into != nil {
		r.CopyFrom(out)
	}
}

// FaultAt returns the element of a row that an error of package fixed names.
func FaultAt(err error) int {
	if e, ok := err.(*fixed.Error); ok {
		return e.Index
	}
	return 0
}

// Supports reports whether the operand may hold d.
func (o *Liner) Supports(d dtype.DType) bool { return (plan.Floats | plan.Fixeds).Has(d) }

// lines checks a call and reads the axis, and the number of axes of a line: one since opset
// 13.
func (o *Liner) lines(c *plan.Use) (axis, tail int) {
	plan.Needs(o.Name, c, 1)
	plan.Takes(o.Name, c, 1)
	d := c.In(0).DType()
	plan.Must(o.Name, o.Supports(d), d)
	rank := c.In(0).Rank()
	if c.Opset >= 13 {
		return plan.AxisOf(o.Name, plan.AttrInt(c, "axis", -1), rank), 1
	}
	axis = plan.AttrInt(c, "axis", 1)
	if axis == rank { // a line without axes is one element
		return rank, 0
	}
	axis = plan.AxisOf(o.Name, axis, rank)
	return axis, rank - axis
}

func (o *Liner) Effort() plan.FLOPs { return plan.FLOPs{Each: 5} }

func (o *Liner) Scratch(p *plan.Draft, out []tensor.Any) float64 {
	if plan.Nth(p.Call.Inputs, 0).DType().IsFixed() {
		return plan.Room(0, p.Call.Inputs, out)
	}
	return 0
}

func (o *Liner) Plan(c *plan.Use, p *plan.Draft) {
	axis, tail := o.lines(c)
	a := c.With(o.Name, 0)
	p.Stretched(a.DType(), c, 1)
	p.Last, p.ByInput = true, true
	p.ByLines = axis+tail == a.Rank() && tail == 1
	p.By(c, 0, func(r *tensor.Any, opts []plan.Option) { o.Call(r, a, axis, tail, opts) })
}
