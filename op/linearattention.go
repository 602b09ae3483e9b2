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

// LinearAttentionOptions has the operands and attributes of LinearAttention besides queries, keys and values.
// Decay and Beta, if they are there, decide how the state changes.
type LinearAttentionOptions[T num.Float | num.F16 | num.BF16] struct {
	State tensor.Tensor[T] // [batch, KVHeads, width, wide]: before the first step; 0 without it
	Decay tensor.Tensor[T] // [batch, steps, KVHeads·width] or [batch, steps, KVHeads]: logarithms of the factors of the state
	Beta  tensor.Tensor[T] // [batch, steps, KVHeads] or [batch, steps, 1]: how much of the difference from the state's value for a key is written
	Erase tensor.Tensor[T] // [batch, steps, KVHeads·width]: multiplies the key that is looked for, not the key that is written

	Heads, KVHeads int     // of queries, and of keys and values
	Scale          float64 // of the result; 0 is 1/√width
}

// LinearAttention reads and writes a state, a matrix for each head, step by step. Queries are [batch, steps, heads·width], keys
// [batch, steps, kvHeads·width], values [batch, steps, kvHeads·wide]; kvHeads divides heads. It returns [batch, steps, heads·wide] and the last state.
// A step takes the state S, the query q, the key k and the value v:
//
//	S = Exp(decay)⊙S
//	v = beta·(v − (erase⊙k)·S)
//	S = S + kᵀ·v
//	y = scale·(q·S)
//
// Each product of matrices, function, product, sum and difference is rounded as the operator of that name rounds it. float16 and bfloat16 are computed in
// float32, and only y and the last state rounded. An Into target takes y. It panics when shapes don't fit, or there is an Erase without Beta. ONNX LinearAttention,
// whose run-time form has the last state in the type of the state before, which may be another float.
func LinearAttention[T num.Float | num.F16 | num.BF16](q, k, v tensor.Tensor[T], o LinearAttentionOptions[T], opts ...Option) (y, state tensor.Tensor[T]) {
	in := [7]*tensor.Any{exec.Ref(&q), exec.Ref(&k), exec.Ref(&v), exec.Ref(&o.State), exec.Ref(&o.Decay), exec.Ref(&o.Beta), exec.Ref(&o.Erase)}
	attendLinear(exec.Ref(&y), exec.Ref(&state), in, linearAttrs{o.Heads, o.KVHeads, o.Scale}, opts)
	return y, state
}

type linearAttrs struct {
	heads, kvHeads int
	scale          float64
}

// linearHeads checks the shapes and types of a call. Inputs may be Specs.
func linearHeads(in *[7]*tensor.Any, o linearAttrs) (h heads) {
	const name = "LinearAttention"
	q, k, v := in[0], in[1], in[2]
	d := q.DType()
	plan.Must(name, attended.Has(d), d)
	for i, a := range in {
		if i != 3 && !a.IsZero() && a.DType() != d {
			panic(plan.NotHeld(name, a, i, d))
		}
	}
	plan.Must(name, attended.Has(stateOf(in)), stateOf(in))
	n, m := o.heads, o.kvHeads
	if n < 1 || m < 1 || n%m != 0 {
		panic(plan.Fail(name, tensor.ErrValue, "q_num_heads is %d and kv_num_heads %d; want a positive multiple of a positive number", n, m))
	}
	if q.Rank() != 3 || k.Rank() != 3 || v.Rank() != 3 || q.Dim(2)%n != 0 || v.Dim(2)%m != 0 {
		panic(unfitting(name, q, k, v))
	}
	h = heads{batch: q.Dim(0), kv: m, group: n / m, queries: q.Dim(1), keys: q.Dim(1), width: q.Dim(2) / n, wide: v.Dim(2) / m}
	if !plan.SameShape(k.LayoutRef(), []int{h.batch, h.keys, m * h.width}) || v.Dim(0) != h.batch || v.Dim(1) != h.keys {
		panic(unfitting(name, q, k, v))
	}
	for i, last := range [7][2]int{4: {m * h.width, m}, 5: {m, 1}, 6: {m * h.width, m * h.width}} {
		if a := in[i]; i > 3 && !a.IsZero() && (a.Rank() != 3 || a.Dim(0) != h.batch || a.Dim(1) != h.keys || a.Dim(2) != last[0] && a.Dim(2) != last[1]) {
			panic(plan.Fail(name, tensor.ErrShape, "input %d is %s; want [%d,%d,%d] or [%d,%d,%d]", i, operandText(a), h.batch, h.keys, last[0], h.batch, h.keys, last[1]))
		}
	}
	if s := in[3]; !s.IsZero() && !plan.SameShape(s.LayoutRef(), h.state()) {
		panic(plan.Fail(name, tensor.ErrShape, "input 3, the state, is %s; want %s", operandText(s), plan.ShapeText(h.state())))
	}
	if !in[6].IsZero() && in[5].IsZero() {
		panic(plan.Fail(name, tensor.ErrValue, "input 6 says what of the keys to erase, and input 5, how much, is missing"))
	}
	return h
}

// stateOf returns the type of the state, which may differ from that of the queries.
func stateOf(in *[7]*tensor.Any) dtype.DType {
	if in[3].IsZero() {
		return in[0].DType()
	}
	return in[3].DType()
}

func (h *heads) state() []int { return []int{h.batch, h.kv, h.width, h.wide} }

