package optest

import (
	"maps"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A testCase is one call of an operator for every element type it supports.
type testCase struct {
	in      []input
	attrs   attrs
	opset   int // 0 means the operator's newest
	outputs int
	calm    bool // no special values: for sums over many elements, and for values that must have a result
	only    func(d dtype.DType) bool
}

// An input is random elements of the type under test, unless its fields give others.
type input struct {
	shape   []int
	dtype   dtype.DType // another type than the one under test
	nonzero bool        // integers aren't 0
	values  []int64     // these values, as int64, and laid out as they are
	absent  bool
}

func data(shape ...int) input             { return input{shape: shape} }
func divisor(shape ...int) input          { return input{shape: shape, nonzero: true} }
func f32(shape ...int) input              { return input{shape: shape, dtype: dtype.Float32} }
func bools(shape ...int) input            { return input{shape: shape, dtype: dtype.Bool} }
func ints(values ...int64) input          { return input{shape: []int{len(values)}, values: values} }
func index(shape []int, v ...int64) input { return input{shape: shape, values: v} }

// reasons gives, for operators without cases, the reason.
var reasons = map[string]string{
	"Constant":        "has no operands",
	"MaxRoiPool":      "takes images' numbers as floats; op tests it beside a loop",
	"ConstantOfShape": "has no operand but a shape",
	"Range":           "has no operands but three numbers",
	"HannWindow":      "has no operand but a size",
	"HammingWindow":   "has no operand but a size",
	"BlackmanWindow":  "has no operand but a size",
	"RandomNormal":    "has no operand",
	"RandomUniform":   "has no operand",
	"MelWeightMatrix": "has no operands but five numbers",
	"LabelEncoder":    "its keys, which are attributes, have the type of its operand",
}

// shapes are the shapes of operands of operators of one operand.
var shapes = [][]int{{}, {0}, {3, 0, 2}, {7}, {4, 6}, {2, 3, 4}, {1, 5, 1}, {2, 4, 2, 3}, {33, 40}}

// pairs are the shapes of operators of two operands.
var pairs = [][2][]int{{{}, {}}, {{4, 6}, {4, 6}}, {{4, 6}, {6}}, {{4, 1}, {1, 6}}, {{}, {3, 2}}, {{2, 3, 4}, {3, 1}}, {{0, 3}, {1, 3}}, {{2, 4, 2, 3}, {4, 1, 3}},
	{{33, 40}, {40}}, {{33, 1}, {33, 40}}, {{33, 40}, {33, 40}}, {{1300}, {2, 1300}}}

func unary(a attrs) (cs []testCase) {
	for _, s := range shapes {
		cs = append(cs, testCase{in: []input{data(s...)}, attrs: a})
	}
	return cs
}

func binary(a attrs) (cs []testCase) {
	for _, p := range pairs {
		cs = append(cs, testCase{in: []input{data(p[0]...), divisor(p[1]...)}, attrs: a})
	}
	return cs
}

func ternary(condition bool) (cs []testCase) {
	for _, p := range pairs {
		first := data(p[1]...)
		if condition {
			first = bools(p[1]...)
		}
		cs = append(cs, testCase{in: []input{first, data(p[0]...), data(p[1]...)}})
	}
	return cs
}

// reduction has the cases of an operator that reduces axes. The axes are an attribute before opset since, else an
// input.
func reduction(since int) (cs []testCase) {
	for _, c := range []struct {
		shape []int
		axes  []int64
	}{{[]int{}, nil}, {[]int{7}, nil}, {[]int{4, 6}, []int64{0}}, {[]int{4, 6}, []int64{-1}}, {[]int{4, 6}, nil}, {[]int{2, 3, 4}, []int64{1}},
		{[]int{2, 3, 4}, []int64{0, 2}}, {[]int{2, 4, 2, 3}, []int64{1, 2}}, {[]int{2, 4, 2, 3}, []int64{3, 0}}, {[]int{70, 33}, []int64{0}}, {[]int{2, 4500}, []int64{1}}, {[]int{4500, 2}, []int64{0}}} {
		for _, keep := range []int64{0, 1} {
			old := attrs{"keepdims": keep}
			if c.axes != nil {
				old["axes"] = c.axes
			}
			cs = append(cs, testCase{in: []input{data(c.shape...)}, attrs: old, opset: since - 1})
			now := testCase{in: []input{data(c.shape...)}, attrs: attrs{"keepdims": keep}, opset: since}
			if c.axes != nil {
				now.in = append(now.in, ints(c.axes...))
			}
			cs = append(cs, now)
		}
	}
	return cs
}

func arg() (cs []testCase) {
	for _, axis := range []int64{0, 1, -1} {
		for _, last := range []int64{0, 1} {
			cs = append(cs, testCase{in: []input{data(5, 4, 6)}, attrs: attrs{"axis": axis, "select_last_index": last}})
		}
	}
	return append(cs, testCase{in: []input{data(40, 33)}, attrs: attrs{"axis": int64(0), "keepdims": int64(0)}})
}

func alongAxis() (cs []testCase) {
	for _, axis := range []int64{0, 1, -1} {
		cs = append(cs, testCase{in: []input{data(3, 5, 4)}, attrs: attrs{"axis": axis}}, testCase{in: []input{data(2, 4, 6)}, attrs: attrs{"axis": axis}, calm: true},
			testCase{in: []input{data(3, 5, 4)}, attrs: attrs{"axis": axis}, opset: 11})
	}
	return append(cs, testCase{in: []input{data(3, 700)}, calm: true}, testCase{in: []input{data(0, 4)}})
}

func windows(a attrs) []testCase {
	with := func(more attrs) attrs {
		for k, v := range a {
			more[k] = v
		}
		return more
	}
	return []testCase{
		{in: []input{data(2, 3, 8, 6)}, attrs: with(attrs{"kernel_shape": []int64{3, 2}})},
		{in: []input{data(1, 2, 9, 8)}, attrs: with(attrs{"kernel_shape": []int64{3, 3}, "strides": []int64{2, 1}, "pads": []int64{1, 1, 1, 0}})},
		{in: []input{data(1, 4, 12)}, attrs: with(attrs{"kernel_shape": []int64{4}, "strides": []int64{3}})},
		{in: []input{data(1, 2, 4, 4, 6)}, attrs: with(attrs{"kernel_shape": []int64{2, 2, 2}})},
	}
}

// cases has the calls of each operator.
func cases(name string) []testCase {
	switch name {
	case "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Cbrt", "Ceil", "Cos", "Cosh", "Dropout", "Erf", "Exp",
		"Exp2", "Expm1", "Floor", "HardSwish", "Identity", "IsNaN", "Log", "Log10", "Log1p", "Log2", "Mish", "Neg", "Not", "Reciprocal", "Relu",
		"Round", "Rsqrt", "Shape", "Sigmoid", "Sign", "Sin", "Sinh", "Size", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh":
		return unary(nil)
	case "Celu", "Elu", "HardSigmoid", "LeakyRelu", "Selu", "ThresholdedRelu":
		return append(unary(nil), testCase{in: []input{data(4, 6)}, attrs: attrs{"alpha": float32(0.75)}})
	case "Gelu":
		return append(unary(nil), testCase{in: []input{data(4, 6)}, attrs: attrs{"approximate": "tanh"}})
	case "FastGelu":
		return append(unary(nil), testCase{in: []input{data(3, 4, 6), data(6)}})
	case "BiasGelu":
		return []testCase{{in: []input{data(4, 6), data(6)}}, {in: []input{data(2, 3, 40), data(40)}}, {in: []input{data(0, 4), data(4)}}}
	case "QuickGelu":
		return append(unary(nil), testCase{in: []input{data(4, 6)}, attrs: attrs{"alpha": float32(0.75)}})
	case "FusedMatMul":
		return []testCase{{in: []input{data(4, 6), data(6, 8)}}, {in: []input{data(6, 4), data(8, 6)}, attrs: attrs{"alpha": float32(0.5), "transA": int64(1), "transB": int64(1)}},
			{in: []input{data(4, 2, 6), data(6, 2, 3)}, attrs: attrs{"transBatchA": int64(1), "transBatchB": int64(1)}}, {in: []input{data(33, 270), data(270, 12)}, calm: true}}
	case "SkipLayerNormalization":
		return []testCase{{in: []input{data(2, 3, 4), data(2, 3, 4), data(4), data(4), data(4)}, outputs: 4}, {in: []input{data(3, 40), data(40), data(40)}, calm: true}}
	case "SkipSimplifiedLayerNormalization":
		return []testCase{{in: []input{data(2, 3, 4), data(2, 3, 4), data(4), data(4)}}, {in: []input{data(3, 40), data(40), data(40)}, calm: true}}
	case "DFT":
		return []testCase{{in: []input{data(4, 6, 1), {absent: true}, index(nil, 1)}, attrs: attrs{"onesided": int64(1)}}, {in: []input{data(2, 30, 2), index(nil, 37), index(nil, -2)}, calm: true},
			{in: []input{data(16, 3, 2), {absent: true}, index(nil, 0)}, attrs: attrs{"inverse": int64(1)}, calm: true}, {in: []input{data(2, 9, 2), index(nil, 15)}, attrs: attrs{"inverse": int64(1), "onesided": int64(1)}, calm: true},
			{in: []input{data(3, 12, 1)}, opset: 17, calm: true}}
	case "Bernoulli":
		return []testCase{{in: []input{data(4, 6)}}, {in: []input{data(33, 40)}, attrs: attrs{"dtype": int64(9), "seed": float32(3)}}}
	case "Multinomial":
		return []testCase{{in: []input{data(4, 6)}, attrs: attrs{"sample_size": int64(9)}, calm: true}}
	case "RandomNormalLike", "RandomUniformLike":
		return []testCase{{in: []input{data(4, 6)}, attrs: attrs{"dtype": int64(1)}}, {in: []input{data(2, 3, 4)}, attrs: attrs{"dtype": int64(10), "seed": float32(3)}}}
	case "Adagrad", "Momentum":
		return []testCase{{in: []input{f32(), index(nil, 1), data(4, 6), data(4, 6), data(4, 6)}, outputs: 2, attrs: attrs{"alpha": float32(0.5), "beta": float32(0.25)}},
			{in: []input{f32(), index(nil, 0), data(33, 40), data(3), data(33, 40), data(3), data(33, 40), data(3)}, outputs: 4, attrs: attrs{"norm_coefficient": float32(0.5)}, calm: true}}
	case "Adam":
		return []testCase{{in: []input{f32(), index(nil, 2), data(4, 6), data(4, 6), data(4, 6), data(4, 6)}, outputs: 3}, {in: []input{f32(), index(nil, 0), data(33, 40), data(33, 40), data(33, 40), data(33, 40)}, outputs: 3, calm: true}}
	case "STFT":
		return []testCase{{in: []input{data(2, 40), index(nil, 3), data(16)}, calm: true}, {in: []input{data(2, 20, 2), index(nil, 4), {absent: true}, index(nil, 6)}, attrs: attrs{"onesided": int64(0)}}}
	case "AffineGrid":
		return []testCase{{in: []input{data(2, 2, 3), ints(2, 1, 3, 4)}}, {in: []input{data(1, 3, 4), ints(1, 1, 2, 3, 4)}, attrs: attrs{"align_corners": int64(1)}, calm: true}}
	case "IsInf":
		return append(unary(nil), testCase{in: []input{data(4, 6)}, attrs: attrs{"detect_negative": int64(0)}})
	case "Add", "And", "Atan2", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual", "Hypot", "Less", "LessOrEqual", "Mul", "Or", "Pow", "Sub", "Xor":
		return binary(nil)
	case "BitShift":
		return append(binary(attrs{"direction": "LEFT"}), binary(attrs{"direction": "RIGHT"})...)
	case "Mod":
		cs := binary(attrs{"fmod": int64(1)})
		for _, c := range binary(nil) {
			c.only = func(d dtype.DType) bool { return !d.IsFloat() }
			cs = append(cs, c)
		}
		return cs
	case "Max", "Min", "Sum", "Mean":
		return append(binary(nil), ternary(false)...)
	case "Where":
		return ternary(true)
	case "PRelu":
		return []testCase{{in: []input{data(4, 6), data(6)}}, {in: []input{data(2, 3, 4), data(3, 1)}}, {in: []input{data(33, 40), data()}}}
	case "Cast":
		var cs []testCase
		for _, code := range []int64{1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19} {
			for _, s := range [][]int{{}, {0}, {4, 6}, {33, 40}} {
				cs = append(cs, testCase{in: []input{data(s...)}, attrs: attrs{"to": code}})
			}
		}
		return append(cs, testCase{in: []input{data(70)}, attrs: attrs{"to": int64(17), "saturate": int64(0)}})
	case "CastLike":
		return []testCase{{in: []input{data(4, 6), bools()}}, {in: []input{data(4, 6), {dtype: dtype.Int32}}}, {in: []input{data(33, 40), {dtype: dtype.BFloat16}}}}
	case "Clip":
		return []testCase{{in: []input{data(4, 6), data(), data()}}, {in: []input{data(33, 40), data(), {absent: true}}}, {in: []input{data(2, 3, 4), {absent: true}, data()}},
			{in: []input{data(7)}, attrs: attrs{"min": float32(-1), "max": float32(2.5)}, opset: 6}}
	case "ReduceSum":
		return reduction(13)
	case "Var", "Std", "Median", "Quantile", "NanSum", "NanMean", "NanMax", "NanMin",
		"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare":
		return reduction(18)
	case "ArgMax", "ArgMin", "NanArgMax", "NanArgMin":
		return arg()
	case "Softmax", "LogSoftmax", "Hardmax":
		return alongAxis()
	case "LRN":
		return []testCase{{in: []input{data(2, 5, 4, 3)}, attrs: attrs{"size": int64(3)}}, {in: []input{data(2, 5, 4)}, attrs: attrs{"size": int64(2)}, calm: true}}
	case "BatchNormalization":
		return []testCase{{in: []input{data(2, 4, 3, 2), data(4), data(4), data(4), data(4)}}, {in: []input{data(5, 6), data(6), data(6), data(6), data(6)}, calm: true},
			{in: []input{data(2, 4, 3, 5), data(4), data(4), data(4), data(4)}, attrs: attrs{"training_mode": int64(1)}, outputs: 3, calm: true, only: dtype.DType.IsFloat}}
	case "GlobalAveragePool", "GlobalMaxPool":
		return []testCase{{in: []input{data(2, 4, 6, 3)}}, {in: []input{data(2, 4, 70)}, calm: true}}
	case "AveragePool":
		return append(windows(attrs{}), windows(attrs{"count_include_pad": int64(1)})...)
	case "MaxPool":
		return append(windows(attrs{}), testCase{in: []input{data(1, 2, 8, 6)}, attrs: attrs{"kernel_shape": []int64{2, 2}}, outputs: 2})
	case "Conv":
		return []testCase{{in: []input{data(1, 4, 8, 6), data(6, 4, 3, 3), data(6)}}, {in: []input{data(2, 4, 9, 6), data(6, 2, 3, 2)}, calm: true,
			attrs: attrs{"group": int64(2), "strides": []int64{2, 1}, "pads": []int64{1, 0, 1, 1}}}, {in: []input{data(1, 6, 12), data(6, 1, 4)}, attrs: attrs{"group": int64(6)}}}
	case "QuantizeLinear":
		return []testCase{{in: []input{data(4, 6), f32(), {dtype: dtype.Uint8}}}, {in: []input{data(2, 3, 4), f32(3), {shape: []int{3}, dtype: dtype.Int16}}},
			{in: []input{data(2, 7), f32(2, 3)}, attrs: attrs{"block_size": int64(3), "output_dtype": int64(17)}}, {in: []input{data(4, 6), f32(6)}, attrs: attrs{"output_dtype": int64(19), "saturate": int64(0)}}}
	case "DequantizeLinear":
		return []testCase{{in: []input{data(4, 6), f32(), data()}}, {in: []input{data(2, 3, 4), f32(3), data(3)}}, {in: []input{data(2, 7), f32(2, 3), data(2, 3)}, attrs: attrs{"block_size": int64(3), "output_dtype": int64(10)}}}
	case "DynamicQuantizeLinear":
		return []testCase{{in: []input{data(4, 6)}, calm: true, outputs: 3}, {in: []input{data(0, 3)}, outputs: 3}, {in: []input{data(33, 40)}, outputs: 3}}
	case "QLinearMatMul":
		return []testCase{{in: []input{data(4, 6), f32(4), data(4), data(6, 8), f32(8), data(8), f32(), data()}, calm: true}, {in: []input{data(2, 4, 6), f32(), data(), data(6, 2), f32(), data(), f32(), data()}}}
	case "QLinearConv":
		return []testCase{{in: []input{data(2, 4, 9, 6), f32(), data(), data(6, 2, 3, 2), f32(6), data(6), f32(), data(), {shape: []int{6}, dtype: dtype.Int32}}, attrs: attrs{"group": int64(2), "pads": []int64{1, 0, 1, 1}}}}
	case "QLinearAdd", "QLinearMul":
		return []testCase{{in: []input{data(4, 6), f32(), data(), data(6), f32(), data(), f32(), data()}}, {in: []input{data(2, 3, 4), f32(), data(), data(3, 1), f32(), data(), f32(), data()}, calm: true}}
	case "QLinearSigmoid", "QLinearSoftmax", "QLinearReduceMean":
		return []testCase{{in: []input{data(4, 6), f32(), data(), f32(), data()}}, {in: []input{data(2, 3, 40), f32(), {absent: true}, f32(), data()}, attrs: attrs{"axis": int64(1), "axes": []int64{1}, "opset": int64(11)}, calm: true}}
	case "QLinearAveragePool", "QLinearGlobalAveragePool":
		at := attrs{"kernel_shape": []int64{3, 2}, "pads": []int64{1, 0, 1, 1}}
		return []testCase{{in: []input{data(2, 3, 8, 6), f32(), data(), f32(), data()}, attrs: at}, {in: []input{data(2, 4, 5, 3), f32(), data(), f32(), data()}, attrs: attrs{"kernel_shape": []int64{3, 2}, "channels_last": int64(1)}, calm: true}}
	case "QLinearWhere":
		return []testCase{{in: []input{bools(4, 1), data(4, 6), f32(), data(), data(6), f32(), data(), f32(), data()}}}
	case "MatMulIntegerToFloat":
		return []testCase{{in: []input{data(4, 6), data(6, 8), f32(), f32(8), data(), data(8), f32(8)}, calm: true}, {in: []input{data(2, 4, 6), data(6, 2), f32(), f32()}}}
	case "DynamicQuantizeMatMul":
		b := input{shape: []int{6, 8}, dtype: dtype.Int8}
		return []testCase{{in: []input{data(4, 6), b, f32(8), {shape: []int{8}, dtype: dtype.Int8}, f32(8)}, calm: true}, {in: []input{data(2, 4, 6), b, f32()}, calm: true}}
	case "QGemm":
		return []testCase{{in: []input{data(4, 6), f32(), data(), data(6, 8), f32(8), data(8), {shape: []int{8}, dtype: dtype.Int32}, f32(), data()}, calm: true},
			{in: []input{data(6, 4), f32(), data(), data(8, 6), f32(), data()}, attrs: attrs{"alpha": float32(0.5), "transA": int64(1), "transB": int64(1)}}}
	case "MatMulNBits":
		b := func(shape ...int) input { return input{shape: shape, dtype: dtype.Uint8} }
		return []testCase{{in: []input{data(4, 40), b(6, 3, 8), data(6, 3), b(6, 2), {absent: true}, data(6)}, attrs: attrs{"K": int64(40), "N": int64(6), "block_size": int64(16)}, calm: true},
			{in: []input{data(2, 3, 300), b(5, 10, 32), data(5, 10)}, attrs: attrs{"K": int64(300), "N": int64(5), "block_size": int64(32), "bits": int64(8)}, calm: true}}
	case "QLinearLeakyRelu":
		return []testCase{{in: []input{data(4, 6), f32(), data(), f32(), data()}}, {in: []input{data(33, 40), f32(), data(), f32(), data()}, calm: true}}
	case "QLinearConcat":
		return []testCase{{in: []input{f32(), data(), data(4, 6), f32(), data(), data(4, 2), f32(), data()}, attrs: attrs{"axis": int64(1)}}, {in: []input{f32(), data(), data(2, 3, 4), f32(), data()}}}
	case "LayerNormalization":
		return []testCase{{in: []input{data(2, 3, 4), data(4), data(3, 4)}, outputs: 3}, {in: []input{data(2, 3, 40), data(40)}, attrs: attrs{"axis": int64(1)}, calm: true}}
	case "RMSNormalization":
		return []testCase{{in: []input{data(2, 3, 4), data(4)}}, {in: []input{data(2, 3, 40), data()}, attrs: attrs{"axis": int64(1)}, calm: true}}
	case "GroupNormalization":
		return []testCase{{in: []input{data(2, 4, 3), data(4), data(4)}, attrs: attrs{"num_groups": int64(2)}, calm: true}, {in: []input{data(2, 4, 3), data(2), data(2)}, attrs: attrs{"num_groups": int64(2)}, opset: 18}}
	case "InstanceNormalization":
		return []testCase{{in: []input{data(2, 4, 3), data(4), data(4)}}, {in: []input{data(2, 2, 7, 6), data(2), data(2)}, calm: true}}
	case "LpNormalization":
		return []testCase{{in: []input{data(4, 6)}}, {in: []input{data(4, 6, 2)}, attrs: attrs{"axis": int64(0), "p": int64(1)}, calm: true}, {in: []input{data(2, 70, 3)}, attrs: attrs{"axis": int64(1)}, calm: true}}
	case "MeanVarianceNormalization":
		return []testCase{{in: []input{data(2, 4, 3, 5)}, calm: true}, {in: []input{data(4, 6)}, attrs: attrs{"axes": []int64{0}}}}
	case "LpPool":
		return append(windows(attrs{}), windows(attrs{"p": int64(3)})...)
	case "MaxUnpool":
		return []testCase{{in: []input{data(1, 1, 2, 2), index([]int{1, 1, 2, 2}, 5, 7, 13, 15)}, attrs: attrs{"kernel_shape": []int64{2, 2}, "strides": []int64{2, 2}}},
			{in: []input{data(1, 1, 2, 2), index([]int{1, 1, 2, 2}, 5, 7, 13, 7), ints(1, 1, 5, 5)}, attrs: attrs{"kernel_shape": []int64{2, 2}, "strides": []int64{2, 2}}}}
	case "GlobalLpPool":
		return []testCase{{in: []input{data(2, 4, 6, 3)}}, {in: []input{data(2, 4, 70)}, attrs: attrs{"p": int64(1)}, calm: true}}
	case "RoiAlign":
		at := ints(1, 0, 1)
		return []testCase{{in: []input{data(2, 3, 6, 4), data(3, 4), at}, attrs: attrs{"sampling_ratio": int64(2), "output_height": int64(2), "output_width": int64(3)}},
			{in: []input{data(2, 3, 6, 4), data(3, 4), at}, attrs: attrs{"mode": "max", "sampling_ratio": int64(2), "coordinate_transformation_mode": "output_half_pixel", "spatial_scale": float32(0.5)}, calm: true}}
	case "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss":
		target := index([]int{2, 4}, 0, 2, 1, 1, 0, 2, 2, 1)
		return []testCase{{in: []input{data(2, 3, 4), target, data(3)}}, {in: []input{data(2, 3, 4), target}, attrs: attrs{"reduction": "none", "ignore_index": int64(1)}}, {in: []input{data(2, 3, 4), target}, attrs: attrs{"reduction": "sum"}, calm: true}}
	case "Det":
		return []testCase{{in: []input{data(2, 3, 3)}, calm: true}, {in: []input{data(5, 5)}}, {in: []input{data(2, 0, 0)}}}
	case "NonMaxSuppression":
		return []testCase{{in: []input{data(1, 5, 4), data(1, 2, 5), index(nil, 3)}, calm: true}, {in: []input{data(2, 5, 4), data(2, 2, 5), index(nil, 3)}, attrs: attrs{"center_point_box": int64(1)}}}
	case "BitCast":
		wide := func(d dtype.DType) bool { return d.Size() == 4 }
		return []testCase{{in: []input{data(4, 6)}, attrs: attrs{"to": int64(12)}, only: wide}, {in: []input{data(2, 3, 4)}, attrs: attrs{"to": int64(12)}, only: wide}}
	case "ArrayFeatureExtractor":
		return []testCase{{in: []input{data(4, 6), ints(5, 0, 5)}}, {in: []input{data(2, 3, 4), ints(1)}}}
	case "ConvTranspose":
		return []testCase{{in: []input{data(1, 4, 5, 3), data(4, 3, 3, 2), data(3)}}, {in: []input{data(2, 4, 5, 4), data(4, 3, 2, 3)}, calm: true,
			attrs: attrs{"group": int64(2), "strides": []int64{2, 1}, "dilations": []int64{1, 2}, "pads": []int64{1, 0, 1, 1}, "output_padding": []int64{1, 0}}}}
	case "ConvInteger":
		return []testCase{{in: []input{data(1, 4, 8, 6), data(6, 4, 3, 3), data(), data(6)}}, {in: []input{data(2, 4, 9, 6), data(6, 2, 3, 2)},
			attrs: attrs{"group": int64(2), "strides": []int64{2, 1}, "pads": []int64{1, 0, 1, 1}}}}
	case "MatMulInteger":
		return []testCase{{in: []input{data(4, 6), data(6, 8), data(4), data(8)}}, {in: []input{data(2, 3, 4, 6), data(3, 6, 2)}}}
	case "DeformConv":
		return []testCase{{in: []input{data(2, 4, 5, 6), data(6, 2, 2, 2), data(2, 16, 4, 5), data(6), data(2, 8, 4, 5)}, attrs: attrs{"group": int64(2), "offset_group": int64(2)}},
			{in: []input{data(1, 2, 4, 4), data(2, 2, 3, 3), data(1, 18, 4, 4)}, attrs: attrs{"pads": []int64{1, 1, 1, 1}}, calm: true}}
	case "LSTM", "GRU", "RNN":
		return recurrent(name)
	case "Scaler":
		return []testCase{{in: []input{data(4, 6)}, attrs: attrs{"offset": []float32{0.5}, "scale": []float32{-3}}}, {in: []input{data(2, 3, 4)}, attrs: attrs{"offset": []float32{1, 2, 3, 4}, "scale": []float32{0.1, 1, 10, 100}}}}
	case "Normalizer":
		return []testCase{{in: []input{data(4, 6)}}, {in: []input{data(4, 6)}, attrs: attrs{"norm": "L1"}}, {in: []input{data(4, 6)}, attrs: attrs{"norm": "L2"}}, {in: []input{data(2, 3, 4)}, attrs: attrs{"norm": "L2"}, calm: true}}
	case "Imputer":
		return []testCase{{in: []input{data(4, 6)}, attrs: attrs{"imputed_value_floats": []float32{1.5}, "imputed_value_int64s": []int64{7}, "replaced_value_float": float32(math.NaN())}},
			{in: []input{data(2, 3, 4)}, attrs: attrs{"imputed_value_floats": []float32{1, 2, 3, 4}, "imputed_value_int64s": []int64{1, 2, 3, 4}}}}
	case "FeatureVectorizer":
		return []testCase{{in: []input{data(4, 6), data(4, 2)}}, {in: []input{data(6), data(1, 3)}, attrs: attrs{"inputdimensions": []int64{7, 1}}}}
	case "OneHotEncoder":
		return []testCase{{in: []input{data(4, 6)}, attrs: attrs{"cats_int64s": []int64{0, 1, 2, -3}}}, {in: []input{data(2, 3, 4)}, attrs: attrs{"cats_int64s": []int64{1}}}}
	case "TfIdfVectorizer":
		grams := attrs{"pool_int64s": []int64{0, 1, 2, 0, 0, 0, 1}, "ngram_counts": []int64{0, 3}, "ngram_indexes": []int64{0, 4, 2, 1, 3}, "min_gram_length": int64(1), "max_gram_length": int64(2), "max_skip_count": int64(2), "mode": "TF"}
		idf := maps.Clone(grams)
		idf["mode"], idf["weights"] = "TFIDF", []float32{0.5, 2, 3, -1, 0.1}
		return []testCase{{in: []input{data(4, 6)}, attrs: grams}, {in: []input{data(9)}, attrs: idf}}
	case "SVMRegressor", "SVMClassifier":
		var cs []testCase
		for i, kernel := range []string{"LINEAR", "POLY", "RBF", "SIGMOID", ""} {
			cs = append(cs, vectors(name, 6, kernel, []string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}[i]))
		}
		return cs
	case "TreeEnsemble":
		return []testCase{forest(6), forest(6)}
	case "LinearRegressor", "LinearClassifier", "TreeEnsembleRegressor", "TreeEnsembleClassifier":
		var cs []testCase
		for _, post := range []string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"} {
			cs = append(cs, model(name, 6, post), model(name, 6, post))
			cs[len(cs)-1].calm = true
		}
		return cs
	case "MatMul":
		return []testCase{{in: []input{data(4, 6), data(6, 8)}}, {in: []input{data(6), data(6, 4)}}, {in: []input{data(4, 6), data(6)}}, {in: []input{data(2, 3, 4, 6), data(3, 6, 2)}},
			{in: []input{data(0, 4), data(4, 2)}}, {in: []input{data(33, 270), data(270, 12)}, calm: true}}
	case "Einsum":
		return []testCase{{in: []input{data(4, 6), data(6, 8)}, attrs: attrs{"equation": "ij,jk->ik"}}, {in: []input{data(4, 4, 6)}, attrs: attrs{"equation": "iij->j"}, calm: true},
			{in: []input{data(2, 4, 6), data(6, 2)}, attrs: attrs{"equation": "b...j,jb"}, calm: true}, {in: []input{data(33, 20), data(20, 3), data(3, 40)}, attrs: attrs{"equation": "ab,bc,cd->da"}, calm: true}}
	case "TensorDot":
		return []testCase{{in: []input{data(4, 6), data(6, 8)}, attrs: attrs{"axes_a": []int64{1}, "axes_b": []int64{0}}},
			{in: []input{data(2, 4, 6), data(6, 3, 2)}, attrs: attrs{"axes_a": []int64{2, 0}, "axes_b": []int64{0, 2}}, calm: true}, {in: []input{data(4), data(6)}, attrs: attrs{}}}
	case "Inner":
		return []testCase{{in: []input{data(4, 6), data(8, 6)}}, {in: []input{data(6), data(6)}, calm: true}, {in: []input{data(2, 3), data()}}}
	case "Gemm":
		return []testCase{{in: []input{data(4, 6), data(6, 8), data(8)}}, {in: []input{data(6, 4), data(8, 6), data(4, 1)}, calm: true,
			attrs: attrs{"transA": int64(1), "transB": int64(1), "alpha": float32(0.5), "beta": float32(-2)}}, {in: []input{data(9, 300), data(300, 5)}, calm: true}}
	}
	if cs := attentions(name); cs != nil {
		return cs
	}
	return moves(name)
}

