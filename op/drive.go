package op

import (
	"context"
	"runtime"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/internal/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	tileBytes = 8192 // of a packed chunk: four operands stay in the first-level cache
	runLen    = 2048 // elements of a chunk that needs no packing: a row is still in that cache when its NaNs are looked at
)

// kernel is the rows of one operator for one element type: C is computed with,
// D is the result. Just one of one, two, three, with, via, pair and sel is set. dst may be
// exactly an operand. canon, where there is one, makes the NaNs of a finished row canonical.
// A row with past set heeds the mark of simd.Past, or ignores it, and doesn't read what it stored.
type kernel[C, D num.Elem] struct {
	one   func(dst []D, a []C)
	two   func(dst []D, a, b []C)
	three func(dst []D, a, b, c []C)
	with  func(dst []D, a []C, p, q C) // p and q are below: a closure over them would allocate
	via   row1[C, D]
	pair  row2[C, D]
	sel   rowSel[C, D]
	canon func(row []D)
	past  bool
	p, q  C
}

// Rows that an operator instantiates for a type parameter of its own. As function
// values they would be allocated on every call, since such a value carries its
// types along.
type (
	row1[C, D num.Elem]   interface{ row(dst []D, a []C) }
	row2[C, D num.Elem]   interface{ row(dst []D, a, b []C) }
	rowSel[C, D num.Elem] interface {
		row(dst []D, mask []bool, a, b []C)
	}
)

func (k *kernel[C, D]) run(dst []D, mask []bool, in *[3][]C) {
	switch {
	case k.two != nil:
		k.two(dst, in[0], in[1])
	case k.one != nil:
		k.one(dst, in[0])
	case k.three != nil:
		k.three(dst, in[0], in[1], in[2])
	case k.with != nil:
		k.with(dst, in[0], k.p, k.q)
	case k.via != nil:
		k.via.row(dst, in[0])
	case k.pair != nil:
		k.pair.row(dst, in[0], in[1])
	default:
		k.sel.row(dst, mask, in[0], in[1])
	}
	if k.canon != nil {
		k.canon(dst)
	}
}

// job is what a driver knows of a call besides its operands.
type job struct {
	name string
	ctx  context.Context
	cost int // of an element, in units of an addition

	past  bool       // the result is part of one that is too large for the caches
	ahead simd.Fetch // what its row may fetch meanwhile
}

// quick returns the cost of a row that an instruction set computes, of that which its plain loop has.
func quick(cost int) int { return max(1, cost/8) }

// beyond reports whether a result of n elements should go past the caches; what is computed in place is in them already.
func beyond[R num.Elem](j *job, n int) bool {
	return j.past || n >= conv.Large/dtype.Of[R]().Size()
}

// elementwise computes dst[i] from the operands' elements i, broadcast to dst's
// shape: rows of at most a chunk, packing what isn't a run of elements. T is the
// operands' type and R the result's; where they are stored narrower than they
// are computed, widen and narrow convert a chunk.
func elementwise[T, C, D, R num.Elem](j job, dst *tensor.Tensor[R], ins *[3]*tensor.Tensor[T], n int, k *kernel[C, D],
	widen func([]C, []T), narrow func([]R, []D)) {
	selected(j, dst, nil, ins, n, k, widen, narrow)
}

// selected is elementwise for kernels that look at a mask; nil is none. (In job
// the mask would move to the heap, as the context beside it does.)
func selected[T, C, D, R num.Elem](j job, dst *tensor.Tensor[R], mask *tensor.Tensor[bool], ins *[3]*tensor.Tensor[T], n int, k *kernel[C, D],
	widen func([]C, []T), narrow func([]R, []D)) {
	lay := dst.LayoutRef()
	if lay.Size() == 0 {
		return
	}
	if widen == nil && narrow == nil && lay.IsRowMajor() && dense(&j, dst, mask, ins, n, k) {
		return
	}
	general(j, dst, mask, ins, n, k, widen, narrow)
}

// dense is selected for operands that are runs of elements in the order of dst,
// which is row-major. It returns false if they aren't.
func dense[T, C, D, R num.Elem](j *job, dst *tensor.Tensor[R], mask *tensor.Tensor[bool], ins *[3]*tensor.Tensor[T], n int, k *kernel[C, D]) bool {
	lay := dst.LayoutRef()
	out := dst.Run(lay)
	var in [3][]C
	var m []bool
	if mask != nil {
		if m = mask.Run(lay); m == nil || crosses(m, out) {
			return false
		}
	}
	for i := range n {
		l := ins[i].LayoutRef()
		if !alike(l, lay) {
			return false
		}
		run := ins[i].Run(l)
		if crosses(run, out) {
			return false
		}
		in[i] = conv.As[C](run)
	}
	to := conv.As[D](out)
	if k.past && beyond[R](j, len(out)) && !among(to, &in) {
		to = simd.Ahead(simd.Past(to), j.ahead)
	}
	if len(out)*j.cost <= splitCost && j.ctx == nil {
		denseRuns(k, to, m, &in)
	} else {
		denseSplit(*j, *k, to, m, in)
	}
	runtime.KeepAlive(dst)
	runtime.KeepAlive(mask)
	runtime.KeepAlive(ins)
	return true
}

