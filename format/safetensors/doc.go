// Package safetensors reads and writes safetensors files: named tensors behind a
// JSON header, little-endian and row-major.
//
// Open maps a file and reads only its header; tensors use the mapped elements.
// The header is checked in full. Its length must fit the file, keys must be
// unique, and every shape must fit its type and its bytes. The bytes of all
// tensors must cover the rest of the file without holes or overlaps. A file that
// breaks the format gives an error with the byte. Nothing panics, and no memory is
// allocated beyond the size of the header's own text.
//
// OpenIndex opens a model in several files by its index,
// model.safetensors.index.json; each file is opened when it is needed.
//
// # Element types
//
//	BOOL         bool               F8_E4M3  float8_e4m3
//	U8 … U64     uint8 … uint64     F8_E5M2  float8_e5m2
//	I8 … I64     int8 … int64       F16 BF16 float16, bfloat16
//	C64          complex64          F32 F64  float32, float64
//	F4           float4_e2m1        F8_E8M0  float8_e8m0
//	F8_E4M3FNUZ  float8_e4m3fnuz    F8_E5M2FNUZ  float8_e5m2fnuz
//
// F4 has two elements a byte in the file and one in a tensor. Tensor makes a pack.Tensor
// of F6_E2M3 and F6_E3M2, with the format float6_e2m3 or float6_e3m2, and Write writes
// such a tensor as an entry of that type. Four elements take three bytes, the first in the
// low bits; the format doesn't define the order, and F4 has that order. complex128 has no
// name in the format.
//
// Microscaled elements and their scales are separate entries. Package format joins them to
// one pack.Tensor with the option Scaled. It joins F4, F6 and F8 elements N with scales
// N_scale, or N.weight with N.scale, of F8_E8M0, one for 32 elements of a row. It joins
// N_blocks with N_scales, both U8, of MXFP4. Other entries stay separate: scales of tiles,
// F32 scales, NVFP4, whose second scale has several names, and nibbles in I8, whose order
// isn't defined.
//
// Fixed point is an entry of integers, its words. The metadata has its type under
// ashlar.dtype:NAME. A number of fp64x64 is two words on a last axis of 2, hi·2^64 + lo,
// of which lo has no sign:
//
//	I32  fp8x23 fp16x16    "ashlar.dtype:w": "fp16x16"
//	I64  fp32x32 fp64x64   "ashlar.dtype:w": "fp64x64", "shape":[28,10,2] of (28,10)
//
// # Packed tensors
//
// A pack.Tensor, padded or in tiles or encoded, is an entry of rank 1: its elements in
// the order of the storage, padding included, or as U8 the bytes of its format. The
// metadata has its description under ashlar.pack:NAME, as pack.Spec.MarshalText writes it:
//
//	"ashlar.pack:w": "{\"format\":\"bfloat8_b\",\"shape\":[14,28],\"padded\":[32,32],\"tile\":[32,32]}"
//
// Behind the bytes of integers with scales stand the scales as float32, and then the
// zero points as int32 unless all are 0. The field scales is the shape of both, [] for a
// single scale:
//
//	"ashlar.pack:w": "{\"format\":\"uint4\",\"shape\":[64,64],\"padded\":[64,64],\"scales\":[64,2],\"axis\":1,\"block\":32,\"zeros\":true}"
//
// Other programs see the entry and the text. A description that doesn't fit its entry
// is an error. So are scales that aren't positive and finite, when Tensor reads them.
//
// The format: github.com/huggingface/safetensors, README, section "Format"; names
// and sizes of types from its safetensors/src/tensor.rs. The names of scales are those in checkpoints of
// NVIDIA's ModelOpt and vllm-project/compressed-tensors (weight_scale), deepseek-ai/DeepSeek-V4-Flash (scale)
// and openai/gpt-oss-20b (_blocks and _scales).
//
// An error of a file or a call is a [format.Error]. It wraps one of the reasons of package format, as format.ErrShort.
package safetensors
