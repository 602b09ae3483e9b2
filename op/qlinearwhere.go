package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearWhere of the domain com.microsoft is Where of two quantized operands, quantized again:
// inputs 1, 2 and 3 are the elements where input 0, of bool, is true, their scale and zero point,
// 4, 5 and 6 those for the other places, 7 and 8 the scale and the zero point of the result. With
// each step rounded to float64, and round to nearest, even on a tie:
//
//	z = saturate(round((x − zero)·scale / scale of z) + zero point of z)
//
// Typed programs call DequantizeLinear, Where and QuantizeLinear. Source: docs/ContribOperators.md
// of github.com/microsoft/onnxruntime.
var qLinearWhere = opN{about: about{name: "QLinearWhere", takesUp: inDoubles, domain: "com.microsoft", onnx: []int{1}, why: "of integers of 8 bits alone"}, least: 8, most: 9, by: 1, takes: bytes8,
	move: func(c *Call) *transfer {
		const name = "QLinearWhere"
		cond, x, y := c.in(0), c.in(1), c.in(4)
		if cond.DType() != dtype.Bool {
			panic(fail(name, tensor.ErrDType, "the condition, input 0, holds %v; want bools", cond.DType()))
		}
		oneType(name, x, y)
		for _, i := range []int{2, 5, 7} {
			checkQuantum(name, i, c.in(i), c.in(i+1), x.DType())
		}
		shape := broadcastShape(name, nil, cond.LayoutRef(), x.LayoutRef(), y.LayoutRef())
		return &transfer{name: name, d: x.DType(), shape: shape, in: operandsOf(cond, x, c.in(2), c.in(3), y, c.in(5), c.in(6), c.in(7), c.in(8)), fill: func(ctx context.Context, dst words, in []words) {
			qx, qy, qz := quantumOf(in[2], in[3]), quantumOf(in[5], in[6]), quantumOf(in[7], in[8])
			which, a, b, to := in[0].stretched(shape), numericOf(in[1].stretched(shape)), numericOf(in[4].stretched(shape)), numericOf(dst)
			exec.Split(name, ctx, dst.len(), 20, func(from, till int) {
				for i := from; i < till; i++ {
					v := 0.0
					if which.mem[i] != 0 {
						v = qx.real(a, i)
					} else {
						v = qy.real(b, i)
					}
					to.setQuantized(i, v/qz.scale, qz.zero, true)
				}
			})
		}}
	}}
