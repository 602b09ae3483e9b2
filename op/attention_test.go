package op_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
	"pgregory.net/rapid"
)

// agree compares bits.
func agree[T num.Elem](t interface {
	Helper()
	Fatalf(format string, args ...any)
}, got, want tensor.Tensor[T]) {
	t.Helper()
	a, _ := tensor.Bytes(got.Any().Contiguous())
	b, _ := tensor.Bytes(want.Any().Contiguous())
	if !slices.Equal(got.Shape(), want.Shape()) || !bytes.Equal(a, b) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// attentionLoop defines Attention of operands of rank 4. seen says which keys a query of a sequence may see.
func attentionLoop[T num.Float](q, k, v tensor.Tensor[T], mask func(b, h, i, j int) T, seen func(b, i, j int) bool, scale, softcap float64) tensor.Tensor[T] {
	batch, heads, queries, keys, group := q.Dim(0), q.Dim(1), q.Dim(2), k.Dim(2), q.Dim(1)/k.Dim(1)
	y := tensor.New[T](batch, heads, queries, v.Dim(3))
	root := T(math.Sqrt(scale))
	for at := range y.All() {
		b, h, i, c := at[0], at[1], at[2], at[3]
		w := tensor.New[T](keys)
		dead := true
		for j := range keys {
			p := contracted(q.Dim(3), func(e int) T { return q.At(b, h, i, e) * root }, func(e int) T { return k.At(b, h/group, j, e) * root })
			if softcap > 0 {
				p = op.Tanh(tensor.Scalar(p/T(softcap))).At() * T(softcap)
			}
			bias := mask(b, h, i, j)
			if !seen(b, i, j) {
				bias = T(math.Inf(-1))
			}
			dead = dead && math.IsInf(float64(bias), -1)
			w.Set(p+bias, j)
		}
		if w = op.Softmax(w, 0); dead {
			w = tensor.New[T](keys)
		}
		y.Set(contracted(keys, func(j int) T { return w.At(j) }, func(j int) T { return v.At(b, h/group, j, c) }), at...)
	}
	return y
}

func testAttention[T num.Float](t *rapid.T) {
	n := func(what string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, what) }
	seed := uint64(n("seed", 0, 1<<30))
	random := func(shape ...int) tensor.Tensor[T] {
		seed++
		return op.Cast[T](tensor.RandomNormal[float32](seed, 0, 1, shape...))
	}
	batch, kv, group, queries, fresh, width, wide := n("batch", 1, 3), n("kv", 1, 3), n("group", 1, 3), n("queries", 1, 5), n("keys", 1, 6), n("width", 1, 9), n("wide", 1, 5)
	heads, past, keys := kv*group, 0, fresh
	o := op.AttentionOptions[T]{Causal: rapid.Bool().Draw(t, "causal"), Softcap: float64(n("softcap", 0, 2)), Scale: float64(n("scale", 0, 2)) / 2}
	q, k, v := random(batch, heads, queries, width), random(batch, kv, fresh, width), random(batch, kv, fresh, wide)
	wholeK, wholeV := k, v
	valid := make([]int64, batch)
	switch n("cache", 0, 2) {
	case 1:
		past = n("past", 1, 4)
		keys += past
		o.PastKey, o.PastValue = random(batch, kv, past, width), random(batch, kv, past, wide)
		wholeK, wholeV = op.Concat([]tensor.Tensor[T]{o.PastKey, k}, 2), op.Concat([]tensor.Tensor[T]{o.PastValue, v}, 2)
	case 2:
		for b := range valid {
			valid[b] = int64(n("valid", 0, keys+1))
		}
		o.Lengths = tensor.FromSlice(valid, batch)
	}
	mask := func(b, h, i, j int) T { return 0 }
	switch short := n("short", 1, keys); n("mask", 0, 2) {
	case 1:
		m := random(heads, queries, short)
		o.Mask = m
		mask = func(b, h, i, j int) T {
			if j >= short {
				return T(math.Inf(-1))
			}
			return m.At(h, i, j)
		}
	case 2:
		m := op.Greater(random(batch, 1, 1, keys), tensor.Scalar[T](0))
		o.Visible = m
		mask = func(b, h, i, j int) T {
			if !m.At(b, 0, 0, j) {
				return T(math.Inf(-1))
			}
			return 0
		}
	}
	before, behind := -1, -1
	if rapid.Bool().Draw(t, "window") {
		before, behind = n("before", -1, 3), n("behind", -1, 3)
		o.Window = []int{before, behind}
	}
	seen := func(b, i, j int) bool {
		own, end := past+i, keys
		if o.Lengths.Len() > 0 && !o.Lengths.Any().IsZero() {
			end = int(valid[b])
			own = end - queries + i
		}
		return j < end && (!o.Causal || j <= own) && (before < 0 || own-j <= before) && (behind < 0 || j-own <= behind)
	}
	scale := o.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(width))
	}
	want := attentionLoop(q, wholeK, wholeV, mask, seen, scale, o.Softcap)
	got, key, value := op.Attention(q, k, v, o)
	agree(t, got, want)
	agree(t, key, wholeK)
	agree(t, value, wholeV)

	// The heads side by side, in other layouts, and a target that is a view.
	flat := func(a tensor.Tensor[T]) tensor.Tensor[T] {
		return a.Permute(0, 2, 1, 3).Contiguous().Reshape(a.Dim(0), a.Dim(2), a.Dim(1)*a.Dim(3))
	}
	turned := func(a tensor.Tensor[T]) tensor.Tensor[T] { return a.Permute(2, 1, 0).Contiguous().Permute(2, 1, 0) }
	o.Heads, o.KVHeads = heads, kv
	target := tensor.New[T](batch, heads*wide, queries).Permute(0, 2, 1)
	got, key, _ = op.Attention(turned(flat(q)), turned(flat(k)), turned(flat(v)), o, op.Into(target))
	agree(t, got, flat(want))
	agree(t, target, flat(want))
	agree(t, key, wholeK)
}

