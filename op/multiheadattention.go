package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// A multiHead is a call of one of two operators. MultiHeadAttention and Attention of the domain com.microsoft are Attention with as many heads of queries as of keys. The products
// are multiplied by the scale, not queries and keys by its root, and a mask adds mask_filter_value, −10000 unless the node says otherwise, not
// −∞. The steps before the products, a bias of queries, keys and values, and of Attention their product with the weights, are rounded as in Add and
// MatMul. All after that is computed in float32 of narrow floats, and the result rounded once. Typed programs call Attention. Source:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
type multiHead struct {
	heads
	name           string
	scale, filter  float64
	causal         bool
	mask, bias     *tensor.Any // may be absent
	maskAt, biasAt int         // which inputs they are
	past           int
}

// attrs reads the attributes that both nodes have.
func (m *multiHead) attrs(c *plan.Use) {
	if m.kv = plan.AttrInt(c, "num_heads", 0); m.kv < 1 {
		panic(plan.Fail(m.name, tensor.ErrValue, "num_heads is %d; want a positive number", m.kv))
	}
	m.group, m.scale, m.filter = 1, float64(c.Attrs.Float("scale", 0)), float64(c.Attrs.Float("mask_filter_value", -10000))
	m.causal = c.Attrs.Int("unidirectional", 0) != 0
}

// divides panics unless the heads divide the extent of an axis.
func (m *multiHead) divides(what string, n int) int {
	if n%m.kv != 0 {
		panic(plan.Fail(m.name, tensor.ErrShape, "%d heads don't divide the %d elements of %s", m.kv, n, what))
	}
	return n / m.kv
}

// fits checks the mask and the bias, of which the keys of earlier calls are known.
func (m *multiHead) fits() {
	if a := m.bias; !a.IsZero() {
		m.biasFits(m.name, m.biasAt, a, false)
		if a.Rank() != 4 {
			panic(plan.Fail(m.name, tensor.ErrShape, "input %d, the bias of the products, is %s; want 4 axes", m.biasAt, operandText(a)))
		}
	}
	a := m.mask
	if a.IsZero() {
		return
	}
	if a.DType() != dtype.Int32 && a.DType() != dtype.Int64 {
		panic(plan.NotHeld(m.name, a, m.maskAt, dtype.Int32))
	}
	ok, b := false, m.batch
	switch a.Rank() {
	case 1:
		n := a.Dim(0)
		ok = n == b || n == 2*b || n == 3*b+2
	case 2:
		ok = plan.SameShape(a.LayoutRef(), []int{b, m.keys})
	case 3:
		ok = plan.SameShape(a.LayoutRef(), []int{b, m.queries, m.keys})
	case 4:
		ok = a.Dim(0) == b && a.Dim(1) == 1 && a.Dim(2) >= m.past+m.queries && a.Dim(3) >= m.keys
	}
	if !ok {
		panic(plan.Fail(m.name, tensor.ErrShape, "input %d, the mask, is %s; want int32[%d,%d], [%d,%d,%d], [%d], [%d] or [%d], of sequences, queries and keys", m.maskAt, operandText(a),
			b, m.keys, b, m.queries, m.keys, b, 2*b, 3*b+2))
	}
}

// biases sets the bias of a to the bias and the addends of the mask, and the order of the keys.
func (m *multiHead) biases(a *attending, quiet []Option) {
	d := a.q.DType()
	if !m.bias.IsZero() {
		b := m.grouped(pointwise.InType(*m.bias, d))
		a.bias = &b
	}
	switch {
	case m.mask.IsZero():
	case m.mask.Rank() == 1:
		v := move.WordsOf(*m.mask).Int64s(m.name)
		a.spans = append(a.spans, visible{m.filter, func(b, _ int) (from, to int) {
			if len(v) == 2*m.batch {
				from = plan.AsInt(v[m.batch+b])
			}
			return from, plan.AsInt(v[b])
		}})
	default:
		mask := *m.mask
		if mask.Rank() == 4 {
			mask = sliceable(mask).Slice(tensor.Colon, tensor.Colon, tensor.R(m.past, m.past+m.queries), tensor.R(0, m.keys))
		}
		rows := mask.Len() / max(1, m.batch*m.keys)
		if m.batch*m.keys == 0 {
			rows = 1
		}
		var seen, r tensor.Any
		zero, out, none := numberOf(d, 0), numberOf(d, m.filter), tensor.EmptyOf(mask.DType())
		clear(move.WordsOf(none).Mem)
		greaterOp.Call(&seen, quiet, &mask, &none)
		where.Call(&r, quiet, &seen, &zero, &out)
		r = r.Reshape(m.batch, 1, 1, rows, m.keys)
		if a.bias != nil {
			var sum tensor.Any
			add.Call(&sum, quiet, a.bias, &r)
			r = sum
		}
		a.bias = &r
	}
	if m.causal {
		a.spans = append(a.spans, visible{-math.MaxFloat32, func(_, i int) (from, to int) { return 0, m.past + i + 1 }})
	}
}

