package op

import (
	"runtime"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// A chain of elementwise operators computed whole reads and writes memory once for
// each of them. Lazy operands make the operators note what they would do, and Fuse
// does it block by block, so that what is between them stays in the cache. Each note
// is an ordinary call with Into, on tensors of a block: there is no second
// implementation of anything, and bits can't differ; only a float product and what
// is added to it have a row of both, and some functions have one of all three.

// Lazy returns a for use in a chain: an elementwise operator that has such an operand
// returns at once with a tensor of the right type and shape but without elements,
// which Fuse computes. Those are the operators on elements at one place, as arithmetic,
// comparisons, functions, Cast, Clip and Where; every other use of the elements of a lazy
// tensor or of a view of it panics with an *Error and tensor.ErrLazy. a must not change
// before Fuse is done, or while what Prepare returned is at work. An operator without a lazy
// operand computes at once, also within a chain.
func Lazy[T num.Elem](a tensor.Tensor[T]) tensor.Tensor[T] {
	putOff("Lazy", exec.Ref(&a))
	return a
}

// putOff makes a lazy.
func putOff(name string, a *tensor.Any) {
	present(name, a)
	if isLazy(a) {
		return
	}
	n := &note{shape: a.Shape(), dtype: a.DType()}
	n.args = []arg{argOf(name, a)}
	*a = tensor.Lazy(n, n.dtype, n.shape...)
}

// LazyOf is Lazy for an element type that is known at run time only.
func LazyOf(a tensor.Any) (tensor.Any, error) {
	return a, tensor.Try(func() { putOff("LazyOf", &a) })
}

// Fuse computes what a lazy tensor stands for, in one pass over memory, with the same
// bits as the operators one after the other; Into may name an operand of the chain.
// What operators of the chain have in common is computed once. A part of another
// shape than the result, as that of a row which is added to a matrix, and what may fail,
// a division of integers or a result of fixed point, are computed whole before the pass. A tensor that isn't
// lazy is copied.
func Fuse[T num.Elem](y tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	fused(exec.Ref(&r), "Fuse", exec.Ref(&y), read(opts))()
	return r
}

// FuseOf is Fuse for an element type that is known at run time only.
func FuseOf(y tensor.Any, opts ...Option) (r tensor.Any, err error) {
	err = tensor.Try(func() { fused(&r, "FuseOf", &y, read(opts))() })
	return r, err
}

// Prepare returns a function that does what Fuse does, and plans it now: a call then
// computes the chain from the elements that its operands have at the time, and costs
// little more than the operators themselves, which pays where tensors are small and the chain is
// computed often. Into is required and names the target of all calls; with Context they
// all heed it. What was computed while the chain was written, as Exp(row) is unless row is lazy,
// is not computed again. The function keeps operands, target and what is between them, and one
// goroutine at a time may call it; two functions, also of one chain, may be at work at once if each has a
// target of its own.
func Prepare[T num.Elem](y tensor.Tensor[T], opts ...Option) func() {
	present("Prepare", exec.Ref(&y))
	s := read(opts)
	if s.into == nil {
		panic(fail("Prepare", tensor.ErrValue, "there is no target; name one with Into"))
	}
	var r tensor.Tensor[T]
	return fused(exec.Ref(&r), "Prepare", exec.Ref(&y), s)
}

// fused makes r the target of Fuse, and returns what computes it.
func fused(r *tensor.Any, name string, y *tensor.Any, s settings) func() {
	present(name, y)
	a := argOf(name, y)
	aim(r, name, &s, y.DType(), y.LayoutRef())
	dst := *r
	f := fusion{name: name, settings: s, whole: map[*note]*tensor.Any{}}
	if a.by != nil && dst.LayoutRef().Flat() {
		f.compute(a.by, &dst)
	} else { // there is nothing to compute, or blocks of a nested axis have no layout
		f.copy(&dst, f.settle(a))
	}
	return func() {
		for _, call := range f.calls {
			call()
		}
	}
}

// A note is a call to be made; without run it stands for its argument.
type note struct {
	name  string
	shape []int
	dtype dtype.DType // of the result
	args  []arg
	by    *pointwise                                           // the operator, if it is in a table
	ofSum exec.Row                                             // of a function of a · b + c, if it has one
	run   func(r *tensor.Any, in []*tensor.Any, opts []Option) // r becomes the target in opts
	also  []Option                                             // beside Into
	cost  int
	alone bool // it fails on some elements: before anything is written
}

// An arg is an operand of a note: another note, or a tensor.
type arg struct {
	by   *note
	leaf *tensor.Any
}

func (a *arg) dtype() dtype.DType {
	if a.by != nil {
		return a.by.dtype
	}
	return a.leaf.DType()
}

func argOf(name string, t *tensor.Any) arg {
	by, whole := t.LazyBy()
	n, ok := by.(*note)
	if by != nil && (!ok || !whole) {
		panic(fail(name, tensor.ErrLazy, "the operand is a view of a lazy tensor; take the view of what Fuse returns"))
	}
	if n != nil && n.run == nil {
		return n.args[0]
	}
	if n != nil {
		return arg{by: n}
	}
	leaf := *t
	return arg{leaf: &leaf}
}

// isLazy reports whether one of some operands is lazy.
func isLazy(ts ...*tensor.Any) bool {
	for _, t := range ts {
		if by, _ := t.LazyBy(); by != nil {
			return true
		}
	}
	return false
}

// noted makes r the lazy result of n, of type d, whose operands have the layouts ls.
func noted(r *tensor.Any, n note, d dtype.DType, opts []Option, ls ...*layout.Layout) {
	if s := read(opts); s.into != nil || s.more != nil {
		panic(fail(n.name, tensor.ErrLazy, "an operand is lazy; Into and Context are for Fuse and Prepare"))
	}
	n.shape, n.dtype, n.cost = broadcastShape(n.name, nil, ls...), d, max(n.cost, 1)
	*r = tensor.Lazy(&n, d, n.shape...)
}

// A fusion is what one call of Fuse or Prepare plans.
type fusion struct {
	name string
	settings
	whole map[*note]*tensor.Any // what is computed before the pass
	calls []func()              // in this order
}

// copy plans that the elements of a tensor are copied to another.
func (f *fusion) copy(dst, src *tensor.Any) {
	f.calls = append(f.calls, func() { dst.CopyFrom(*src) })
}

// settle returns the tensor of all elements of an operand, which has them when the plan is at this point.
func (f *fusion) settle(a arg) *tensor.Any {
	if a.by == nil {
		return a.leaf
	}
	t, ok := f.whole[a.by]
	if !ok {
		t = empty(a.by.dtype, a.by.shape)
		f.compute(a.by, t)
		f.whole[a.by] = t
	}
	return t
}

func empty(d dtype.DType, shape []int) *tensor.Any {
	t := tensor.EmptyOf(d, shape...)
	return &t
}

// A step is one call on the tensors of a block, which are in slots.
type step struct {
	n   *note
	in  []int
	out int
}

// pass is the plan of one pass over the blocks of a result.
type pass struct {
	shape  []int // of the result, or of all its elements in a row
	axis   int   // the block's first
	rows   int   // of a block along it
	down   int   // blocks along it
	steps  []step
	leafs  []*tensor.Any // the first slots, stretched to shape
	follow []bool        // which of them are runs of elements, so that blocks follow each other
	kinds  []dtype.DType // of all slots; the target's is the last
	dst    *tensor.Any
	past   bool // dst is too large for the caches, and no operand

	workers sync.Pool
}

// A block has so many elements, and its tensors so many bytes, that they lie in the second-level
// cache: what each step costs besides its row is little then.
const (
	fuseLen   = 16384
	fuseBytes = 384 << 10
)

// compute plans that n is computed into dst, a tensor of its shape.
func (f *fusion) compute(n *note, dst *tensor.Any) {
	if elements(n.shape) == 0 {
		return
	}
	if n.alone {
		in := make([]*tensor.Any, len(n.args))
		for i, a := range n.args {
			in[i] = f.settle(a)
		}
		opts := append([]Option{{into: dst, more: f.more}}, n.also...)
		r := new(tensor.Any)
		f.calls = append(f.calls, func() { n.run(r, in, opts) })
		return
	}
	p := f.pass(n, dst)
	cost := 0
	for _, st := range p.steps {
		cost += st.n.cost
	}
	cost *= p.rows * elements(p.shape[p.axis+1:])
	blocks, ctx, work := elements(p.shape[:p.axis])*p.down, f.ctx(), p.work
	f.calls = append(f.calls, func() {
		exec.Split(f.name, ctx, blocks, cost, work)
		runtime.KeepAlive(p)
	})
}

// pass plans the pass that computes n into dst, and before it what it needs.
func (f *fusion) pass(n *note, dst *tensor.Any) *pass {
	p := &pass{shape: n.shape, dst: dst, past: elements(n.shape) >= conv.Large/n.dtype.Size()}
	slots, seen := map[any]int{}, map[*note]bool{}
	var order []*note
	var visit func(n *note)
	leaf := func(a arg, key any) {
		if _, ok := slots[key]; ok {
			return
		}
		slots[key] = len(p.leafs)
		t := f.settle(a)
		over := conv.Overlap(exec.Reach(t), exec.Reach(dst))
		p.past = p.past && !over
		if !t.LayoutRef().Flat() || over && !identical(t, dst) {
			whole := empty(t.DType(), t.Shape())
			f.copy(whole, t)
			t = whole
		}
		p.leafs, p.kinds = append(p.leafs, t), append(p.kinds, t.DType())
	}
	visit = func(m *note) {
		seen[m] = true
		for _, a := range m.args {
			switch {
			case a.by == nil:
				leaf(a, a.leaf)
			case a.by.alone || !slices.Equal(a.by.shape, n.shape):
				leaf(a, a.by)
			case !seen[a.by]:
				visit(a.by)
			}
		}
		order = append(order, m)
	}
	visit(n)
	p.plan(order, slots)
	p.cut()
	return p
}

// plan gives every note of order, of which the last is the result, a slot. A result
// takes the place of an operand of its type that nobody needs any more, or of an
// earlier one.
func (p *pass) plan(order []*note, slots map[any]int) {
	uses := map[*note]int{}
	for _, m := range order {
		for _, a := range m.args {
			uses[a.by]++
		}
	}
	joint, gone := map[*note]*note{}, map[*note]bool{}
	for _, m := range order {
		if n, part := m.mulAdd(uses, slots, joint); n != nil {
			joint[m], gone[part] = n, true
		}
	}
	temps := len(p.leafs)
	free := map[dtype.DType][]int{}
	for i, m := range order {
		if gone[m] {
			continue
		}
		st := step{n: m}
		if n := joint[m]; n != nil {
			st.n = n
		}
		for _, a := range st.n.args {
			var key any = a.leaf
			if a.by != nil {
				key = a.by
			}
			at := slots[key]
			st.in = append(st.in, at)
			if uses[a.by]--; a.by != nil && uses[a.by] == 0 && at >= temps {
				free[a.dtype()] = append(free[a.dtype()], at)
			}
		}
		d := m.dtype
		if last := len(free[d]) - 1; last >= 0 && i < len(order)-1 {
			st.out, free[d] = free[d][last], free[d][:last]
		} else {
			st.out = len(p.kinds)
			p.kinds = append(p.kinds, m.dtype)
		}
		slots[m] = st.out
		p.steps = append(p.steps, st)
	}
}

// mulAdd returns one note for n and a part that nobody else needs, which then isn't stored and read again, if there is a row of both: n adds to a
// product, or is a function of such a sum, which has a joint note then. What has a slot is there already.
func (n *note) mulAdd(uses map[*note]int, slots map[any]int, joint map[*note]*note) (both, part *note) {
	for i, a := range n.args {
		part := a.by
		if _, ok := slots[part]; part == nil || ok || uses[part] != 1 {
			continue
		}
		both := &note{dtype: n.dtype}
		if sum := joint[part]; sum != nil && part.by == &add {
			both.args, both.cost = sum.args, sum.cost+n.cost
			both.run = three(n.ofSum, nil, both.cost)
		} else if n.by == &add && part.by == &mul {
			both.args, both.cost = append(slices.Clone(part.args), n.args[1-i]), part.cost+n.cost
			row, stream := rowMulAdd(n.dtype)
			both.run = three(row, stream, both.cost)
		}
		if both.run != nil {
			return both, part
		}
	}
	return nil, nil
}

// rowMulAdd returns the row of a · b + c, each rounded, and its second entry, or nil.
func rowMulAdd(d dtype.DType) (row exec.Row, stream simd.Stream) {
	switch r := simd.MulAdd.Best(); {
	case r != nil && d == dtype.Float32:
		return exec.RowOf(exec.Forget[exec.Row3](r.F32)), r.Stream.F32
	case r != nil && d == dtype.Float64:
		return exec.RowOf(exec.Forget[exec.Row3](r.F64)), r.Stream.F64
	}
	return row, nil
}

// three returns the call of a row of three operands; nil if there is no row.
func three(row exec.Row, stream simd.Stream, cost int) func(r *tensor.Any, in []*tensor.Any, opts []Option) {
	if row.None() {
		return nil
	}
	return func(_ *tensor.Any, in []*tensor.Any, opts []Option) {
		k := exec.Kernel{Row: row, Stream: stream}
		j := exec.Job{Name: "Fuse", Cost: cost}
		heed(&j, opts)
		exec.Elementwise(&j, opts[0].into, in, &k)
	}
}

// cut stretches the operands to the result's shape, and cuts that into blocks.
func (p *pass) cut() {
	n := elements(p.shape)
	flat := dense(p.dst, n)
	for _, t := range p.leafs {
		flat = flat && dense(t, n)
	}
	if flat {
		p.shape = []int{n}
		p.dst = stretched(p.dst, p.shape, true)
	}
	for i, t := range p.leafs {
		p.leafs[i] = stretched(t, p.shape, flat)
		p.follow = append(p.follow, dense(p.leafs[i], n))
	}
	size := 0 // of an element of all
	for _, k := range p.kinds {
		size += k.Size()
	}
	most := min(fuseLen, fuseBytes/size)
	p.axis = len(p.shape) - 1
	for p.axis > 0 && elements(p.shape[p.axis:]) < most {
		p.axis--
	}
	for _, st := range p.steps { // a block of a slow function isn't split again
		most = min(most, max(64, exec.SplitCost/st.n.cost))
	}
	p.rows = min(p.shape[p.axis], max(1, most/elements(p.shape[p.axis+1:])))
	p.down = (p.shape[p.axis] + p.rows - 1) / p.rows
}

// A worker is what one thread has of a pass.
type worker struct {
	slots, whole []*tensor.Any   // on the block and on all of it
	ins          [][]*tensor.Any // of each step
	opts         [][]Option      // and its target
	idx          []tensor.Index
	rows         int        // in the temporary tensors at present
	result       tensor.Any // of a step: its target
}

func (p *pass) worker() *worker {
	n := len(p.kinds)
	w := &worker{make([]*tensor.Any, n), make([]*tensor.Any, n), make([][]*tensor.Any, len(p.steps)), make([][]Option, len(p.steps)), make([]tensor.Index, p.axis+1), p.rows, tensor.Any{}}
	for i, k := range p.kinds {
		switch {
		case i < len(p.leafs):
			w.whole[i] = p.leafs[i]
		case i == n-1:
			w.whole[i] = p.dst
		default:
			w.whole[i] = empty(k, append([]int{p.rows}, p.shape[p.axis+1:]...))
		}
		slot := *w.whole[i]
		w.slots[i] = &slot
	}
	for i, st := range p.steps {
		for _, at := range st.in {
			w.ins[i] = append(w.ins[i], w.slots[at])
		}
		w.opts[i] = append([]Option{{into: w.slots[st.out]}}, st.n.also...)
	}
	return w
}

// work computes blocks from ≤ b < to.
func (p *pass) work(from, to int) {
	w, ok := p.workers.Get().(*worker)
	if !ok {
		w = p.worker()
	}
	defer p.workers.Put(w)
	last := &w.opts[len(p.steps)-1][0]
	if p.past {
		last.more = &more{ahead: new(simd.Prefetch)}
	}
	for b := from; b < to; b++ {
		if p.axis > 0 || p.down > 1 { // else the block is all there is, and the slots hold it
			p.place(w, b)
		}
		if p.past {
			p.next(w, last.more.ahead)
		}
		for i, st := range p.steps {
			st.n.run(&w.result, w.ins[i], w.opts[i])
		}
	}
}

// place makes w's slots those of block b.
func (p *pass) place(w *worker, b int) {
	for o, i := b/p.down, p.axis-1; i >= 0; i-- {
		w.idx[i] = tensor.I(o % p.shape[i])
		o /= p.shape[i]
	}
	r := b % p.down * p.rows
	n := min(p.rows, p.shape[p.axis]-r)
	w.idx[p.axis] = tensor.R(r, r+n)
	for i := range p.kinds {
		if i < len(p.leafs) || i == len(p.kinds)-1 {
			*w.slots[i] = w.whole[i].Slice(w.idx...)
		} else if w.rows != n {
			*w.slots[i] = w.whole[i].Slice(tensor.R(0, n))
		}
	}
	w.rows = n
}

// next says what the last step prefetches while it computes: the operands of the next block, which follow those of this one.
func (p *pass) next(w *worker, ahead *simd.Prefetch) {
	var few [4][]byte
	runs := few[:0]
	for i := range p.leafs {
		if p.follow[i] && len(runs) < cap(runs) {
			runs = append(runs, exec.Reach(w.slots[i]))
		}
	}
	ahead.After(runs...)
}

// dense reports whether t is n elements in row-major order, or one for all.
func dense(t *tensor.Any, n int) bool { return t.Len() == 1 || t.Len() == n && t.IsContiguous() }

// stretched returns t stretched to a shape, or, flat, to one of as many elements.
func stretched(t *tensor.Any, shape []int, flat bool) *tensor.Any {
	x := *t
	if !flat {
		x = x.BroadcastTo(shape...)
	} else if t.Len() == 1 && elements(shape) != 1 {
		x = x.Reshape().BroadcastTo(shape...)
	} else {
		x = x.Reshape(shape...)
	}
	return &x
}

// identical reports whether two tensors are the same type, memory and layout.
func identical(t, u *tensor.Any) bool {
	return t.DType() == u.DType() && conv.Same(exec.Reach(t), exec.Reach(u)) && t.LayoutRef().Same(u.LayoutRef())
}
