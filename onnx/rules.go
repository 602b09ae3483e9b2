package onnx

import (
	"math"
	"strings"
	"unicode"

	"github.com/ashlar-go/ashlar/tensor"
)

// The rules by which FLOPs are counted: see Cost.

// A counting is a step whose FLOPs are counted. What depends on an unknown size is -1.
type counting struct {
	s     *step
	vals  []Value
	attrs *attrs
}

// A counter returns the FLOPs of a step, -1 if they are unknown.
type counter func(k *counting) int64

// in returns input j, the zero Any if it is absent or unknown.
func (k *counting) in(j int) tensor.Any {
	if j < len(k.s.in) && k.s.in[j] >= 0 {
		return k.vals[k.s.in[j]].a
	}
	return tensor.Any{}
}

// out returns output j, the zero Any if nobody wants it, or it is unknown.
func (k *counting) out(j int) tensor.Any {
	if j < len(k.s.out) && k.s.out[j] >= 0 {
		return k.vals[k.s.out[j]].a
	}
	return tensor.Any{}
}

// has reports whether the node has an input j, known or not.
func (k *counting) has(j int) bool { return j < len(k.s.in) && k.s.in[j] >= 0 }

// lengthOf is the number of elements of a, -1 if it is unknown.
func lengthOf(a tensor.Any) int64 {
	if a.IsZero() {
		return -1
	}
	return int64(a.Len())
}

// extent is the size of an axis, counted from the end where it is negative; -1 if it is unknown.
func extent(a tensor.Any, axis int) int64 {
	if a.IsZero() {
		return -1
	}
	if axis < 0 {
		axis += a.Rank()
	}
	if axis < 0 || axis >= a.Rank() {
		return -1
	}
	return int64(a.Dim(axis))
}

// times is the product of numbers, -1 if one is unknown or the product is beyond an int64.
func times(list ...int64) int64 {
	p := int64(1)
	for _, n := range list {
		switch {
		case n < 0 || n > 0 && p > math.MaxInt64/n:
			return -1
		}
		p *= n
	}
	return p
}

// plus is the sum of numbers, -1 if one is unknown or the sum is beyond an int64.
func plus(list ...int64) int64 {
	s := int64(0)
	for _, n := range list {
		if n < 0 || s > math.MaxInt64-n {
			return -1
		}
		s += n
	}
	return s
}

// none is the rule of operators that compute nothing with elements.
func none(*counting) int64 { return 0 }

// each counts n for each element of the result.
func each(n int64) counter {
	return func(k *counting) int64 { return times(n, lengthOf(k.out(0))) }
}

// read counts n for each element of the first input.
func read(n int64) counter {
	return func(k *counting) int64 { return times(n, lengthOf(k.in(0))) }
}

// rules are those of the operators of ONNX and of Microsoft's that are named alike.
var rules = make(map[string]counter)

func init() {
	for _, r := range []struct {
		rule counter
		ops  string
	}{
		{none, `BitCast Cast CastLike CenterCropPad Compress Concat ConcatFromSequence Constant ConstantOfShape DepthToSpace Dropout Expand
			EyeLike Flatten Gather GatherElements GatherND Identity Optional OptionalGetElement OptionalHasElement Pad Range Reshape
			ReverseSequence Scatter SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength Shape Size
			Slice SpaceToDepth Split SplitToSequence Squeeze TensorScatter Tile Transpose Trilu Unsqueeze Where`},
		{each(1), `Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Ceil Celu Cos Cosh Div
			Elu Equal Erf Exp FastGelu Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish IsInf IsNaN LeakyRelu Less LessOrEqual Log
			Mish Mod Mul Neg Not Or PRelu Pow QuickGelu Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub
			Swish Tan Tanh ThresholdedRelu Xor`},
		{each(2), "BatchNormalization BiasGelu Clip DequantizeLinear QuantizeLinear"},
		{each(5), "LogSoftmax Softmax"},
		{each(7), "GroupNormalization InstanceNormalization LayerNormalization"},
		{each(8), "SkipLayerNormalization"},
		{each(4), "RMSNormalization SimplifiedLayerNormalization"},
		{each(5), "SkipSimplifiedLayerNormalization"},
		{read(1), `ArgMax ArgMin CumProd CumSum GlobalAveragePool GlobalMaxPool ReduceLogSum ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum`},
		{read(2), "GlobalLpPool ReduceL1 ReduceL2 ReduceLogSumExp ReduceSumSquare"},
		{folded(0), "Max Min Sum"},
		{folded(1), "Mean"},
		{pooled(1), "AveragePool MaxPool"},
		{pooled(2), "LpPool"},
		{convolved(1, 2), "Conv"},
		{convolved(1, -1), "ConvInteger"},
		{convolved(3, 8), "QLinearConv"},
		{transposed, "ConvTranspose"},
		{multiplied, "FusedMatMul MatMul MatMulInteger QLinearMatMul"},
		{gemm, "Gemm"},
		{einsum, "Einsum"},
		{recurrent(4), "LSTM"},
		{recurrent(3), "GRU"},
		{recurrent(1), "RNN"},
		{attention, "Attention"},
		{resized, "Resize Upsample"},
		{func(k *counting) int64 { return times(plus(k.attrs.Int("size", -1), 4), lengthOf(k.out(0))) }, "LRN"},
	} {
		for name := range strings.FieldsFuncSeq(r.ops, unicode.IsSpace) {
			rules[name] = r.rule
		}
	}
}

