package pointwise

import (
	"runtime"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// PutOff makes a lazy.
func PutOff(name string, a *tensor.Any) {
	plan.Present(name, a)
	if IsLazy(a) {
		return
	}
	n := &Note{shape: a.Shape(), dtype: a.DType()}
	n.Args = []Arg{ArgOf(name, a)}
	*a = reach.Lazy(n, n.dtype, n.shape...)
}

// Fused makes r the target of Fuse, and returns the function that computes it.
func Fused(r *tensor.Any, name string, y *tensor.Any, s plan.Settings) func() {
	plan.Present(name, y)
	a := ArgOf(name, y)
	plan.Aim(r, name, &s, y.DType(), y.LayoutRef())
	dst := *r
	f := fusion{name: name, Settings: s, whole: map[*Note]*tensor.Any{}}
	if a.By != nil && walk.Ref(dst.LayoutRef()).Flat() {
		f.compute(a.By, &dst)
	} else { // there is nothing to compute, or blocks of a nested axis have no layout
		f.copy(&dst, f.computed(a))
	}
	return func() {
		for _, call := range f.calls {
			call()
		}
	}
}

// Scratch returns the bytes that Fuse of y holds on one thread beside its operands and its result: tensors that are computed before a
// pass, and blocks of its steps. It is the same on all machines. Nothing is computed, so an operand may be one element, stretched to a shape.
func Scratch(y tensor.Any) (bytes int64, err error) {
	err = tensor.Try(func() {
		f := fusion{name: "Fuse", whole: map[*Note]*tensor.Any{}, bytes: &bytes}
		if a := ArgOf(f.name, &y); a.By != nil {
			f.compute(a.By, stretchedTo(a.By.dtype, a.By.shape))
		}
	})
	return bytes, err
}

func stretchedTo(d dtype.DType, shape []int) *tensor.Any {
	t := tensor.EmptyOf(d).BroadcastTo(shape...)
	return &t
}

// A Note is a call to be made; without run it stands for its argument.
type Note struct {
	Name  string
	shape []int
	dtype dtype.DType // of the result
	Args  []Arg
	by    *Operator                                                 // the operator, if it is in a table
	ofSum exec.Row                                                  // of a function of a · b + c, if it has one
	Run   func(r *tensor.Any, in []*tensor.Any, opts []plan.Option) // r becomes the target in opts
	Also  []plan.Option                                             // beside Into
	Cost  int
	Alone bool // it fails on some elements: before anything is written
}

// An Arg is an operand of a note: another note, or a tensor.
type Arg struct {
	By   *Note
	leaf *tensor.Any
}

func (a *Arg) dtype() dtype.DType {
	if a.By != nil {
		return a.By.dtype
	}
	return a.leaf.DType()
}

// ArgOf returns an operand of a lazy expression: the expression that t stands for, or t. It panics for a view of a lazy
// tensor.
func ArgOf(name string, t *tensor.Any) Arg {
	by, whole := reach.LazyBy(*t)
	n, ok := by.(*Note)
	if by != nil && (!ok || !whole) {
		panic(plan.Fail(name, tensor.ErrLazy, "the operand is a view of a lazy tensor; take the view of what Fuse returns"))
	}
	if n != nil && n.Run == nil {
		return n.Args[0]
	}
	if n != nil {
		return Arg{By: n}
	}
	leaf := *t
	return Arg{leaf: &leaf}
}

// IsLazy reports whether one of some operands is lazy.
func IsLazy(ts ...*tensor.Any) bool {
	for _, t := range ts {
		if by, _ := reach.LazyBy(*t); by != nil {
			return true
		}
	}
	return false
}

// Noted makes r the lazy result of n, of type d, whose operands have the layouts ls.
func Noted(r *tensor.Any, n Note, d dtype.DType, opts []plan.Option, ls ...*layout.Layout) {
	if s := plan.Read(n.Name, opts); s.Into != nil || s.More != nil {
		panic(plan.Fail(n.Name, tensor.ErrLazy, "an operand is lazy; Into and Context are for Fuse and Prepare"))
	}
	n.shape, n.dtype, n.Cost = plan.BroadcastShape(n.Name, nil, ls...), d, max(n.Cost, 1)
	*r = reach.Lazy(&n, d, n.shape...)
}

// A fusion is the plan of one call of Fuse or Prepare.
type fusion struct {
	name string
	plan.Settings
	whole map[*Note]*tensor.Any // the notes that are computed before the pass
	calls []func()              // in this order
	bytes *int64                // where Scratch counts tensors beside the operands and the result, which aren't made then
}

// copy plans that the elements of a tensor are copied to another.
func (f *fusion) copy(dst, src *tensor.Any) {
	f.calls = append(f.calls, func() { dst.CopyFrom(*src) })
}

// computed returns the tensor of all elements of an operand, which has them when the plan is at this point.
func (f *fusion) computed(a Arg) *tensor.Any {
	if a.By == nil {
		return a.leaf
	}
	t, ok := f.whole[a.By]
	if !ok {
		t = f.empty(a.By.dtype, a.By.shape)
		f.compute(a.By, t)
		f.whole[a.By] = t
	}
	return t
}

func (f *fusion) empty(d dtype.DType, shape []int) *tensor.Any {
	if f.bytes != nil {
		*f.bytes += int64(plan.Elements(shape) * d.Size())
		return stretchedTo(d, shape)
	}
	return empty(d, shape)
}

func empty(d dtype.DType, shape []int) *tensor.Any {
	t := tensor.EmptyOf(d, shape...)
	return &t
}

// A step is one call on the tensors of a block, which are in slots.
type step struct {
	n   *Note
	in  []int
	out int
}

// pass is one pass over the blocks of a result.
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

// A block has at most fuseLen elements, and its tensors fuseBytes bytes, so that they lie in the second-level
// cache: the cost of each step besides its row is little then.
const (
	fuseLen   = 16384
	fuseBytes = 384 << 10
)

// compute plans that n is computed into dst, a tensor of its shape.
func (f *fusion) compute(n *Note, dst *tensor.Any) {
	if plan.Elements(n.shape) == 0 {
		return
	}
	if n.Alone {
		in := make([]*tensor.Any, len(n.Args))
		for i, a := range n.Args {
			in[i] = f.computed(a)
		}
		opts := append([]plan.Option{f.Target(dst)}, n.Also...)
		r := new(tensor.Any)
		f.calls = append(f.calls, func() { n.Run(r, in, opts) })
		return
	}
	p := f.pass(n, dst)
	if f.bytes != nil {
		*f.bytes += int64(p.temporary())
		return
	}
	cost := 0
	for _, st := range p.steps {
		cost += st.n.Cost
	}
	cost *= p.rows * plan.Elements(p.shape[p.axis+1:])
	blocks, ctx, work := plan.Elements(p.shape[:p.axis])*p.down, f.Ctx(), p.work
	f.calls = append(f.calls, func() {
		exec.Split(f.name, ctx, blocks, cost, work)
		runtime.KeepAlive(p)
	})
}

// pass plans the pass that computes n into dst, and before it the notes that it needs.
func (f *fusion) pass(n *Note, dst *tensor.Any) *pass {
	p := &pass{shape: n.shape, dst: dst, past: plan.Elements(n.shape) >= conv.Large/n.dtype.Size()}
	slots, seen := map[any]int{}, map[*Note]bool{}
	var order []*Note
	var visit func(n *Note)
	leaf := func(a Arg, key any) {
		if _, ok := slots[key]; ok {
			return
		}
		slots[key] = len(p.leafs)
		t := f.computed(a)
		over := conv.Overlap(exec.Reach(t), exec.Reach(dst))
		p.past = p.past && !over
		if !walk.Ref(t.LayoutRef()).Flat() || over && !identical(t, dst) {
			whole := f.empty(t.DType(), t.Shape())
			f.copy(whole, t)
			t = whole
		}
		p.leafs, p.kinds = append(p.leafs, t), append(p.kinds, t.DType())
	}
	visit = func(m *Note) {
		seen[m] = true
		for _, a := range m.Args {
			switch {
			case a.By == nil:
				leaf(a, a.leaf)
			case a.By.Alone || !slices.Equal(a.By.shape, n.shape):
				leaf(a, a.By)
			case !seen[a.By]:
				visit(a.By)
			}
		}
		order = append(order, m)
	}
	visit(n)
	p.assign(order, slots, f.bytes == nil)
	p.cut()
	return p
}

// temporary returns the most bytes that the blocks of one worker take.
func (p *pass) temporary() int {
	all, own := 0, 0
	for i, k := range p.kinds {
		all += k.Size()
		if i >= len(p.leafs) && i < len(p.kinds)-1 {
			own += k.Size()
		}
	}
	return own * min(plan.Elements(p.shape), fuseLen, fuseBytes/all)
}

// assign gives every note of order, of which the last is the result, a slot. A result
// takes the place of an operand of its type that nobody needs any more, or of an
// earlier one. Where rows of two notes may be used, they are where the machine has them.
func (p *pass) assign(order []*Note, slots map[any]int, rows bool) {
	uses := map[*Note]int{}
	for _, m := range order {
		for _, a := range m.Args {
			uses[a.By]++
		}
	}
	joint, gone := map[*Note]*Note{}, map[*Note]bool{}
	for _, m := range order {
		if !rows {
			break
		}
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
		for _, a := range st.n.Args {
			var key any = a.leaf
			if a.By != nil {
				key = a.By
			}
			at := slots[key]
			st.in = append(st.in, at)
			if uses[a.By]--; a.By != nil && uses[a.By] == 0 && at >= temps {
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

// mulAdd returns one note for n and a part that nobody else needs, if there is a row of both. The part isn't stored and read again then. n adds
// to a product, or is a function of such a sum, which has a joint note then. A part with a slot is there already.
func (n *Note) mulAdd(uses map[*Note]int, slots map[any]int, joint map[*Note]*Note) (both, part *Note) {
	for i, a := range n.Args {
		part := a.By
		if _, ok := slots[part]; part == nil || ok || uses[part] != 1 {
			continue
		}
		both := &Note{dtype: n.dtype}
		if sum := joint[part]; sum != nil && part.by != nil && part.by.Sums {
			both.Args, both.Cost = sum.Args, sum.Cost+n.Cost
			both.Run = three(n.ofSum, nil, both.Cost)
		} else if n.by != nil && n.by.Sums && part.by != nil && part.by.Multiplies {
			both.Args, both.Cost = append(slices.Clone(part.Args), n.Args[1-i]), part.Cost+n.Cost
			row, stream := rowMulAdd(n.dtype)
			both.Run = three(row, stream, both.Cost)
		}
		if both.Run != nil {
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
func three(row exec.Row, stream simd.Stream, cost int) func(r *tensor.Any, in []*tensor.Any, opts []plan.Option) {
	if row.None() {
		return nil
	}
	return func(_ *tensor.Any, in []*tensor.Any, opts []plan.Option) {
		k := exec.Kernel{Row: row, Stream: stream}
		j := exec.Job{Name: "Fuse", Cost: cost}
		plan.Heed(&j, opts)
		exec.Elementwise(&j, plan.Read(j.Name, opts).Into, in, &k)
	}
}

// cut stretches the operands to the result's shape, and cuts that into blocks.
func (p *pass) cut() {
	n := plan.Elements(p.shape)
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
	for p.axis > 0 && plan.Elements(p.shape[p.axis:]) < most {
		p.axis--
	}
	for _, st := range p.steps { // a block of a slow function isn't split again
		most = min(most, max(64, exec.SplitCost/st.n.Cost))
	}
	p.rows = min(p.shape[p.axis], max(1, most/plan.Elements(p.shape[p.axis+1:])))
	p.down = (p.shape[p.axis] + p.rows - 1) / p.rows
}

// A worker has the tensors of one thread in a pass.
type worker struct {
	slots, whole []*tensor.Any   // on the block and on all of it
	ins          [][]*tensor.Any // of each step
	opts         [][]plan.Option // and its target
	idx          []tensor.Index
	rows         int        // in the temporary tensors at present
	result       tensor.Any // of a step: its target
}

func (p *pass) worker() *worker {
	n := len(p.kinds)
	w := &worker{make([]*tensor.Any, n), make([]*tensor.Any, n), make([][]*tensor.Any, len(p.steps)), make([][]plan.Option, len(p.steps)), make([]tensor.Index, p.axis+1), p.rows, tensor.Any{}}
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
		w.opts[i] = append([]plan.Option{plan.WriteTo(w.slots[st.out])}, st.n.Also...)
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
	var next *simd.Prefetch
	if p.past {
		next = plan.Ahead(&w.opts[len(p.steps)-1][0])
	}
	for b := from; b < to; b++ {
		if p.axis > 0 || p.down > 1 { // else the block is all there is, and the slots hold it
			p.place(w, b)
		}
		if p.past {
			p.next(w, next)
		}
		for i, st := range p.steps {
			st.n.Run(&w.result, w.ins[i], w.opts[i])
		}
	}
}

// place sets w's slots to block b.
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

// next sets the prefetch of the last step while it computes: the operands of the next block, which follow the operands of this one.
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

// identical reports whether two tensors are the same type, memory and layout.
func identical(t, u *tensor.Any) bool {
	return t.DType() == u.DType() && conv.Same(exec.Reach(t), exec.Reach(u)) && walk.Ref(t.LayoutRef()).Equal(walk.Ref(u.LayoutRef()))
}

// dense reports whether t is n elements in row-major order, or one for all.
func dense(t *tensor.Any, n int) bool { return t.Len() == 1 || t.Len() == n && t.IsContiguous() }

// stretched returns t stretched to a shape, or, flat, to one of as many elements.
func stretched(t *tensor.Any, shape []int, flat bool) *tensor.Any {
	x := *t
	if !flat {
		x = x.BroadcastTo(shape...)
	} else if t.Len() == 1 && plan.Elements(shape) != 1 {
		x = x.Reshape().BroadcastTo(shape...)
	} else {
		x = x.Reshape(shape...)
	}
	return &x
}

// LazyOf is op.Lazy for an element type that is known at run time only.
func LazyOf(a tensor.Any) (tensor.Any, error) {
	return a, tensor.Try(func() { PutOff("Lazy", &a) })
}

// FuseOf is op.Fuse for an element type that is known at run time only.
func FuseOf(y tensor.Any, opts ...plan.Option) (r tensor.Any, err error) {
	err = tensor.Try(func() { Fused(&r, "Fuse", &y, plan.Read("Fuse", opts))() })
	return r, err
}