// general is selected for any operands. Its frame is large, so it stays out of
// the others'.
//
//go:noinline
func general[T, C, D, R num.Elem](j job, dst *tensor.Tensor[R], mask *tensor.Tensor[bool], ins *[3]*tensor.Tensor[T], n int, k *kernel[C, D],
	widen func([]C, []T), narrow func([]R, []D)) {
	c := strides[T, C, D, R]{dst: *dst, n: n, k: *k, widen: widen, narrow: narrow}
	c.past = (k.past || narrow != nil) && beyond[R](&j, dst.Len())
	for i := range n {
		c.ins[i] = *ins[i]
		c.past = c.past && !conv.Overlap(reach(ins[i]), reach(dst))
		if mustCopy(ins[i], dst) {
			c.ins[i] = c.ins[i].Clone()
		}
	}
	if mask != nil {
		c.sel = *mask
		if mustCopy(mask, dst) {
			c.sel = c.sel.Clone()
		}
	}
	strided(&j, &c)
	runtime.KeepAlive(&c)
}

// alike is Layout.Same, quicker for the few axes that most tensors have.
func alike(a, b *layout.Layout) bool {
	n := a.Leaves()
	if n > 4 || b.Leaves() != n || !a.Flat() || !b.Flat() {
		return a.Same(b)
	}
	for i := range n {
		e, s := a.Leaf(i)
		if f, t := b.Leaf(i); e != f || s != t {
			return false
		}
	}
	return true
}

// crosses reports whether writing out changes elements of run before they are
// read: they overlap without being the same elements.
func crosses[T, R num.Elem](run []T, out []R) bool {
	return conv.Overlap(run, out) && !(conv.Same(run, out) && dtype.Of[T]().Size() == dtype.Of[R]().Size())
}

// among reports whether dst is an operand.
func among[C, D num.Elem](dst []D, in *[3][]C) bool {
	return conv.Same(dst, in[0]) || conv.Same(dst, in[1]) || conv.Same(dst, in[2])
}

// denseRuns computes operands that are runs of elements, a chunk at a time where a row's NaNs are looked at.
func denseRuns[C, D num.Elem](k *kernel[C, D], out []D, mask []bool, in *[3][]C) {
	for k.canon != nil && len(out) > runLen {
		var part [3][]C
		var m []bool
		if mask != nil {
			m, mask = mask[:runLen], mask[runLen:]
		}
		for i := range in {
			if in[i] != nil {
				part[i], in[i] = in[i][:runLen], in[i][runLen:]
			}
		}
		k.run(out[:runLen], m, &part)
		out = out[runLen:]
	}
	k.run(out, mask, in)
}

//go:noinline
func denseSplit[C, D num.Elem](j job, k kernel[C, D], out []D, mask []bool, in [3][]C) {
	chunks := (len(out) + runLen - 1) / runLen
	split(j.name, j.ctx, chunks, runLen*j.cost, func(from, to int) {
		lo, hi := from*runLen, min(to*runLen, len(out))
		var part [3][]C
		for i := range in {
			if in[i] != nil {
				part[i] = in[i][lo:hi]
			}
		}
		var m []bool
		if mask != nil {
			m = mask[lo:hi]
		}
		denseRuns(&k, out[lo:hi], m, &part)
	})
}

// mustCopy reports whether a must be copied before dst is written: it shares
// memory with dst without being exactly dst.
func mustCopy[T, R num.Elem](a *tensor.Tensor[T], dst *tensor.Tensor[R]) bool {
	x, y := reach(a), reach(dst)
	return conv.Overlap(x, y) && (crosses(x, y) || !a.LayoutRef().Same(dst.LayoutRef()))
}

// reach returns the stretch of the storage that a tensor spans.
func reach[T num.Elem](t *tensor.Tensor[T]) []T {
	data, off := t.Data()
	lo, hi := t.LayoutRef().Span()
	return data[off+lo : off+hi+1]
}

// operand is one operand on its way into rows.
type operand[T, C num.Elem] struct {
	data  []T
	tile  []T
	wide  []C
	widen func([]C, []T)
	held  conv.Block // what wide or tile holds at present
	full  bool
}

