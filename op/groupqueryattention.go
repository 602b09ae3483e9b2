package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// GroupQueryAttention of the domain com.microsoft is Attention that turns queries and keys by RotaryEmbedding, if do_rotary is set, and
// writes keys and values behind the ones of earlier calls, whose number differs between sequences: one more than seqlens_k with this call's. A
// query sees the keys up to its own, or the last local_window_size of them. smooth_softmax and head_sink add a number to the softmax that belongs to no key.
// The rotation is rounded to T; all after it is computed in float32 of narrow floats, and the result rounded once. A query
// without a key of its own, as a sequence is shorter than others, sees the keys there are. Typed programs call RotaryEmbedding and Attention. Source:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var groupQueryAttention = plan.Operator{About: plan.About{Name: "GroupQueryAttention", Domain: "com.microsoft", Versions: []int{1}, Why: whyAttended,
	Attrs: []string{"causal", "do_rotary", "k_quant_type", "kv_cache_bit_width", "kv_num_heads", "local_window_size", "num_heads", "qk_norm_epsilon", "qk_output", "rotary_interleaved", "scale",
		"sliding_window_cache", "smooth_softmax", "softcap", "v_quant_type"}},
	Least: 1, Most: 12, Takes: attended,
	Planned: func(c *plan.Use, p *plan.Draft) {
		g, n := groupedOf(c), min(max(c.Outputs, 1), 3)
		allThere(g.name, c)
		if !p.Brief {
			h := g.heads
			if a := c.In(6); c.Known(6) && !a.IsSpec() {
				h.keys = max(h.keys, plan.AsInt(move.WordsOf(a).Int64s(g.name)[0]))
			} else {
				h.keys += h.queries // as many as there can be
			}
			h.price(&p.Price)
		}
		if d := c.In(0).DType(); !p.Brief && n == 1 {
			p.Gives(d, g.shape(true)...)
		} else if !p.Brief {
			c.Values(g.name, 6)
			c.Values(g.name, 5)
			now := g.totals(c)
			all := plan.Spec(g.name, d, g.batch, g.kv, now.keys, g.width)
			p.Out = []tensor.Any{plan.Spec(g.name, d, g.shape(true)...), all, all}[:n]
		}
		p.List(c, n, func(to []tensor.Any, opts []Option) { g.totals(c).run(to, c, opts) })
	}}

// groupQuery is a call.
type groupQuery struct {
	heads
	name             string
	packed, causal   bool
	window           int // of keys that a query sees; 0 is no limit
	total            int // of the longest sequence
	past             []int
	lengths          []int64
	rotated, between bool
}

