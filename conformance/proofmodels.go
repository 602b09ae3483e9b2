package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// drawn makes weights of float16 from a seed: integers times a power of two, which float16 has exactly.
type drawn struct{ r *rand.Rand }

func draw(seed uint64) drawn { return drawn{rand.New(rand.NewPCG(seed, 0))} }

// below returns numbers k·unit with |k| ≤ most; most is at most 2048.
func (d drawn) below(most int, unit float64, shape ...int) tensor.Tensor[num.F16] {
	t := tensor.New[num.F16](shape...)
	for i := range t.Elems() {
		t.Elems()[i] = num.FromFloat64[num.F16](float64(d.r.IntN(2*most+1)-most) * unit)
	}
	return t
}

// near returns numbers about 1, for the scale of a normalization.
func (d drawn) near(n int) tensor.Tensor[num.F16] {
	t := d.below(16, 1./128, n)
	for i, v := range t.Elems() {
		t.Elems()[i] = num.FromFloat64[num.F16](v.Float64() + 1)
	}
	return t
}

// A parts is a Builder that draws its weights.
type parts struct {
	*onnx.Builder
	drawn
	weights int
}

func newParts(name string, seed uint64) *parts {
	return &parts{Builder: onnx.NewBuilder(name), drawn: draw(seed)}
}

func (p *parts) keep(t tensor.Any) string {
	p.weights++
	return p.Weight(fmt.Sprint("w", p.weights), t)
}

func (p *parts) number(v float64) string {
	return p.keep(tensor.Scalar(num.FromFloat64[num.F16](v)).Any())
}

func (p *parts) ints(list ...int64) string { return p.keep(tensor.FromSlice(list, len(list)).Any()) }

// The encoder with large sums: tokens, width, and the width inside its layers.
const (
	sumTokens, sumWords        = 12, 64
	sumWidth, sumInner, sumTop = 64, 512, 4 // the last is the number of layers
)

// sumsModel is an encoder in float16 in the manner of Gemma, with made-up weights. Two kinds of its sums pass float16's largest
// number, 65,504.
//
// The second product of each layer has weights in pairs of opposite sign, a half of the sum apart. So sums pass it half way, and
// end small. The values after the layers, hidden0 to hidden3, grow from layer to layer. The last addition passes it with its result, as
// in microsoft/onnxruntime#32600: then hidden3 has infinities, and the embedding is NaN.
func sumsModel() (*onnx.Model, error) {
	b := newParts("float16-sums", 32600)
	ids := b.Input("ids", dtype.Int64, 1, sumTokens)
	x := b.Node("Gather", []string{b.keep(b.below(256, 1./128, sumWords, sumWidth).Any()), ids})
	norm := func(x string) string {
		return b.Node("RMSNormalization", []string{x, b.keep(b.near(sumWidth).Any())}, onnx.FloatAttr("epsilon", 1e-6))
	}
	product := func(x string, w tensor.Tensor[num.F16]) string {
		return b.Node("MatMul", []string{x, b.keep(w.Any())})
	}
	heads := []onnx.Attribute{onnx.IntAttr("q_num_heads", 4), onnx.IntAttr("kv_num_heads", 4)}
	for layer, growth := range [sumTop]float64{8, 64, 400, 440} {
		n := norm(x)
		var qkv []string
		for range 3 {
			qkv = append(qkv, product(n, b.below(128, 1./512, sumWidth, sumWidth)))
		}
		a := b.Node("Attention", qkv, heads...)
		x = b.Node("Add", []string{x, norm(product(a, b.below(128, 1./512, sumWidth, sumWidth)))})

		n = norm(x)
		gate := product(n, twice(b.below(128, 1./256, sumWidth, sumInner/2), 1, 1, nil))
		up := product(n, twice(b.below(128, 1./256, sumWidth, sumInner/2), 1, 1, nil))
		inner := b.Node("Mul", []string{b.Node("Gelu", []string{gate}, onnx.StringAttr("approximate", "tanh")), up})
		left := b.below(8, growth/8, sumInner/2, sumWidth) // of each pair
		x = b.Node("Add", []string{x, product(inner, twice(b.below(1024, 1, sumInner/2, sumWidth), 0, -1, left.Elems()))})
		x = b.Rename(x, fmt.Sprint("hidden", layer))
		b.Output(x, dtype.Float16, 1, sumTokens, sumWidth)
	}
	mean := b.Node("ReduceMean", []string{norm(x), b.ints(1)}, onnx.IntAttr("keepdims", 0))
	b.Output(b.Rename(b.Node("LpNormalization", []string{mean}), "embedding"), dtype.Float16, 1, sumWidth)
	return b.Model(23)
}