// chunk returns the elements of a block as a row.
func (o *operand[T, C]) chunk(b conv.Block) []C {
	n := b.Rows * b.Cols
	if b.Dense() {
		run := o.data[b.Off : b.Off+n]
		if o.widen == nil {
			return conv.As[C](run)
		}
		o.full = false
		o.widen(o.wide[:n], run)
		return o.wide[:n]
	}
	if !o.full || o.held != b { // a repeated row is packed once
		conv.Pack(o.tile[:n], o.data, b)
		if o.widen != nil {
			o.widen(o.wide[:n], o.tile[:n])
		}
		o.held, o.full = b, true
	}
	if o.widen == nil {
		return conv.As[C](o.tile[:n])
	}
	return o.wide[:n]
}

// strides is a call of strided on its way through the elements.
type strides[T, C, D, R num.Elem] struct {
	dst    tensor.Tensor[R]
	sel    tensor.Tensor[bool] // the mask, or the zero Tensor
	ins    [3]tensor.Tensor[T]
	n      int // of ins
	k      kernel[C, D]
	widen  func([]C, []T)
	narrow func([]R, []D)
	past   bool // the result goes past the caches
	cuts
}

// cuts is how the two inner loops of a plan are cut into blocks that fit a tile.
type cuts struct {
	plan         *walk.Plan // dst, ins, sel
	tile         int        // elements of a block, at most
	rows, cols   int        // of a block of the two inner loops
	across, down int        // blocks in them
}

// strided is elementwise for everything but runs of elements.
func strided[T, C, D, R num.Elem](j *job, s *strides[T, C, D, R]) {
	lays := [walk.Max]*layout.Layout{s.dst.LayoutRef()}
	for i := range s.n {
		lays[i+1] = s.ins[i].LayoutRef()
	}
	if !s.sel.IsZero() {
		lays[s.n+1] = s.sel.LayoutRef()
	}
	size := max(dtype.Of[T]().Size(), dtype.Of[C]().Size(), dtype.Of[D]().Size(), dtype.Of[R]().Size())
	s.cuts = cut(&lays, min(runLen, tileBytes/size))
	defer s.plan.Free()
	n, cost := s.plan.Outer()*s.across*s.down, s.rows*s.cols*j.cost
	if n*cost <= splitCost && j.ctx == nil {
		s.work(0, n)
	} else {
		spread(*j, *s, n, cost)
	}
}

// cut plans the way through operands, of which lays[0] is the result and the others,
// as many as aren't nil, stretch to its shape.
func cut(lays *[walk.Max]*layout.Layout, tile int) cuts {
	var few [8]int
	shape := appendShape(few[:0], lays[0])
	var wide [walk.Max]layout.Layout
	ptrs := [walk.Max]*layout.Layout{lays[0], &wide[1], &wide[2], &wide[3], &wide[4]}
	n := 1
	for ; n < len(lays) && lays[n] != nil; n++ {
		wide[n], _ = lays[n].BroadcastTo(shape...) // the result's shape was made so that they fit
	}
	b := cuts{plan: walk.New(ptrs[:n]...), tile: tile}
	in, mid := &b.plan.Loops[0], &b.plan.Loops[1]
	b.rows, b.cols = 1, min(in.Ext, tile)
	if in.Ext <= tile {
		b.rows = min(mid.Ext, tile/in.Ext)
	}
	b.across, b.down = (in.Ext+b.cols-1)/b.cols, (mid.Ext+b.rows-1)/b.rows
	return b
}

// spread takes the call by value: what threads may see moves to the heap here, and
// nowhere else.
//
//go:noinline
func spread[T, C, D, R num.Elem](j job, s strides[T, C, D, R], n, cost int) {
	split(j.name, j.ctx, n, cost, s.work)
}

