package onnx

import (
	"context"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// While it infers, an inference counts the memory that a run would hold, as a run does: a value has a storage, which goes with the last
// value that needs it. A view has a storage without bytes that keeps another one. The values of a run have storages of their own,
// which no inference sees.

// An account is the memory that a node takes while it runs, and its results among it.
type account struct {
	live, alone int64 // most bytes at one time, with all threads and with one
	inexact     bool
}

// plus adds bytes that are there all the time.
func (a *account) plus(n int64) { a.live, a.alone = add(a.live, n), add(a.alone, n) }

// most is the larger of two accounts, of which a run has one.
func (a account) most(b account) account {
	return account{max(a.live, b.live), max(a.alone, b.alone), a.inexact || b.inexact}
}

// new gives a value a storage of its own that has n bytes, and keeps others. It keeps each of them once: lists would double from node to node.
func (f *inference) new(v *Value, n int64, of ...*storage) {
	if len(f.blank) == 0 {
		f.blank = make([]storage, 16)
	}
	v.own, f.blank = &f.blank[0], f.blank[1:]
	*v.own = storage{refs: 1, bytes: max(n, 0)}
	f.live = add(f.live, v.own.bytes)
	for _, s := range of {
		if s.by != v.own {
			s.by = v.own
			s.refs++
			v.own.of = append(v.own.of, s)
		}
	}
}

// release lets go of the storage of a value.
func (f *inference) release(v *Value) {
	var left []*storage
	for s := v.own; s != nil; {
		if s.refs--; s.refs == 0 {
			f.live -= s.bytes
			left = append(left, s.of...)
		}
		if s = nil; len(left) > 0 {
			s, left = left[len(left)-1], left[:len(left)-1]
		}
	}
	v.own = nil
}

// roots are the storages that a view of v keeps.
func (v *Value) roots() []*storage {
	switch {
	case v.own == nil:
		return nil
	case v.own.bytes == 0:
		return v.own.of
	}
	return []*storage{v.own}
}

// keeps is how many bytes v keeps, if nothing else does.
func (v *Value) keeps() (n int64) {
	for _, s := range v.roots() {
		n = add(n, s.bytes)
	}
	return n
}

// strided reports whether v may not be contiguous.
func (v *Value) strided() bool { return v.own != nil && (v.own.odd || v.own.lay != nil) }

// unlaid reports whether the layout of v isn't known.
func (v *Value) unlaid() bool { return v.own != nil && v.own.odd }

// borrow gives v, an input of a graph inside a node, what w keeps, which the graph can't let go of.
func (v *Value) borrow(w *Value) {
	v.own = &storage{refs: math.MaxInt / 2, of: w.roots()}
	if w.own != nil {
		v.own.lay, v.own.odd = w.own.lay, w.own.odd
	}
}

// left lets go of the outputs of a graph inside a node. It returns for each the bytes that are gone with it, and the storages that stay.
func (f *inference) left(outs []Value) []storage {
	list := make([]storage, len(outs))
	for k := range outs {
		list[k].of = outs[k].roots()
	}
	for k := range outs {
		f.release(&outs[k])
	}
	for k := range list {
		roots := list[k].of
		list[k].of = nil
		for _, s := range roots {
			if s.refs > 0 {
				list[k].of = append(list[k].of, s)
			} else {
				list[k].bytes = add(list[k].bytes, s.bytes)
			}
		}
	}
	return list
}

// views gives the results of a plan that views the storage of its first input, in. It reports false where they may be copies.
func (f *inference) views(p *op.Plan, in *Value, outs []Value) bool {
	if !p.Views() {
		return false
	}
	var lay layout.Layout
	switch {
	case in.unlaid():
		lay = apart(in.a.Shape())
	case in.strided():
		lay = *in.own.lay
	case in.a.IsSpec():
		lay, _ = layout.RowMajor(in.a.Shape()...)
	default:
		lay = in.a.Layout()
	}
	list := draftOf(p).Laid(&lay)
	if len(list) < len(outs) {
		return false
	}
	for j := range outs {
		f.new(&outs[j], 0, in.roots()...)
		if outs[j].own.odd = in.unlaid(); !outs[j].own.odd && !walk.Ref(&list[j]).IsRowMajor() {
			outs[j].own.lay = &list[j]
		}
	}
	return true
}

// apart is a layout of a shape no axes of which can be merged: a tensor in it has only those views that each tensor of the shape has.
func apart(shape []int) layout.Layout {
	wide := make([]int, len(shape))
	for i, n := range shape {
		wide[i] = min(n, math.MaxInt-1) + 1
	}
	lay, err := layout.RowMajor(wide...)
	if err != nil {
		return lay
	}
	for i := range wide {
		wide[i], _ = lay.Stride(i)
	}
	lay, _ = layout.New(shape, wide)
	return lay
}

// besides returns the scratch of a plan with all threads and with one, whose inputs are values.
func (f *inference) besides(p *op.Plan, s *step, vals []Value) (all, alone int64) {
	var strided []bool
	for j, id := range s.in {
		if id >= 0 && vals[id].strided() {
			if strided == nil {
				strided = make([]bool, len(s.in))
			}
			strided[j] = true
		}
	}
	if all = draftOf(p).ScratchAs(strided); all == 0 || f.single == nil {
		return all, all
	}
	p.Under(f.single)
	alone = draftOf(p).ScratchAs(strided)
	p.Under(f.ctx)
	return all, alone
}

// shared gives the results of a valueOp their storages. One that is an input, or an item of one, shares its storage. A new one may
// be a view of the inputs, or hold them, so it keeps those of which it needs a part only.
func (f *inference) shared(k *valueCall, outs []Value) {
	var of []*storage
	odd := false
	for j := range k.in {
		v := &k.in[j]
		if v.keeps() > v.size() {
			of = append(of, v.roots()...)
		}
		odd = odd || v.strided() || v.seq != nil
	}
	for j := range outs {
		v := &outs[j]
		switch i := slices.IndexFunc(k.in, func(in Value) bool { return v.own != nil && in.own == v.own }); {
		case !v.known():
		case i >= 0:
			f.new(v, 0, k.in[i].roots()...)
			v.own.lay, v.own.odd = k.in[i].own.lay, k.in[i].own.odd || odd && k.in[i].own == &f.outside
		case v.own != nil && v.own != fresh:
			f.new(v, 0, v.roots()...)
			v.own.odd = true
		case v.seq != nil:
			f.collect(v, slices.Clip(of))
		default:
			f.new(v, v.size(), of...)
			v.own.odd = odd || k.s.node.Domain == ownDomain
		}
	}
}

// collect gives a sequence a storage that has its new items, and keeps the storages of the others, and of.
func (f *inference) collect(v *Value, of []*storage) {
	n, made := int64(0), []*Value(nil)
	v.seq.tensors(func(item *Value) bool {
		if item.own == fresh {
			n, made = add(n, max(item.size(), 0)), append(made, item)
			return true
		}
		for _, s := range item.roots() {
			if len(of) == 0 || of[len(of)-1] != s {
				of = append(of, s)
			}
		}
		return true
	})
	f.new(v, n, of...)
	v.own.odd, v.own.several = true, true
	for _, item := range made {
		item.own = v.own
	}
}

// either gives a result of an If the storage of a or b, the results of the branches: of what each of them alone has the larger, and all
// that they have with others.
func (f *inference) either(to *Value, a, b Value) {
	n, of := int64(0), []*storage(nil)
	for _, v := range []*Value{&a, &b} {
		if v.own != nil && v.own.refs == 1 && len(v.own.of) == 0 {
			n = max(n, v.own.bytes)
		} else {
			of = append(of, v.roots()...)
		}
	}
	odd := a.strided() || b.strided()
	f.new(to, n, of...)
	to.own.odd = odd
	f.release(&a)
	f.release(&b)
}

// end counts the outputs of a graph, of which those are copied in the end that share memory with others or with inputs, items of
// sequences one by one. It returns the bytes of all copies.
func (f *inference) end(c *compiled, vals []Value) (n int64) {
	var parts []outputPart
	users := make(map[*storage]int)
	seen := make(map[int]bool, len(c.outputs))
	for _, id := range c.outputs {
		if !seen[id] {
			seen[id] = true
			parts = append(parts, vals[id].parts()...)
		}
	}
	for _, p := range parts {
		for _, s := range p.roots {
			users[s]++
		}
	}
	for _, p := range parts {
		copied := len(p.roots) == 0
		for _, s := range p.roots {
			copied = copied || users[s] > 1
			users[s]--
		}
		if copied {
			n = add(n, max(p.bytes, 0))
		}
	}
	return n
}

// An outputPart is a tensor, or items of a sequence that were made together.
type outputPart struct {
	roots []*storage
	bytes int64
}

// parts are the tensors of v.
func (v *Value) parts() (list []outputPart) {
	if v.seq == nil {
		return []outputPart{{v.roots(), v.size()}}
	}
	at := make(map[*storage]int)
	var least []int64 // bytes of an item of each part
	v.seq.tensors(func(item *Value) bool {
		n := max(item.size(), 0)
		k, ok := at[item.own]
		if !ok || item.own == nil {
			k = len(list)
			at[item.own] = k
			list, least = append(list, outputPart{roots: item.roots()}), append(least, n)
		}
		list[k].bytes, least[k] = add(list[k].bytes, n), min(least[k], n)
		return true
	})
	for own, k := range at { // of items in one memory all are copied but one
		if n := list[k].bytes; own != nil && n > least[k] && !(own.several && n <= own.bytes) {
			list = append(list, outputPart{bytes: n - least[k]})
		}
	}
	return list
}

// bare returns values without the storages that they have in a run.
func bare(vals []Value) []Value {
	list := slices.Clone(vals)
	for i := range list {
		list[i].own = nil
	}
	return list
}

// laid gives the inputs of a run that aren't contiguous their layouts.
func (v *Value) laid(a tensor.Any) {
	if v.isTensor() && !a.IsSpec() && !a.IsContiguous() {
		lay := a.Layout()
		v.own = &storage{refs: 1, lay: &lay}
	}
}

// single returns a context in which calls have one thread, nil if they have one anyway.
func single(ctx context.Context) context.Context {
	if op.Threads(ctx) > 1 {
		return op.WithThreads(ctx, 1)
	}
	return nil
}