// ruleOf returns the rule of a node's operator, nil if there is none.
func ruleOf(n *Node) counter {
	if !isDefault(n.Domain) && (n.Domain != "com.microsoft" || n.Op == "Attention") {
		return nil
	}
	return rules[n.Op]
}

// folded counts, for each element of the result, one less than there are inputs, and more.
func folded(more int64) counter {
	return func(k *counting) int64 { return times(int64(len(k.s.in))-1+more, lengthOf(k.out(0))) }
}

// pooled counts n for each element of the kernel and of the result.
func pooled(n int64) counter {
	return func(k *counting) int64 {
		kernel, ok := k.attrs.Ints("kernel_shape")
		if !ok {
			return -1
		}
		return times(n, times(kernel...), lengthOf(k.out(0)))
	}
}

// convolved is the rule of a convolution with its weights at this input; a bias < 0 is none.
func convolved(weights, bias int) counter {
	return func(k *counting) int64 {
		w := k.in(weights)
		filter := extent(w, 0)
		if filter > 0 {
			filter = lengthOf(w) / filter // of one channel of the result
		}
		n := times(2, lengthOf(k.out(0)), filter)
		if bias >= 0 && k.has(bias) {
			n = plus(n, lengthOf(k.out(0)))
		}
		return n
	}
}

// transposed is the rule of ConvTranspose: each element of the data goes, times a filter, into the result.
func transposed(k *counting) int64 {
	w := k.in(1)
	filter := extent(w, 0)
	if filter > 0 {
		filter = lengthOf(w) / filter // of one channel of the data
	}
	n := times(2, lengthOf(k.in(0)), filter)
	if k.has(2) {
		n = plus(n, lengthOf(k.out(0)))
	}
	return n
}

// multiplied is the rule of products of matrices, or vectors: the axis that is summed is the last of the first input, or
// the one before where that is transposed.
func multiplied(k *counting) int64 {
	axis := -1
	if k.attrs.Int("transA", 0) != 0 && !k.in(0).IsZero() && k.in(0).Rank() > 1 {
		axis = -2
	}
	if k.attrs.Int("transBatchA", 0) != 0 {
		return -1
	}
	return times(2, lengthOf(k.out(0)), extent(k.in(0), axis))
}

// resized knows that the nearest element is a copy.
func resized(k *counting) int64 {
	if k.attrs.Str("mode", "nearest") == "nearest" {
		return 0
	}
	return -1
}

func gemm(k *counting) int64 {
	axis := 1
	if k.attrs.Int("transA", 0) != 0 {
		axis = 0
	}
	n := times(2, lengthOf(k.out(0)), extent(k.in(0), axis))
	if k.has(2) {
		n = plus(n, lengthOf(k.out(0)))
	}
	return n
}

// einsum counts, for each combination of indices, a product for each operand but one and the sum. An ellipsis isn't
// followed.
func einsum(k *counting) int64 {
	text, _, _ := strings.Cut(strings.ReplaceAll(k.attrs.Str("equation", "..."), " ", ""), "->")
	terms := strings.Split(text, ",")
	sizes := make(map[rune]int64)
	for j, term := range terms {
		a := k.in(j)
		if strings.Contains(term, ".") || a.IsZero() || a.Rank() != len([]rune(term)) {
			return -1
		}
		for axis, letter := range []rune(term) {
			sizes[letter] = max(sizes[letter], int64(a.Dim(axis)))
		}
	}
	n := int64(len(terms))
	for _, size := range sizes {
		n = times(n, size)
	}
	return n
}

// recurrent is the rule of a recurrent network whose cells have so many gates.
func recurrent(gates int64) counter {
	return func(k *counting) int64 {
		x, w, r := k.in(0), k.in(1), k.in(2)
		steps := times(extent(x, 0), extent(x, 1)) // of all sequences, whatever the axis of batches is
		return times(2, steps, extent(w, 0), gates, extent(r, 2), plus(extent(w, 2), extent(r, 2)))
	}
}

// attention counts the products of queries and keys, and of their weights and values, masked ones included.
func attention(k *counting) int64 {
	q, key, v := k.in(0), k.in(1), k.in(2)
	if q.IsZero() || key.IsZero() || v.IsZero() || k.has(4) || k.has(5) { // with a cache the keys are more
		return -1
	}
	if q.Rank() == 4 {
		batch, heads, rows := extent(q, 0), extent(q, 1), extent(q, 2)
		return times(2, batch, heads, rows, extent(key, 2), plus(extent(key, 3), extent(v, 3)))
	}
	heads, pairs := k.attrs.Int("q_num_heads", 0), k.attrs.Int("kv_num_heads", 0)
	if q.Rank() != 3 || heads < 1 || pairs < 1 {
		return -1
	}
	width := plus(extent(key, 2)/pairs, extent(v, 2)/pairs)
	return times(2, extent(q, 0), heads, extent(q, 1), extent(key, 1), width)
}