// model is a case of a linear model or an ensemble of trees, with three targets or classes.
func model(name string, features int, post string) testCase {
	a := attrs{"post_transform": post, "targets": int64(3), "n_targets": int64(3), "intercepts": []float32{0.5, -1, 2}, "classlabels_ints": []int64{4, 9, 2}, "classlabels_int64s": []int64{4, 9, 2}}
	coefficients := make([]float32, 3*features)
	for i := range coefficients {
		coefficients[i] = float32(i%7) - 2.5
	}
	a["coefficients"] = coefficients
	a["nodes_treeids"], a["nodes_nodeids"] = []int64{0, 0, 0, 0, 0, 1, 1, 1}, []int64{0, 1, 2, 3, 4, 0, 1, 2}
	a["nodes_truenodeids"], a["nodes_falsenodeids"] = []int64{1, 0, 3, 0, 0, 2, 0, 0}, []int64{2, 0, 4, 0, 0, 1, 0, 0}
	a["nodes_modes"] = []string{"BRANCH_LEQ", "LEAF", "BRANCH_GT", "LEAF", "LEAF", "BRANCH_NEQ", "LEAF", "LEAF"}
	a["nodes_featureids"], a["nodes_values"] = []int64{0, 0, 3, 0, 0, 1, 0, 0}, []float32{0, 0, 1, 0, 0, 0.5, 0, 0}
	for _, prefix := range []string{"target_", "class_"} {
		a[prefix+"treeids"], a[prefix+"nodeids"] = []int64{0, 0, 0, 1, 1}, []int64{1, 3, 4, 1, 2}
		a[prefix+"ids"], a[prefix+"weights"] = []int64{0, 1, 2, 1, 2}, []float32{0.25, -0.5, 0.75, 0.5, 0.1}
	}
	c := testCase{in: []input{data(4, features)}, attrs: a, outputs: 1}
	if name == "LinearClassifier" || name == "TreeEnsembleClassifier" {
		c.outputs = 2
	}
	return c
}

