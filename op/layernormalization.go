package op

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LayerNormalization returns, for each line of x over axis and all axes after it,
//
//	y = (x − μ)·(1/√(σ² + epsilon))·scale + bias
//
// where μ and σ² are the mean and the variance of the line, as Mean and Var compute
// them before they round. scale, and bias unless it is the zero Tensor, stretch to x's
// shape. Every step is rounded in float64, and the result once. Fixed point is
// computed exactly and rounded once. NaN or ∞ in a line makes
// it NaN. ONNX LayerNormalization, which models have below opset 17, too, as ONNX Runtime
// had it first; its run-time form has μ and the factor of each line
// as further outputs, in float32.
func LayerNormalization[T num.Fractional](x, scale, bias tensor.Tensor[T], axis int, epsilon float64, opts ...Option) (r tensor.Tensor[T]) {
	layerNormal(exec.Ref(&r), exec.Ref(&x), exec.Ref(&scale), exec.Ref(&bias), axis, epsilon, opts)
	return r
}

// layerNormal is LayerNormalization for a run-time element type.
func layerNormal(r, x, scale, bias *tensor.Any, axis int, epsilon float64, opts []Option) {
	plan.Present("LayerNormalization", x, scale)
	if x.DType().IsFixed() {
		normalizeFixed(r, "LayerNormalization", x, scale, bias, axis, epsilon, false, opts)
		return
	}
	layerNormalized(*x, *scale, *bias, axis, epsilon, nil).Into(r, opts)
}

func layerNormalized(x, scale, bias tensor.Any, axis int, epsilon float64, also func(k int, mean, factor float64)) *move.Transfer {
	return linesNormalized(normalization{name: "LayerNormalization", epsilon: epsilon, also: also}, x, scale, bias, axis)
}

// linesNormalized is a normalization over the axes from axis on, with a scale and a bias
// that stretch.
func linesNormalized(z normalization, x, scale, bias tensor.Any, axis int) *move.Transfer {
	name := z.name
	d := scale.DType() // of the result
	if name != "RMSNormalization" || !plan.Floats.Has(d) || !plan.Floats.Has(x.DType()) {
		checkFloats(name, x, scale, bias)
	}
	shape := x.Shape()
	axis = plan.AxisOf(name, axis, len(shape))
	for i, a := range []tensor.Any{scale, bias} {
		if a.IsZero() {
			continue
		}
		if lay := a.Layout(); !move.Stretches(&lay, shape) {
			panic(plan.Fail(name, tensor.ErrShape, "input %d has shape %s, which doesn't stretch to %s", i+1, lay.ShapeString(), plan.ShapeText(shape)))
		}
	}
	return &move.Transfer{Name: name, D: d, Shape: shape, In: move.OperandsOf(x, scale, bias), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		z, to := z, shape
		z.n = plan.Elements(shape[axis:])
		if z.alike = !slices.ContainsFunc(in[1:], func(w move.Words) bool { return !w.Absent() && w.Of.Rank() > len(shape)-axis }); z.alike {
			to = shape[axis:]
		}
		for i := range in[1:] {
			if !in[1+i].Absent() {
				in[1+i] = in[1+i].Stretched(to)
			}
		}
		z.fill(ctx, dst, in[0], in[1], in[2])
	}}
}

var layerNormalization = plan.Operator{About: plan.About{Name: "LayerNormalization", FLOPs: plan.FLOPs{Each: 7}, Versions: []int{1, 17}, Attrs: []string{"axis", "epsilon", "stash_type"}}, Least: 2, Most: 3, Takes: plan.Floats | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "LayerNormalization"
		axis, epsilon, n := plan.AttrInt(c, "axis", -1), float64(c.Attrs.Float("epsilon", 1e-5)), min(max(c.Outputs, 1), 3)
		x, scale, bias := c.With(name, 0), c.Like(name, 1, 0), c.Like(name, 2, 0)
		if !p.Brief {
			t := layerNormalized(*x, *scale, *bias, axis, 0, nil)
			stat := plan.Spec(name, dtype.Float32, perLine(x, axis)...)
			takesLine(&p.Price, x, axis)
			p.Out = []tensor.Any{plan.Spec(name, t.D, t.Shape...), stat, stat}[:n]
		}
		if n == 1 {
			p.By(c, 0, func(r *tensor.Any, opts []Option) { layerNormal(r, x, scale, bias, axis, epsilon, opts) })
			return
		}
		p.List(c, n, func(to []tensor.Any, opts []Option) { layerAndStats(to, x, scale, bias, axis, epsilon, opts) })
	}}

// layerAndStats is layerNormal with as many outputs as to has places: the mean and the factor of each line, too.
func layerAndStats(to []tensor.Any, x, scale, bias *tensor.Any, axis int, epsilon float64, opts []Option) {
	if len(to) == 1 || x.DType().IsFixed() {
		if layerNormal(&to[0], x, scale, bias, axis, epsilon, opts); len(to) > 1 { // of an empty operand there may be any number of lines
			mean, factor := statsFixed(x, perLine(x, axis), epsilon)
			copy(to[1:], []tensor.Any{mean, factor})
		}
		return
	}
	mean := tensor.New[float32](perLine(x, axis)...)
	factor := tensor.New[float32](mean.Shape()...)
	layerNormalized(*x, *scale, *bias, axis, epsilon, func(k int, m, f float64) {
		mean.Elems()[k], factor.Elems()[k] = float32(m), float32(f)
	}).Into(&to[0], opts)
	conv.Canon32(mean.Elems())
	conv.Canon32(factor.Elems())
	copy(to[1:], []tensor.Any{mean.Any(), factor.Any()})
}

// takesLine says that each thread normalizes a line of x from an axis on in float64, and its scales.
func takesLine(p *plan.Price, x *tensor.Any, axis int) {
	shape := x.Shape()
	p.Takes(0, 24*plan.BytesIn(1, shape[plan.AxisOf("LayerNormalization", axis, len(shape)):]))
}

// perLine is the shape of the mean and the factor of each line of LayerNormalization.
func perLine(x *tensor.Any, axis int) []int {
	shape := x.Shape()
	for i := plan.AxisOf("LayerNormalization", axis, len(shape)); i < len(shape); i++ {
		shape[i] = 1
	}
	return shape
}
