package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// KeepDims leaves the reduced axes in the result, with extent 1.
func KeepDims() Option { return Option{flags: keepDims} }

// A reduction is an operator that makes one element of each sequence of elements along some
// axes. Its method call is the operator.
type reduction struct {
	about
	takes    types
	gives    dtype.DType // the type of the result, if it isn't the operand's
	since    int         // the opset that made the axes an input
	arg      bool        // it finds places on one axis, an attribute, which isn't empty
	planes   bool        // it runs over all axes but the first two, which stay
	collects bool        // it keeps the elements of a sequence
	cost     int         // of an element, in units of an addition; 0 means 1

	folder func(r *exec.Reducer) exec.Folder
	lines  func(d dtype.DType, out, x exec.Run, step, n int) bool
	rows   func(d dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool
	spare  *sync.Pool            // of folders; nil where they have a parameter
	param  func(c *Call) float64 // the parameter, by attributes; with another than 0 there are folders alone
	check  func(p float64)       // refuses a parameter
	fast   func(d dtype.DType, l cpu.Level) bool
}

// result returns the type of the result.
func (o *reduction) result(d dtype.DType) dtype.DType {
	if o.gives != dtype.Invalid {
		return o.gives
	}
	return d
}

// call computes r from a over some axes, of which nil means all. p is the parameter.
func (o *reduction) call(r, a *tensor.Any, axes []int, p float64, opts []Option) {
	present(o.name, a)
	d := a.DType()
	by := exec.Reducer{DType: d, P: p, Folder: o.folder, Spare: o.spare, Lines: o.lines, Rows: o.rows}
	if p != 0 {
		by.Lines, by.Rows, by.Spare = nil, nil, nil
	}
	if t := ready(opts, o.result(d)); t != nil && !o.planes && exec.ReduceDense(a, t, axes, &by) {
		*r = *t
		return
	}
	o.general(r, a, axes, &by, opts)
}

// at is call for one axis, which isn't empty.
func (o *reduction) at(r, a *tensor.Any, axis int, p float64, opts []Option) {
	present(o.name, a)
	axis = axisOf(o.name, axis, a.Rank())
	refuseEmpty(o.name, a.LayoutRef(), axis)
	o.call(r, a, []int{axis}, p, opts)
}

// overPlanes is call for all axes but the first two.
func (o *reduction) overPlanes(r, a *tensor.Any, opts []Option) {
	present(o.name, a)
	o.call(r, a, planeAxes(o.name, *a), 0, opts)
}

// general is call for all other cases. Its frame is large, so it stays out of call's.
//
//go:noinline
func (o *reduction) general(r, a *tensor.Any, list []int, by *exec.Reducer, opts []Option) {
	d, s := by.DType, read(opts)
	must(o.name, o.takes.has(d), d)
	if o.check != nil {
		o.check(by.P)
	}
	keep := o.keepsDims(&s, a.Rank())
	if o.collects {
		if n := a.Len(); n > len(exec.Reach(a))/d.Size() { // elements that repeat may be too many to be kept
			fits(o.name, n, 8)
		}
	}
	if d.IsComplex() {
		o.parts(r, a, list, by.P, keep, opts)
		return
	}
	var x exec.Axes
	var few [layout.Inline]int
	shape := reduced(&x, few[:0], o.name, a.LayoutRef(), list, keep)
	aimShape(r, o.name, &s, o.result(d), shape)
	in, out := *a, *r
	switch {
	case d.IsFixed():
		by.Modes, by.Spare = stateOf(&s, d).modes, nil
		if s.into != nil { // of which nothing is written before all is right
			out = tensor.EmptyOf(r.DType(), shape...)
		}
	case conv.Overlap(exec.Reach(a), exec.Reach(r)):
		in = a.Clone()
		reduced(&x, few[:0], o.name, in.LayoutRef(), list, keep) // the clone is dense, a may not have been
	}
	if bad := exec.Reduce(exec.Job{Name: o.name, Ctx: s.ctx(), Cost: max(o.cost, 1)}, &in, &out, &x, by); bad != nil && bad.Err != nil {
		panic(unfit(o.name, unravel(bad.At, shape), bad.Err))
	}
	drop(&in, a)
	if !out.SameData(*r) {
		r.CopyFrom(out)
		out.Close()
	}
}

func (o *reduction) keepsDims(s *settings, rank int) bool {
	return s.keepDims || o.planes || s.orion && o.orion != nil && o.orion.vector && rank == 1
}

// parts is general for complex numbers, whose parts are reduced by themselves.
func (o *reduction) parts(r, a *tensor.Any, list []int, p float64, keep bool, opts []Option) {
	s := read(opts)
	shape := reducedShape(o.name, a.LayoutRef(), list, keep)
	aimShape(r, o.name, &s, a.DType(), shape)
	in := withoutInto(opts)
	if keep {
		in = append(in, KeepDims())
	}
	var re, im tensor.Any
	x, y := a.Real(), a.Imag()
	o.call(&re, &x, list, p, in)
	o.call(&im, &y, list, p, in)
	r.Real().CopyFrom(re)
	r.Imag().CopyFrom(im)
}

// reduced sorts out the axes of a reduction, of which nil means all, and appends the
// result's extents to shape.
func reduced(x *exec.Axes, shape []int, name string, lay *layout.Layout, list []int, keepDims bool) []int {
	rank := lay.Rank()
	var few [layout.Inline]bool
	gone := append(few[:0], make([]bool, rank)...)
	for _, a := range list {
		i := axisOf(name, a, rank)
		if gone[i] {
			panic(fail(name, tensor.ErrAxis, "axis %d is named twice in %s", a, listText(list)))
		}
		gone[i] = true
	}
	for i := range gone {
		gone[i] = gone[i] || list == nil
	}
	return x.Set(lay, gone, keepDims, shape)
}

// reducedShape returns the result's extents alone.
func reducedShape(name string, lay *layout.Layout, list []int, keepDims bool) []int {
	return reduced(new(exec.Axes), nil, name, lay, list, keepDims)
}

// Supports reports whether the operand may hold d.
func (o *reduction) Supports(d dtype.DType) bool { return o.takes.has(d) }

// args checks a call and reads the axes of a reduction: an attribute before the opset that
// made them an input. No axes means all, unless noop_with_empty_axes.
func (o *reduction) args(c *Call) (axes []int, keep bool) {
	needs(o.name, c, 1)
	if o.arg || o.planes {
		takes(o.name, c, 1)
	} else {
		takes(o.name, c, 2)
	}
	d := c.in(0).DType()
	must(o.name, o.takes.has(d), d)
	switch keep = c.Attrs.Int("keepdims", 1) != 0; {
	case o.planes:
		return planeAxes(o.name, c.in(0)), true
	case o.arg:
		lay := c.in(0).Layout()
		axis := axisOf(o.name, attrInt(c, "axis", 0), lay.Rank())
		refuseEmpty(o.name, &lay, axis)
		return []int{axis}, keep
	}
	axes, _ = axesArg(o.name, c, o.since)
	if len(axes) == 0 {
		axes = nil
		if c.Opset >= o.since && c.Attrs.Int("noop_with_empty_axes", 0) != 0 {
			axes = []int{}
		}
	}
	return axes, keep
}

func (o *reduction) has(d dtype.DType, l cpu.Level) bool { return o.fast != nil && o.fast(d, l) }

func (o *reduction) effort() flops { return flops{read: 1} }

func (o *reduction) plan(c *Call, p *Plan) {
	axes, keep := o.args(c)
	a := c.with(o.name, 0)
	if !p.brief {
		p.gives(o.result(a.DType()), reducedShape(o.name, a.LayoutRef(), axes, keep)...)
	}
	var param float64
	if o.param != nil {
		param = o.param(c)
	}
	var flags flags
	if keep {
		flags = keepDims
	}
	p.by(c, flags, func(r *tensor.Any, opts []Option) { o.call(r, a, axes, param, opts) })
}

// refuseEmpty panics when there is an output with no element to choose from.
func refuseEmpty(name string, lay *layout.Layout, axis int) {
	for i := range lay.Rank() {
		if (lay.Dim(i) == 0) != (i == axis) {
			return
		}
	}
	panic(fail(name, tensor.ErrShape, "axis %d of shape %s is empty; nothing has no largest or smallest element", axis, lay.ShapeString()))
}

// planeAxes returns the axes after the first two.
func planeAxes(name string, x tensor.Any) []int {
	lay := x.Layout()
	axes := make([]int, len(spatial(name, &lay)))
	for i := range axes {
		axes[i] = i + 2
	}
	return axes
}

// A terms folds elements of a float type to a number, which is rounded once.
type terms[C num.Float] interface {
	start()
	take(x []C)
	total() float64
}

// termsFolder makes the folder of a float type from terms of float32, or float64 for itself.
func termsFolder(r *exec.Reducer, f32 terms[float32], f64 terms[float64]) exec.Folder {
	if r.DType == dtype.Float64 {
		return &rounded[float64]{terms: f64, dtype: r.DType}
	}
	return &rounded[float32]{terms: f32, dtype: r.DType, widen: widenOf(r.DType)}
}

// rounded is the folder of terms. NaNs come out canonical.
type rounded[C num.Float] struct {
	terms[C]
	widen exec.Row1 // nil when C are the elements themselves
	wide  []C
	dtype dtype.DType
}

func (f *rounded[C]) Start() { f.start() }

func (f *rounded[C]) Take(x exec.Run) {
	if f.widen == nil {
		f.take(exec.Of[C](x))
		return
	}
	if f.wide == nil {
		f.wide = make([]C, exec.FoldLen)
	}
	wide := f.wide[:len(x)]
	f.widen(exec.RunOf(wide), x)
	f.take(wide)
}

func (f *rounded[C]) Again() bool {
	p, ok := f.terms.(interface{ again() bool })
	return ok && p.again()
}

func (f *rounded[C]) Result(out exec.Run) error {
	numericIn(out, f.dtype).setFloat(0, f.total())
	return nil
}
