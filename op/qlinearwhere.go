package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearWhere of the domain com.microsoft is Where of two quantized operands, quantized again.
// Input 0, of bool, is the condition. Inputs 1, 2 and 3 are the elements where it is true, their scale and zero point.
// Inputs 4, 5 and 6 are the same for the other places. Inputs 7 and 8 are the scale and zero point of the result. With
// each step rounded to float64, and round to nearest, even on a tie:
//
//	z = saturate(round((x − zero)·scale / scale of z) + zero point of z)
//
// Typed programs call DequantizeLinear, Where and QuantizeLinear. Source: docs/ContribOperators.md
// of github.com/microsoft/onnxruntime.
var qLinearWhere = plan.Operator{About: plan.About{Name: "QLinearWhere", Domain: "com.microsoft", Versions: []int{1}, Why: "of integers of 8 bits alone"}, Least: 8, Most: 9, By: 1, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		const name = "QLinearWhere"
		cond, x, y := c.In(0), c.In(1), c.In(4)
		if cond.DType() != dtype.Bool {
			panic(plan.Fail(name, tensor.ErrDType, "the condition, input 0, holds %v; want bools", cond.DType()))
		}
		plan.OneType(name, x, y)
		for _, i := range []int{2, 5, 7} {
			checkQuantum(name, i, c.In(i), c.In(i+1), x.DType())
		}
		shape := plan.BroadcastShape(name, nil, cond.LayoutRef(), x.LayoutRef(), y.LayoutRef())
		return &move.Transfer{Name: name, D: x.DType(), Shape: shape, Price: plan.Taking(plan.BytesIn(3, shape), 0), In: move.OperandsOf(cond, x, c.In(2), c.In(3), y, c.In(5), c.In(6), c.In(7), c.In(8)), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
			qx, qy, qz := quantumOf(in[2], in[3]), quantumOf(in[5], in[6]), quantumOf(in[7], in[8])
			which, a, b := in[0].Stretched(shape), in[1].Stretched(shape), in[4].Stretched(shape)
			ta, tb := qx.table(dst, x.DType(), qz, unchanged), qy.table(dst, x.DType(), qz, unchanged)
			exec.Split(name, ctx, dst.Len(), 1, func(from, till int) {
				for i := from; i < till; i++ {
					if dst.Mem[i] = tb[b.Mem[i]]; which.Mem[i] != 0 {
						dst.Mem[i] = ta[a.Mem[i]]
					}
				}
			})
		}}
	}}
