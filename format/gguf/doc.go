// Package gguf reads and writes GGUF files, versions 2 and 3: models of llama.cpp and others, with named tensors and metadata.
//
// Open maps a file and reads only its header; tensors use the mapped elements. The header is checked in full. Every length and
// count must fit the file, keys and names must be unique, every shape must fit its type, and the bytes of tensors must not
// overlap. Errors have the byte. Nothing panics, and no memory is allocated beyond the size of the header's own text.
// If a model is split into files, Open takes any of them and opens all.
//
// The format has the extents of a shape in reverse order; shapes here are row-major, the last axis fastest. Big-endian files
// and version 1 are refused.
//
// # Element types
//
//	F16 F32 F64  float16, float32, float64    BF16  bfloat16
//	I8 … I64     int8 … int64
//	Q4_0 Q4_1 Q5_0 Q5_1 Q8_0  Q2_K … Q6_K Q8_K  IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S
//	IQ4_NL IQ4_XS  TQ1_0 TQ2_0  MXFP4 NVFP4  Q1_0 Q2_0
//
// The types from Q4_0 on are blocks. Tensor makes a pack.Tensor of them, whose format has the type's name in lower case, with
// ggml_ before mxfp4 and nvfp4. Unpack decodes it bit for bit as ggml does. Info describes Q8_1, but Tensor refuses it, as it
// refuses types that were removed or are unknown.
//
//	f, err := gguf.Open("model-Q4_K_M.gguf")
//	w, err := f.Tensor("blk.0.attn_q.weight")
//	x, err := w.Foreign().(pack.Tensor).Unpack()
//
// Write writes plain tensors, and pack.Tensors that pack.Pack makes in the formats q4_0, q8_0, q4_k and q6_k. WriteSplit
// writes a model in several files.
//
// The format: github.com/ggml-org/ggml, docs/gguf.md; the numbers of types from its include/ggml.h; split.no, split.count and
// the names of split files from llama.cpp's tools/gguf-split.
//
// An error of a file or a call is a [format.Error]. It wraps [ErrVersion] or one of the reasons of package format, as format.ErrShort.
package gguf
