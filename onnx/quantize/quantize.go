// Package quantize makes models of integers from models of float32.
//
// Static gives a plain ONNX file with QuantizeLinear and DequantizeLinear nodes, the ranges of which come from samples: see docs/quantize.md.
// onnx.NewIntegerSession runs such a model on the integers, and ONNX Runtime runs it, too. Dynamic takes the ranges in each run, and Blocks
// keeps weights in 4 or 8 bits with a scale for each block. Compare says how far the results of two models are apart.
package quantize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// ErrNothing is the error about a model without a node that can be quantized.
var ErrNothing = errors.New("the model has nothing to quantize")

// Samples calls f with the name and the inputs of each sample, and returns the first error of f, or its own. Static goes over the samples
// several times. The inputs may be given back when f returns.
type Samples func(f func(name string, inputs map[string]onnx.Value) error) error

// A Range says which numbers of a value have integers of their own. The others become the nearest of these.
type Range int

// The ranges. Each holds 0.
const (
	Extremes   Range = iota // from the smallest to the largest element of all samples
	Percentile              // without the outermost elements, as many at both ends: see Options.Percentile
	LeastError              // with the least sum of squared errors, judged by a histogram of 2048 bins
)

var rangeNames = [...]string{"extremes", "percentile", "error"}

// String returns the name: extremes, percentile or error.
func (r Range) String() string {
	if r < 0 || int(r) >= len(rangeNames) {
		return fmt.Sprintf("Range(%d)", int(r))
	}
	return rangeNames[r]
}

// Options changes how a model is quantized. The zero value, and nil, is the default.
type Options struct {
	Activations dtype.DType // dtype.Uint8 or dtype.Int8; the zero DType is Uint8
	Range       Range
	Percentile  float64  // of the elements that the range Percentile holds; 0 is 99.99
	Keep        []string // names of nodes, or of their results, that stay in float32
	KeepError   float64  // nodes with a larger error stay in float32, see Layer.Error; 0 keeps none
	Layers      bool     // the report has layers; KeepError has them, too
	Run         onnx.Options
}

// A Layer is a node, with its Relu or Clip, and its result where it alone is quantized: its operands, weights and result, but nothing before it.
type Layer struct {
	Name, Op string
	Kept     bool // in float32, as Error is larger than Options.KeepError
	Distance
}

// A Distance is how far a result of a quantized model is from the result of the model of floats, over all samples.
type Distance struct {
	Name    string
	Largest float64
	Mean    float64
	Error   float64 // the root of the sum of squared distances over that of squared results; 0 where both are 0
	Same    int     // rows along the last axis that have their largest element at the same place
	Rows    int
}

// A Report says how a model was quantized.
type Report struct {
	Samples   int
	Quantized int      // Conv, Gemm and MatMul nodes on integers
	Products  int      // all such nodes, those of graphs inside nodes included
	Floats    []string // why others stay in float32: a line each
	Layers    []Layer  // see Options.Layers
}

// Static returns m with QuantizeLinear and DequantizeLinear around Conv, Gemm and MatMul, the sums of two of their results, and the MaxPool,
// Reshape, Flatten and Transpose behind them. Weights are int8 from -127 to 127 with a scale for each output channel. Activations
// have one scale and a zero point, by the ranges of the samples. A bias is int32. Nodes of weights alone become
// weights. BatchNormalization, and products with and sums of constants for each channel, join the Conv before them. Relu, and Clip from 0, become part of
// a rounding that ends there anyway. Nodes of opset 7 to 12 are brought to 13. Initializers that are also inputs become constants.
//
// The samples are gone over once for the extremes, once more for another Range, and once for layers. Memory is that of a
// run and, for another Range, 16 KiB for each value. The model doesn't depend on the order of the samples.
//
// It fails with ErrNothing for a model without such nodes, for no samples, for an unknown name in Keep, for a sample that a run refuses, with the
// sample's name, and for NaN and infinities, with the node's. The result shares the file of m: to close one of them closes both.
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

// ends are the ends of the integers of activations.
func (p *program) ends() (lo, hi float64) {
	if p.o.Activations == dtype.Int8 {
		return math.MinInt8, math.MaxInt8
	}
	return 0, math.MaxUint8
}

// newProgram copies the part of a model that changes, and checks the options.
func newProgram(m *onnx.Model, o *Options) (*program, error) {
	p := &program{floats: make(map[string]tensor.Tensor[float32]), kept: make(map[string]string), foreign: make(map[string]bool), used: make(map[string]bool)}
	if o != nil {
		p.o = *o
	}
	if p.o.Activations == dtype.Invalid {
		p.o.Activations = dtype.Uint8
	}
	if p.o.Percentile == 0 {
		p.o.Percentile = 99.99
	}
	switch {
	case p.o.Activations != dtype.Uint8 && p.o.Activations != dtype.Int8:
		return nil, fmt.Errorf("quantize: %w: activations of %v; want uint8 or int8", tensor.ErrValue, p.o.Activations)
	case p.o.Range < 0 || int(p.o.Range) >= len(rangeNames):
		return nil, fmt.Errorf("quantize: %w: there is no range %d", tensor.ErrValue, p.o.Range)
	case !(p.o.Percentile > 50 && p.o.Percentile <= 100):
		return nil, fmt.Errorf("quantize: %w: a percentile of %v; want more than 50, and 100 at most", tensor.ErrValue, p.o.Percentile)
	case !(p.o.KeepError >= 0):
		return nil, fmt.Errorf("quantize: %w: nodes with an error over %v stay; want 0 or more", tensor.ErrValue, p.o.KeepError)
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	own := *m
	g := *m.Graph
	own.Graph, p.m, p.g = &g, &own, &g
	own.Opsets = slices.Clone(m.Opsets)
	g.Inputs = m.Inputs() // without those that have a default
	g.Values, g.Quantization = nil, nil
	g.Initializers = slices.Clone(g.Initializers)
	g.Nodes = slices.Clone(g.Nodes)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.Inputs, n.Outputs, n.Attributes = slices.Clone(n.Inputs), slices.Clone(n.Outputs), slices.Clone(n.Attributes)
	}
	p.sort()
	p.names()
	if err := p.known(); err != nil {
		return nil, err
	}
	return p, p.constants()
}
