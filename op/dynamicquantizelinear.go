package op

import (
	"context"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// DynamicQuantizeLinear quantizes x to uint8 with a scale and a zero point that suit
// it. With lo the smallest of x and 0, and hi the largest, each step rounded to
// float32:
//
//	scale = (hi − lo) / 255
//	zero  = saturate(round(0 − lo/scale))
//	y     = saturate(round(x/scale) + zero)
//
// where round is to nearest, even on a tie. If all elements are 0, or there are none,
// the scale is 0, and so are the others. NaN anywhere gives the scale NaN and 0 elsewhere.
// ONNX DynamicQuantizeLinear.
func DynamicQuantizeLinear(x tensor.Tensor[float32], opts ...Option) (y tensor.Tensor[uint8], scale tensor.Tensor[float32], zero tensor.Tensor[uint8]) {
	quantizedDynamically(exec.Ref(&y), exec.Ref(&scale), exec.Ref(&zero), exec.Ref(&x), opts)
	return y, scale, zero
}

func quantizedDynamically(y, scale, zero, x *tensor.Any, opts []Option) {
	plan.Present("DynamicQuantizeLinear", x)
	plan.Fits("DynamicQuantizeLinear", x.Len(), 1) // of elements that repeat there may be any number
	set := plan.Read("DynamicQuantizeLinear", opts)
	lo, hi := ends(set.Ctx(), *x)
	step := float32(hi-lo) / 255
	low := float32(lo / step)
	if step != step {
		step = num.NaN32()
	}
	*scale, *zero = tensor.Scalar(step).Any(), tensor.Scalar(uint8(0)).Any()
	move.NumericOf(move.WordsOf(*zero)).SetQuantized(0, float64(0-low), 0, true)
	opts = plan.Without(opts, plan.Orion) // would cut off with a zero point that is rounded
	quantizing(*x, *scale, *zero, dtype.Uint8, dtype.Float32, 0, 0, true).Into(y, opts)
}

// ends returns the smallest of the elements and 0, and the largest; NaN if one is.
func ends(ctx context.Context, x tensor.Any) (lo, hi float32) {
	x = x.Contiguous()
	const part = 1 << 14
	all := move.ElemsOf[float32](&x)
	least, most := make([]float32, (len(all)+part-1)/part), make([]float32, (len(all)+part-1)/part)
	exec.Split("DynamicQuantizeLinear", ctx, len(least), part/8, func(from, to int) {
		for i := from; i < to; i++ {
			some := all[i*part : min((i+1)*part, len(all))]
			if reduce.BestLines(least[i:i+1], some, 0, len(some), true) && reduce.BestLines(most[i:i+1], some, 0, len(some), false) {
				continue
			}
			least[i], most[i] = slices.Min(some), slices.Max(some)
		}
	})
	for i := range least {
		lo, hi = min(lo, least[i]), max(hi, most[i])
	}
	runtime.KeepAlive(&x)
	return lo, hi
}

var dynamicQuantizeLinear = plan.Operator{About: plan.About{Name: "DynamicQuantizeLinear", Versions: []int{11}, Why: "of float32 alone: Cast first"}, Least: 1, Takes: 1 << dtype.Float32,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "DynamicQuantizeLinear"
		a := c.With(name, 0)
		if !p.Brief {
			p.Out = []tensor.Any{plan.Spec(name, dtype.Uint8, a.Shape()...), plan.Spec(name, dtype.Float32), plan.Spec(name, dtype.Uint8)}
		}
		p.Copies(8, 2, 1)
		p.List(c, 3, func(to []tensor.Any, opts []Option) { quantizedDynamically(&to[0], &to[1], &to[2], a, opts) })
	}}
