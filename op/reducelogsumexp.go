package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceLogSumExp returns log(Σeᵃ) over axes, or over all when axes is nil: with m the
// largest, m + log(Σe^(a − m)), in float64, the sum in the fixed order of this package,
// rounded once. So nothing overflows on the way. Of nothing, and of −∞ alone, it is
// −∞; +∞ gives +∞, and NaN NaN. The reduced axes go, unless KeepDims. ONNX
// ReduceLogSumExp.
func ReduceLogSumExp[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		return reduceFixed("ReduceLogSumExp", a, axes, opts, &fixedLogSumExp)
	}
	s := read(opts)
	return moved[T](logSumExp(a.Any(), axes, s.keepDims), opts)
}

func logSumExp(a tensor.Any, axes []int, keepDims bool) *transfer {
	const name = "ReduceLogSumExp"
	lay := a.Layout()
	shape := a.Shape()
	gone := make([]bool, len(shape))
	for i := range gone {
		gone[i] = axes == nil
	}
	for _, i := range axes {
		gone[axisOf(name, i, len(shape))] = true
	}
	return &transfer{name: name, d: a.DType(), shape: reducedShape(name, &lay, axes, keepDims), in: operandsOf(a), fill: func(ctx context.Context, dst words, in []words) {
		src, to := numericOf(in[0]), numericOf(dst)
		kept, line := over(shape, gone)
		n := countOf(line)
		exec.Split(name, ctx, dst.len(), 40*max(n, 1), func(from, till int) {
			v := roomFor[float64](name, n)
			for k := from; k < till; k++ {
				base, top := placeIn(kept, k), math.Inf(-1)
				for i := range v {
					v[i] = src.float(base + placeIn(line, i))
					if greaterFloat(v[i], top) {
						top = v[i]
					}
				}
				if !math.IsInf(top, 0) {
					exponentials(v, v, top)
					top += num.Log64(sumRow(v))
				}
				to.setFloat(k, top)
			}
		})
	}}
}

var reduceLogSumExp = opN{about: about{name: "ReduceLogSumExp", onnx: []int{1, 11, 13, 18}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, least: 1, most: 2, takes: floats,
	typed: perType{dtype.FP8x23: runReduceLogSumExp[num.FP8x23], dtype.FP16x16: runReduceLogSumExp[num.FP16x16], dtype.FP32x32: runReduceLogSumExp[num.FP32x32], dtype.FP64x64: runReduceLogSumExp[num.FP64x64]},
	move: func(c *Call) *transfer {
		axes, _ := reduceArgs("ReduceLogSumExp", c, 18)
		return logSumExp(c.in(0), axes, c.Attrs.Int("keepdims", 1) != 0)
	}}

func runReduceLogSumExp[T num.Fixed](c *Call) []tensor.Any {
	axes, opts := reduceArgs("ReduceLogSumExp", c, 18)
	return one(ReduceLogSumExp(as[T]("ReduceLogSumExp", c, 0), axes, opts...).Any())
}
