package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearConcat joins quantized tensors along axis, each quantized anew as qy says:
//
//	y = saturate(round((x − Zero)·Scale / scale of y) + zero point of y)
//
// with each step rounded to float64, and round to nearest, even on a tie. There is one
// of qs for each of xs, and every scale and zero point is one number. It panics when
// the shapes differ elsewhere. ONNX Runtime's QLinearConcat, of the domain com.microsoft.
func QLinearConcat[S num.Float | num.Narrow, Q int8 | uint8](xs []tensor.Tensor[Q], qs []Quantization[S, Q], axis int, qy Quantization[S, Q], opts ...Option) (r tensor.Tensor[Q]) {
	in := []tensor.Any{qy.Scale.Any(), qy.Zero.Any()}
	if len(xs) != len(qs) || len(xs) == 0 {
		panic(fail("QLinearConcat", tensor.ErrShape, "%d tensors and %d quantizations; give one for each, of one tensor at least", len(xs), len(qs)))
	}
	for i, x := range xs {
		in = append(in, x.Any(), qs[i].Scale.Any(), qs[i].Zero.Any())
	}
	quantizedJoin(in, axis).into(exec.Ref(&r), opts)
	return r
}

func quantizedJoin(in []tensor.Any, axis int) *transfer {
	const name = "QLinearConcat"
	var xs []tensor.Any
	for i := 2; i < len(in); i += 3 {
		presentAt(name, i, &in[i])
		xs = append(xs, in[i])
		checkQuantum(name, i+1, in[i+1], in[i+2], in[i].DType())
	}
	oneType(name, xs...)
	d := xs[0].DType()
	must(name, bytes8.has(d), d)
	checkQuantum(name, 0, in[0], in[1], d)
	shape := concatShape(axis, xs)
	axis = axisOf(name, axis, len(shape))
	return &transfer{name: name, d: d, shape: shape, in: operandsOf(in...), fill: func(ctx context.Context, dst words, in []words) {
		qy, to := quantumOf(in[0], in[1]), numericOf(dst)
		before, _, after := around(shape, axis)
		first := 0
		for k := 2; k < len(in); k += 3 {
			x, q := numericOf(in[k]), quantumOf(in[k+1], in[k+2])
			run := in[k].of.Dim(axis) * after
			exec.Split(name, ctx, before*run, 20, func(from, till int) {
				for i := from; i < till; i++ {
					to.setQuantized(i/run*shape[axis]*after+first+i%run, q.real(x, i)/qy.scale, qy.zero, true)
				}
			})
			first += run
		}
	}}
}

var qLinearConcat = opN{about: about{name: "QLinearConcat", takesUp: inDoubles, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"axis"}, why: "of integers of 8 bits alone"}, least: 3, most: -1, by: 2, takes: bytes8,
	move: func(c *Call) *transfer {
		in := append([]tensor.Any{}, c.Inputs...)
		for len(in)%3 != 2 {
			in = append(in, tensor.Any{})
		}
		for i, a := range in {
			if a.IsZero() && i != 1 && (i < 2 || i%3 != 1) {
				panic(fail("QLinearConcat", tensor.ErrShape, "input %d is missing; it needs the scale and the zero point of the result, and three for each tensor", i))
			}
		}
		return quantizedJoin(in, attrInt(c, "axis", 0))
	}}
