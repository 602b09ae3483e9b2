package gguf

import (
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// A kind is an element type of the format: of plain elements, or of blocks that package pack encodes.
type kind struct {
	code   uint32
	name   string
	d      dtype.DType // of the values; Invalid if no tensor holds them
	format pack.Format // nil: plain elements, or no tensor holds them
	block  int         // elements
	size   int         // bytes of a block
}

// kinds are the types by the numbers of enum ggml_type. Other numbers were removed or are unknown.
var kinds = func() []kind {
	list := []kind{
		{0, "F32", dtype.Float32, nil, 1, 4},
		{1, "F16", dtype.Float16, nil, 1, 2},
		{9, "Q8_1", dtype.Invalid, nil, 32, 36}, // only an operand of products
		{24, "I8", dtype.Int8, nil, 1, 1},
		{25, "I16", dtype.Int16, nil, 1, 2},
		{26, "I32", dtype.Int32, nil, 1, 4},
		{27, "I64", dtype.Int64, nil, 1, 8},
		{28, "F64", dtype.Float64, nil, 1, 8},
		{30, "BF16", dtype.BFloat16, nil, 1, 2},
	}
	for code, name := range map[uint32]string{
		2: "q4_0", 3: "q4_1", 6: "q5_0", 7: "q5_1", 8: "q8_0", 10: "q2_k", 11: "q3_k", 12: "q4_k", 13: "q5_k", 14: "q6_k", 15: "q8_k",
		16: "iq2_xxs", 17: "iq2_xs", 18: "iq3_xxs", 19: "iq1_s", 20: "iq4_nl", 21: "iq3_s", 22: "iq2_s", 23: "iq4_xs", 29: "iq1_m",
		34: "tq1_0", 35: "tq2_0", 39: "ggml_mxfp4", 40: "ggml_nvfp4", 41: "q1_0", 42: "q2_0",
	} {
		f, err := pack.FormatNamed(name)
		if err != nil {
			continue // a test counts them
		}
		list = append(list, kind{code, strings.ToUpper(strings.TrimPrefix(name, "ggml_")), dtype.Float32, f, f.Group(), f.Size(f.Group())})
	}
	return list
}()

// kindOf returns the type of a number, nil if it is unknown.
func kindOf(code uint32) *kind {
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.code == code }); i >= 0 {
		return &kinds[i]
	}
	return nil
}

// storedAs returns the type that Write uses for t, nil if there is none.
func storedAs(t tensor.Any) *kind {
	p, packed := t.Foreign().(pack.Tensor)
	i := slices.IndexFunc(kinds, func(k kind) bool {
		if packed {
			return k.format != nil && k.format == p.Format() && p.Len() == p.StorageLen()
		}
		return k.format == nil && k.d == t.DType() && k.d != dtype.Invalid
	})
	if i < 0 || t.IsSpec() || !packed && t.Foreign() != nil {
		return nil
	}
	return &kinds[i]
}

// bytes returns the bytes that the elements of t take.
func (k *kind) bytes(t tensor.Any) int { return t.Len() / k.block * k.size }

// TypeOf returns the name of the type that Write uses for t, such as F32 or Q4_K, and "" if the format has none.
func TypeOf(t tensor.Any) string {
	if t.IsZero() {
		return ""
	}
	if k := storedAs(t); k != nil {
		return k.name
	}
	return ""
}
