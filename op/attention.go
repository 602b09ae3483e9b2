package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// AttentionOptions has the operands and attributes of Attention besides queries, keys and values. Its zero value is attention of all queries to all keys.
type AttentionOptions[T num.Float | num.F16 | num.BF16] struct {
	Mask               tensor.Tensor[T]     // added to the products; stretches to [batch, heads, queries, keys]
	Visible            tensor.Tensor[bool]  // like Mask: false is −∞, true 0; not together with it
	PastKey, PastValue tensor.Tensor[T]     // [batch, kvHeads, earlier, width]: the keys and values before the call's own
	Lengths            tensor.Tensor[int64] // [batch]: how many keys of each sequence are valid; not together with PastKey

	Heads, KVHeads int     // of queries, and of keys and values; for operands of rank 3, which have them side by side
	Scale          float64 // of the products; 0 is 1/√width
	Softcap        float64 // c: products p become c·Tanh(p/c); 0 is none
	Causal         bool    // a query sees the keys before it and its own
	Window         []int   // how many keys before and behind its own a query sees; −1 is all of a side, and nil is {−1, −1}
}

// Attention returns the values of a sequence weighted by how well their keys fit each query, and the keys and values that it used, with
// PastKey and PastValue. Queries are [batch, heads, queries, width], keys [batch, kvHeads, keys, width] and values
// [batch, kvHeads, keys, wide]; kvHeads divides heads. With rank 3 they are [batch, queries, heads·width] and so on, and so is the result;
// the keys and values returned have rank 4 always.
//
//	p = (q·√scale)·(k·√scale)ᵀ
//	p = softcap·Tanh(p/softcap)
//	y = Softmax(p + mask)·v
//
// Causal and Window count from a query's own key: key i for query i. With PastKey that is as many keys further as PastKey has. With Lengths
// the last query's own is the last valid key. A mask of fewer keys hides the others. A query that the mask, Causal, Window and Lengths
// leave no key has weights of 0. Each product of matrices, sum, product, quotient and function is rounded as the operator of that name
// rounds it, in float16 and bfloat16, too. NaN in a key is seen through a mask. An Into target takes the weighted values. It panics when
// shapes don't fit, a scale is negative, or a number of Window is below −1. ONNX Attention, whose run-time form has the products or
// weights as a fourth output.
func Attention[T num.Float | num.F16 | num.BF16](q, k, v tensor.Tensor[T], o AttentionOptions[T], opts ...Option) (y, key, value tensor.Tensor[T]) {
	mask := exec.Ref(&o.Mask)
	if !o.Visible.Any().IsZero() {
		if !mask.IsZero() {
			panic(plan.Fail("Attention", tensor.ErrValue, "there are both a Mask and a Visible; give one"))
		}
		mask = exec.Ref(&o.Visible)
	}
	in := [7]*tensor.Any{exec.Ref(&q), exec.Ref(&k), exec.Ref(&v), mask, exec.Ref(&o.PastKey), exec.Ref(&o.PastValue), exec.Ref(&o.Lengths)}
	window := [2]int{-1, -1}
	if o.Window != nil {
		plan.Present("Attention", exec.Ref(&q), exec.Ref(&k), exec.Ref(&v))
		if len(o.Window) != 2 {
			panic(plan.Fail("Attention", tensor.ErrValue, "Window has %d numbers; want two, of keys before and behind a query's own", len(o.Window)))
		}
		window = [2]int(o.Window)
	}
	attend([4]*tensor.Any{exec.Ref(&y), exec.Ref(&key), exec.Ref(&value)}, in,
		attentionAttrs{heads: o.Heads, kvHeads: o.KVHeads, scale: o.Scale, scaled: o.Scale != 0, softcap: o.Softcap, causal: o.Causal, window: window}, opts)
	return y, key, value
}

type attentionAttrs struct {
	heads, kvHeads int
	scale, softcap float64
	scaled, causal bool
	window         [2]int // of keys before and behind a query's own; −1 is no bound
	keep           int
	precise        dtype.DType
}

