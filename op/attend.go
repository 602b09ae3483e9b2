package op

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/tensor"
)

// The parts of the operators of attention: two batched products of matrices and a softmax, on views that have the heads as an
// axis. Each step is an operator of this package, and is rounded as that rounds it.

// attended is the element types that attention is defined for.
const attended = plan.Types(1<<dtype.Float16 | 1<<dtype.BFloat16 | 1<<dtype.Float32 | 1<<dtype.Float64)

const whyAttended = "of floats of 16 bits or more alone: Cast first"

// operandText describes an operand that may be absent.
func operandText(a *tensor.Any) string {
	if a.IsZero() {
		return "nothing"
	}
	return tensor.Describe(*a)
}

// sliceable returns a, or a copy where an axis has more than one stride, of which not any part is a view.
func sliceable(a tensor.Any) tensor.Any {
	if walk.Ref(a.LayoutRef()).Flat() {
		return a
	}
	c := tensor.EmptyOf(a.DType(), a.Shape()...)
	c.CopyFrom(a)
	return c
}

// heads is the geometry of attention. Each head of the keys belongs to a group of heads of the queries.
type heads struct {
	batch, kv, group int // kv·group heads of queries
	queries, keys    int // how many of a sequence; keys of earlier calls included
	width, wide      int // of a query and a key, and of a value
}

// mostWeights is how many weights are computed at once, unless the weights of one query of each sequence and head are more:
// then queries go by a few at a time. The bits don't depend on it.
const mostWeights = 2 << 20

// price says the memory of attention, whose queries and keys are copied.
func (h *heads) price(p *plan.Price) {
	one := float64(h.batch) * float64(h.kv) * float64(h.group) * float64(h.keys) // weights of a query of each sequence and head
	p.Copies(0, 2, 0)
	p.Takes(12*min(max(mostWeights, one), one*float64(h.queries)), 0)
}

// attending is one call. The operands are views of one element type, which is that of the result.
type attending struct {
	heads
	q, k, v tensor.Any  // [batch, kv, group, queries, width], [batch, kv, 1, keys, width], [batch, kv, 1, keys, wide]
	bias    *tensor.Any // a mask or bias that stretches to [batch, kv, group, queries, keys]: see maskOf; nil is none
	spans   []visible   // are added to it
	clear   bool        // a query whose biases are −∞ alone has weights of 0, not NaN
	root    float64     // factor of queries and keys before the product
	scale   float64     // factor of the product
	softcap float64
	precise dtype.DType // the type of the softmax, if not the type of the operands
	sink    *tensor.Any // [kv, group, 1, 1]: an addend of the softmax that belongs to no key; nil is none
	keep    int         // the stage that kept becomes: products, capped ones, biased ones, weights
	kept    *tensor.Any // [batch, kv, group, queries, keys]; nil if it isn't wanted
}

// The stages of the weights, as ONNX numbers them.
const (
	keepProducts = iota
	keepCapped
	keepBiased
	keepWeights
)

// into computes r, a view [batch, kv, group, queries, wide] that overlaps nothing else.
func (a *attending) into(r *tensor.Any, quiet []Option) {
	d := a.q.DType()
	k := a.k
	if a.batch == 0 || a.kv == 0 || a.group == 0 || a.queries == 0 || a.wide == 0 && (a.kept == nil || a.keys == 0) { // however many there are of the others
		if a.kept != nil {
			*a.kept = tensor.EmptyOf(d, a.batch, a.kv, a.group, a.queries, a.keys)
		}
		return
	}
	if a.root != 1 {
		f := numberOf(d, a.root)
		mul.Call(&k, quiet, &a.k, &f)
	}
	keys := a.k
	a.k = k.Permute(0, 1, 2, 4, 3)
	if a.kept != nil {
		*a.kept = tensor.EmptyOf(d, a.batch, a.kv, a.group, a.queries, a.keys)
	}
	rows := max(1, mostWeights/max(1, a.batch*a.kv*a.group*max(1, a.keys)))
	for from := 0; from < a.queries; from += rows {
		a.some(r, from, min(a.queries, from+rows), quiet)
	}
	plan.Drop(&k, &keys)
}

