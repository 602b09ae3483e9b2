package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// SkipLayerNormalization of the domain com.microsoft is LayerNormalization over the last axis of
// the sum of its inputs 0, 1 and, if it is there, 4, a bias; inputs 2 and 3 are the scale and the
// bias of the normalization, of which the latter may be absent. Its outputs are the result, the
// mean and the factor of each line in float32, and the sum. SkipSimplifiedLayerNormalization is
// RMSNormalization of such a sum, and its bias is input 3; it has no statistics. The sums are rounded as Add rounds
// them. Typed programs call Add and LayerNormalization or RMSNormalization. Source:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var skipLayerNormalization = opN{about: about{name: "SkipLayerNormalization", takesUp: inLastLine, flops: flops{each: 8}, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"epsilon"}}, least: 3, most: 5, takes: floats,
	planned: func(c *Call, p *Plan) {
		planSkip(p, "SkipLayerNormalization", c, 4, func(to []tensor.Any, sum *tensor.Any, epsilon float64, opts []Option) {
			layerAndStats(to, sum, c.or(2), c.or(3), -1, epsilon, opts)
		})
	}}

var skipSimplifiedLayerNormalization = opN{about: about{name: "SkipSimplifiedLayerNormalization", takesUp: inLastLine, flops: flops{each: 5}, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"epsilon"}}, least: 3, most: 4, takes: floats,
	planned: func(c *Call, p *Plan) {
		planSkip(p, "SkipSimplifiedLayerNormalization", c, 3, func(to []tensor.Any, sum *tensor.Any, epsilon float64, opts []Option) {
			rmsNormal(&to[0], sum, c.or(2), -1, epsilon, opts)
		})
		for i := 1; i < min(len(p.out), 3); i++ { // training alone reads them
			p.out[i] = tensor.Any{}
		}
	}}

// planSkip plans the normalization of a sum of the inputs, of which input bias is one. normal writes all outputs but the sum.
func planSkip(p *Plan, name string, c *Call, bias int, normal func(to []tensor.Any, sum *tensor.Any, epsilon float64, opts []Option)) {
	oneType(name, c.Inputs...)
	allThere(name, c)
	x, shape := c.or(0), c.in(0).Shape()
	if len(shape) == 0 {
		panic(fail(name, tensor.ErrShape, "the input is a single number; want an axis to normalize"))
	}
	for i := 1; i <= bias; i++ {
		if a := c.in(i); !a.IsZero() && !stretches(a.LayoutRef(), shape) {
			panic(fail(name, tensor.ErrShape, "input %d has shape %s, which doesn't stretch to %s", i, shapeText(a.Shape()), shapeText(shape)))
		}
	}
	n, epsilon := min(max(c.Outputs, 1), 4), float64(c.Attrs.Float("epsilon", 1e-12))
	if !p.brief {
		all, stat := spec(name, x.DType(), shape...), spec(name, dtype.Float32, perLine(x, -1)...)
		p.out = []tensor.Any{all, stat, stat, all}[:n]
	}
	p.list(c, n, func(to []tensor.Any, opts []Option) {
		var sum tensor.Any
		add.call(&sum, opts, x, c.or(1))
		if plus := c.or(bias); !plus.IsZero() {
			add.call(&sum, onto(&sum, opts), &sum, plus)
		}
		if normal(to[:min(n, 3)], &sum, epsilon, opts); n > 3 {
			to[3] = sum
		}
	})
}
