package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Mean returns (ts[0] + ts[1] + …) ÷ len(ts), element by element: Sum, then Div.
// Shapes broadcast. It panics if they don't or there are no tensors. For the mean
// of the elements of one tensor see ReduceMean. ONNX Mean.
func Mean[T num.Float | num.Narrow](ts []tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	averaged(exec.Ref(&r), exec.Refs(ts), opts)
	return r
}

// averaged is Mean for a run-time element type.
func averaged(r *tensor.Any, ts []*tensor.Any, opts []Option) {
	if len(ts) == 0 {
		panic(fail("Mean", tensor.ErrShape, "no tensors; give at least one"))
	}
	present("Mean", ts...)
	sum := ts[0]
	if len(ts) > 1 {
		sum = new(tensor.Any)
		summed(sum, ts, nil)
	}
	n := tensor.EmptyOf(ts[0].DType())
	numericOf(wordsOf(n)).setFloat(0, float64(len(ts)))
	div.call(r, opts, sum, &n)
	if len(ts) > 1 {
		sum.Close()
	}
}

var mean = opN{about: about{name: "Mean", takesUp: inStepwise, flops: flops{rule: meanFLOPs}, onnx: []int{6, 8, 13}}, least: 1, most: -1, takes: floats,
	planned: func(c *Call, p *Plan) {
		needs("Mean", c, len(c.Inputs))
		oneType("Mean", c.Inputs...)
		ts := make([]*tensor.Any, len(c.Inputs))
		for i := range ts {
			ts[i] = c.with("Mean", i)
		}
		p.stretched(c.in(0).DType(), c, len(c.Inputs))
		p.by(c, 0, func(r *tensor.Any, opts []Option) { averaged(r, ts, opts) })
	}}

func meanFLOPs(c *Call, out []tensor.Any) int64 {
	return productOfAll(int64(len(c.Inputs)), lengthOf(nth(out, 0)))
}