// run computes the result and, if qk isn't nil, the products as the softmax gets them. q is [batch, queries, heads·width], k and v
// [batch, heads, keys, width].
func (m *multiHead) run(q, k, v tensor.Any, qk *tensor.Any, quiet []Option) (y tensor.Any) {
	d := q.DType()
	wide := d
	if m.empty() && qk == nil {
		return tensor.EmptyOf(d, m.shape(true)...)
	}
	if d.IsNarrow() {
		q, k, v, wide = inSingle(m.name, &q), inSingle(m.name, &k), inSingle(m.name, &v), dtype.Float32
		for _, a := range [3]tensor.Any{q, k, v} {
			defer a.Close()
		}
	}
	a := attending{heads: m.heads, root: 1, scale: m.scale, keep: keepBiased}
	if m.scale == 0 {
		a.scale = 1 / math.Sqrt(float64(m.width))
	}
	a.q = split(q, m.kv, 1)
	m.biases(&a, quiet)
	a.k, a.v = k.Reshape(m.batch, m.kv, 1, m.keys, m.width), v.Reshape(m.batch, m.kv, 1, m.keys, m.wide)
	var kept tensor.Any
	if qk != nil {
		a.kept = &kept
	}
	out := tensor.EmptyOf(wide, m.shape(true)...)
	view := out.Reshape(m.five(true)...).Permute(0, 2, 3, 1, 4)
	a.into(&view, quiet)
	if y = out; wide != d {
		y = tensor.EmptyOf(d, m.shape(true)...)
		narrowInto(m.name, &y, &out)
	}
	if qk != nil {
		*qk = pointwise.InType(joined(kept), d)
	}
	return y
}

// apart returns [batch, sequence, heads·width] as [batch, heads, sequence, width].
func apart(a tensor.Any, n int) tensor.Any { return joined(split(a, n, 1)) }

// biasedBy returns the sum of a, [batch, sequence, n], and elements from…from+n of a bias, a itself without one.
func biasedBy(a tensor.Any, bias *tensor.Any, from int, quiet []Option) (r tensor.Any) {
	if bias.IsZero() {
		return a
	}
	b := sliceable(*bias).Slice(tensor.R(from, from+a.Dim(2)))
	add.Call(&r, quiet, &a, &b)
	return r
}

var multiHeadAttention = plan.Operator{About: plan.About{Name: "MultiHeadAttention", Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"mask_filter_value", "num_heads", "scale", "unidirectional"}, Why: whyAttended},
	Least: 1, Most: 8, Takes: attended,
	Planned: func(c *plan.Use, p *plan.Draft) {
		m, n := multiHeadOf(c), min(max(c.Outputs, 1), 4)
		allThere(m.name, c)
		if !p.Brief {
			p.Out = m.outputs(c)[:n]
			m.price(&p.Price)
		}
		p.List(c, n, func(to []tensor.Any, opts []Option) {
			q, k, v, bias := c.In(0), c.In(1), c.In(2), c.Or(3)
			last := func(a tensor.Any, i int) tensor.Any { // of packed operands
				a = sliceable(a).Slice(tensor.Colon, tensor.Colon, tensor.Colon, tensor.I(i))
				return a.Reshape(a.Dim(0), a.Dim(1), a.Dim(2)*a.Dim(3))
			}
			switch {
			case q.Rank() == 5:
				q, k, v = last(q, 0), last(q, 1), last(q, 2)
			case k.Rank() == 5:
				k, v = last(k, 0), last(k, 1)
			}
			hidden := m.kv * m.width
			q = biasedBy(q, bias, 0, opts)
			if k.Rank() == 3 {
				k, v = apart(biasedBy(k, bias, hidden, opts), m.kv), apart(biasedBy(v, bias, 2*hidden, opts), m.kv)
			}
			k, v = following(c.Or(6), k, opts), following(c.Or(7), v, opts)
			var qk *tensor.Any
			if n > 3 {
				qk = &to[3]
			}
			copy(to, []tensor.Any{m.run(q, k, v, qk, opts), k, v})
		})
	}}