// groupedOf reads a node, as far as shapes go. Inputs may be Specs.
func groupedOf(c *plan.Use) *groupQuery {
	g := &groupQuery{name: "GroupQueryAttention", causal: c.Attrs.Int("causal", 1) != 0, window: max(0, plan.AttrInt(c, "local_window_size", -1)), rotated: c.Attrs.Int("do_rotary", 0) != 0,
		between: c.Attrs.Int("rotary_interleaved", 0) != 0}
	for _, name := range []string{"k_quant_type", "v_quant_type"} {
		if t := c.Attrs.Str(name, "NONE"); t != "NONE" && t != "" {
			panic(plan.Fail(g.name, ErrUnsupported, "%s is %.40q; keys and values are of the type of the queries: NONE", name, t))
		}
	}
	if c.Attrs.Int("sliding_window_cache", 0) != 0 || c.Attrs.Int("qk_output", 0) != 0 || c.Outputs > 3 {
		panic(plan.Fail(g.name, ErrUnsupported, "sliding_window_cache, qk_output or a fourth output is asked for; the outputs are the result and all keys and values"))
	}
	n, m := plan.AttrInt(c, "num_heads", 0), plan.AttrInt(c, "kv_num_heads", 0)
	if n < 1 || m < 1 || n%m != 0 {
		panic(plan.Fail(g.name, tensor.ErrValue, "num_heads is %d and kv_num_heads %d; want a positive multiple of a positive number", n, m))
	}
	plan.Needs(g.name, c, 1)
	q, k, v := c.Or(0), c.Or(1), c.Or(2)
	for i, a := range c.Inputs {
		if integer := i == 5 || i == 6 || i == 9; !a.IsZero() && !integer && a.DType() != q.DType() {
			panic(plan.NotHeld(g.name, &a, i, q.DType()))
		} else if integer && !a.IsZero() {
			move.WantInt(g.name, i, a)
		}
	}
	g.packed = k.IsZero() && v.IsZero()
	all := n
	if g.packed {
		all += 2 * m
	}
	if q.Rank() != 3 || q.Dim(2)%all != 0 {
		panic(plan.Fail(g.name, tensor.ErrShape, "input 0 is %s; want [batch, sequence, width of %d heads]", operandText(q), all))
	}
	g.heads = heads{batch: q.Dim(0), kv: m, group: n / m, queries: q.Dim(1), width: q.Dim(2) / all, wide: q.Dim(2) / all}
	if !g.packed {
		want := []int{g.batch, g.queries, m * g.width}
		if !plan.SameShape(k.LayoutRef(), want) || !plan.SameShape(v.LayoutRef(), want) {
			panic(plan.Fail(g.name, tensor.ErrShape, "keys and values are %s and %s; want both %s, or neither", operandText(k), operandText(v), plan.ShapeText(want)))
		}
	}
	g.earlier(g.name, c.Or(3), c.Or(4), 3)
	for i := 5; i < 7; i++ {
		if a := c.In(i); a.IsZero() || i == 5 && a.Len() != g.batch || i == 6 && a.Len() != 1 {
			panic(plan.Fail(g.name, tensor.ErrShape, "inputs 5 and 6 are %s and %s; want [%d], the number of keys of each sequence less 1, and one number, that of the longest", operandText(c.Or(5)), operandText(c.Or(6)), g.batch))
		}
	}
	if a := c.In(11); !a.IsZero() && !plan.SameShape(a.LayoutRef(), []int{n}) {
		panic(plan.Fail(g.name, tensor.ErrShape, "input 11, the addends of the softmax, is %s; want [%d]", operandText(&a), n))
	}
	return g
}

// totals returns the call with the numbers of keys, which it reads, and checks the operands that depend on them.
func (g groupQuery) totals(c *plan.Use) *groupQuery {
	buffer := g.keys // of earlier calls, or the room for them
	g.total = plan.AsInt(move.WordsOf(c.In(6)).Int64s(g.name)[0])
	g.keys = max(buffer, g.total)
	g.lengths = move.WordsOf(c.In(5)).Int64s(g.name)
	g.past = make([]int, g.batch)
	for b, v := range g.lengths {
		if v < 0 || v >= int64(g.total) {
			panic(plan.Fail(g.name, tensor.ErrValue, "input 5 has %d at index %d; want a number below %d, input 6", v, b, g.total))
		}
		if g.total > g.queries { // else this is the first call, and short sequences are filled up
			g.past[b] = int(v) + 1 - g.queries
		}
		if p := g.past[b]; p < 0 || p > buffer || p+g.queries > g.keys {
			panic(plan.Fail(g.name, tensor.ErrValue, "sequence %d has %d keys, of which %d are of earlier calls; there are %d of them, and room for %d", b, v+1, p, buffer, g.keys))
		}
	}
	if g.batch > 0 && g.total < g.queries {
		panic(plan.Fail(g.name, tensor.ErrValue, "input 6 says that the longest sequence has %d keys, and there are %d in this call", g.total, g.queries))
	}
	if a := c.In(10); !a.IsZero() {
		h := g.heads
		h.keys = g.total
		if h.biasFits(g.name, 10, &a, false); a.Rank() != 4 {
			panic(plan.Fail(g.name, tensor.ErrShape, "input 10, the bias of the products, is %s; want 4 axes", operandText(&a)))
		}
	}
	return &g
}