// some is into for a few of the queries.
func (a *attending) some(r *tensor.Any, from, to int, quiet []Option) {
	part := func(x *tensor.Any) tensor.Any {
		if from == 0 && to == a.queries || x.Dim(3) == 1 {
			return *x
		}
		return x.Slice(tensor.Colon, tensor.Colon, tensor.Colon, tensor.R(from, to))
	}
	d, q, y := a.q.DType(), part(&a.q), part(r)
	if a.root != 1 {
		f, whole := numberOf(d, a.root), q
		mul.Call(&q, quiet, &whole, &f)
		defer q.Close()
	}
	more := 0
	if a.sink != nil {
		more = 1
	}
	all := tensor.EmptyOf(d, a.batch, a.kv, a.group, to-from, a.keys+more)
	defer all.Close()
	w := all
	if more > 0 {
		last := all.Slice(tensor.Ellipsis, tensor.R(a.keys, a.keys+1))
		last.CopyFrom(a.sink.BroadcastTo(last.Shape()...))
		w = all.Slice(tensor.Ellipsis, tensor.R(0, a.keys))
	}
	stage := func(n int) {
		if a.kept != nil && a.keep == n {
			kept := part(a.kept)
			kept.CopyFrom(w)
		}
	}
	matrixProduct(&w, &q, &a.k, onto(&w, quiet))
	if a.scale != 1 {
		f := numberOf(d, a.scale)
		mul.Call(&w, onto(&w, quiet), &w, &f)
	}
	stage(keepProducts)
	if a.softcap > 0 {
		f := numberOf(d, a.softcap)
		div.Call(&w, onto(&w, quiet), &w, &f)
		tanh.Call(&w, onto(&w, quiet), &w)
		mul.Call(&w, onto(&w, quiet), &w, &f)
	}
	stage(keepCapped)
	var bias *tensor.Any
	if a.bias != nil {
		given := part(a.bias)
		b := maskOf(&given, d, a.keys, quiet)
		defer plan.Drop(&b, &given)
		bias = &b
	}
	for _, s := range a.spans {
		b := s.of(&a.heads, d, from, to)
		defer b.Close()
		if bias == nil {
			bias = &b
			continue
		}
		var sum tensor.Any
		add.Call(&sum, quiet, bias, &b)
		defer sum.Close()
		bias = &sum
	}
	if bias != nil {
		add.Call(&w, onto(&w, quiet), &w, bias)
	}
	stage(keepBiased)
	if a.precise != dtype.Invalid && a.precise != d && !(d.IsNarrow() && a.precise == dtype.Float32) { // the softmax of narrow floats is computed in float32
		var to tensor.Any
		pointwise.Convert(&to, "Cast", a.precise, &all, quiet)
		softmax.Along(&to, &to, -1, onto(&to, quiet))
		pointwise.Convert(&all, "Cast", d, &to, onto(&all, quiet))
		to.Close()
	} else {
		softmax.Along(&all, &all, -1, onto(&all, quiet))
	}
	if bias != nil && a.clear {
		clearMasked(&w, bias, quiet)
	}
	stage(keepWeights)
	matrixProduct(&y, &w, &a.v, onto(&y, quiet))
}

// clearMasked sets the weights of queries to 0 whose biases are −∞ alone.
func clearMasked(w, bias *tensor.Any, quiet []Option) {
	var top tensor.Any
	reduceMax.Call(&top, bias, []int{-1}, 0, append(slices.Clip(quiet), KeepDims()))
	n := move.NumericOf(move.WordsOf(top))
	dead := tensor.New[bool](top.Shape()...)
	found := false
	for i := range dead.Elems() {
		dead.Elems()[i] = math.IsInf(n.Float(i), -1)
		found = found || dead.Elems()[i]
	}
	if found {
		zero, at := numberOf(w.DType(), 0), dead.Any()
		where.Call(w, onto(w, quiet), &at, &zero, w)
	}
}

// onto returns options that write to dst.
func onto(dst *tensor.Any, quiet []Option) []Option {
	return append(slices.Clip(quiet), plan.WriteTo(dst))
}

// numberOf returns v, rounded to a float type, as an operand.
func numberOf(d dtype.DType, v float64) tensor.Any {
	a := tensor.EmptyOf(d)
	move.NumericOf(move.WordsOf(a)).SetFloat(0, v)
	return a
}

// A visible is a bias that is 0 for a run of keys and outside for the other keys. f gives the ends of the run for a query of a sequence.
type visible struct {
	outside float64
	f       func(b, i int) (from, to int)
}

