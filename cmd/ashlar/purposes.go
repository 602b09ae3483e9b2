package main

import (
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
)

// purposes are the sections of docs/operators.md, with the names of their operators.
var purposes = []struct{ title, names string }{
	{"Arithmetic", "Abs Add Cbrt Clip CopySign Div FMax FMin FloorDiv Gcd Hypot Lcm Max Mean Min Mod Mul Neg NextAfter Pow Reciprocal Rsqrt Sign SignBit Sqrt Square Sub Sum"},
	{"Comparison and logic", "And BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Equal Greater GreaterOrEqual IsFinite IsInf IsNaN Less LessOrEqual Not NotEqual Or Where Xor"},
	{"Rounding and element types", "BitCast Cast CastLike Ceil Floor Round Trunc"},
	{"Exponentials and logarithms", "Erf Exp Exp2 Expm1 Log Log10 Log1p Log2"},
	{"Trigonometry", "Acos Acosh Asin Asinh Atan Atan2 Atanh Cos Cosh Sin Sinh Tan Tanh"},
	{"Activations", "BiasGelu Celu Dropout Elu FastGelu Gelu HardSigmoid HardSwish Hardmax LeakyRelu LogSoftmax Mish PRelu QuickGelu Relu Selu Shrink Sigmoid Softmax Softplus Softsign Swish ThresholdedRelu"},
	{"Sums and other reductions", "ArgMax ArgMin CumProd CumSum NanArgMax NanArgMin NanMax NanMean NanMin NanSum ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"},
	{"Statistics and order", "Median Quantile Std TopK Unique Var"},
	{"Shapes and order of axes", "CenterCropPad Concat DepthToSpace Expand Flatten Identity Pad Reshape ReverseSequence Shape Size Slice SpaceToDepth Split Squeeze Tile Transpose Trilu Unsqueeze"},
	{"Indices", "Compress Gather GatherElements GatherND NonZero OneHot Scatter ScatterElements ScatterND TensorScatter"},
	{"New tensors and random numbers", "Bernoulli Constant ConstantOfShape EyeLike Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range"},
	{"Products", "Det Einsum FusedMatMul Gemm Inner MatMul MatMulNBits TensorDot"},
	{"Convolution and pooling", "AveragePool CausalConvWithState Col2Im Conv ConvTranspose DeformConv GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxRoiPool MaxUnpool"},
	{"Normalization", "BatchNormalization GroupNormalization InstanceNormalization LRN LayerNormalization LpNormalization MeanVarianceNormalization RMSNormalization SimplifiedLayerNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization"},
	{"Attention and recurrence", "Attention EmbedLayerNormalization GRU GroupQueryAttention LSTM LinearAttention MultiHeadAttention RNN RotaryEmbedding"},
	{"Quantization", "ConvInteger DequantizeLinear DynamicQuantizeLinear DynamicQuantizeMatMul MatMulInteger MatMulIntegerToFloat QGemm QLinearAdd QLinearAveragePool QLinearConcat QLinearConv QLinearGlobalAveragePool QLinearLeakyRelu QLinearMatMul QLinearMul QLinearReduceMean QLinearSigmoid QLinearSoftmax QLinearWhere QuantizeLinear"},
	{"Pictures and boxes", "AffineGrid GridSample NonMaxSuppression Resize RoiAlign Upsample"},
	{"Signals", "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT"},
	{"Training", "Adagrad Adam Momentum NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"},
	{"Classical machine learning", "ArrayFeatureExtractor Binarizer FeatureVectorizer Imputer LabelEncoder LinearClassifier LinearRegressor Normalizer OneHotEncoder SVMClassifier SVMRegressor Scaler TfIdfVectorizer TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor"},
}

// sources are the files of operators that stand in the file of another one.
var sources = map[string]string{"BiasGelu": "fastgelu", "DynamicQuantizeMatMul": "matmulintegertofloat", "QLinearGlobalAveragePool": "qlinearaveragepool", "QuickGelu": "swish",
	"RandomNormalLike": "randomnormal", "RandomUniformLike": "randomuniform", "Scatter": "scatterelements", "SkipSimplifiedLayerNormalization": "skiplayernormalization"}

// fileOf is the file of an operator, from docs/.
func fileOf(o *op.Op) string {
	file := sources[o.Name()]
	if file == "" {
		file = strings.ToLower(o.Name())
	}
	folder := map[string]string{"ai.onnx.ml": "ml/", "ai.onnx.preview.training": "train/"}[o.Domain()]
	return "../op/" + folder + file + ".go"
}

// A typeGroup is a column of the page.
type typeGroup struct {
	title string
	of    []dtype.DType
}

var typeGroups = []typeGroup{
	{"bool", []dtype.DType{dtype.Bool}},
	{"int", []dtype.DType{dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64}},
	{"uint", []dtype.DType{dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64}},
	{"float8", []dtype.DType{dtype.Float8E4M3, dtype.Float8E5M2}},
	{"float16, bfloat16", []dtype.DType{dtype.Float16, dtype.BFloat16}},
	{"float32", []dtype.DType{dtype.Float32}},
	{"float64", []dtype.DType{dtype.Float64}},
	{"complex", []dtype.DType{dtype.Complex64, dtype.Complex128}},
	{"fixed point", []dtype.DType{dtype.FP8x23, dtype.FP16x16, dtype.FP32x32, dtype.FP64x64}},
}

// storedTypes are the types of the last column, which copies and conversions alone take.
func storedTypes() []dtype.DType {
	var others []dtype.DType
	for _, d := range dtype.All() {
		if !slices.ContainsFunc(typeGroups, func(g typeGroup) bool { return slices.Contains(g.of, d) }) {
			others = append(others, d)
		}
	}
	return others
}

// groupCell says how an operator computes the types of a group: one word where all are alike, else a word after the types that it is for.
func groupCell(o *op.Op, of []dtype.DType) string {
	var words []string
	types := map[string][]string{}
	for _, d := range of {
		c := onPage(o, d)
		if c == "" {
			continue
		}
		if types[c] == nil {
			words = append(words, c)
		}
		types[c] = append(types[c], d.Short())
	}
	for i, c := range words {
		if len(types[c]) < len(of) {
			words[i] = strings.Join(types[c], " ") + " " + c
		}
	}
	return strings.Join(words, ", ")
}

// cell names the kernels of an operator.
func cell(o *op.Op, d dtype.DType) string {
	if !o.Supports(d) {
		return "-"
	}
	switch k := plan.Kernels((*plan.Op)(o), d); {
	case slices.Contains(k, "avx2"):
		return "avx"
	case slices.Contains(k, "avx512"):
		return "512"
	case len(k) > 0:
		return "neon"
	}
	return "go"
}

// onPage is cell with a word for an operator without a kernel on arm64: NEON has no product of 64-bit integers.
func onPage(o *op.Op, d dtype.DType) string {
	c := cell(o, d)
	if c == "512" && o.Name() == "Mul" && (d == dtype.Int64 || d == dtype.Uint64) {
		return "amd"
	}
	return strings.TrimPrefix(c, "-")
}