// A window as wide as an int is none, whichever keys are valid.
func TestAttentionWindowOfAll(t *testing.T) {
	x := tensor.RandomNormal[float32](1, 0, 1, 2, 1, 4, 3)
	for _, lengths := range []tensor.Tensor[int64]{{}, tensor.FromSlice([]int64{0, 2})} {
		want, _, _ := op.Attention(x, x, x, op.AttentionOptions[float32]{Lengths: lengths})
		got, _, _ := op.Attention(x, x, x, op.AttentionOptions[float32]{Lengths: lengths, Window: []int{math.MaxInt, math.MaxInt}})
		agree(t, got, want)
	}
}

func TestAttention(t *testing.T) {
	t.Run("float32", rapid.MakeCheck(testAttention[float32]))
	t.Run("float64", rapid.MakeCheck(testAttention[float64]))
}

// Narrow floats are rounded after each step, and a query's result doesn't depend on how many there are.
func TestAttentionSteps(t *testing.T) {
	at := func(seed uint64, shape ...int) tensor.Tensor[num.F16] {
		return op.Cast[num.F16](tensor.RandomNormal[float32](seed, 0, 1, shape...))
	}
	q, k, v, mask := at(1, 2, 3, 4, 8), at(2, 2, 3, 5, 8), at(3, 2, 3, 5, 6), at(4, 4, 5)
	root := tensor.Scalar(num.FromFloat64[num.F16](math.Sqrt(1 / math.Sqrt(8))))
	p := op.MatMul(op.Mul(q, root), op.Mul(k, root).Permute(0, 1, 3, 2))
	want := op.MatMul(op.Softmax(op.Add(p, mask), -1), v)
	got, _, _ := op.Attention(q, k, v, op.AttentionOptions[num.F16]{Mask: mask})
	agree(t, got, want)

	if !*op.Long {
		return
	}
	f := func(seed uint64, shape ...int) tensor.Tensor[float32] {
		return tensor.RandomNormal[float32](seed, 0, 1, shape...)
	}
	a, b, c := f(5, 1, 1, 900, 4), f(6, 1, 1, 2500, 4), f(7, 1, 1, 2500, 3)
	whole, _, _ := op.Attention(a, b, c, op.AttentionOptions[float32]{})
	for _, i := range []int{0, 831, 899} {
		row := tensor.R(i, i+1)
		one, _, _ := op.Attention(a.Slice(tensor.Colon, tensor.Colon, row), b, c, op.AttentionOptions[float32]{})
		agree(t, whole.Slice(tensor.Colon, tensor.Colon, row), one)
	}
}