// attentionOf checks the shapes and types of a call. Inputs may be Specs.
func attentionOf(in *[7]*tensor.Any, o *attentionAttrs) (h heads, past int, flat bool) {
	const name = "Attention"
	q, k, v, mask, lengths := in[0], in[1], in[2], in[3], in[6]
	d := q.DType()
	plan.Must(name, attended.Has(d), d)
	for i, a := range in[:6] {
		if i != 3 && !a.IsZero() && a.DType() != d {
			panic(plan.NotHeld(name, a, i, d))
		}
	}
	if r := q.Rank(); r != 3 && r != 4 || k.Rank() != r || v.Rank() != r {
		panic(plan.Fail(name, tensor.ErrShape, "queries, keys and values are %s, %s and %s; want all of rank 3 or all of rank 4", operandText(q), operandText(k), operandText(v)))
	}
	flat = q.Rank() == 3
	n, m := o.heads, o.kvHeads
	if flat {
		h.batch, h.queries, h.keys = q.Dim(0), q.Dim(1), k.Dim(1)
		if n < 1 || m < 1 || q.Dim(2)%n != 0 || k.Dim(2)%m != 0 || v.Dim(2)%m != 0 {
			panic(plan.Fail(name, tensor.ErrShape, "queries, keys and values are %s, %s and %s, which %d and %d heads don't divide; q_num_heads and kv_num_heads say how many there are",
				operandText(q), operandText(k), operandText(v), n, m))
		}
		h.width, h.wide = q.Dim(2)/n, v.Dim(2)/m
		if k.Dim(0) != h.batch || v.Dim(0) != h.batch || v.Dim(1) != h.keys || k.Dim(2)/m != h.width {
			panic(unfitting(name, q, k, v))
		}
	} else {
		if n != 0 && n != q.Dim(1) || m != 0 && m != k.Dim(1) {
			panic(plan.Fail(name, tensor.ErrShape, "queries %s and keys %s have other numbers of heads than %d and %d", operandText(q), operandText(k), n, m))
		}
		n, m = q.Dim(1), k.Dim(1)
		h.batch, h.queries, h.keys, h.width, h.wide = q.Dim(0), q.Dim(2), k.Dim(2), q.Dim(3), v.Dim(3)
		if k.Dim(0) != h.batch || v.Dim(0) != h.batch || v.Dim(1) != m || v.Dim(2) != h.keys || k.Dim(3) != h.width {
			panic(unfitting(name, q, k, v))
		}
	}
	if m == 0 || n%m != 0 {
		panic(plan.Fail(name, tensor.ErrShape, "%d heads of queries are no multiple of %d heads of keys", n, m))
	}
	h.kv, h.group = m, n/m
	past = h.earlier(name, in[4], in[5], 4)
	if !lengths.IsZero() {
		if past > 0 || !in[4].IsZero() {
			panic(plan.Fail(name, tensor.ErrValue, "there are both keys of earlier calls and numbers of valid keys, inputs 4 and 6; give one"))
		}
		move.WantInt(name, 6, *lengths)
		if !plan.SameShape(lengths.LayoutRef(), []int{h.batch}) {
			panic(plan.Fail(name, tensor.ErrShape, "input 6, the numbers of valid keys, is %s; want [%d], one for each sequence", operandText(lengths), h.batch))
		}
	}
	if !mask.IsZero() {
		h.biasFits(name, 3, mask, true)
		if t := mask.DType(); !(plan.Bools | plan.Reals).Has(t) {
			panic(plan.Fail(name, tensor.ErrDType, "input 3, the mask, holds %v; want bool or numbers", t))
		}
	}
	switch {
	case !(o.softcap >= 0):
		panic(plan.Fail(name, tensor.ErrValue, "softcap is %v; want a positive number, or 0 for none", o.softcap))
	case o.scaled && !(o.scale >= 0):
		panic(plan.Fail(name, tensor.ErrValue, "scale is %v; want no negative number, as its root multiplies queries and keys", o.scale))
	case o.precise != dtype.Invalid && !attended.Has(o.precise):
		panic(plan.Fail(name, tensor.ErrDType, "softmax_precision is %v; want float16, bfloat16, float32 or float64", o.precise))
	case o.window[0] < -1 || o.window[1] < -1:
		panic(plan.Fail(name, tensor.ErrValue, "the window has %d keys before a query's own and %d behind; want numbers of keys, or -1 for all", o.window[0], o.window[1]))
	case o.keep < keepProducts || o.keep > keepWeights:
		panic(plan.Fail(name, tensor.ErrValue, "qk_matmul_output_mode is %d; want 0 to 3", o.keep))
	}
	return h, past, flat
}