// vectors is a case of a support vector machine with three classes, or one target. Without a kernel it has no
// vectors.
func vectors(name string, features int, kernel, post string) testCase {
	list := func(n int, step float32) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(float32(i%7)*step) - 0.5
		}
		return v
	}
	c := testCase{in: []input{data(4, features)}, calm: true, outputs: 2}
	a := attrs{"kernel_params": []float32{0.25, 0.5, 3}, "rho": []float32{0.5, -0.25, 0.125}, "post_transform": post, "classlabels_ints": []int64{4, 9, 2}}
	if name == "SVMRegressor" {
		c.outputs, a["rho"], a["n_supports"], a["post_transform"] = 1, []float32{0.5}, int64(5), "NONE"
		a["coefficients"], a["support_vectors"], a["kernel_type"] = list(5, 0.25), list(5*features, 0.5), kernel
		if kernel == "" {
			a["coefficients"], a["n_supports"] = list(features, 0.25), int64(0)
			delete(a, "support_vectors")
		}
		c.attrs = a
		return c
	}
	if a["coefficients"] = list(3*features, 0.25); kernel != "" {
		a["coefficients"], a["support_vectors"], a["kernel_type"], a["vectors_per_class"] = list(2*5, 0.25), list(5*features, 0.5), kernel, []int64{2, 0, 3}
	}
	if kernel == "RBF" {
		a["prob_a"], a["prob_b"] = []float32{-1, -2, 0.5}, []float32{0, 0.25, -0.5}
	}
	c.attrs = a
	return c
}

