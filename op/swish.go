package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Swish returns x·Sigmoid(alpha·x). Each of the three steps is rounded to T. SiLU is Swish with an alpha of 1. −∞ becomes NaN, as −∞·0 is. ONNX
// Swish, and QuickGelu of the domain com.microsoft, whose alpha is 1.702 unless the attribute says otherwise. Source of the latter:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
func Swish[T num.Floating](x tensor.Tensor[T], alpha float64, opts ...Option) (r tensor.Tensor[T]) {
	swished(exec.Ref(&r), "Swish", exec.Ref(&x), alpha, opts)
	return r
}

// swished is Swish for a run-time element type.
func swished(r *tensor.Any, name string, x *tensor.Any, alpha float64, opts []Option) {
	plan.Present(name, x)
	d, s := x.DType(), plan.Read(name, opts)
	plan.Must(name, d != dtype.Invalid && plan.Floats.Has(d), d)
	var shape []int
	plan.AimShape(r, name, &s, d, plan.AppendShape(shape, x.LayoutRef()))
	if k := swishKernel(d, alpha); k != nil {
		exec.Elementwise(&exec.Job{Name: name, Ctx: s.Ctx(), Cost: plan.Quick(sigmoid.Cost) + 1}, r, []*tensor.Any{x}, k)
		return
	}
	out, quiet, f := plan.Beside(r, false, x), s.Quiet(), numberOf(d, alpha)
	mul.Call(out, onto(out, quiet), x, &f)
	sigmoid.Call(out, onto(out, quiet), out)
	mul.Call(out, onto(out, quiet), x, out)
	plan.Put(r, out)
}

// swishKernel returns a kernel for an alpha of 1, which doesn't change x; nil for another.
func swishKernel(d dtype.DType, alpha float64) *exec.Kernel {
	if alpha != 1 || d != dtype.Float32 && d != dtype.Float64 {
		return nil
	}
	k := &exec.Kernel{Via: swishRow{sigmoid.Kernel(d), mul.Kernel(d)}}
	k.Operand, k.Result = d, d
	return k
}

// A swishRow multiplies a row by its sigmoid.
type swishRow struct{ sigmoid, mul exec.Kernel }

var swishRooms = sync.Pool{New: func() any { return new([128]uint64) }}

func (s swishRow) Row(dst exec.Run, d dtype.DType, in [3]exec.Run, _ dtype.DType) {
	room := swishRooms.Get().(*[128]uint64) // dst may be the operand
	defer swishRooms.Put(room)
	for i := 0; i < len(dst); i += len(room) {
		n := min(len(room), len(dst)-i)
		by, x := exec.Part(exec.RunOf(room[:]), d, 0, n), exec.Part(in[0], d, i, n)
		s.sigmoid.Apply(by, [3]exec.Run{x})
		s.mul.Apply(exec.Part(dst, d, i, n), [3]exec.Run{x, by})
	}
}

// planSwish plans Swish, whose alpha is this one if no attribute says another.
func planSwish(p *plan.Draft, c *plan.Use, alpha float32) {
	name := p.Name()
	a, by := c.With(name, 0), float64(c.Attrs.Float("alpha", alpha))
	p.Stretched(a.DType(), c, 1)
	p.By(c, 0, func(r *tensor.Any, opts []Option) { swished(r, name, a, by, opts) })
	p.After = func(int, bool) plan.Tail {
		k := swishKernel(a.DType(), by)
		if k == nil {
			return nil
		}
		return func(lines exec.Run, _ int, _ bool) { k.Apply(lines, [3]exec.Run{lines}) }
	}
}

var swish = plan.Operator{About: plan.About{Name: "Swish", Follows: true, FLOPs: plan.FLOPs{Each: 1}, Versions: []int{24}, Attrs: []string{"alpha"}}, Least: 1, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) { planSwish(p, c, 1) }}

var quickGelu = plan.Operator{About: plan.About{Name: "QuickGelu", Follows: true, FLOPs: plan.FLOPs{Each: 1}, Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"alpha"}}, Least: 1, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) { planSwish(p, c, 1.702) }}