// work computes blocks from ≤ i < to.
func (s *strides[T, C, D, R]) work(from, to int) {
	sc := scratch.Get().(*scratchpad)
	defer scratch.Put(sc)
	rest := sc.bytes[:]
	var src [3]operand[T, C]
	var origin [walk.Max]int
	for i := range s.n {
		data, off := s.ins[i].Data()
		src[i] = operand[T, C]{data: data, tile: conv.Carve[T](&rest, s.tile), widen: s.widen}
		if s.widen != nil {
			src[i].wide = conv.Carve[C](&rest, s.tile)
		}
		origin[i+1] = off
	}
	var mask operand[bool, bool]
	if !s.sel.IsZero() {
		data, off := s.sel.Data()
		mask, origin[s.n+1] = operand[bool, bool]{data: data, tile: conv.Carve[bool](&rest, s.tile)}, off
	}
	dd, d0 := s.dst.Mutable()
	origin[0] = d0
	tile, wide := conv.Carve[R](&rest, s.tile), conv.Carve[D](&rest, s.tile)
	for c := from; c < to; c++ {
		pass, r, x := c/(s.across*s.down), c/s.across%s.down*s.rows, c%s.across*s.cols
		var row [3][]C
		for i := range s.n {
			row[i] = src[i].chunk(block(&s.cuts, i+1, origin[i+1], pass, r, x))
		}
		var m []bool
		if !s.sel.IsZero() {
			m = mask.chunk(block(&s.cuts, s.n+1, origin[s.n+1], pass, r, x))
		}
		db := block(&s.cuts, 0, d0, pass, r, x)
		size, dense := db.Rows*db.Cols, db.Dense()
		out := tile[:size]
		if dense {
			if out = dd[db.Off : db.Off+size]; s.past {
				out = simd.Past(out)
			}
		}
		if s.narrow == nil {
			s.k.run(conv.As[D](out), m, &row)
		} else {
			s.k.run(wide[:size], m, &row)
			s.narrow(out, wide[:size])
		}
		if !dense {
			conv.Spread(dd, out, db)
		}
	}
}

// block returns the elements of operand o, whose element 0 is at origin, from row r
// and column x of the two inner loops on, in one of their passes.
func block(s *cuts, o, origin, pass, r, x int) conv.Block {
	in, mid := &s.plan.Loops[0], &s.plan.Loops[1]
	return conv.Block{Rows: min(s.rows, mid.Ext-r), Cols: min(s.cols, in.Ext-x), Row: mid.Str[o], Col: in.Str[o],
		Off: origin + s.plan.At(o, pass) + r*mid.Str[o] + x*in.Str[o]}
}

// scratchpad holds the tiles of one worker: at most five, twice where they are
// widened.
type scratchpad struct{ bytes [5 * 2 * tileBytes]byte }

var scratch = sync.Pool{New: func() any { return new(scratchpad) }}

// broadcastShape appends the shape that operands stretch to together.
func broadcastShape(name string, shape []int, ls ...*layout.Layout) []int {
	return broadcastLeading(name, shape, 0, ls...)
}

// broadcastLeading is broadcastShape for all axes but the last few.
func broadcastLeading(name string, shape []int, last int, ls ...*layout.Layout) []int {
	rank := 0
	for _, l := range ls {
		rank = max(rank, l.Rank()-last)
	}
	for i := range rank {
		dim := 1
		for _, l := range ls {
			axis := i - (rank - (l.Rank() - last))
			if axis < 0 {
				continue
			}
			switch e := l.Dim(axis); {
			case e == dim || e == 1:
			case dim == 1:
				dim = e
			default:
				panic(noBroadcast(name, i, dim, e, ls))
			}
		}
		shape = append(shape, dim)
	}
	return shape
}

func noBroadcast(name string, axis, a, b int, ls []*layout.Layout) *tensor.Error {
	text := "shapes "
	for i, l := range ls {
		if i > 0 && i == len(ls)-1 {
			text += " and "
		} else if i > 0 {
			text += ", "
		}
		text += l.ShapeString()
	}
	return fail(name, tensor.ErrShape, "%s don't broadcast: axis %d is %d and %d", text, axis, a, b)
}

// elements returns how many there are of a shape.
func elements(shape []int) int {
	n := 1
	for _, e := range shape {
		n *= e
	}
	return n
}

// roomFor returns scratch for a product of extents, which may be beyond any memory: then the
// error says so.
func roomFor[T num.Elem](name string, shape ...int) []T {
	n := 1
	for i, e := range shape {
		n = extent(name, i, n, e)
	}
	return make([]T, fits(name, n, dtype.Of[T]().Size()))
}

// fits returns n, if there is memory for n elements of a size.
func fits(name string, n, size int) int {
	if n > mostScratch/size { // the Go heap would end the program: memory that can be refused is asked for first
		b, err := mem.AllocDirty(extent(name, 0, n, size))
		if err != nil {
			panic(fail(name, tensor.ErrMemory, "it needs room for %d numbers of %d bytes: %v", n, size, err))
		}
		b.Close()
	}
	return n
}

// mostScratch is the largest scratch in bytes that is taken unasked.
const mostScratch = 1 << 20

func appendShape(shape []int, l *layout.Layout) []int {
	for i := range l.Rank() {
		shape = append(shape, l.Dim(i))
	}
	return shape
}

func sameShape(l *layout.Layout, shape []int) bool {
	if l.Rank() != len(shape) {
		return false
	}
	for i, e := range shape {
		if l.Dim(i) != e {
			return false
		}
	}
	return true
}

// shapeText writes (2,3).
func shapeText(shape []int) string {
	l, err := layout.RowMajor(shape...)
	if err != nil {
		return err.Error()
	}
	return l.ShapeString()
}