// multiHeadOf reads a node of MultiHeadAttention. Inputs may be Specs.
func multiHeadOf(c *plan.Use) *multiHead {
	m := &multiHead{name: "MultiHeadAttention", mask: c.Or(4), bias: c.Or(5), maskAt: 4, biasAt: 5}
	m.attrs(c)
	q, k, v, bias := c.Or(0), c.Or(1), c.Or(2), c.Or(3)
	n := m.kv
	for i, a := range c.Inputs {
		if i != 4 && !a.IsZero() && a.DType() != q.DType() {
			panic(plan.NotHeld(m.name, &a, i, q.DType()))
		}
	}
	wrong := func() *tensor.Error {
		return plan.Fail(m.name, tensor.ErrShape, "queries, keys and values are %s, %s and %s, with %d heads; want [batch, queries, hidden] and twice [batch, keys, hidden] or [batch, heads, keys, width], "+
			"or [batch, queries, hidden] and [batch, keys, heads, 2, width], or [batch, queries, heads, 3, width] alone", operandText(q), operandText(k), operandText(v), n)
	}
	switch {
	case q.Rank() == 5 && k.IsZero() && v.IsZero():
		if q.Dim(2) != n || q.Dim(3) != 3 {
			panic(wrong())
		}
		m.batch, m.queries, m.keys, m.width, m.wide = q.Dim(0), q.Dim(1), q.Dim(1), q.Dim(4), q.Dim(4)
	case q.Rank() == 3:
		m.batch, m.queries, m.width = q.Dim(0), q.Dim(1), m.divides("a query", q.Dim(2))
		switch {
		case k.Rank() == 5 && v.IsZero() && k.Dim(0) == m.batch && k.Dim(2) == n && k.Dim(3) == 2 && k.Dim(4) == m.width:
			m.keys, m.wide = k.Dim(1), m.width
		case k.Rank() == 3 && v.Rank() == 3 && k.Dim(0) == m.batch && v.Dim(0) == m.batch && k.Dim(1) == v.Dim(1) && k.Dim(2) == q.Dim(2):
			m.keys, m.wide = k.Dim(1), m.divides("a value", v.Dim(2))
		case k.Rank() == 4 && v.Rank() == 4 && plan.SameShape(k.LayoutRef(), []int{m.batch, n, k.Dim(2), m.width}) && plan.SameShape(v.LayoutRef(), []int{m.batch, n, k.Dim(2), v.Dim(3)}):
			m.keys, m.wide = k.Dim(2), v.Dim(3)
		default:
			panic(wrong())
		}
	default:
		panic(wrong())
	}
	if want := n * (2*m.width + m.wide); !bias.IsZero() && !plan.SameShape(bias.LayoutRef(), []int{want}) {
		panic(plan.Fail(m.name, tensor.ErrShape, "input 3, the bias, is %s; want [%d], for queries, keys and values", operandText(bias), want))
	}
	m.past = m.earlier(m.name, c.Or(6), c.Or(7), 6)
	m.fits()
	return m
}

// outputs describes the outputs.
func (m *multiHead) outputs(c *plan.Use) []tensor.Any {
	d, n := c.In(0).DType(), m.kv
	return []tensor.Any{plan.Spec(m.name, d, m.shape(true)...), plan.Spec(m.name, d, m.batch, n, m.keys, m.width), plan.Spec(m.name, d, m.batch, n, m.keys, m.wide),
		plan.Spec(m.name, d, m.batch, n, m.queries, m.keys)}
}