// twice returns a matrix and sign times it side by side along an axis, with the numbers of plus added to the second one.
func twice(a tensor.Tensor[num.F16], axis int, sign float64, plus []num.F16) tensor.Tensor[num.F16] {
	shape := a.Shape()
	n := shape[axis]
	shape[axis] *= 2
	t := tensor.New[num.F16](shape...)
	for at := range t.All() {
		i := [2]int(at)
		v := 1.
		if i[axis] >= n {
			i[axis] -= n
			v = sign
		}
		v *= a.At(i[0], i[1]).Float64()
		if plus != nil && at[axis] >= n {
			v += plus[i[0]*a.Dim(1)+i[1]].Float64()
		}
		t.Set(num.FromFloat64[num.F16](v), at...)
	}
	return t
}

// The encoder whose steps round: tokens, words, width, heads, and the width inside its layers.
const (
	stepTokens, stepWords             = 16, 100
	stepWidth, stepHeads, stepInner   = 96, 4, 384
	stepLayers, stepHead              = 2, stepWidth / stepHeads
	stepEpsilon, stepRoot, stepHidden = 1e-5, 0.2041241452319315, -65504 // the root is 1/√24
)

// stepsModel is an encoder in float16 in the manner of BERT, with made-up weights, whose nodes are those that runtimes fuse: products with
// a bias, Gelu of five nodes, sums with a normalization. With joined set, each such group is in float32 inside, and rounded once, as a
// fused kernel may do it: these are other bits.
func stepsModel(joined bool) (*onnx.Model, error) {
	b := newParts("float16-steps", 623)
	ids, seen := b.Input("ids", dtype.Int64, 1, stepTokens), b.Input("seen", dtype.Int64, 1, stepTokens)
	node := func(op string, inputs []string, attrs ...onnx.Attribute) string { return b.Node(op, inputs, attrs...) }
	to := func(x string, d onnx.ElemType) string {
		return node("Cast", []string{x}, onnx.IntAttr("to", int64(d)))
	}
	wide := func(x string) string { // the operand of a group
		if joined {
			return to(x, onnx.ElemOf(dtype.Float32))
		}
		return x
	}
	group := func(y string) string { // the result of a group
		if joined {
			return to(y, onnx.ElemOf(dtype.Float16))
		}
		return y
	}
	weight := func(t tensor.Tensor[num.F16]) string { return wide(b.keep(t.Any())) }
	linear := func(x string, from, into int) string {
		y := node("MatMul", []string{wide(x), weight(b.below(256, 1./1024, from, into))})
		return group(node("Add", []string{y, weight(b.below(256, 1./1024, into))}))
	}
	norm := func(x, y string) string {
		return group(node("LayerNormalization", []string{node("Add", []string{wide(x), wide(y)}), weight(b.near(stepWidth)), weight(b.below(64, 1./512, stepWidth))},
			onnx.FloatAttr("epsilon", stepEpsilon)))
	}
	table := func(rows int) string { return b.keep(b.below(512, 1./512, rows, stepWidth).Any()) }
	x := norm(node("Gather", []string{table(stepWords), ids}), table(stepTokens))
	mask := node("Mul", []string{node("Sub", []string{b.number(1), to(seen, onnx.ElemOf(dtype.Float16))}), b.number(stepHidden)})
	mask = node("Unsqueeze", []string{mask, b.ints(1, 2)})
	heads := func(x string, perm ...int64) string {
		return node("Transpose", []string{node("Reshape", []string{x, b.ints(1, stepTokens, stepHeads, stepHead)})}, onnx.IntsAttr("perm", perm...))
	}
	for range stepLayers {
		q, k, v := linear(x, stepWidth, stepWidth), linear(x, stepWidth, stepWidth), linear(x, stepWidth, stepWidth)
		p := node("MatMul", []string{heads(q, 0, 2, 1, 3), heads(k, 0, 2, 3, 1)})
		p = node("Softmax", []string{node("Add", []string{node("Mul", []string{p, b.number(stepRoot)}), mask})}, onnx.IntAttr("axis", -1))
		a := node("Transpose", []string{node("MatMul", []string{p, heads(v, 0, 2, 1, 3)})}, onnx.IntsAttr("perm", 0, 2, 1, 3))
		x = norm(linear(node("Reshape", []string{a, b.ints(1, stepTokens, stepWidth)}), stepWidth, stepWidth), x)

		h := linear(x, stepWidth, stepInner)
		g, half, one := wide(h), wide(b.number(0.5)), wide(b.number(1))
		e := node("Add", []string{node("Erf", []string{node("Div", []string{g, wide(b.number(1.4142135623730951))})}), one})
		x = norm(linear(group(node("Mul", []string{node("Mul", []string{g, e}), half})), stepInner, stepWidth), x)
	}
	b.Output(b.Rename(x, "hidden"), dtype.Float16, 1, stepTokens, stepWidth)
	b.Output(b.Rename(node("ReduceMean", []string{"hidden"}, onnx.IntsAttr("axes", 1), onnx.IntAttr("keepdims", 0)), "embedding"), dtype.Float16, 1, stepWidth)
	return b.Model(17)
}
