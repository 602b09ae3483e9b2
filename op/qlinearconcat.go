package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
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
func QLinearConcat[S num.Floating, Q int8 | uint8](xs []tensor.Tensor[Q], qs []Quantization[S, Q], qy Quantization[S, Q], axis int, opts ...Option) (r tensor.Tensor[Q]) {
	in := []tensor.Any{qy.Scale.Any(), qy.Zero.Any()}
	if len(xs) != len(qs) || len(xs) == 0 {
		panic(plan.Fail("QLinearConcat", tensor.ErrShape, "%d tensors and %d quantizations; give one for each, of one tensor at least", len(xs), len(qs)))
	}
	for i, x := range xs {
		in = append(in, x.Any(), qs[i].Scale.Any(), qs[i].Zero.Any())
	}
	quantizedJoin(in, axis).Into(exec.Ref(&r), opts)
	return r
}

func quantizedJoin(in []tensor.Any, axis int) *move.Transfer {
	const name = "QLinearConcat"
	var xs []tensor.Any
	for i := 2; i < len(in); i += 3 {
		plan.PresentAt(name, i, &in[i])
		xs = append(xs, in[i])
		checkQuantum(name, i+1, in[i+1], in[i+2], in[i].DType())
	}
	plan.OneType(name, xs...)
	d := xs[0].DType()
	plan.Must(name, plan.Bytes8.Has(d), d)
	checkQuantum(name, 0, in[0], in[1], d)
	shape := concatShape(axis, xs)
	axis = plan.AxisOf(name, axis, len(shape))
	return &move.Transfer{Name: name, D: d, Shape: shape, Lies: move.AlikeLast, In: move.OperandsOf(in...), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		qy := quantumOf(in[0], in[1])
		shape, axis := shape, axis
		if dst.Last {
			if axis > 0 {
				axis = (axis+len(shape)-3)%(len(shape)-1) + 1
			}
			shape = plan.LastShape(shape)
		}
		before, _, after := move.Around(shape, axis)
		first := 0
		for k := 2; k < len(in); k += 3 {
			q := quantumOf(in[k+1], in[k+2])
			t := q.table(dst, d, qy, unchanged)
			run := in[k].Of.Dim(axis) * after
			exec.Split(name, ctx, before, run, func(from, till int) {
				for i := from; i < till; i++ {
					looked(dst.Mem[i*shape[axis]*after+first:][:run], in[k].Mem[i*run:], &t)
				}
			})
			first += run
		}
	}}
}

var qLinearConcat = plan.Operator{About: plan.About{Name: "QLinearConcat", Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"axis"}, Why: "of integers of 8 bits alone"}, Least: 3, Most: -1, By: 2, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		in := append([]tensor.Any{}, c.Inputs...)
		for len(in) < 5 || len(in)%3 != 2 {
			in = append(in, tensor.Any{})
		}
		for i, a := range in {
			if a.IsZero() && i != 1 && (i < 2 || i%3 != 1) {
				panic(plan.Fail("QLinearConcat", tensor.ErrShape, "input %d is missing; it needs the scale and the zero point of the result, and three for each tensor", i))
			}
		}
		return quantizedJoin(in, plan.AttrInt(c, "axis", 0))
	}}