func TestAttentionErrors(t *testing.T) {
	x, y := tensor.New[float32](2, 3, 8), tensor.New[float32](2, 4, 8)
	o := op.AttentionOptions[float32]{Heads: 2, KVHeads: 2}
	with := func(f func(o *op.AttentionOptions[float32])) op.AttentionOptions[float32] {
		p := o
		f(&p)
		return p
	}
	for want, f := range map[string]func(){
		"op.Attention: queries, keys and values are float32[2,3,8], float32[2,4,8] and float32[2,4,8], which 3 and 2 heads don't divide": func() {
			op.Attention(x, y, y, with(func(o *op.AttentionOptions[float32]) { o.Heads = 3 }))
		},
		"op.Attention: scale is -1": func() { op.Attention(x, y, y, with(func(o *op.AttentionOptions[float32]) { o.Scale = -1 })) },
		"op.Attention: softcap is NaN": func() {
			op.Attention(x, y, y, with(func(o *op.AttentionOptions[float32]) { o.Softcap = math.NaN() }))
		},
		"op.Attention: input 3, the mask or bias, is float32[2,3,4], which doesn't stretch to (3,2,3,4)": func() {
			op.Attention(tensor.New[float32](3, 3, 8), tensor.New[float32](3, 4, 8), tensor.New[float32](3, 4, 8), with(func(o *op.AttentionOptions[float32]) { o.Mask = tensor.New[float32](4, 3, 4) }))
		},
		"op.Attention: of the keys and values of earlier calls, inputs 4 and 5, one is missing": func() {
			op.Attention(x, y, y, with(func(o *op.AttentionOptions[float32]) { o.PastKey = tensor.New[float32](2, 2, 1, 4) }))
		},
		"op.LinearAttention: input 6 says what of the keys to erase": func() {
			op.LinearAttention(x, x, x, op.LinearAttentionOptions[float32]{Heads: 2, KVHeads: 2, Erase: x})
		},
		"op.RotaryEmbedding: 3 elements of a head of 4 are to be rotated": func() {
			op.RotaryEmbedding(x, x, x, tensor.Tensor[int64]{}, op.RotaryEmbeddingOptions{Heads: 2, Width: 3})
		},
		"op.Attention: the window has -2 keys before a query's own and 0 behind": func() {
			op.Attention(x.Unsqueeze(0), x.Unsqueeze(0), x.Unsqueeze(0), op.AttentionOptions[float32]{Window: []int{-2, 0}})
		},
		"op.Attention: Window has 1 numbers": func() {
			op.Attention(x.Unsqueeze(0), x.Unsqueeze(0), x.Unsqueeze(0), op.AttentionOptions[float32]{Window: []int{2}})
		},
		"op.TensorScatter: the update of sequence 1 begins at 3 of axis 1, of 4, and is 3 long": func() {
			op.TensorScatter(y, x, tensor.FromSlice([]int64{1, 3}), 1, op.TensorScatterOptions{})
		},
	} {
		err := tensor.Try(f)
		if err == nil || !strings.HasPrefix(err.Error(), strings.Replace(want, "float32[2,3,4], which", "float32[4,3,4], which", 1)) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A circular update begins at its index modulo the extent.
func TestTensorScatterBeyondTheEnd(t *testing.T) {
	cache, step := tensor.New[int32](3, 5), tensor.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 3, 2)
	at := []int64{4, 9, math.MaxInt64}
	want := tensor.New[int32](3, 5)
	for b, v := range at {
		for i := range 2 {
			want.Set(step.At(b, i), b, (int(v%5)+i)%5)
		}
	}
	agree(t, op.TensorScatter(cache, step, tensor.FromSlice(at), 1, op.TensorScatterOptions{Circular: true}), want)
	for _, wrong := range []func(){
		func() { op.TensorScatter(cache, step, tensor.FromSlice(at), 1, op.TensorScatterOptions{}) },
		func() {
			op.TensorScatter(cache, step, tensor.FromSlice([]int64{0, -1, 0}), 1, op.TensorScatterOptions{Circular: true})
		},
	} {
		if err := tensor.Try(wrong); err == nil || !strings.Contains(err.Error(), "the update of sequence 1 begins at") && !strings.Contains(err.Error(), "the update of sequence 0 begins at 4") {
			t.Errorf("got %v", err)
		}
	}
	none := tensor.New[int32](2, 0)
	agree(t, op.TensorScatter(none, none, tensor.FromSlice([]int64{0, 7}), 1, op.TensorScatterOptions{Circular: true}), none)
}

// LinearAttention is its steps, and so are its narrow floats in float32.
func TestLinearAttention(t *testing.T) {
	f := func(seed uint64, shape ...int) tensor.Tensor[float32] {
		return tensor.RandomNormal[float32](seed, 0, 1, shape...)
	}
	q, k, v := f(1, 2, 3, 4*5), f(2, 2, 3, 2*5), f(3, 2, 3, 2*6)
	o := op.LinearAttentionOptions[float32]{Heads: 4, KVHeads: 2, State: f(4, 2, 2, 5, 6), Decay: f(5, 2, 3, 2*5), Beta: f(6, 2, 3, 2), Erase: f(7, 2, 3, 2*5), Scale: 0.3}
	y, state := op.LinearAttention(q, k, v, o)
	for b := range 2 {
		for h := range 2 {
			s := o.State.Slice(tensor.I(b), tensor.I(h))
			for i := range 3 {
				part := func(a tensor.Tensor[float32], h, n int) tensor.Tensor[float32] {
					return a.Slice(tensor.I(b), tensor.R(i, i+1), tensor.R(h*n, h*n+n))
				}
				s = op.Mul(op.Exp(part(o.Decay, h, 5)).Permute(1, 0), s)
				key := part(k, h, 5)
				had := op.MatMul(op.Mul(part(o.Erase, h, 5), key), s)
				s = op.Add(s, op.MatMul(key.Permute(1, 0), op.Mul(part(o.Beta, h, 1), op.Sub(part(v, h, 6), had))))
				for g := range 2 {
					agree(t, part(y, 2*h+g, 6), op.Mul(op.MatMul(part(q, 2*h+g, 5), s), tensor.Scalar[float32](0.3)))
				}
			}
			agree(t, state.Slice(tensor.I(b), tensor.I(h)), s)
		}
	}
	narrow := func(a tensor.Tensor[float32]) tensor.Tensor[num.BF16] { return op.Cast[num.BF16](a) }
	wide := func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return op.Cast[float32](narrow(a)) }
	y, state = op.LinearAttention(wide(q), wide(k), wide(v), op.LinearAttentionOptions[float32]{Heads: 4, KVHeads: 2, Beta: wide(o.Beta)})
	z, last := op.LinearAttention(narrow(q), narrow(k), narrow(v), op.LinearAttentionOptions[num.BF16]{Heads: 4, KVHeads: 2, Beta: narrow(o.Beta)})
	agree(t, z, narrow(y))
	agree(t, last, narrow(state))
}

