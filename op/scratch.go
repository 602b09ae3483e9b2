package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// Scratch returns how many bytes an operator takes at most while it runs a call, besides operands and results: copies of
// operands that aren't contiguous, wider numbers that narrow ones are computed in, steps on the way to the result, and the
// blocks of matrix products, for each of the Threads of the call. Operands and results may be tensor.Specs, which count as
// contiguous; a result that isn't known is the zero Any. What small slices take, some KiB, isn't counted.
func Scratch(o Op, c *Call, out []tensor.Any) int64 {
	if o == nil || c == nil {
		return 0
	}
	return int64(min(scratchOf(o, c, out), 1<<62)) // of a double, 1<<63 - 1 isn't one
}

func scratchOf(o Op, c *Call, out []tensor.Any) float64 {
	in := c.Inputs
	switch o := o.(type) {
	case orionOp:
		return scratchOf(o.Op, c, out)
	case rectifiedOp:
		return scratchOf(o.Op, c, out)
	case keptOp:
		return scratchOf(o.Op, c, out)
	case fixedOp:
		n := scratchOf(o.Op, c, out)
		if len(in) > 0 && !o.Op.Supports(in[0].DType()) {
			n += room(8, in, out) // computed in float64
		}
		return n
	case *reduction, *liner:
		if len(in) > 0 && in[0].DType().IsFixed() {
			return room(0, in, out)
		}
	case *op2:
		if slices.Contains(inSearch, o.name) {
			return copies(in)
		}
	case *opN:
		return o.scratch(c, out) + copies(in)
	}
	return 0 // the others take operands as they are laid out
}

// copies returns the bytes of operands that aren't contiguous.
func copies(in []tensor.Any) (n float64) {
	for i, a := range in {
		if !a.IsZero() && !a.IsSpec() && !a.IsContiguous() {
			n += room(0, in[i:i+1])
		}
	}
	return n
}

// The operators by what they take.
var (
	inProducts = []string{"CausalConvWithState", "Conv", "ConvInteger", "ConvTranspose", "DeformConv", "DynamicQuantizeMatMul", "Einsum", "FusedMatMul", "Gemm",
		"GRU", "LSTM", "LinearAttention", "MatMul", "MatMulInteger", "MatMulIntegerToFloat", "MatMulNBits", "QGemm", "QLinearConv", "QLinearMatMul", "RNN"}
	inWhole  = []string{"ConvInteger", "DynamicQuantizeMatMul", "MatMulInteger", "MatMulIntegerToFloat", "QGemm", "QLinearConv", "QLinearMatMul"}
	inHeads  = []string{"Attention", "GroupQueryAttention", "MultiHeadAttention"}
	inSearch = []string{"Div", "FloorDiv", "Mod"} // for a divisor of 0
	inSteps  = []string{"CausalConvWithState", "Einsum", "GRU", "LSTM", "LinearAttention", "Mean", "RNN", "RotaryEmbedding", "TopK", "Unique"}
)

func (o *opN) scratch(c *Call, out []tensor.Any) (n float64) {
	in := c.Inputs
	is := func(names []string) bool { return slices.Contains(names, o.name) }
	d := dtype.Invalid
	if o.by < len(in) {
		d = in[o.by].DType()
	}
	if d.IsNarrow() && (o.move == nil || is(inProducts)) || o.name == "QuantizeLinear" {
		n += room(4, in, out)
	}
	if d.IsFixed() {
		n += room(0, in, out)
	}
	if is(inWhole) {
		n += room(8, in, out)
	}
	if is(inSteps) {
		n += room(0, in, in, out)
	}
	if len(in) < 2 || len(out) < 1 || in[1].IsZero() || out[0].IsZero() {
		return n
	}
	x, w, y := in[0], in[1], out[0]
	if is(inHeads) && x.Rank() > 2 && w.Rank() > 2 {
		rows, last := room(1, in[:1])/max(1, float64(x.Dim(x.Rank()-1))), float64(w.Dim(w.Rank()-2)) // queries of all heads, and keys
		if x.Rank() == 3 && c.Attrs != nil {
			rows *= float64(max(1, c.Attrs.Int("num_heads", 1), c.Attrs.Int("q_num_heads", 1)))
		}
		n += room(0, in, in) + float64(12*min(max(mostWeights, rows*last/max(1, float64(x.Dim(x.Rank()-2)))), rows*last))
	}
	width, volume := float64(max(4, d.Size())), 1.0
	for axis := 2; axis < w.Rank(); axis++ {
		volume *= float64(w.Dim(axis))
	}
	// plane is how many elements of a channel there are.
	plane := func(a tensor.Any) float64 {
		return room(1, []tensor.Any{a}) / max(1, float64(a.Dim(0))*float64(a.Dim(1)))
	}
	switch {
	case o.name == "ConvTranspose" && x.Rank() > 1 && y.Rank() > 1:
		n += float64(width * float64(y.Dim(1)) * volume * plane(x))
	case o.name == "DeformConv" && x.Rank() > 1 && y.Rank() > 1:
		n += float64(width * float64(x.Dim(1)) * volume * plane(y))
	}
	if is(inProducts) { // the blocks of each thread
		n += float64(float64(Threads(c.Context)) * min(4<<20, width*(float64(volume*room(1, in[:1]))+room(1, in[1:2]))))
	}
	return n
}

// room is how many bytes tensors take with elements of a size, or of their own if that is 0.
func room(size int, lists ...[]tensor.Any) (n float64) {
	for _, list := range lists {
		for _, a := range list {
			if a.IsZero() {
				continue
			}
			width := size
			if size == 0 {
				width = a.DType().Size()
			}
			n += float64(float64(a.Len()) * float64(width))
		}
	}
	return n
}
