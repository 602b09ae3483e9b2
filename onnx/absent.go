package onnx

import (
	"fmt"
	"strings"
)

// Why operators aren't there.
const (
	experiment = "it was an experiment, which opset 10 took back"
	runtimes   = "it is ONNX Runtime's own, and this library doesn't have it"
)

// absent lists operators that this library doesn't have, each with the reason. The other operators of ONNX up to maxOpset
// are there. Sources: docs/Changelog.md of github.com/onnx/onnx; for the domain com.microsoft the operators that ONNX
// Runtime 1.30 accepts, and docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var absent = map[opKey]string{
	{"", "ATen", ""}:                 experiment,
	{"", "ConstantFill", ""}:         experiment,
	{"", "Crop", ""}:                 experiment,
	{"", "GRUUnit", ""}:              experiment,
	{"", "GivenTensorFill", ""}:      experiment,
	{"", "ImageDecoder", ""}:         "package onnx/imagedecoder has it: add imagedecoder.Operator to Model.Operators",
	{trainingDomain, "Gradient", ""}: "it would differentiate the other operators",
}

func init() {
	for name := range strings.FieldsSeq(`AttnLSTM BeamSearch BiasAdd BiasSoftmax BiasSplitGelu BifurcationDetector BitmaskBiasDropout BitmaskDropout CDist
		ComplexMul ComplexMulConj ConvTransposeWithDynamicPads CropAndResize DecoderAttention DecoderMaskedMultiHeadAttention
		DecoderMaskedSelfAttention DequantizeBFP DequantizeWithOrder DynamicQuantizeLSTM DynamicTimeWarping EPContext
		EngramGate ExpandDims FusedMatMulActivation GatedAdd GatedDeltaNet GatedRMSNorm GatedRelativePositionBias
		GatherBlockQuantized GatherND GemmFastGelu GemmFloat8 GemmaRotaryEmbedding GreedySearch GridSample GroupNorm Inverse
		Irfft IsAllFinite LinearAttentionGate LongformerAttention MRotaryEmbedding MatMulBlockQuantizedFp4Weight
		MatMulBlockQuantizedFp8Weight MatMulBnb4 MatMulFpQ4 MatMulInteger16 MatMulNBitsMlp MatMulNBitsQkv MaxpoolWithMask MoE
		MulInteger MurmurHash3 NGramHashMapping NGramRepeatBlock NhwcConv NhwcFusedConv PackedAttention
		PackedMultiHeadAttention Pad PagedAttention QAttention QEmbedLayerNormalization QMoE QOrderedAttention QOrderedGelu
		QOrderedLayerNormalization QOrderedLongformerAttention QOrderedMatMul QuantizeBFP QuantizeWithOrder Range
		ReduceSumInteger RelativePositionBias RemovePadding RestorePadding Rfft SampleOp Sampling SkipGroupNorm Snpe
		SparseAttention SparseToDenseMatMul Tokenizer TorchEmbedding TransposeMatMul UnfoldTensor Unique
		VarlenCausalConvWithState VarlenNGramHashMapping WhisperBeamSearch WordConvEmbedding`) {
		absent[opKey{"com.microsoft", name, ""}] = runtimes
	}
}

// without says why nothing runs a node: the operator is one that this library doesn't have, or there is none.
func without(n *Node) string {
	key := keyOf(n.Domain, n.Op, "")
	if why, ok := absent[key]; ok {
		return "the operator isn't implemented: " + why
	}
	switch key.domain {
	case "", mlDomain, preview, trainingDomain:
		why := "ONNX has no operator of this name"
		if key.domain == "" {
			why += fmt.Sprintf(" up to opset %d", maxOpset)
		}
		if name := spelled(key); name != "" {
			why += fmt.Sprintf("; %s is the nearest", name)
		}
		return why
	}
	why := "no operator of this library or the program, and no function of the model, has this name"
	switch {
	case key.domain == microsoftDomain+".nchwc":
		why = "the operator isn't implemented: it is ONNX Runtime's own, for the layout of one kind of processor; let it save the model at the optimization level extended, not all"
	case strings.HasPrefix(key.domain, microsoftDomain):
		why += "; the domain is ONNX Runtime's"
	default:
		why += "; a program adds its own to Model.Operators, and op.New makes one"
	}
	return why
}

// spelled returns the operator of a domain whose name differs from key's only in upper and lower case; "" if there is none.
func spelled(key opKey) string {
	same := func(k opKey) bool { return k.domain == key.domain && strings.EqualFold(k.name, key.name) }
	for k, o := range operators() {
		if same(k) && len(o.Versions()) > 0 {
			return k.name
		}
	}
	for k := range valueOps {
		if same(k) {
			return k.name
		}
	}
	for k := range composites {
		if same(k) {
			return k.name
		}
	}
	return ""
}