// attendLinear is LinearAttention for a run-time element type.
func attendLinear(y, state *tensor.Any, in [7]*tensor.Any, o linearAttrs, opts []Option) {
	const name = "LinearAttention"
	plan.Present(name, in[:3]...)
	h, s := linearHeads(&in, o), plan.Read(name, opts)
	d, quiet := in[0].DType(), s.Quiet()
	wide := d
	if d.IsNarrow() {
		wide = dtype.Float32
	}
	plan.AimShape(y, name, &s, d, h.shape(true))
	if y.Len() == 0 && h.queries > 0 { // then the state has no elements either
		*state = tensor.EmptyOf(stateOf(&in), h.state()...)
		return
	}
	var held [7]tensor.Any
	for i, a := range in {
		if held[i] = *a; !a.IsZero() && a.DType() != wide {
			held[i] = tensor.Any{}
			pointwise.Convert(&held[i], name, wide, a, nil)
			defer held[i].Close()
		}
	}
	out := plan.Beside(y, d.IsNarrow() || !y.CanView(h.five(true)...), in[:]...)
	if d.IsNarrow() {
		f := tensor.EmptyOf(wide, h.shape(true)...)
		out = &f
	}
	apart := out.Reshape(h.five(true)...)
	now := tensor.EmptyOf(wide, h.batch, h.kv, 1, h.width, h.wide)
	if in[3].IsZero() {
		clear(move.WordsOf(now).Mem)
	} else {
		now.CopyFrom(held[3].Reshape(now.Shape()...))
	}
	scale := o.scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(h.width))
	}
	factor := numberOf(wide, scale)
	// rows returns the elements of a step as matrices of one row for each head. There may be one row for all heads.
	rows := func(a *tensor.Any, group, t int) tensor.Any {
		at := a.Slice(tensor.Colon, tensor.I(t))
		kv := h.kv
		if at.Dim(1) == 1 && a == &held[5] {
			kv = 1
		}
		return at.Reshape(h.batch, kv, group, 1, at.Dim(1)/(kv*group))
	}
	for t := range h.queries {
		exec.Look(name, s.Ctx())
		q, k, v := rows(&held[0], h.group, t), rows(&held[1], 1, t), rows(&held[2], 1, t)
		if !in[4].IsZero() {
			var by tensor.Any
			g := rows(&held[4], 1, t)
			exp.Call(&by, quiet, &g)
			by = by.Permute(0, 1, 2, 4, 3)
			mul.Call(&now, onto(&now, quiet), &now, &by)
		}
		if !in[5].IsZero() {
			erased, beta := k, rows(&held[5], 1, t)
			if !in[6].IsZero() {
				e := rows(&held[6], 1, t)
				mul.Call(&erased, quiet, &e, &k)
			}
			var had tensor.Any
			matrixProduct(&had, &erased, &now, quiet)
			sub.Call(&had, onto(&had, quiet), &v, &had)
			mul.Call(&had, onto(&had, quiet), &beta, &had)
			v = had
		}
		var more, read tensor.Any
		k = k.Permute(0, 1, 2, 4, 3)
		matrixProduct(&more, &k, &v, quiet)
		add.Call(&now, onto(&now, quiet), &now, &more)
		matrixProduct(&read, &q, &now, quiet)
		to := apart.Slice(tensor.Colon, tensor.I(t)).Reshape(h.batch, h.kv, h.group, 1, h.wide)
		mul.Call(&to, onto(&to, quiet), &factor, &read)
	}
	*state = now.Reshape(h.state()...)
	if stored := stateOf(&in); stored != wide {
		last := *state
		*state = tensor.Any{}
		pointwise.Convert(state, name, stored, &last, nil)
		last.Close()
	}
	if d.IsNarrow() {
		narrowInto(name, y, out)
		return
	}
	plan.Put(y, out)
}

var linearAttention = plan.Operator{About: plan.About{Name: "LinearAttention", Shared: true, Versions: []int{27}, Attrs: []string{"chunk_size", "kv_num_heads", "q_num_heads", "scale", "update_rule"}, Why: whyAttended}, Least: 3, Most: 7, Takes: attended,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "LinearAttention"
		in, o := linearCall(c)
		allThere(name, c)
		n := min(max(c.Outputs, 1), 2)
		if !p.Brief {
			h, d := linearHeads(&in, o), in[0].DType()
			p.Out = []tensor.Any{plan.Spec(name, d, h.shape(true)...), plan.Spec(name, stateOf(&in), h.state()...)}[:n]
			blocksOf(&p.Price, c.Inputs)
			p.Copies(0, 2, 1)
		}
		p.List(c, n, func(to []tensor.Any, opts []Option) {
			var outs [2]tensor.Any
			attendLinear(&outs[0], &outs[1], in, o, opts)
			copy(to, outs[:])
		})
	}}

// linearCall reads a node. The rule must be the one that the inputs make.
func linearCall(c *plan.Use) (in [7]*tensor.Any, o linearAttrs) {
	const name = "LinearAttention"
	for i := range in {
		in[i] = c.Or(i)
	}
	rule := c.Attrs.Str("update_rule", "gated_delta")
	decay, beta := rule == "gated" || rule == "gated_delta", rule == "delta" || rule == "gated_delta"
	if !decay && !beta && rule != "linear" {
		panic(plan.Fail(name, tensor.ErrValue, "update_rule %.40q; want linear, gated, delta or gated_delta", rule))
	}
	if decay == in[4].IsZero() || beta == in[5].IsZero() {
		panic(plan.Fail(name, tensor.ErrShape, "update_rule %q takes a decay, input 4: %v; and a beta, input 5: %v; there are: %v and %v", rule, decay, beta, !in[4].IsZero(), !in[5].IsZero()))
	}
	return in, linearAttrs{plan.AttrInt(c, "q_num_heads", 0), plan.AttrInt(c, "kv_num_heads", 0), float64(c.Attrs.Float("scale", 0))}
}
