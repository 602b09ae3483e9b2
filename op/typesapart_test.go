package op

import (
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operators whose operands may have different types compute what they compute of wide operands, and round each result once.
func TestTypesApart(t *testing.T) {
	f := func(seed uint64, shape ...int) tensor.Tensor[num.F16] {
		return Cast[num.F16](tensor.RandomNormal[float32](seed, 0, 1, shape...))
	}
	wide := func(a tensor.Tensor[num.F16]) tensor.Tensor[float32] { return Cast[float32](a) }
	q, k, v, beta := f(1, 2, 3, 8), f(2, 2, 3, 4), f(3, 2, 3, 6), f(4, 2, 3, 1)
	state := tensor.RandomNormal[float32](5, 0, 1, 2, 1, 4, 6)
	y, last := LinearAttention(wide(q), wide(k), wide(v), LinearAttentionOptions[float32]{State: state, Beta: wide(beta), Heads: 2, KVHeads: 1})
	at := given{"q_num_heads": int64(2), "kv_num_heads": int64(1), "update_rule": "delta"}
	out := runs(t, "LinearAttention", &Call{Inputs: []tensor.Any{q.Any(), k.Any(), v.Any(), state.Any(), {}, beta.Any()}, Attrs: at, Outputs: 2})
	same(t, "narrow operands", asOf[num.F16](out[0]), Cast[num.F16](y))
	same(t, "the state between them", asOf[float32](out[1]), last)
	small := Cast[num.BF16](state)
	y, last = LinearAttention(wide(q), wide(k), wide(v), LinearAttentionOptions[float32]{State: Cast[float32](small), Beta: wide(beta), Heads: 2, KVHeads: 1})
	out = runs(t, "LinearAttention", &Call{Inputs: []tensor.Any{wide(q).Any(), wide(k).Any(), wide(v).Any(), small.Any(), {}, wide(beta).Any()}, Attrs: at, Outputs: 2})
	same(t, "a narrow state", asOf[float32](out[0]), y)
	same(t, "the narrow state after it", asOf[num.BF16](out[1]), Cast[num.BF16](last))

	x, scale := f(6, 3, 5), tensor.RandomNormal[float32](7, 0, 1, 5)
	rms := func(x, scale tensor.Any) tensor.Any {
		return runs(t, "RMSNormalization", &Call{Inputs: []tensor.Any{x, scale}})[0]
	}
	same(t, "a wide scale", asOf[float32](rms(x.Any(), scale.Any())), RMSNormalization(wide(x), scale, -1, float64(float32(1e-5))))
	narrow := Cast[num.BF16](scale)
	exact := RMSNormalization(Cast[float64](x), Cast[float64](narrow), -1, float64(float32(1e-5)))
	same(t, "a narrow scale", asOf[num.BF16](rms(wide(x).Any(), narrow.Any())), Cast[num.BF16](exact))
}