// earlier checks the keys and values of earlier calls, inputs i and i+1, and adds their number to the keys.
func (h *heads) earlier(name string, key, value *tensor.Any, i int) (past int) {
	if key.IsZero() != value.IsZero() {
		panic(plan.Fail(name, tensor.ErrShape, "of the keys and values of earlier calls, inputs %d and %d, one is missing", i, i+1))
	}
	if key.IsZero() {
		return 0
	}
	if key.Rank() == 4 {
		past = key.Dim(2)
	}
	if !plan.SameShape(key.LayoutRef(), []int{h.batch, h.kv, past, h.width}) || !plan.SameShape(value.LayoutRef(), []int{h.batch, h.kv, past, h.wide}) {
		panic(plan.Fail(name, tensor.ErrShape, "the keys and values of earlier calls, inputs %d and %d, are %s and %s; want [%d,%d,earlier,%d] and [%d,%d,earlier,%d]",
			i, i+1, operandText(key), operandText(value), h.batch, h.kv, h.width, h.batch, h.kv, h.wide))
	}
	if h.keys += past; h.keys < 0 {
		panic(plan.Fail(name, tensor.ErrOverflow, "the number of keys doesn't fit an int"))
	}
	return past
}

func unfitting(name string, q, k, v *tensor.Any) *tensor.Error {
	return plan.Fail(name, tensor.ErrShape, "queries, keys and values are %s, %s and %s; want the same number of sequences, keys as wide as queries, and as many values as keys",
		operandText(q), operandText(k), operandText(v))
}

// attend computes the outputs. An output that is nil isn't wanted.
func attend(out [4]*tensor.Any, in [7]*tensor.Any, o attentionAttrs, opts []Option) {
	const name = "Attention"
	plan.Present(name, in[:3]...)
	h, past, flat := attentionOf(&in, &o)
	s := plan.Read(name, opts)
	quiet, d := s.Quiet(), in[0].DType()
	a := attending{heads: h, clear: true, scale: 1, softcap: o.softcap, precise: o.precise, keep: o.keep}
	if a.root = o.scale; !o.scaled {
		a.root = 1 / math.Sqrt(float64(h.width))
	}
	a.root = math.Sqrt(a.root)
	key, value := *in[1], *in[2]
	if flat {
		a.q = split(*in[0], h.kv, h.group)
		key, value = joined(split(key, h.kv, 1)), joined(split(value, h.kv, 1))
	} else {
		a.q = in[0].Reshape(h.batch, h.kv, h.group, h.queries, h.width)
	}
	key, value = following(in[4], key, quiet), following(in[5], value, quiet)
	a.k, a.v = key.Reshape(h.batch, h.kv, 1, h.keys, h.width), value.Reshape(h.batch, h.kv, 1, h.keys, h.wide)
	if h.empty() && out[3] == nil {
		plan.AimShape(out[0], name, &s, d, h.shape(flat))
		if out[1] != nil {
			*out[1], *out[2] = key, value
		}
		return
	}
	if !in[3].IsZero() {
		mask := h.grouped(*in[3])
		a.bias = &mask
	}
	if lengths := in[6]; o.causal || o.window != [2]int{-1, -1} || !lengths.IsZero() {
		var valid []int64
		if !lengths.IsZero() {
			valid = move.WordsOf(*lengths).Int64s(name)
		}
		a.spans = append(a.spans, visible{math.Inf(-1), func(b, i int) (from, to int) {
			own, to := past+i, h.keys
			if valid != nil {
				to = plan.AsInt(max(-1, min(valid[b], math.MaxInt64/2)))
				own = to - h.queries + i
			}
			if o.causal {
				to = min(to, own+1)
			}
			if w := o.window[0]; w >= 0 && w < own {
				from = own - w
			}
			if w := o.window[1]; w >= 0 && w < h.keys-own { // the sum below fits
				to = min(to, own+w+1)
			}
			return from, to
		}})
	}
	var kept tensor.Any
	if out[3] != nil {
		a.kept = &kept
	}
	to, view := h.result(name, out[0], &s, d, flat, in[0], in[1], in[2])
	if to != out[0] && past == 0 { // the keys may be where the result goes
		key, value = key.Clone(), value.Clone()
	}
	a.into(&view, quiet)
	plan.Put(out[0], to)
	if out[1] != nil {
		*out[1], *out[2] = key, value
	}
	if out[3] != nil {
		*out[3] = joined(kept)
	}
}