func (g *groupQuery) run(to []tensor.Any, c *plan.Use, opts []Option) {
	q, k, v, d := c.In(0), c.In(1), c.In(2), c.In(0).DType()
	n, kv := g.kv*g.group*g.width, g.kv*g.width
	if g.packed {
		part := func(from, n int) tensor.Any { return q.Slice(tensor.Colon, tensor.Colon, tensor.R(from, from+n)) }
		q = sliceable(q)
		q, k, v = part(0, n), part(n, kv), part(n+kv, kv)
	}
	if g.rotated {
		q, k = g.turned(c, q, g.kv*g.group, opts), g.turned(c, k, g.kv, opts)
	}
	past, pastValue := sliceable(c.In(3)), sliceable(c.In(4))
	k, v = g.cache(&past, apart(k, g.kv)), g.cache(&pastValue, apart(v, g.kv))
	copy(to, []tensor.Any{{}, k, v})
	wide := d
	if g.empty() {
		to[0] = tensor.EmptyOf(d, g.shape(true)...)
		return
	}
	if d.IsNarrow() {
		q, k, v, wide = inSingle(g.name, &q), inSingle(g.name, &k), inSingle(g.name, &v), dtype.Float32
		for _, a := range [3]tensor.Any{q, k, v} {
			defer a.Close()
		}
	}
	a := attending{heads: g.heads, clear: true, root: 1, scale: float64(c.Attrs.Float("scale", 0)), softcap: float64(c.Attrs.Float("softcap", 0))}
	if a.scale == 0 {
		a.scale = 1 / math.Sqrt(float64(g.width))
	}
	a.q = split(q, g.kv, g.group)
	a.k, a.v = k.Reshape(g.batch, g.kv, 1, g.keys, g.width), v.Reshape(g.batch, g.kv, 1, g.keys, g.wide)
	if bias := c.In(10); !bias.IsZero() {
		given := g.grouped(bias)
		a.bias = &given
	}
	a.spans = append(a.spans, visible{math.Inf(-1), func(b, i int) (from, to int) {
		if to = int(g.lengths[b]) + 1; g.causal {
			to = min(to, g.past[b]+i+1)
			if g.window > 0 {
				from = to - g.window
			}
		}
		return from, to
	}})
	if sink := c.In(11); !sink.IsZero() {
		s := pointwise.InType(sink, wide).Reshape(g.kv, g.group, 1, 1)
		a.sink = &s
	} else if c.Attrs.Int("smooth_softmax", 0) != 0 {
		s := numberOf(wide, 0)
		a.sink = &s
	}
	out := tensor.EmptyOf(wide, g.shape(true)...)
	view := out.Reshape(g.five(true)...).Permute(0, 2, 3, 1, 4)
	a.into(&view, opts)
	if to[0] = out; wide != d {
		to[0] = tensor.EmptyOf(d, g.shape(true)...)
		narrowInto(g.name, &to[0], &out)
	}
}

// turned returns queries or keys, rotated by their positions.
func (g *groupQuery) turned(c *plan.Use, x tensor.Any, n int, opts []Option) (r tensor.Any) {
	cos, sin, at := c.Or(7), c.Or(8), c.In(9)
	if cos.Rank() != 2 {
		panic(plan.Fail(g.name, tensor.ErrShape, "do_rotary is set, and input 7, the cosines, is %s; want [positions, half of the width]", operandText(cos)))
	}
	first := g.total == g.queries // of the positions of a first call only the first counts
	if at.IsZero() || first {
		from := int64(0)
		if !at.IsZero() && at.Len() > 0 {
			from = move.WordsOf(at).Int64s(g.name)[0]
		}
		at = tensor.EmptyOf(dtype.Int64, g.batch, g.queries)
		for i, p := 0, move.ElemsOf[int64](&at); i < len(p); i++ {
			p[i] = from + int64(g.past[i/g.queries]+i%g.queries)
		}
	}
	rotary(&r, &x, cos, sin, &at, RotaryEmbeddingOptions{Heads: n, Width: 2 * cos.Dim(1), Interleaved: g.between}, opts)
	return r
}

// cache returns [batch, heads, keys, width]: the keys or values of earlier calls that count, the new ones behind them, and then 0.
func (g *groupQuery) cache(past *tensor.Any, now tensor.Any) tensor.Any {
	r := tensor.EmptyOf(now.DType(), g.batch, g.kv, g.keys, g.width)
	clear(move.WordsOf(r).Mem)
	for b, p := range g.past {
		rows := func(a tensor.Any, from, to int) tensor.Any {
			return a.Slice(tensor.I(b), tensor.Colon, tensor.R(from, to))
		}
		if p > 0 {
			rows(r, 0, p).CopyFrom(rows(*past, 0, p))
		}
		rows(r, p, p+g.queries).CopyFrom(now.Slice(tensor.I(b)))
	}
	return r
}
