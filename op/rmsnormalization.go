package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// RMSNormalization returns, for each line of x over axis and all axes after it,
//
//	y = x·(1/√(mean of x² + epsilon))·scale
//
// The squares are added in the fixed order of this package; scale stretches to x's
// shape. Every step is rounded in float64, and the result once. NaN in a line makes it
// NaN. ONNX RMSNormalization, whose result has the type of scale where that is another.
func RMSNormalization[T num.Fractional](x, scale tensor.Tensor[T], axis int, epsilon float64, opts ...Option) (r tensor.Tensor[T]) {
	rmsNormal(exec.Ref(&r), exec.Ref(&x), exec.Ref(&scale), axis, epsilon, opts)
	return r
}

// rmsNormal is RMSNormalization for a run-time element type.
func rmsNormal(r, x, scale *tensor.Any, axis int, epsilon float64, opts []Option) {
	plan.Present("RMSNormalization", x, scale)
	if x.DType().IsFixed() {
		normalizeFixed(r, "RMSNormalization", x, scale, new(tensor.Any), axis, epsilon, true, opts)
		return
	}
	rmsNormalized(*x, *scale, axis, epsilon, nil).Into(r, opts)
}

func rmsNormalized(x, scale tensor.Any, axis int, epsilon float64, also func(k int, mean, factor float64)) *move.Transfer {
	return linesNormalized(normalization{name: "RMSNormalization", epsilon: epsilon, rms: true, also: also}, x, scale, tensor.Any{}, axis)
}

var rmsNormalization = plan.Operator{About: plan.About{Name: "RMSNormalization", FLOPs: plan.FLOPs{Each: 4}, Versions: []int{23}, Attrs: []string{"axis", "epsilon", "stash_type"}}, Least: 2, Takes: plan.Floats | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "RMSNormalization"
		x, scale, axis, epsilon := c.With(name, 0), c.With(name, 1), plan.AttrInt(c, "axis", -1), float64(c.Attrs.Float("epsilon", 1e-5))
		if !p.Brief {
			t := rmsNormalized(*x, *scale, axis, 0, nil)
			p.Gives(t.D, t.Shape...)
			takesLine(&p.Price, x, axis)
		}
		p.By(c, 0, func(r *tensor.Any, opts []Option) { rmsNormal(r, x, scale, axis, epsilon, opts) })
	}}
