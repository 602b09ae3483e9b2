package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// attentionCases is how many random nodes of Attention the proof of them has. Every tenth is large.
const attentionCases = 400

// An attentionSum is the digest of the random nodes, and how many had which part.
type attentionSum struct {
	digest                                                       [sha256.Size]byte
	windows, masks, softcaps, pasts, lengths, causal, flat, rows int // the last counts queries without a key
}

func (a *attentionSum) String() string {
	return fmt.Sprintf("%d nodes: %d with a window, %d masks, %d softcaps, %d pasts, %d lengths, %d causal, %d of rank 3; %d queries without a key",
		attentionCases, a.windows, a.masks, a.softcaps, a.pasts, a.lengths, a.causal, a.flat, a.rows)
}

// attentions runs random nodes of Attention, each with all its outputs. The digest is the SHA-256 of lines of a number and four digests, which each
// gets unless it is nil.
func attentions(ctx context.Context, each func(line string)) (*attentionSum, error) {
	a := new(attentionSum)
	h := sha256.New()
	for i := range attentionCases {
		line, err := a.run(ctx, i)
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
		if each != nil {
			each(line)
		}
		fmt.Fprintln(h, line)
	}
	a.digest = [sha256.Size]byte(h.Sum(nil))
	return a, nil
}

// run draws a node from its number, runs it, and returns its line.
func (a *attentionSum) run(ctx context.Context, number int) (line string, err error) {
	r := rand.New(rand.NewPCG(uint64(number), 25))
	between := func(lo, hi int) int { return lo + r.IntN(hi-lo+1) }
	d := []dtype.DType{dtype.Float32, dtype.Float16, dtype.BFloat16, dtype.Float64}[number%4]
	b := onnx.NewBuilder("attention")
	given := make(map[string]tensor.Any)
	names := make([]string, 7)
	give := func(i int, name string, t tensor.Any) {
		dims := make([]any, t.Rank())
		for k := range dims {
			dims[k] = t.Dim(k)
		}
		names[i], given[name] = b.Input(name, t.DType(), dims...), t
	}
	random := func(shape ...int) []float64 {
		n := 1
		for _, e := range shape {
			n *= e
		}
		list := make([]float64, n)
		for i := range list {
			list[i] = 8*r.Float64() - 4
		}
		return list
	}

	batch, kv, group := between(1, 2), between(1, 3), between(1, 3)
	queries, fresh, width, wide := between(1, 8), between(1, 12), between(1, 20), between(1, 12)
	if number%10 == 9 {
		queries, fresh, width, wide = between(17, 70), between(30, 300), between(16, 64), between(16, 64)
	}
	heads, past := kv*group, 0
	var attrs []onnx.Attribute
	operand := func(i int, name string, heads, n, width int) {
		shape := []int{batch, heads, n, width}
		if len(attrs) > 0 { // of rank 3
			shape = []int{batch, n, heads * width}
		}
		give(i, name, floatsOf(d, random(shape...), shape...))
	}
	if r.IntN(2) == 0 {
		a.flat++
		attrs = append(attrs, onnx.IntAttr("q_num_heads", int64(heads)), onnx.IntAttr("kv_num_heads", int64(kv)))
	}
	operand(0, "q", heads, queries, width)
	operand(1, "k", kv, fresh, width)
	operand(2, "v", kv, fresh, wide)
	switch r.IntN(3) {
	case 0:
		a.pasts++
		past = between(1, 6)
		give(4, "past_key", floatsOf(d, random(batch, kv, past, width), batch, kv, past, width))
		give(5, "past_value", floatsOf(d, random(batch, kv, past, wide), batch, kv, past, wide))
	case 1:
		a.lengths++
		list := make([]int64, batch)
		for i := range list {
			list[i] = int64(between(0, fresh))
		}
		give(6, "lengths", tensor.FromSlice(list, batch).Any())
	}
	keys := past + fresh
	if kind := r.IntN(3); kind > 0 {
		a.masks++
		shape := [][]int{{queries, keys}, {heads, queries, keys}, {batch, 1, queries, keys}, {batch, heads, 1, keys}}[r.IntN(4)]
		if short := r.IntN(4) == 0; short {
			shape[len(shape)-1] = between(1, keys)
		}
		give(3, "mask", masked(r, d, kind == 1, random(shape...), shape))
	}
	if r.IntN(3) > 0 {
		a.windows++
		attrs = append(attrs, onnx.IntAttr("left_window_size", int64(between(-1, 4))), onnx.IntAttr("right_window_size", int64(between(-1, 4))))
	}
	if r.IntN(2) == 0 {
		a.causal++
		attrs = append(attrs, onnx.IntAttr("is_causal", 1))
	}
	if r.IntN(2) == 0 {
		a.softcaps++
		attrs = append(attrs, onnx.FloatAttr("softcap", float32(between(1, 6))))
	}
	if r.IntN(2) == 0 {
		attrs = append(attrs, onnx.FloatAttr("scale", float32(between(0, 8))/8))
	}
	if r.IntN(4) == 0 {
		attrs = append(attrs, onnx.IntAttr("softmax_precision", int64(onnx.ElemOf(dtype.Float32))))
	}
	attrs = append(attrs, onnx.IntAttr("qk_matmul_output_mode", int64(r.IntN(4))))
	outs := b.Nodes("Attention", 4, names, attrs...)
	for _, name := range outs {
		b.OutputOf(name, onnx.Type{})
	}
	m, err := b.Model(25)
	if err != nil {
		return "", err
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		return "", err
	}
	got, err := s.Run(ctx, given, nil)
	if err != nil {
		return "", err
	}
	line = fmt.Sprint(number)
	for _, name := range outs {
		digest, err := tensor.Digest(got[name])
		if err != nil {
			return "", err
		}
		line += fmt.Sprintf(" %x", digest)
	}
	a.rows += zeroRows(got[outs[0]], wide)
	return line, nil
}

// masked makes a mask of numbers or of bools from random numbers. About every fourth row hides all keys.
func masked(r *rand.Rand, d dtype.DType, bools bool, list []float64, shape []int) tensor.Any {
	long := shape[len(shape)-1]
	for row := range slices.Chunk(list, long) {
		none := r.IntN(4) == 0
		for i := range row {
			if none || r.IntN(4) == 0 {
				row[i] = math.Inf(-1)
			}
		}
	}
	if !bools {
		return floatsOf(d, list, shape...)
	}
	t := tensor.New[bool](shape...)
	for i, v := range list {
		t.Elems()[i] = !math.IsInf(v, -1)
	}
	return t.Any()
}

// floatsOf rounds numbers to a type of floats.
func floatsOf(d dtype.DType, list []float64, shape ...int) tensor.Any {
	t := tensor.FromSlice(list, shape...).Any()
	switch d {
	case dtype.Float16:
		return op.CastAs[num.F16](t).Any()
	case dtype.BFloat16:
		return op.CastAs[num.BF16](t).Any()
	case dtype.Float32:
		return op.CastAs[float32](t).Any()
	}
	return t
}

// zeroRows counts the rows of a number of elements that are all 0: Attention gives them to queries without a key.
func zeroRows(a tensor.Any, long int) (n int) {
	t := op.CastAs[float64](a)
	for row := range slices.Chunk(t.Contiguous().Elems(), long) {
		if !slices.ContainsFunc(row, func(v float64) bool { return v != 0 }) {
			n++
		}
	}
	return n
}
