// Package quantize makes models of integers from models of float32.
//
// Static gives a plain ONNX file with QuantizeLinear and DequantizeLinear nodes, the ranges of which come from samples: see docs/quantize.md.
// onnx.NewIntegerSession runs such a model on the integers, and ONNX Runtime runs it, too. Dynamic takes the ranges in each run, and Blocks
// keeps weights in 4 or 8 bits with a scale for each block. Compare says how far the results of two models are apart.
package quantize

import (
	"context"

	"github.com/ashlar-go/ashlar/onnx"
)

// Static returns m with QuantizeLinear and DequantizeLinear around Conv, Gemm and MatMul, the sums of two of their results, and the MaxPool,
// Reshape, Flatten and Transpose behind them. Weights are int8 from -127 to 127 with a scale for each output channel. Activations
// have one scale and a zero point, by the ranges of the samples. A bias is int32. Nodes of weights alone become
// weights. BatchNormalization, and products with and sums of constants for each channel, join the Conv before them. Relu, and Clip from 0, become part of
// a rounding that ends there anyway. Nodes of opset 7 to 12 are brought to 13. Initializers that are also inputs become constants.
//
// The samples are gone over once for the extremes, once more for another Range, and once for layers. Memory is that of a
// run and, for another Range, 16 KiB for each value. The model doesn't depend on the order of the samples.
//
// It fails with ErrNothing for a model without such nodes, or whose nodes are on integers already. It fails with tensor.ErrValue for
// no samples, for a result without an element in all of them, and for an unknown name in Keep. It fails for a sample that a run refuses, with
// the sample's name, and for a NaN or an infinity, with the node's. The result shares the file of m: to close one of them closes both.
func Static(ctx context.Context, m *onnx.Model, samples Samples, o *Options) (*onnx.Model, *Report, error) {
	p, err := newProgram(m, o)
	if err != nil {
		return nil, nil, err
	}
	if err := p.raise(); err != nil {
		return nil, nil, err
	}
	p.channels()
	r := new(Report)
	if err := p.choose(r); err != nil {
		return nil, nil, err
	}
	if err := p.calibrate(ctx, samples, r); err != nil {
		return nil, nil, err
	}
	if p.o.Layers || p.o.KeepError > 0 {
		if err := p.layers(ctx, samples, r); err != nil {
			return nil, nil, err
		}
		if err := p.choose(r); err != nil {
			return nil, nil, err
		}
	}
	q, err := p.quantized()
	return q, r, err
}