// of returns the bias of some of the queries, [batch, 1, 1, queries, keys].
func (s *visible) of(h *heads, d dtype.DType, first, last int) tensor.Any {
	n := last - first
	r := tensor.EmptyOf(d, h.batch, 1, 1, n, h.keys)
	w, out := move.WordsOf(r), move.WordsOf(numberOf(d, s.outside)).Mem
	zero := make([]byte, len(out))
	for row := range h.batch * n {
		from, to := s.f(row/n, first+row%n)
		from = max(0, min(from, h.keys))
		to = max(from, min(to, h.keys))
		w.Fill(row*h.keys, from, out)
		w.Fill(row*h.keys+from, to-from, zero)
		w.Fill(row*h.keys+to, h.keys-to, out)
	}
	return r
}

// biasFits panics unless a bias or a mask, input i, stretches to the heads, queries and keys; a last axis of fewer keys will do if
// short says so.
func (h *heads) biasFits(name string, i int, a *tensor.Any, short bool) {
	want := []int{h.batch, h.kv * h.group, h.queries, h.keys}
	rank := a.Rank()
	ok := rank >= 1 && rank <= 4
	for k := range rank {
		if !ok {
			break
		}
		e, to := a.Dim(k), want[4-rank+k]
		switch {
		case k == rank-1:
			ok = e == to || short && e < to
		default:
			ok = e == to || e == 1
		}
	}
	if !ok {
		panic(plan.Fail(name, tensor.ErrShape, "input %d, the mask or bias, is %s, which doesn't stretch to %s: sequences, heads, queries and keys", i, operandText(a), plan.ShapeText(want)))
	}
}

// grouped returns a bias with its heads in groups.
func (h *heads) grouped(a tensor.Any) tensor.Any {
	s := append(slices.Repeat([]int{1}, 4-a.Rank()), a.Shape()...)
	if s[1] == 1 {
		return a.Reshape(s[0], 1, 1, s[2], s[3])
	}
	return a.Reshape(s[0], h.kv, h.group, s[2], s[3])
}

// split returns a view of [batch, sequence, heads·width] as [batch, kv, group, sequence, width].
func split(a tensor.Any, kv, group int) tensor.Any {
	return a.Reshape(a.Dim(0), a.Dim(1), kv, group, a.Dim(2)/(kv*group)).Permute(0, 2, 3, 1, 4)
}

// joined returns a view of [batch, kv, group, sequence, width] as [batch, kv·group, sequence, width].
func joined(a tensor.Any) tensor.Any {
	return a.Reshape(a.Dim(0), a.Dim(1)*a.Dim(2), a.Dim(3), a.Dim(4))
}

// following returns the keys or values of earlier calls, if there are any, and then the ones of this call. Both are [batch, heads, sequence, width].
func following(past *tensor.Any, now tensor.Any, quiet []Option) (r tensor.Any) {
	if past.IsZero() {
		return now
	}
	concatenated(&r, 2, []tensor.Any{*past, now}, quiet)
	return r
}

// empty reports whether the result has no elements. Then neither weights nor biases are computed, which may take memory that it doesn't.
func (h *heads) empty() bool {
	return h.batch == 0 || h.kv == 0 || h.group == 0 || h.queries == 0 || h.wide == 0
}

// result aims r at the shape of a result and returns where to compute it: a view [batch, kv, group, queries, wide], and the tensor that
// it is of, which put copies to r.
func (h *heads) result(name string, r *tensor.Any, s *plan.Settings, d dtype.DType, flat bool, ins ...*tensor.Any) (out *tensor.Any, view tensor.Any) {
	plan.AimShape(r, name, s, d, h.shape(flat))
	apart := h.five(flat)
	out = plan.Beside(r, !r.CanView(apart...), ins...)
	view = out.Reshape(apart...)
	if flat {
		view = view.Permute(0, 2, 3, 1, 4)
	}
	return out, view
}

// shape is that of a result with the heads side by side, or as an axis.
func (h *heads) shape(flat bool) []int {
	if flat {
		return []int{h.batch, h.queries, h.kv * h.group * h.wide}
	}
	return []int{h.batch, h.kv * h.group, h.queries, h.wide}
}

func (h *heads) five(flat bool) []int {
	if flat {
		return []int{h.batch, h.queries, h.kv, h.group, h.wide}
	}
	return []int{h.batch, h.kv, h.group, h.queries, h.wide}
}
