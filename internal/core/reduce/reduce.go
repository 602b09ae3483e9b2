package reduce

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/modes"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// An Operator makes one element of each sequence of elements along some axes. Its method
// Call is the operator.
type Operator struct {
	plan.About
	Takes    plan.Types
	Gives    dtype.DType // the type of the result, if it isn't the operand's
	Since    int         // the opset that made the axes an input
	Arg      bool        // it finds places on one axis, an attribute; the axis isn't empty
	Planes   bool        // it runs over all axes but the first two, which stay
	Collects bool        // it keeps the elements of a sequence
	Vector   bool        // in Orion, the result of a vector keeps its axis
	Cost     int         // of an element, in units of an addition; 0 means 1

	Folder func(r *exec.Reducer) exec.Folder
	Lines  func(d dtype.DType, out, x exec.Run, step, n int) bool
	Rows   func(d dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool
	Spare  exec.Pool                 // of folders; nil if they have a parameter
	Param  func(c *plan.Use) float64 // the parameter, by attributes; where it isn't 0 there are folders alone
	Check  func(p float64)           // refuses a parameter
}

// result returns the type of the result.
func (o *Operator) result(d dtype.DType) dtype.DType {
	if o.Gives != dtype.Invalid {
		return o.Gives
	}
	return d
}

// Call computes r from a over some axes. nil means all axes. p is the parameter.
func (o *Operator) Call(r, a *tensor.Any, axes []int, p float64, opts []plan.Option) {
	plan.Present(o.Name, a)
	d := a.DType()
	by := exec.Reducer{DType: d, P: p, Folder: o.Folder, Spare: o.Spare, Lines: o.Lines, Rows: o.Rows}
	if p != 0 {
		by.Lines, by.Rows, by.Spare = nil, nil, nil
	}
	if t := plan.Ready(opts, o.result(d)); t != nil && !o.Planes && exec.ReduceDense(a, t, axes, &by) {
		*r = *t
		return
	}
	o.general(r, a, axes, &by, opts)
}

// At is Call for one axis, which isn't empty.
func (o *Operator) At(r, a *tensor.Any, axis int, p float64, opts []plan.Option) {
	plan.Present(o.Name, a)
	axis = plan.AxisOf(o.Name, axis, a.Rank())
	refuseEmpty(o.Name, a.LayoutRef(), axis)
	o.Call(r, a, []int{axis}, p, opts)
}

// OverPlanes is Call for all axes but the first two.
func (o *Operator) OverPlanes(r, a *tensor.Any, opts []plan.Option) {
	plan.Present(o.Name, a)
	o.Call(r, a, PlaneAxes(o.Name, *a), 0, opts)
}

// general is Call for all other cases. Its frame is large, so it stays out of Call's.
//
//go:noinline
func (o *Operator) general(r, a *tensor.Any, list []int, by *exec.Reducer, opts []plan.Option) {
	d, s := by.DType, plan.ReadReduction(opts)
	plan.Must(o.Name, o.Takes.Has(d), d)
	if o.Check != nil {
		o.Check(by.P)
	}
	keep := o.keepsDims(&s, a.Rank())
	if o.Collects {
		if n := a.Len(); n > len(exec.Reach(a))/d.Size() { // too many elements to keep, if they repeat
			plan.Fits(o.Name, n, 8)
		}
	}
	if d.IsComplex() {
		o.parts(r, a, list, by.P, keep, opts)
		return
	}
	var x exec.Axes
	var few [modes.Inline]int
	shape := reduced(&x, few[:0], o.Name, a.LayoutRef(), list, keep)
	plan.AimShape(r, o.Name, &s, o.result(d), shape)
	in, out := *a, *r
	switch {
	case d.IsFixed():
		by.Modes, by.Spare = cast.StateOf(&s, d).Modes, nil
		if s.Into != nil { // nothing is written to it before all is right
			out = tensor.EmptyOf(r.DType(), shape...)
		}
	case conv.Overlap(exec.Reach(a), exec.Reach(r)):
		in = a.Clone()
		reduced(&x, few[:0], o.Name, in.LayoutRef(), list, keep) // the clone is dense, a may not have been
	}
	if bad := exec.Reduce(exec.Job{Name: o.Name, Ctx: s.Ctx(), Cost: max(o.Cost, 1)}, &in, &out, &x, by); bad != nil && bad.Err != nil {
		panic(cast.Unfit(o.Name, plan.Unravel(bad.At, shape), bad.Err))
	}
	plan.Drop(&in, a)
	if !out.SameData(*r) {
		r.CopyFrom(out)
		out.Close()
	}
}

func (o *Operator) keepsDims(s *plan.Settings, rank int) bool {
	return s.KeepDims || o.Planes || s.Orion && o.Vector && rank == 1
}

// parts is general for complex numbers. Their real and imaginary parts are reduced
// separately.
func (o *Operator) parts(r, a *tensor.Any, list []int, p float64, keep bool, opts []plan.Option) {
	s := plan.ReadReduction(opts)
	shape := ReducedShape(o.Name, a.LayoutRef(), list, keep)
	plan.AimShape(r, o.Name, &s, a.DType(), shape)
	in := plan.WithoutInto(opts)
	if keep {
		in = append(in, plan.WithFlags(plan.KeepDims))
	}
	var re, im tensor.Any
	x, y := a.Real(), a.Imag()
	o.Call(&re, &x, list, p, in)
	o.Call(&im, &y, list, p, in)
	r.Real().CopyFrom(re)
	r.Imag().CopyFrom(im)
}

// reduced sorts out the axes of a reduction, where nil means all, and appends the result's
// extents to shape.
func reduced(x *exec.Axes, shape []int, name string, lay *layout.Layout, list []int, keepDims bool) []int {
	rank := walk.Ref(lay).Rank()
	var few [modes.Inline]bool
	gone := append(few[:0], make([]bool, rank)...)
	for _, a := range list {
		i := plan.AxisOf(name, a, rank)
		if gone[i] {
			panic(plan.Fail(name, tensor.ErrAxis, "axis %d is named twice in %s", a, plan.ListText(list)))
		}
		gone[i] = true
	}
	for i := range gone {
		gone[i] = gone[i] || list == nil
	}
	return x.Set(lay, gone, keepDims, shape)
}

// ReducedShape returns the result's extents alone.
func ReducedShape(name string, lay *layout.Layout, list []int, keepDims bool) []int {
	return reduced(new(exec.Axes), nil, name, lay, list, keepDims)
}

// Supports reports whether the operand may hold d.
func (o *Operator) Supports(d dtype.DType) bool { return o.Takes.Has(d) }

// Args checks a call and reads the axes of a reduction: an attribute before the opset that
// made them an input. No axes means all, unless noop_with_empty_axes is set.
func (o *Operator) Args(c *plan.Use) (axes []int, keep bool) {
	plan.Needs(o.Name, c, 1)
	if o.Arg || o.Planes {
		plan.Takes(o.Name, c, 1)
	} else {
		plan.Takes(o.Name, c, 2)
	}
	d := c.In(0).DType()
	plan.Must(o.Name, o.Takes.Has(d), d)
	switch keep = c.Attrs.Int("keepdims", 1) != 0; {
	case o.Planes:
		return PlaneAxes(o.Name, c.In(0)), true
	case o.Arg:
		lay := c.In(0).Layout()
		axis := plan.AxisOf(o.Name, plan.AttrInt(c, "axis", 0), lay.Rank())
		refuseEmpty(o.Name, &lay, axis)
		return []int{axis}, keep
	}
	axes, _ = AxesArg(o.Name, c, o.Since)
	if len(axes) == 0 {
		axes = nil
		if c.Opset >= o.Since && c.Attrs.Int("noop_with_empty_axes", 0) != 0 {
			axes = []int{}
		}
	}
	return axes, keep
}

func (o *Operator) Effort() plan.FLOPs { return plan.FLOPs{Read: 1} }

func (o *Operator) Scratch(p *plan.Draft, out []tensor.Any) float64 {
	in := p.Call.Inputs
	switch d := plan.Nth(in, 0).DType(); {
	case d.IsFixed():
		return plan.Room(0, in, out)
	case o.Collects && len(out) > 0: // a sequence, and its keys twice, with the memory that append no longer uses
		return float64(float64(exec.Workers(p.Call.Context))*float64(5*d.Size()+8)) * plan.Room(1, in[:1]) / max(1, plan.Room(1, out[:1]))
	}
	return 0
}

func (o *Operator) Plan(c *plan.Use, p *plan.Draft) {
	axes, keep := o.Args(c)
	a := c.With(o.Name, 0)
	if !p.Brief {
		p.Gives(o.result(a.DType()), ReducedShape(o.Name, a.LayoutRef(), axes, keep)...)
	}
	var param float64
	if o.Param != nil {
		param = o.Param(c)
	}
	var flags plan.Flags
	if keep {
		flags = plan.KeepDims
	}
	p.Last, p.ByInput = !o.Collects, true // it folds the elements as they lie
	p.By(c, flags, func(r *tensor.Any, opts []plan.Option) { o.Call(r, a, axes, param, opts) })
}

// refuseEmpty panics when there is an output with no element to choose from.
func refuseEmpty(name string, lay *layout.Layout, axis int) {
	for i := range walk.Ref(lay).Rank() {
		if (walk.Ref(lay).Dim(i) == 0) != (i == axis) {
			return
		}
	}
	panic(plan.Fail(name, tensor.ErrShape, "axis %d of shape %s is empty; nothing has no largest or smallest element", axis, lay.ShapeString()))
}

// PlaneAxes returns the axes after the first two.
func PlaneAxes(name string, x tensor.Any) []int {
	lay := x.Layout()
	axes := make([]int, len(plan.Spatial(name, &lay)))
	for i := range axes {
		axes[i] = i + 2
	}
	return axes
}

// A Terms folds elements of a float type to a number. The number is rounded once.
type Terms[C num.Float] interface {
	Begin()
	Add(x []C)
	Total() float64
}

// TermsFolder makes the folder of a float type from terms of float32, or float64 for itself.
func TermsFolder(r *exec.Reducer, f32 Terms[float32], f64 Terms[float64]) exec.Folder {
	if r.DType == dtype.Float64 {
		return &Rounded[float64]{Terms: f64, Dtype: r.DType}
	}
	return &Rounded[float32]{Terms: f32, Dtype: r.DType, widen: cast.WidenOf(r.DType)}
}

// Rounded is the folder of terms. It makes NaNs canonical.
type Rounded[C num.Float] struct {
	Terms[C]
	widen exec.Row1 // nil when C is the type of the elements
	wide  []C
	Dtype dtype.DType
}

func (f *Rounded[C]) Start() { f.Begin() }

func (f *Rounded[C]) Take(x exec.Run) {
	if f.widen == nil {
		f.Add(exec.Of[C](x))
		return
	}
	if len(f.wide) < len(x) {
		f.wide = make([]C, len(x))
	}
	wide := f.wide[:len(x)]
	f.widen(exec.RunOf(wide), x)
	f.Add(wide)
}

func (f *Rounded[C]) Again() bool {
	p, ok := f.Terms.(interface{ Again() bool })
	return ok && p.Again()
}

func (f *Rounded[C]) Result(out exec.Run) error {
	move.NumericIn(out, f.Dtype).SetFloat(0, f.Total())
	return nil
}

// AxesArg returns the axes of a node: input 1 from the opset that made them an input, an
// attribute before. ok is false when there are none.
func AxesArg(name string, c *plan.Use, inputSince int) (axes []int, ok bool) {
	if c.Opset < inputSince {
		plan.Takes(name, c, 1)
		return plan.AttrInts(c, "axes")
	}
	return move.Ints(name, c, 1)
}
