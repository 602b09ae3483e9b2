package plan

import (
	"runtime"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// kernels lists the operators that kernels of package simd compute. After the lowest level come the element types of the deciding operand.
// Kernels that convert count only where an operator converts, and kernels that copy, transpose or sort nowhere. A test notes which kernels
// run for each operator, type and level, and writes the list: go test ./internal/optest -run TestKernels -args -kernels -update
const kernels = `
:Abs avx2 int8 int16 int32 float32 float64 avx512 int64
:Add avx2 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:ArgMax avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:ArgMin avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Attention avx2 float16 bfloat16 float32 float64
:AveragePool avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:BatchNormalization avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Cast avx2 bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 complex64 complex128 fp8x23 fp16x16 fp32x32 fp64x64 int2 int4 uint2 uint4 float4_e2m1 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0
:CausalConvWithState avx2 float16 bfloat16 float32 float64
:Ceil avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Clip avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Conv avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:ConvInteger avx2 int8 uint8
:ConvTranspose avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Cos avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:DeformConv avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:DequantizeLinear avx2 int8 int16 int32 uint8 uint16 float8_e4m3 float8_e5m2 int2 int4 uint2 uint4 float4_e2m1 float8_e4m3fnuz float8_e5m2fnuz
:Div avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:DynamicQuantizeLinear avx2 float32
:Einsum avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 complex64 complex128
:Equal avx2 int32 int64 uint8 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Erf avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32
:Exp avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Floor avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:GRU avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Gelu avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32
:Gemm avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:GlobalAveragePool avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:GlobalLpPool avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:GlobalMaxPool avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Greater avx2 int32 int64 uint8 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:GreaterOrEqual avx2 int32 int64 uint8 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:GroupNormalization avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:HardSigmoid avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:HardSwish avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Inner avx2 int16 int32 uint16 uint32 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 complex64 complex128 avx512 int64 uint64
:InstanceNormalization avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:LRN avx2 float32 float64
:LSTM avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:LayerNormalization avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:LeakyRelu avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Less avx2 int32 int64 uint8 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:LessOrEqual avx2 int32 int64 uint8 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:LinearAttention avx2 float16 bfloat16 float32 float64
:Log avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:LogSoftmax avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:LpNormalization avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:LpPool avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:MatMul avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 complex64 complex128
:MatMulInteger avx2 int8 uint8
:Max avx2 int8 int16 int32 uint8 uint16 uint32 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 avx512 int64 uint64
:MaxPool avx2 int8 int16 int32 uint8 uint16 uint32 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 fp8x23 fp16x16 avx512 int64 uint64 fp32x32
:Mean avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:MeanVarianceNormalization avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Min avx2 int8 int16 int32 uint8 uint16 uint32 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 avx512 int64 uint64
:Mish avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32
:Mul avx2 int16 int32 uint16 uint32 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 avx512 int64 uint64
:NanMax avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:NanMean avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:NanMin avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:NanSum avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Neg avx2 int8 int16 int32 int64 float32 float64
:NonZero avx2 int8 int32 int64 uint8 uint32 uint64 float32 float64 fp8x23 fp16x16 fp32x32 int2 int4 uint2 uint4
:NotEqual avx2 int32 int64 uint8 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Pow avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:QLinearConv avx2 int8 uint8
:QLinearMatMul avx2 int8 uint8
:QuantizeLinear avx2 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:RMSNormalization avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:RNN avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Reciprocal avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:ReduceL1 avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:ReduceL2 avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:ReduceLogSum avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:ReduceLogSumExp avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:ReduceMax avx2 int8 int16 int32 uint8 uint16 uint32 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 avx512 int64 uint64
:ReduceMean avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 complex64 complex128
:ReduceMin avx2 int8 int16 int32 uint8 uint16 uint32 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 avx512 int64 uint64
:ReduceSum avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 complex64 complex128
:ReduceSumSquare avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Relu avx2 int8 int16 int32 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 avx512 int64
:RotaryEmbedding avx2 float16 bfloat16 float32 float64
:Round avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Sigmoid avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:SimplifiedLayerNormalization avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Sin avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Softmax avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:SoftmaxCrossEntropyLoss avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Sqrt avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Square avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Std avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Sub avx2 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Sum avx2 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Swish avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Tan avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Tanh avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:TensorDot avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 complex64 complex128
:Trunc avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Upsample avx2 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Var avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
:Where avx2 bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64 complex64 fp8x23 fp16x16 fp32x32 int2 int4 uint2 uint4 float4_e2m1 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0
com.microsoft:Attention avx2 float16 bfloat16 float32 float64
com.microsoft:BiasGelu avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
com.microsoft:DynamicQuantizeMatMul avx2 float32
com.microsoft:EmbedLayerNormalization avx2 float16 bfloat16 float32 float64
com.microsoft:FastGelu avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
com.microsoft:FusedMatMul avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
com.microsoft:GroupQueryAttention avx2 float16 bfloat16 float32 float64
com.microsoft:MatMulIntegerToFloat avx2 int8 uint8
com.microsoft:MatMulNBits avx2 float16 bfloat16 float32
com.microsoft:MultiHeadAttention avx2 float16 bfloat16 float32 float64
com.microsoft:QGemm avx2 int8 uint8
com.microsoft:QLinearAdd avx2 int8 uint8
com.microsoft:QLinearAveragePool avx2 int8 uint8
com.microsoft:QLinearGlobalAveragePool avx2 int8 uint8
com.microsoft:QLinearMul avx2 int8 uint8
com.microsoft:QLinearReduceMean avx2 int8 uint8
com.microsoft:QLinearSoftmax avx2 int8 uint8
com.microsoft:QuickGelu avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
com.microsoft:RotaryEmbedding avx2 float16 bfloat16 float32 float64
com.microsoft:SkipLayerNormalization avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
com.microsoft:SkipSimplifiedLayerNormalization avx2 float8_e4m3 float8_e5m2 float16 bfloat16 float32 float64
`

// FastFor reports whether package simd has kernels of an operator.
func FastFor(o *Op, d dtype.DType, l cpu.Level) bool {
	t, ok := o.table.(interface {
		Has(d dtype.DType, l cpu.Level) bool
	})
	if !simd.Has(l) || ok && runtime.GOARCH != "amd64" && !t.Has(d, l) { // the list has the levels of amd64
		return false
	}
	_, line, _ := strings.Cut(kernels, "\n"+o.listed+" ")
	line, _, _ = strings.Cut(line, "\n")
	both, wide, _ := strings.Cut(line, "avx512 ")
	return slices.Contains(strings.Fields(both), d.String()) || l.String() != "avx2" && slices.Contains(strings.Fields(wide), d.String())
}
