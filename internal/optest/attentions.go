package optest

import (
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
)

// key is the name of an operator, with its domain if another operator has the same name.
func key(o *op.Op) string {
	if first, _ := all.Lookup(o.Name()); first != nil && first.Domain() != o.Domain() {
		return o.Domain() + "." + o.Name()
	}
	return o.Name()
}

// attentions has the calls of the operators of attention. They are calm, as Softmax of lines with special values is NaN
// mostly.
func attentions(name string) []testCase {
	two := attrs{"num_heads": int64(2)}
	switch name {
	case "Attention":
		return []testCase{{in: []input{data(2, 4, 3, 6), data(2, 2, 5, 6), data(2, 2, 5, 4)}, calm: true},
			{in: []input{data(2, 3, 12), data(2, 5, 6), data(2, 5, 4), data(3, 5)}, attrs: attrs{"q_num_heads": int64(4), "kv_num_heads": int64(2), "is_causal": int64(1), "softcap": float32(2)}, outputs: 4, calm: true},
			{in: []input{data(2, 2, 3, 6), data(2, 2, 3, 6), data(2, 2, 3, 6), bools(3, 7), data(2, 2, 4, 6), data(2, 2, 4, 6)}, attrs: attrs{"is_causal": int64(1), "scale": float32(0.5)}, outputs: 3},
			{in: []input{data(2, 2, 3, 6), data(2, 2, 4, 6), data(2, 2, 4, 6), data(1, 2, 3, 2), {absent: true}, {absent: true}, ints(4, 1)}, attrs: attrs{"qk_matmul_output_mode": int64(3)}, outputs: 4, calm: true}}
	case "com.microsoft.Attention":
		return []testCase{{in: []input{data(2, 3, 5), data(5, 24), data(24), ints(2, 3)}, attrs: two, calm: true},
			{in: []input{data(2, 3, 5), data(5, 24), {absent: true}, index([]int{2, 7}, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1), data(2, 2, 2, 4, 4), data(1, 2, 3, 7)}, attrs: attrs{"num_heads": int64(2), "unidirectional": int64(1)}, outputs: 2, calm: true}}
	case "MultiHeadAttention":
		return []testCase{{in: []input{data(2, 3, 8), data(2, 4, 8), data(2, 4, 6), data(22), ints(2, 3)}, attrs: two, outputs: 4, calm: true}, {in: []input{data(2, 3, 2, 3, 4)}, attrs: two},
			{in: []input{data(2, 3, 8), data(2, 4, 2, 2, 4), {absent: true}, {absent: true}, {absent: true}, data(2, 1, 3, 7), data(2, 2, 3, 4), data(2, 2, 3, 4)}, attrs: two, outputs: 3, calm: true}}
	case "GroupQueryAttention":
		a := attrs{"num_heads": int64(4), "kv_num_heads": int64(2)}
		turned := attrs{"num_heads": int64(4), "kv_num_heads": int64(2), "do_rotary": int64(1), "local_window_size": int64(2), "smooth_softmax": int64(1)}
		return []testCase{{in: []input{data(2, 3, 16), data(2, 3, 8), data(2, 3, 8), {absent: true}, {absent: true}, ints(2, 1), ints(3)}, attrs: a, outputs: 3, calm: true},
			{in: []input{data(2, 1, 32), {absent: true}, {absent: true}, data(2, 2, 4, 4), data(2, 2, 4, 4), ints(4, 2), ints(5), data(6, 2), data(6, 2)}, attrs: turned, outputs: 3, calm: true}}
	case "RotaryEmbedding":
		return []testCase{{in: []input{data(2, 3, 4, 6), data(5, 3), data(5, 3), index([]int{2, 4}, 0, 1, 2, 3, 4, 0, 1, 4)}}, {in: []input{data(2, 4, 18), data(2, 4, 2), data(2, 4, 2)}, calm: true,
			attrs: attrs{"num_heads": int64(3), "rotary_embedding_dim": int64(4), "interleaved": int64(1)}}}
	case "com.microsoft.RotaryEmbedding":
		return []testCase{{in: []input{data(2, 3, 4, 6), index([]int{2, 4}, 0, 1, 2, 3, 4, 0, 1, 4), data(5, 3), data(5, 3)}}, {in: []input{data(2, 4, 18), ints(1), data(5, 3), data(5, 3)}, calm: true}}
	case "TensorScatter":
		return []testCase{{in: []input{data(2, 3, 4), data(2, 2, 4), ints(1, 0)}}, {in: []input{data(2, 3, 4), data(2, 3, 4)}},
			{in: []input{data(2, 2, 5, 3), data(2, 2, 4, 3), ints(2, 4)}, attrs: attrs{"mode": "circular"}}}
	case "LinearAttention":
		heads := func(rule string) attrs {
			return attrs{"q_num_heads": int64(4), "kv_num_heads": int64(2), "update_rule": rule}
		}
		return []testCase{{in: []input{data(2, 3, 12), data(2, 3, 6), data(2, 3, 8)}, attrs: heads("linear"), outputs: 2},
			{in: []input{data(2, 3, 12), data(2, 3, 6), data(2, 3, 8), data(2, 2, 3, 4), data(2, 3, 6), data(2, 3, 1), data(2, 3, 6)}, attrs: heads("gated_delta"), outputs: 2, calm: true}}
	case "CausalConvWithState":
		return []testCase{{in: []input{data(2, 3, 6), data(3, 1, 4), data(3)}, outputs: 2}, {in: []input{data(2, 3, 5), data(3, 1, 3), {absent: true}, data(2, 3, 2)}, attrs: attrs{"activation": "silu"}, outputs: 2, calm: true}}
	case "EmbedLayerNormalization":
		return []testCase{{in: []input{index([]int{2, 3}, 0, 4, 2, 1, 1, 3), index([]int{2, 3}, 0, 1, 1, 0, 1, 0), data(5, 8), data(6, 8), data(2, 8), data(8), data(8), index([]int{2, 3}, 1, 1, 0, 1, 1, 1)}, outputs: 3, calm: true},
			{in: []input{index([]int{2, 3}, 0, 4, 2, 1, 1, 3), {absent: true}, data(5, 8), data(6, 8), {absent: true}, data(8), data(8), {absent: true}, index([]int{1, 3}, 5, 0, 2)}}}
	case "SimplifiedLayerNormalization":
		return []testCase{{in: []input{data(2, 3, 4), data(4)}, outputs: 2}, {in: []input{data(2, 3, 40), data(40)}, attrs: attrs{"axis": int64(1)}, calm: true}}
	case "Swish":
		return append(unary(nil), testCase{in: []input{data(4, 6)}, attrs: attrs{"alpha": float32(0.75)}})
	}
	return nil
}