// forest is a case of TreeEnsemble, with two trees and three targets.
func forest(features int) testCase {
	return testCase{in: []input{data(4, features)}, attrs: attrs{"n_targets": int64(3), "tree_roots": []int64{0, 2}, "nodes_featureids": []int64{0, 3, 1}, "nodes_modes": tensor.FromSlice([]uint8{0, 6, 3}),
		"nodes_splits": tensor.FromSlice([]float32{0.5, 0, 1}), "nodes_truenodeids": []int64{1, 0, 3}, "nodes_trueleafs": []int64{0, 1, 1}, "nodes_falsenodeids": []int64{2, 1, 4},
		"nodes_falseleafs": []int64{1, 1, 1}, "leaf_targetids": []int64{0, 1, 2, 0, 1}, "leaf_weights": tensor.FromSlice([]float32{0.5, -1, 2, 0.25, 8}),
		"membership_values": tensor.FromSlice([]float32{0, 1, 2, float32(math.NaN())})}}
}

// recurrent has the cases of LSTM, GRU and RNN, in both layouts, all directions and all activations.
func recurrent(name string) (cs []testCase) {
	gates, acts := 1, 1
	switch name {
	case "LSTM":
		gates, acts = 4, 3
	case "GRU":
		gates, acts = 3, 2
	}
	layer := func(dirs, steps, batch, features, units int, a attrs) testCase {
		c := testCase{in: []input{data(steps, batch, features), data(dirs, gates*units, features), data(dirs, gates*units, units), data(dirs, 2*gates*units)}, attrs: a, calm: true, outputs: min(acts, 2)}
		state := data(dirs, batch, units)
		if a["layout"] != nil {
			c.in[0], state = data(batch, steps, features), data(batch, dirs, units)
		}
		if c.in = append(c.in, input{absent: true}, state); name == "LSTM" {
			c.in, c.outputs = append(c.in, state, data(dirs, 3*units)), 3
		}
		return c
	}
	cs = append(cs, layer(1, 3, 2, 4, 5, attrs{}), layer(2, 2, 6, 3, 33, attrs{"direction": "bidirectional", "clip": float32(0.5)}), layer(1, 2, 3, 2, 4, attrs{"direction": "reverse", "layout": int64(1)}))
	cs[0].calm = false
	for _, f := range []string{"Relu", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "HardSigmoid", "Elu", "Softsign", "Softplus"} {
		cs = append(cs, layer(1, 2, 1, 3, 17, attrs{"activations": slices.Repeat([]string{f}, acts), "linear_before_reset": int64(1), "input_forget": int64(1)}))
	}
	return cs
}

