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
func Scratch(o *Op, c *Call, out []tensor.Any) int64 {
	if o == nil || c == nil {
		return 0
	}
	return int64(min(scratchOf(o, c, out), 1<<62)) // of a double, 1<<63 - 1 isn't one
}

func scratchOf(o *Op, c *Call, out []tensor.Any) (n float64) {
	in := c.Inputs
	if o.table == nil {
		return 0
	}
	if o.fixed != dtype.Invalid && len(in) > 0 && !o.table.Supports(in[0].DType()) {
		n += room(8, in, out) // computed in float64
	}
	switch t := o.table.(type) {
	case *reduction:
		switch d := in0(in).DType(); {
		case d.IsFixed():
			return n + room(0, in, out)
		case t.collects && len(out) > 0: // a sequence, and its keys twice; some leave what append left
			return n + float64(float64(Threads(c.Context))*float64(5*d.Size()+8))*room(1, in[:1])/max(1, room(1, out[:1]))
		}
	case *liner:
		if in0(in).DType().IsFixed() {
			return n + room(0, in, out)
		}
	case *op2:
		if slices.Contains(inSearch, o.name) {
			return n + copies(in)
		}
	case *opN:
		return n + t.scratch(c, out) + copies(in)
	}
	return n // the others take operands as they are laid out
}

// in0 returns the first operand, or one of no type.
func in0(in []tensor.Any) tensor.Any {
	if len(in) == 0 {
		return tensor.Any{}
	}
	return in[0]
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
	inFloats = []string{"DynamicQuantizeLinear", "LpPool", "GlobalLpPool", "QLinearAdd", "QLinearAveragePool", "QLinearConcat", "QLinearGlobalAveragePool", "QLinearLeakyRelu",
		"QLinearMul", "QLinearReduceMean", "QLinearSigmoid", "QLinearSoftmax", "QLinearWhere"}
	inSteps = []string{"CausalConvWithState", "Einsum", "GRU", "LSTM", "LinearAttention", "Mean", "RNN", "RotaryEmbedding", "TopK", "Unique"}
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
	if is(inFloats) {
		n += room(8, in, in, out)
	}
	if line := o.line(c); line > 0 { // of float64, and scales for it
		n += float64(float64(24*Threads(c.Context)) * line)
	}
	if o.move != nil {
		_ = tensor.Try(func() {
			m := o.move(c)
			n += m.scratch + float64(float64(Threads(c.Context))*m.each)
		})
	}
	if len(in) < 2 || len(out) < 1 || in[1].IsZero() || out[0].IsZero() {
		return n
	}
	x, w, y := in[0], in[1], out[0]
	if is(inHeads) && x.Rank() == 3 && w.Rank() == 2 && c.Attrs != nil { // com.microsoft's Attention makes queries, keys and values itself
		keys, heads := float64(x.Dim(1)), float64(float64(x.Dim(0))*float64(max(1, c.Attrs.Int("num_heads", 1))))
		n += bytesIn(24, []int{x.Dim(0), x.Dim(1), w.Dim(1)}) + float64(12*min(max(mostWeights, heads*keys), heads*keys*keys))
	}
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

// line returns how many elements are normalized together, 0 where none are.
func (o *opN) line(c *Call) float64 {
	x := in0(c.Inputs)
	if x.IsZero() || c.Attrs == nil || x.Rank() == 0 {
		return 0
	}
	all, axis := room(1, c.Inputs[:1]), attrInt(c, "axis", -1)
	if axis < 0 {
		axis += x.Rank()
	}
	if axis < 0 || axis >= x.Rank() {
		return 0
	}
	switch o.name {
	case "LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization":
		n := 1.0
		for _, e := range x.Shape()[axis:] {
			n *= float64(e)
		}
		return n
	case "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "EmbedLayerNormalization":
		return float64(x.Dim(-1))
	case "LpNormalization":
		return float64(x.Dim(axis))
	case "InstanceNormalization", "GroupNormalization":
		if x.Rank() < 2 {
			return 0
		}
		return all / max(1, float64(x.Dim(0))*float64(max(1, c.Attrs.Int("num_groups", int64(x.Dim(1))))))
	case "MeanVarianceNormalization":
		return all
	}
	return 0
}

// bytesIn returns how many bytes elements of a size and in a shape take.
func bytesIn(size int, shape []int) float64 {
	n := float64(size)
	for _, e := range shape {
		n *= float64(e)
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
