package quantize

import (
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
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
	Products  int      // all such nodes, also of graphs inside nodes
	Floats    []string // why others stay in float32: a line each
	Layers    []Layer  // see Options.Layers
}