// large is a call with enough work to split, for operators that aren't pointwise.
func large(name string) (c testCase, ok bool) {
	switch name {
	case "MatMul":
		c.in = []input{data(130, 300), data(300, 70)}
	case "Gemm":
		c.in = []input{data(130, 300), data(300, 70), data(70)}
	case "Conv":
		c.in = []input{data(1, 8, 40, 41), data(16, 8, 3, 3)}
	case "MaxPool", "AveragePool":
		c.in, c.attrs = []input{data(4, 8, 40, 41)}, attrs{"kernel_shape": []int64{3, 3}}
	case "GlobalAveragePool", "BatchNormalization":
		c.in = []input{data(2, 90, 40, 41)}
		for range 4 {
			if name == "BatchNormalization" {
				c.in = append(c.in, data(90))
			}
		}
	case "Softmax", "LogSoftmax", "Hardmax":
		c.in, c.attrs = []input{data(300, 401)}, attrs{"axis": int64(0)}
	case "LRN":
		c.in, c.attrs = []input{data(4, 32, 30, 41)}, attrs{"size": int64(5)}
	case "ReduceSum", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceProd":
		c.in, c.attrs = []input{data(9000, 33)}, attrs{"axes": []int64{0}}
		c.opset = 11
	case "ArgMax":
		c.in = []input{data(400, 500)}
	case "Concat":
		c.in, c.attrs = []input{data(300, 401), data(300, 77)}, attrs{"axis": int64(1)}
	case "Gather":
		c.in = []input{data(300, 701), ints(5, 77, 299, 0, 0, 111)}
	case "Tile":
		c.in = []input{data(300, 41), ints(3, 17)}
	case "Pad":
		c.in, c.attrs = []input{data(300, 401), ints(3, 700, 5, 6)}, attrs{"mode": "reflect"}
	default:
		return c, false
	}
	c.calm = true
	return c, true
}

type attrs = op.AttrMap