var attentionContributed = plan.Operator{About: plan.About{Name: "Attention", Domain: "com.microsoft", Versions: []int{1},
	Attrs: []string{"do_rotary", "mask_filter_value", "num_heads", "past_present_share_buffer", "qkv_hidden_sizes", "rotary_embedding_dim", "scale", "unidirectional"}, Why: whyAttended},
	Least: 2, Most: 6, Takes: attended,
	Planned: func(c *plan.Use, p *plan.Draft) {
		m := projectedOf(c)
		allThere(m.name, c)
		n := m.wanted(c)
		if !p.Brief {
			p.Out = []tensor.Any{m.outputs(c)[0], plan.Spec(m.name, c.In(0).DType(), 2, m.batch, m.kv, m.keys, m.width)}[:n]
			m.price(&p.Price)
			p.Takes(plan.BytesIn(24, []int{m.batch, m.queries, c.In(1).Dim(-1)}), 0) // queries, keys and values
		}
		p.List(c, n, func(to []tensor.Any, opts []Option) {
			var all tensor.Any
			matrixProduct(&all, c.Or(0), c.Or(1), opts)
			all = biasedBy(all, c.Or(2), 0, opts)
			h, w := m.kv*m.width, m.kv*m.wide
			part := func(from, n int) tensor.Any { return all.Slice(tensor.Colon, tensor.Colon, tensor.R(from, from+n)) }
			q, k, v := part(0, h), apart(part(h, h), m.kv), apart(part(2*h, w), m.kv)
			if past := c.In(4); !past.IsZero() {
				key, value := past.Slice(tensor.I(0)), past.Slice(tensor.I(1))
				k, v = following(&key, k, opts), following(&value, v, opts)
			}
			if to[0] = m.run(q, k, v, nil, opts); n > 1 {
				both := []tensor.Any{k.Reshape(append([]int{1}, k.Shape()...)...), v.Reshape(append([]int{1}, v.Shape()...)...)}
				concatenated(&to[1], 0, both, opts)
			}
		})
	}}

// wanted returns how many outputs Attention has: keys and values are one tensor, and so of one width.
func (m *multiHead) wanted(c *plan.Use) int {
	if c.Outputs > 1 && m.width != m.wide {
		panic(plan.Fail(m.name, tensor.ErrShape, "the keys and values of all calls are asked for, and differ in width: %d and %d", m.width, m.wide))
	}
	return min(max(c.Outputs, 1), 2)
}

// projectedOf reads a node of Attention of com.microsoft. Inputs may be Specs.
func projectedOf(c *plan.Use) *multiHead {
	m := &multiHead{name: "Attention", mask: c.Or(3), bias: c.Or(5), maskAt: 3, biasAt: 5}
	m.attrs(c)
	if c.Attrs.Int("do_rotary", 0) != 0 || c.Attrs.Int("past_present_share_buffer", 0) != 0 {
		panic(plan.Fail(m.name, ErrUnsupported, "do_rotary or past_present_share_buffer is set; use GroupQueryAttention, which has rotations and large buffers"))
	}
	x, w, bias, past := c.Or(0), c.Or(1), c.Or(2), c.Or(4)
	for i, a := range c.Inputs {
		if i != 3 && !a.IsZero() && a.DType() != x.DType() {
			panic(plan.NotHeld(m.name, &a, i, x.DType()))
		}
	}
	if x.Rank() != 3 || w.Rank() != 2 || w.Dim(0) != x.Dim(2) {
		panic(plan.Fail(m.name, tensor.ErrShape, "the operand and the weights are %s and %s; want [batch, sequence, input] and [input, hidden of queries, keys and values]", operandText(x), operandText(w)))
	}
	sizes, ok := plan.AttrInts(c, "qkv_hidden_sizes")
	if !ok {
		sizes = []int{w.Dim(1) / 3, w.Dim(1) / 3, w.Dim(1) / 3}
	}
	if len(sizes) != 3 || sizes[0] < 0 || sizes[0] != sizes[1] || sizes[2] < 0 || sizes[0] > w.Dim(1) || sizes[2] != w.Dim(1)-2*sizes[0] {
		panic(plan.Fail(m.name, tensor.ErrShape, "queries, keys and values have %v elements, and the weights are %s; want three numbers, the first two the same, that add up to their columns", sizes, operandText(w)))
	}
	m.batch, m.queries, m.keys = x.Dim(0), x.Dim(1), x.Dim(1)
	m.width, m.wide = m.divides("a query", sizes[0]), m.divides("a value", sizes[2])
	if !bias.IsZero() && !plan.SameShape(bias.LayoutRef(), []int{w.Dim(1)}) {
		panic(plan.Fail(m.name, tensor.ErrShape, "input 2, the bias, is %s; want [%d]", operandText(bias), w.Dim(1)))
	}
	if !past.IsZero() {
		if past.Rank() == 5 {
			m.past = past.Dim(3)
		}
		if !plan.SameShape(past.LayoutRef(), []int{2, m.batch, m.kv, m.past, m.width}) || m.width != m.wide {
			panic(plan.Fail(m.name, tensor.ErrShape, "input 4, the keys and values of earlier calls, is %s; want [2,%d,%d,earlier,%d]", operandText(past), m.batch, m.kv, m.width))
		}
		if m.keys += m.past; m.keys < 0 {
			panic(plan.Fail(m.name, tensor.ErrOverflow, "the number of keys doesn't fit an int"))
		}
	}
	m.fits()
	return m
}