// A state taken along gives the results of the whole sequence.
func TestCausalConvWithState(t *testing.T) {
	x, w, bias := tensor.RandomNormal[float64](1, 0, 1, 2, 3, 9), tensor.RandomNormal[float64](2, 0, 1, 3, 1, 4), tensor.RandomNormal[float64](3, 0, 1, 3)
	y, last := op.CausalConvWithState(x, w, bias, tensor.Tensor[float64]{}, op.CausalConvWithStateOptions{ThenSiLU: true})
	var state tensor.Tensor[float64]
	for i := range 9 {
		step := x.Slice(tensor.Colon, tensor.Colon, tensor.R(i, i+1))
		var got tensor.Tensor[float64]
		got, state = op.CausalConvWithState(step, w, bias, state, op.CausalConvWithStateOptions{ThenSiLU: true})
		agree(t, got, y.Slice(tensor.Colon, tensor.Colon, tensor.R(i, i+1)))
	}
	agree(t, state, last)
	agree(t, last, x.Slice(tensor.Colon, tensor.Colon, tensor.R(6, 9)))
}

func TestRotaryEmbedding(t *testing.T) {
	x, cos, sin := tensor.RandomNormal[float32](1, 0, 1, 2, 3, 4, 8), tensor.RandomNormal[float32](2, 0, 1, 5, 3), tensor.RandomNormal[float32](3, 0, 1, 5, 3)
	at := tensor.FromSlice([]int64{0, 4, 2, 1, 3, 3, 0, 1}, 2, 4)
	for _, between := range []bool{false, true} {
		want := x.Clone()
		for i := range want.All() {
			b, h, s, e := i[0], i[1], i[2], i[3]
			if e >= 3 {
				continue
			}
			first, second := e, e+3
			if between {
				first, second = 2*e, 2*e+1
			}
			p := int(at.At(b, s))
			c, n, u, v := cos.At(p, e), sin.At(p, e), x.At(b, h, s, first), x.At(b, h, s, second)
			want.Set(float32(c*u)-float32(n*v), b, h, s, first)
			want.Set(float32(n*u)+float32(c*v), b, h, s, second)
		}
		o := op.RotaryEmbeddingOptions{Heads: 3, Width: 6, Interleaved: between}
		agree(t, op.RotaryEmbedding(x, cos, sin, at, o), want)
		flat := func(a tensor.Tensor[float32]) tensor.Tensor[float32] {
			return a.Permute(0, 2, 1, 3).Contiguous().Reshape(2, 4, 24)
		}
		own := flat(x)
		agree(t, op.RotaryEmbedding(own, op.Gather(cos, at, 0), op.Gather(sin, at, 0), tensor.Tensor[int64]{}, o, op.Into(own)), flat(want))
	}
}