// maskOf returns a mask as numbers of a type, −∞ for the keys that it doesn't say anything of.
func maskOf(mask *tensor.Any, d dtype.DType, keys int, quiet []Option) (r tensor.Any) {
	switch {
	case mask.DType() == dtype.Bool:
		zero, never := numberOf(d, 0), numberOf(d, math.Inf(-1))
		where.Call(&r, quiet, mask, &zero, &never)
	case mask.DType() == d:
		r = *mask
	default:
		pointwise.Convert(&r, "Cast", d, mask, quiet)
	}
	if last := r.Rank() - 1; r.Dim(last) < keys {
		shape := r.Shape()
		n := shape[last]
		shape[last] = keys
		long := tensor.EmptyOf(d, shape...)
		long.CopyFrom(numberOf(d, math.Inf(-1)).BroadcastTo(shape...))
		long.Slice(tensor.Ellipsis, tensor.R(0, n)).CopyFrom(r)
		r = long
	}
	return r
}

var attention = plan.Operator{About: plan.About{Name: "Attention", Versions: []int{23, 24, 25},
	Attrs: []string{"is_causal", "kv_num_heads", "left_window_size", "q_num_heads", "qk_matmul_output_mode", "right_window_size", "scale", "softcap", "softmax_precision"}, Why: whyAttended},
	Least: 3, Most: 7, Takes: attended,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "Attention"
		in, o := attentionCall(c)
		allThere(name, c)
		n := min(max(c.Outputs, 1), 4)
		if !p.Brief {
			h, _, flat := attentionOf(&in, &o)
			d := in[0].DType()
			h.price(&p.Price)
			if in[4].IsZero() && in[5].IsZero() { // with a cache the keys are more
				p.Costs(plan.ProductOfAll(2, int64(h.batch), int64(h.kv*h.group), int64(h.queries), int64(h.keys), int64(h.width+h.wide)))
			}
			p.Out = []tensor.Any{plan.Spec(name, d, h.shape(flat)...), plan.Spec(name, d, h.batch, h.kv, h.keys, h.width), plan.Spec(name, d, h.batch, h.kv, h.keys, h.wide),
				plan.Spec(name, d, h.batch, h.kv*h.group, h.queries, h.keys)}[:n]
		}
		if n == 1 {
			p.By(c, 0, func(r *tensor.Any, opts []Option) { attend([4]*tensor.Any{r}, in, o, opts) })
			return
		}
		p.List(c, n, func(to []tensor.Any, opts []Option) {
			var outs [4]tensor.Any
			wanted := [4]*tensor.Any{&outs[0], &outs[1], &outs[2]}
			if n > 3 {
				wanted[3] = &outs[3]
			}
			attend(wanted, in, o, opts)
			copy(to, outs[:])
		})
	}}

// attentionCall reads a node.
func attentionCall(c *plan.Use) (in [7]*tensor.Any, o attentionAttrs) {
	for i := range in {
		in[i] = c.Or(i)
	}
	if c.Opset < 24 {
		plan.Takes("Attention", c, 6)
	}
	o = attentionAttrs{heads: plan.AttrInt(c, "q_num_heads", 0), kvHeads: plan.AttrInt(c, "kv_num_heads", 0), scale: float64(c.Attrs.Float("scale", 0)), scaled: c.Attrs.Has("scale"),
		softcap: float64(c.Attrs.Float("softcap", 0)), causal: c.Attrs.Int("is_causal", 0) != 0, keep: plan.AttrInt(c, "qk_matmul_output_mode", 0),
		window: [2]int{plan.AttrInt(c, "left_window_size", -1), plan.AttrInt(c, "right_window_size", -1)}}
	if c.Opset < 25 && o.window != [2]int{-1, -1} {
		panic(plan.Fail("Attention", ErrUnsupported, "left_window_size and right_window_size are attributes of opset 25; the model imports %d", c.Opset))
	}
	if c.Attrs.Has("softmax_precision") {
		o.precise = pointwise.TypeOf("Attention", c.Attrs.Int("softmax_precision", 1))
	}
	return in, o
}
