package main

import (
	"fmt"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// quantizations has QuantizeLinear and DequantizeLinear of [rows, cols] with scales and zero points for each column, for each row and for
// blocks of 32 columns.
func quantizations(rows, cols int) (cs []benchCase) {
	cs = append(cs, quantized[float32, int8]("i8", rows, cols)...)
	cs = append(cs, quantized[float32, uint8]("u8", rows, cols)...)
	cs = append(cs, quantized[float32, int16]("i16", rows, cols)...)
	cs = append(cs, quantized[float32, uint16]("u16", rows, cols)...)
	cs = append(cs, quantized[float32, int32]("i32", rows, cols)...)
	cs = append(cs, quantized[float32, num.Int4]("i4", rows, cols)...)
	cs = append(cs, quantized[float32, num.Uint4]("u4", rows, cols)...)
	cs = append(cs, quantized[float32, num.F8E4M3]("f8e4m3", rows, cols)...)
	cs = append(cs, quantized[num.F16, int8]("f16_i8", rows, cols)...)
	cs = append(cs, quantized[num.BF16, uint8]("bf16_u8", rows, cols)...)
	return append(cs, quantized[float64, int8]("f64_i8", rows, cols)...)
}

func quantized[S float32 | float64 | num.F16 | num.BF16, Q op.Quantized](types string, rows, cols int) (cs []benchCase) {
	const block = 32
	for _, grain := range []struct {
		name  string
		shape []int
		axis  int
		block int
	}{{"column", []int{cols}, 1, 0}, {"row", []int{rows}, 0, 0}, {"block", []int{rows, (cols + block - 1) / block}, 1, block}} {
		q := func() op.Quantization[S, Q] {
			scale := op.Cast[S](tensor.RandomUniform[float32](1, 0.01, 0.03, grain.shape...))
			return op.Quantization[S, Q]{Scale: scale, Zero: op.Cast[Q](tensor.RandomUniform[float32](2, 0, 7, grain.shape...)), Axis: grain.axis, Block: grain.block}
		}
		c := sized("ew", fmt.Sprintf("quant_%s_%s", grain.name, types), "q", rows, cols)
		c.bytes = float64(dtypeSize[S]()+dtypeSize[Q]()) * float64(rows) * float64(cols)
		c.setup = func() func() {
			a, into, q := op.Cast[S](values[float32](true, rows, cols)), op.Into(tensor.Empty[Q](rows, cols)), q()
			return func() { op.QuantizeLinear(a, q, into) }
		}
		cs = append(cs, c)
		c.name = sized("ew", fmt.Sprintf("dequant_%s_%s", grain.name, types), "q", rows, cols).name
		c.setup = func() func() {
			a, into, q := op.Cast[Q](tensor.RandomUniform[float32](1, 0, 7, rows, cols)), op.Into(tensor.Empty[S](rows, cols)), q()
			return func() { op.DequantizeLinear(a, q, into) }
		}
		cs = append(cs, c)
	}
	return cs
}