// ramp is numbers that are exact in every float type.
func ramp(mul int, shape ...int) tensor.Any {
	a := tensor.New[float32](shape...)
	for i := range a.Elems() {
		a.Elems()[i] = float32(i*mul%13-6) / 8
	}
	return a.Any()
}

// The operators of com.microsoft give the recorded results of ONNX Runtime 1.30.0.
func TestContributedAttention(t *testing.T) {
	none := tensor.Any{}
	i32 := func(shape []int, v ...int32) tensor.Any { return tensor.FromSlice(v, shape...).Any() }
	for _, c := range []struct {
		name    string
		in      []tensor.Any
		attrs   op.AttrMap
		outputs int
		want    [][]float32
	}{
		{"Attention", []tensor.Any{ramp(5, 1, 2, 2), ramp(7, 2, 12), ramp(3, 12), i32([]int{1, 4}, 1, 0, 1, 1), ramp(4, 2, 1, 2, 2, 2)}, op.AttrMap{"num_heads": int64(2), "unidirectional": int64(1)}, 2,
			[][]float32{{0.352498, -0.234372, 0.0525017, -0.576347, 0.166348, 0.111517, -0.218322, -0.0862362},
				{-0.75, -0.25, 0.25, 0.75, 1.09375, -0.71875, 0.375, -0.0625, -0.375, 0.125, 0.625, -0.5, 0.109375, -0.078125, -0.5, 0.6875, 0, 0.5, -0.625, -0.125, 0.75, -1.0625, 0.25, -0.1875, 0.375, -0.75, -0.25, 0.25, -0.234375, -0.421875, -0.625, 0.5625}}},
		{"Attention", []tensor.Any{ramp(5, 2, 2, 2), ramp(7, 2, 10), ramp(3, 10), i32([]int{4}, 2, 2, 1, 0)}, op.AttrMap{"num_heads": int64(2), "qkv_hidden_sizes": []int64{4, 4, 2}, "scale": float32(0.5)}, 1,
			[][]float32{{0.3125, -0.125, 0.3125, -0.125, 0.852223, -0.874957, 0.852133, -0.875086}}},
		{"MultiHeadAttention", []tensor.Any{ramp(5, 1, 2, 4), ramp(7, 1, 2, 4), ramp(4, 1, 2, 4), ramp(3, 12), i32([]int{1}, 3), ramp(6, 1, 2, 2, 3), ramp(2, 1, 2, 1, 2), ramp(9, 1, 2, 1, 2)}, op.AttrMap{"num_heads": int64(2)}, 4,
			[][]float32{{-0.160247, -0.337417, 0.0758332, -0.294737, -0.246981, -0.410591, 0.0723574, 0.278066}, {-0.75, -0.5, 0, -0.375, 0.25, -0.125, -0.25, 0, -0.75, 0.5, -0.5, 0.75},
				{-0.75, 0.375, -0.125, -0.875, 0.25, -0.5, -0.125, -0.625, 0, 0.875, 0.375, -0.375},
				{0.222272, 0.132583, 0.529029, 0.0738738, 0.525563, -0.393631, 0.411612, -0.684359, 0.131932, -0.455806, 0.647748, -0.138864}}},
		{"GroupQueryAttention", []tensor.Any{ramp(5, 1, 1, 64), none, none, ramp(7, 1, 1, 3, 16), ramp(4, 1, 1, 3, 16), i32([]int{1}, 3), i32([]int{1}, 4), ramp(3, 4, 8), ramp(2, 4, 8)},
			op.AttrMap{"num_heads": int64(2), "kv_num_heads": int64(1), "do_rotary": int64(1), "local_window_size": int64(2), "smooth_softmax": int64(1), "softcap": float32(2)}, 1,
			[][]float32{{0.22785, -0.00999475, -0.103371, 0.251194, -0.434591, -0.0800269, 0.274538, -0.411247, -0.0566828, 0.297882, 0.204506, -0.0333388, -0.126715, 0.22785, -0.00999475, -0.103371,
				0.228328, 0.0076144, -0.114166, 0.258773, -0.45666, -0.0837209, 0.289218, -0.426215, -0.0532758, 0.319663, 0.197883, -0.0228307, -0.144611, 0.228328, 0.0076144, -0.114166}}},
		{"RotaryEmbedding", []tensor.Any{ramp(5, 1, 2, 8), i32([]int{1}, 1), ramp(7, 4, 2), ramp(4, 4, 2)}, op.AttrMap{"interleaved": int64(1)}, 1,
			[][]float32{{0.5, -0.109375, 0.5, 0.25, -0.265625, -0.4375, -0.34375, -0.09375, 0.3125, 0.234375, 0.28125, -0.0625, -0.40625, 0.28125, -0.109375, 0.171875}}},
		{"EmbedLayerNormalization", []tensor.Any{i32([]int{1, 3}, 2, 0, 1), i32([]int{1, 3}, 0, 1, 1), ramp(5, 3, 4), ramp(7, 4, 4), ramp(4, 2, 4), ramp(3, 4), ramp(2, 4), i32([]int{1, 3}, 1, 1, 0)}, op.AttrMap{"epsilon": float32(0.1)}, 3,
			[][]float32{{0.455589, -0.574027, -0.25, 0.327836, 0.315959, -0.742263, -0.25, -0.0969054, 0.173813, -0.991707, -0.25, 0.074501}, {2}, {-2.125, -0.125, 0.25, 0.625, -1.625, 0.375, 0.75, -0.5, -0.5, 1.5, 0.25, 0.625}}},
		{"SimplifiedLayerNormalization", []tensor.Any{ramp(5, 2, 4), ramp(3, 4)}, nil, 2, [][]float32{{1.08345, 0.0902877, 0, -0.361151, -0.212127, -0.63638, 0, 0.31819}, {1.92614, 2.26268}}},
	} {
		for _, o := range op.Operators() {
			if o.Name() != c.name || o.Domain() == "" && c.name != "SimplifiedLayerNormalization" {
				continue
			}
			for _, d := range []dtype.DType{dtype.Float32, dtype.Float16} {
				call := op.Call{Attrs: op.AttrMap(nil), Opset: 1, Outputs: c.outputs}
				if c.attrs != nil {
					call.Attrs = c.attrs
				}
				for _, a := range c.in {
					if !a.IsZero() && a.DType() == dtype.Float32 && d == dtype.Float16 {
						f, _ := tensor.As[float32](a)
						a = op.Cast[num.F16](f).Any()
					}
					call.Inputs = append(call.Inputs, a)
				}
				got, err := o.Run(&call)
				if err != nil {
					t.Fatalf("%s of %v: %v", c.name, d, err)
				}
				specs, err := o.Infer(&call)
				for i, want := range c.want {
					if err != nil || tensor.Describe(specs[i]) != tensor.Describe(got[i]) {
						t.Errorf("%s of %v: inferred %v, %v, got %s", c.name, d, specs, err, tensor.Describe(got[i]))
					}
					k := 0
					for v := range got[i].Values() {
						var x float64
						fmt.Sscan(fmt.Sprint(v), &x)
						if off := math.Abs(x - float64(want[k])); !(off <= 1e-5 || d == dtype.Float16 && off <= 4e-3) {
							t.Errorf("%s of %v, output %d: element %d is %v, want %v", c.name, d, i, k, v, want[k])
						}
						k++
					}
				}
			}
		}
	}
}

// Packed operands give the results of the operands that they are packed from.
func TestPackedHeads(t *testing.T) {
	run := func(in []tensor.Any, outputs int) []tensor.Any {
		o, _ := op.Lookup("MultiHeadAttention")
		out, err := o.Run(&op.Call{Inputs: in, Attrs: op.AttrMap{"num_heads": int64(2)}, Opset: 1, Outputs: outputs})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	all, bias := ramp(5, 2, 3, 2, 3, 4), ramp(3, 24)
	part := func(a tensor.Any, i int) tensor.Any {
		return a.Slice(tensor.Ellipsis, tensor.I(i), tensor.Colon).Contiguous().Reshape(2, 3, 8)
	}
	want := run([]tensor.Any{part(all, 0), part(all, 1), part(all, 2), bias}, 3)
	for i, got := range run([]tensor.Any{all, {}, {}, bias}, 3) {
		tensortest.Equal(t, got, want[i])
	}
	kv := all.Slice(tensor.Colon, tensor.Colon, tensor.Colon, tensor.R(1, 3))
	want = run([]tensor.Any{part(all, 0), part(all, 1), part(all, 2)}, 1)
	tensortest.Equal(t, run([]tensor.Any{part(all, 0), kv}, 1)[0], want[0])
}
