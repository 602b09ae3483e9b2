package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// SkipLayerNormalization of the domain com.microsoft is LayerNormalization over the last axis of
// the sum of its inputs 0, 1 and, if it is there, 4, a bias; inputs 2 and 3 are the scale and the
// bias of the normalization, of which the latter may be absent. Its outputs are the result, the
// mean and the factor of each line in float32, and the sum. SkipSimplifiedLayerNormalization is
// RMSNormalization of such a sum, and its bias is input 3; it has no statistics. The sums are rounded as Add rounds
// them. Typed programs call Add and LayerNormalization or RMSNormalization. Source:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var skipLayerNormalization = plan.Operator{About: plan.About{Name: "SkipLayerNormalization", FLOPs: plan.FLOPs{Each: 8}, Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"epsilon"}}, Least: 3, Most: 5, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		planSkip(p, "SkipLayerNormalization", c, 4, func(to []tensor.Any, sum *tensor.Any, epsilon float64, opts []Option) {
			layerAndStats(to, sum, c.Or(2), c.Or(3), -1, epsilon, opts)
		})
	}}

var skipSimplifiedLayerNormalization = plan.Operator{About: plan.About{Name: "SkipSimplifiedLayerNormalization", FLOPs: plan.FLOPs{Each: 5}, Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"epsilon"}}, Least: 3, Most: 4, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		planSkip(p, "SkipSimplifiedLayerNormalization", c, 3, func(to []tensor.Any, sum *tensor.Any, epsilon float64, opts []Option) {
			rmsNormal(&to[0], sum, c.Or(2), -1, epsilon, opts)
		})
		for i := 1; i < min(len(p.Out), 3); i++ { // training alone reads them
			p.Out[i] = tensor.Any{}
		}
	}}

// planSkip plans the normalization of a sum of the inputs, of which input bias is one. normal writes all outputs but the sum.
func planSkip(p *plan.Draft, name string, c *plan.Use, bias int, normal func(to []tensor.Any, sum *tensor.Any, epsilon float64, opts []Option)) {
	plan.OneType(name, c.Inputs...)
	allThere(name, c)
	x, shape := c.Or(0), c.In(0).Shape()
	if len(shape) == 0 {
		panic(plan.Fail(name, tensor.ErrShape, "the input is a single number; want an axis to normalize"))
	}
	for i := 1; i <= bias; i++ {
		if a := c.In(i); !a.IsZero() && !move.Stretches(a.LayoutRef(), shape) {
			panic(plan.Fail(name, tensor.ErrShape, "input %d has shape %s, which doesn't stretch to %s", i, plan.ShapeText(a.Shape()), plan.ShapeText(shape)))
		}
	}
	n, epsilon := min(max(c.Outputs, 1), 4), float64(c.Attrs.Float("epsilon", 1e-12))
	if !p.Brief {
		all, stat := plan.Spec(name, x.DType(), shape...), plan.Spec(name, dtype.Float32, perLine(x, -1)...)
		p.Out = []tensor.Any{all, stat, stat, all}[:n]
		takesLine(&p.Price, x, -1)
	}
	p.List(c, n, func(to []tensor.Any, opts []Option) {
		var sum tensor.Any
		add.Call(&sum, opts, x, c.Or(1))
		if plus := c.Or(bias); !plus.IsZero() {
			add.Call(&sum, onto(&sum, opts), &sum, plus)
		}
		if normal(to[:min(n, 3)], &sum, epsilon, opts); n > 3 {
			to[3] = sum
		}
	})
}
