package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// RMSNormalization returns, for each line of x over axis and all axes after it,
//
//	y = x·(1/√(mean of x² + epsilon))·scale
//
// The squares are added in the fixed order of this package; scale stretches to x's
// shape. Every step is rounded in float64, and the result once. NaN in a line makes it
// NaN. ONNX RMSNormalization.
func RMSNormalization[T num.Float | num.Narrow | num.Fixed](x, scale tensor.Tensor[T], axis int, epsilon float64, opts ...Option) (r tensor.Tensor[T]) {
	rmsNormal(exec.Ref(&r), exec.Ref(&x), exec.Ref(&scale), axis, epsilon, opts)
	return r
}

// rmsNormal is RMSNormalization for a run-time element type.
func rmsNormal(r, x, scale *tensor.Any, axis int, epsilon float64, opts []Option) {
	present("RMSNormalization", x, scale)
	if x.DType().IsFixed() {
		normalizeFixed(r, "RMSNormalization", x, scale, new(tensor.Any), axis, epsilon, true, opts)
		return
	}
	rmsNormalized(*x, *scale, axis, epsilon, nil).into(r, opts)
}

func rmsNormalized(x, scale tensor.Any, axis int, epsilon float64, also func(k int, factor float64)) *transfer {
	return linesNormalized("RMSNormalization", x, scale, tensor.Any{}, axis, func(line []float64, k int) {
		factor := 1 / math.Sqrt(sumSquares(line, 0)/float64(len(line))+epsilon)
		if affine(line, line, 0, factor, math.Copysign(0, -1)); also != nil {
			also(k, factor)
		}
	})
}

var rmsNormalization = opN{about: about{name: "RMSNormalization", flops: flops{each: 4}, onnx: []int{23}, attrs: []string{"axis", "epsilon", "stash_type"}}, least: 2, takes: floats | fixeds,
	infer: func(c *Call) []tensor.Any {
		t := rmsNormalized(c.in(0), c.in(1), attrInt(c, "axis", -1), 0, nil)
		return one(spec(t.name, t.d, t.shape...))
	},
	run: func(c *Call) []tensor.Any {
		var r tensor.Any
		rmsNormal(&r, c.with("RMSNormalization", 0), c.with("RMSNormalization", 1), attrInt(c, "axis", -1), float64(c.Attrs.Float("epsilon", 1e-5)), options(c))
		return one(r)
	}}
