package exec

import (
	"context"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	packedBytes = 8192 // of a packed block: four operands stay in the first-level cache
	RunLen      = 2048 // elements of a block that needs no packing: a row is still in that cache when its NaNs are looked at
)

// A Kernel is the row of one operator for one element type, or Via. dst may be exactly an operand.
type Kernel struct {
	Row   Row
	P, Q  Word // of a row with numbers
	Via   Via
	Canon Row0 // makes the NaNs of a finished row canonical, where there is something to do

	// Stream does the stores of Via, or of Narrow where there is one, as non-temporal stores. A row has its own.
	Stream simd.Stream

	// Where elements are stored narrower than they are computed, Widen and Narrow convert a
	// chunk to and from the types that rows take and give: Operand and Result, for Via too.
	Widen, Narrow   Row1
	Operand, Result dtype.DType
}

// Via is a row that knows more than its operands. It takes values, as a variable whose
// pointer goes to a method of an interface moves to the heap.
type Via interface {
	Row(dst Run, result dtype.DType, in [3]Run, operand dtype.DType)
}

// Apply computes dst from runs of operands.
func (k *Kernel) Apply(dst Run, in [3]Run) { k.run(dst, &in, nil) }

// run computes dst. ahead is nil for usual stores.
func (k *Kernel) run(dst Run, in *[3]Run, ahead *simd.Prefetch) {
	if ahead != nil && k.stream(dst, in, ahead) {
		return
	}
	switch k.Row.how.form() {
	case two:
		As[Row2](k.Row)(dst, in[0], in[1])
	case one:
		As[Row1](k.Row)(dst, in[0])
	case three:
		As[Row3](k.Row)(dst, in[0], in[1], in[2])
	case numbers:
		k.Row.compute(dst, in[0], &k.P, &k.Q)
	default:
		k.Via.Row(dst, k.Result, *in, k.Operand)
	}
	if k.Canon != nil {
		k.Canon(dst)
	}
}

// stream is run with non-temporal stores, if there is such a row.
func (k *Kernel) stream(dst Run, in *[3]Run, ahead *simd.Prefetch) bool {
	if k.Row.how.form() == numbers {
		return k.Row.computeStream(dst, in[0], &k.P, &k.Q, ahead)
	}
	row := k.Stream
	if row == nil {
		row = k.Row.stream()
	}
	if row != nil {
		row(dst, in[0], in[1], in[2], ahead)
	}
	return row != nil
}

// A Job has the properties of a call that a driver needs besides its operands.
type Job struct {
	Name string
	Ctx  context.Context
	Cost int // of an element, in units of an addition

	Ahead *simd.Prefetch // the result is part of one that is too large for the caches; nil of any other
}

var alongOperand simd.Prefetch

// Little reports whether n steps at a cost are too few for threads.
func (j *Job) Little(n, cost int) bool {
	return n <= Least()/2/max(cost, 1) && Goes(j.Ctx) || Alone(j.Ctx)
}

// ahead returns the prefetch of the row of a result of size bytes if its stores should be non-temporal; nil if not.
func (j *Job) ahead(size int) *simd.Prefetch {
	if j.Ahead == nil && size >= conv.Large {
		return &alongOperand
	}
	return j.Ahead
}

// Elementwise computes dst[i] from the operands' elements i, of three operands at most, broadcast to
// dst's shape: rows of at most a chunk, packed where they aren't runs of elements.
func Elementwise(j *Job, dst *tensor.Any, ins []*tensor.Any, k *Kernel) {
	lay := dst.LayoutRef()
	if walk.Ref(lay).Size() == 0 {
		return
	}
	if k.Widen == nil && k.Narrow == nil && walk.Ref(lay).IsRowMajor() && Dense(j, dst, ins, k) {
		return
	}
	general(*j, dst, ins, k)
}

// lot is a result and its operands as runs of elements in one order.
type lot struct {
	out   []byte
	in    [3][]byte      // as many as there are operands, the others are nil
	shift [4]uint8       // the logarithm of an element's size: the result's, and the operands'
	ahead *simd.Prefetch // of a row whose stores are non-temporal; nil for usual ones
}

// len returns the number of elements.
func (l *lot) len() int { return len(l.out) >> l.shift[0] }

// part returns elements from ≤ i < to.
func (l *lot) part(from, to int) lot {
	p := *l
	p.out = l.out[from<<l.shift[0] : to<<l.shift[0]]
	for i, b := range l.in {
		if b != nil {
			p.in[i] = b[from<<l.shift[i+1] : to<<l.shift[i+1]]
		}
	}
	return p
}

// compute runs a kernel on all elements.
func (l *lot) compute(k *Kernel) {
	var in [3]Run
	for i, b := range l.in {
		if b != nil {
			in[i] = run(b, l.shift[i+1])
		}
	}
	k.run(run(l.out, l.shift[0]), &in, l.ahead)
}

// Dense is Elementwise for operands that are runs of elements in the order of dst, which
// is row-major, and a kernel that converts nothing. An operand may be one element beside a short run. It returns false for others.
func Dense(j *Job, dst *tensor.Any, ins []*tensor.Any, k *Kernel) bool {
	lay := dst.LayoutRef()
	l := lot{out: dst.Run(lay)}
	l.shift[0] = shifts[dst.DType()]
	l.ahead = j.ahead(len(l.out))
	var filled *Scratchpad
	same := false
	for i, a := range ins {
		al := a.LayoutRef()
		d := a.DType()
		if d == dtype.Invalid {
			return false
		}
		s := shifts[d]
		switch n := l.len(); {
		case alike(al, lay):
			same = true
		case !inOrder(al, lay):
			return false
		case walk.Ref(al).Size() < n: // one element
			if n<<s > packedBytes {
				return false
			}
			if filled == nil {
				filled = Scratch.Get().(*Scratchpad)
			}
			l.in[i], l.shift[i+1] = filled.Bytes[i*packedBytes:][:n<<s], s
			repeat(l.in[i], a)
			continue
		}
		b := a.Run(al)
		if conv.Overlap(b, l.out) {
			if !conv.Same(b, l.out) || s != l.shift[0] {
				return false
			}
			l.ahead = nil // an operand that is the target is in the caches already
		}
		l.in[i], l.shift[i+1] = b, s
	}
	if !same && len(ins) > 0 {
		return false // the result's shape may be another one
	}
	if l.len()*j.Cost <= Least() && Goes(j.Ctx) || Alone(j.Ctx) {
		if k.Canon == nil || l.len() <= RunLen {
			l.compute(k)
		} else {
			l.inCache(k)
		}
	} else {
		denseSplit(*j, *k, l)
	}
	if filled != nil {
		Scratch.Put(filled)
	}
	runtime.KeepAlive(dst)
	runtime.KeepAlive(ins)
	return true
}

// repeat fills dst with the one element of a. Its frame stays out of Dense's.
//
//go:noinline
func repeat(dst []byte, a *tensor.Any) {
	w, d := Item(a), a.DType()
	n := len(dst) >> shifts[d]
	CopyBlock(dst, Bytes(w.Run(), d), conv.Block{Rows: 1, Cols: n, Col: 1}, conv.Block{Rows: 1, Cols: n}, d)
}

// inCache is compute, a chunk at a time where the NaNs of a row are looked at.
func (l *lot) inCache(k *Kernel) {
	n := l.len()
	step := n
	if k.Canon != nil {
		step = RunLen
	}
	for at := 0; at < n; at += step {
		p := l.part(at, min(at+step, n))
		p.compute(k)
	}
}

//go:noinline
func denseSplit(j Job, k Kernel, l lot) {
	n := l.len()
	Split(j.Name, j.Ctx, (n+RunLen-1)/RunLen, RunLen*j.Cost, func(from, to int) {
		p := l.part(from*RunLen, min(to*RunLen, n))
		p.inCache(&k)
	})
}

// general is Elementwise for any operands. Its frame is large, so it stays out of the
// others'.
//
//go:noinline
func general(j Job, dst *tensor.Any, ins []*tensor.Any, k *Kernel) {
	c := strides{dst: *dst, n: len(ins), k: *k}
	c.ahead = j.ahead(dst.Len() * dst.DType().Size())
	to := Reach(dst)
	for i, a := range ins {
		c.ins[i] = *a
		if conv.Overlap(Reach(a), to) {
			c.ahead = nil
		}
		if MustCopy(a, dst) {
			c.ins[i] = clone(a)
		}
	}
	strided(&j, &c)
	for i, a := range ins {
		if !c.ins[i].SameData(*a) {
			c.ins[i].Close()
		}
	}
}

// clone returns a copy of a, which has elements.
func clone(a *tensor.Any) tensor.Any {
	c, err := tensor.Clone(*a)
	if err != nil {
		panic(err)
	}
	return c
}

// alike is Ref.Equal, quicker for the few axes that most tensors have.
func alike(a, b *layout.Layout) bool {
	ext, str, n := walk.Ref(a).Plain()
	ext2, str2, m := walk.Ref(b).Plain()
	if n != m || n == 0 || n > 4 {
		return walk.Ref(a).Equal(walk.Ref(b))
	}
	for i := range n {
		if ext[i] != ext2[i] || str[i] != str2[i] {
			return false
		}
	}
	return true
}

// inOrder reports whether a is row-major, has no more axes than b, and has b's extents or one element: its elements are in the order of b.
func inOrder(a, b *layout.Layout) bool {
	n := walk.Ref(b).Rank() - walk.Ref(a).Rank()
	if n < 0 || !walk.Ref(a).IsRowMajor() || walk.Ref(a).Size() != 1 && walk.Ref(a).Size() != walk.Ref(b).Size() {
		return false
	}
	for i := range walk.Ref(a).Rank() {
		if walk.Ref(a).Size() != 1 && walk.Ref(a).Dim(i) != walk.Ref(b).Dim(n+i) {
			return false
		}
	}
	return true
}

// MustCopy reports whether a must be copied before dst is written: it shares memory with
// dst without being exactly dst.
func MustCopy(a, dst *tensor.Any) bool {
	x, y := Reach(a), Reach(dst)
	return conv.Overlap(x, y) && !(conv.Same(x, y) && a.DType().Size() == dst.DType().Size() && walk.Ref(a.LayoutRef()).Equal(walk.Ref(dst.LayoutRef())))
}

// Reach returns the stretch of the storage that a tensor spans.
func Reach(a *tensor.Any) []byte {
	data, off := a.Memory()
	lo, hi := a.LayoutRef().Span()
	s := shifts[a.DType()]
	return data[(off+lo)<<s : (off+hi+1)<<s]
}

// operand is one operand on its way into rows.
type operand struct {
	data   []byte
	dtype  dtype.DType
	shift  uint8
	wider  uint8 // the shift of wide
	packed []byte
	wide   []byte
	widen  Row1
	held   conv.Block // the block that wide or packed holds at present
	full   bool
}

// chunk returns the elements of a block as a row.
func (o *operand) chunk(b conv.Block) Run {
	n := b.Rows * b.Cols
	if b.Dense() {
		row := run(o.data[b.Off<<o.shift:(b.Off+n)<<o.shift], o.shift)
		if o.widen == nil {
			return row
		}
		o.full = false
		wide := run(o.wide[:n<<o.wider], o.wider)
		o.widen(wide, row)
		return wide
	}
	row := run(o.packed[:n<<o.shift], o.shift)
	if !o.full || o.held != b { // a repeated row is packed once
		pack(o.packed[:n<<o.shift], o.data, b, o.dtype)
		if o.widen != nil {
			o.widen(run(o.wide[:n<<o.wider], o.wider), row)
		}
		o.held, o.full = b, true
	}
	if o.widen == nil {
		return row
	}
	return run(o.wide[:n<<o.wider], o.wider)
}

// pack is conv.Pack of elements of a type, by their size.
func pack(dst, src []byte, b conv.Block, d dtype.DType) {
	switch {
	case d.Size() == 1:
		conv.Pack(dst, src, b)
	case d.Size() == 2:
		conv.Pack(words[uint16](dst), words[uint16](src), b)
	case d.Size() == 4:
		conv.Pack(words[uint32](dst), words[uint32](src), b)
	case d == dtype.Complex64: // at multiples of 4 bytes
		conv.Pack(words[[2]uint32](dst), words[[2]uint32](src), b)
	case d.Size() == 8:
		conv.Pack(words[uint64](dst), words[uint64](src), b)
	default:
		conv.Pack(words[[2]uint64](dst), words[[2]uint64](src), b)
	}
}

// spread is conv.Spread of elements of a type, by their size.
func spread(dst, src []byte, b conv.Block, d dtype.DType) {
	switch {
	case d.Size() == 1:
		conv.Spread(dst, src, b)
	case d.Size() == 2:
		conv.Spread(words[uint16](dst), words[uint16](src), b)
	case d.Size() == 4:
		conv.Spread(words[uint32](dst), words[uint32](src), b)
	case d == dtype.Complex64:
		conv.Spread(words[[2]uint32](dst), words[[2]uint32](src), b)
	case d.Size() == 8:
		conv.Spread(words[uint64](dst), words[uint64](src), b)
	default:
		conv.Spread(words[[2]uint64](dst), words[[2]uint64](src), b)
	}
}

// CopyBlock is conv.Copy2 of elements of a type, by their size.
func CopyBlock(dst, src []byte, to, from conv.Block, d dtype.DType) {
	switch {
	case d.Size() == 1:
		conv.Copy2(dst, src, to, from, false)
	case d.Size() == 2:
		conv.Copy2(words[uint16](dst), words[uint16](src), to, from, false)
	case d.Size() == 4:
		conv.Copy2(words[uint32](dst), words[uint32](src), to, from, false)
	case d == dtype.Complex64:
		conv.Copy2(words[[2]uint32](dst), words[[2]uint32](src), to, from, false)
	case d.Size() == 8:
		conv.Copy2(words[uint64](dst), words[uint64](src), to, from, false)
	default:
		conv.Copy2(words[[2]uint64](dst), words[[2]uint64](src), to, from, false)
	}
}

// strides is a call of strided on its way through the elements.
type strides struct {
	dst   tensor.Any
	ins   [3]tensor.Any
	n     int // of ins
	k     Kernel
	ahead *simd.Prefetch // as of a lot
	cuts
}

// cuts is how the two inner loops of a nest are cut into blocks that fit a packed copy.
type cuts struct {
	nest         *walk.Nest // dst, ins
	most         int        // elements of a block
	rows, cols   int        // of a block of the two inner loops
	across, down int        // blocks in them
}

// strided is Elementwise for everything but runs of elements.
func strided(j *Job, s *strides) {
	lays := [walk.Max]*layout.Layout{s.dst.LayoutRef()}
	size := max(s.dst.DType().Size(), s.k.Operand.Size(), s.k.Result.Size())
	for i := range s.n {
		lays[i+1] = s.ins[i].LayoutRef()
		size = max(size, s.ins[i].DType().Size())
	}
	s.cuts = cut(&lays, min(RunLen, packedBytes/size))
	defer s.nest.Free()
	n, cost := s.nest.Outer()*s.across*s.down, s.rows*s.cols*j.Cost
	if n*cost <= Least() && Goes(j.Ctx) || Alone(j.Ctx) {
		s.work(0, n)
	} else {
		stridedSplit(*j, *s, n, cost)
	}
}

// cut plans the way through operands, of which lays[0] is the result and the others,
// as many as aren't nil, stretch to its shape.
func cut(lays *[walk.Max]*layout.Layout, most int) cuts {
	var few [8]int
	shape := few[:0]
	for i := range walk.Ref(lays[0]).Rank() {
		shape = append(shape, walk.Ref(lays[0]).Dim(i))
	}
	var wide [walk.Max]layout.Layout
	ptrs := [walk.Max]*layout.Layout{lays[0], &wide[1], &wide[2], &wide[3], &wide[4]}
	n := 1
	for ; n < len(lays) && lays[n] != nil; n++ {
		wide[n], _ = lays[n].BroadcastTo(shape...) // the result's shape was made so that they fit
	}
	b := cuts{nest: walk.New(ptrs[:n]...), most: most}
	in, mid := &b.nest.Loops[0], &b.nest.Loops[1]
	b.rows, b.cols = 1, min(in.Ext, most)
	if in.Ext <= most {
		b.rows = min(mid.Ext, most/in.Ext)
	}
	b.across, b.down = (in.Ext+b.cols-1)/b.cols, (mid.Ext+b.rows-1)/b.rows
	return b
}

// stridedSplit takes the call by value: variables that threads may see move to the heap
// here, and nowhere else.
//
//go:noinline
func stridedSplit(j Job, s strides, n, cost int) {
	Split(j.Name, j.Ctx, n, cost, s.work)
}

// work computes blocks from ≤ i < to.
func (s *strides) work(from, to int) {
	sc := Scratch.Get().(*Scratchpad)
	defer Scratch.Put(sc)
	rest := sc.Bytes[:]
	var src [3]operand
	var origin [walk.Max]int
	for i := range s.n {
		data, off := s.ins[i].Memory()
		d := s.ins[i].DType()
		src[i] = operand{data: data, dtype: d, shift: shifts[d], widen: s.k.Widen}
		src[i].packed = carve(&rest, s.most<<shifts[d])
		if s.k.Widen != nil {
			src[i].wider = shifts[s.k.Operand]
			src[i].wide = carve(&rest, s.most<<src[i].wider)
		}
		origin[i+1] = off
	}
	dd, d0 := s.dst.Memory()
	origin[0] = d0
	d := s.dst.DType()
	shift, wider := shifts[d], shifts[s.k.Result]
	packed, wide := carve(&rest, s.most<<shift), carve(&rest, s.most<<wider)
	for c := from; c < to; c++ {
		pass, r, x := c/(s.across*s.down), c/s.across%s.down*s.rows, c%s.across*s.cols
		var row [3]Run
		for i := range s.n {
			row[i] = src[i].chunk(block(&s.cuts, i+1, origin[i+1], pass, r, x))
		}
		db := block(&s.cuts, 0, d0, pass, r, x)
		size, dense := db.Rows*db.Cols, db.Dense()
		b := packed[:size<<shift]
		if dense {
			b = dd[db.Off<<shift : (db.Off+size)<<shift]
		}
		out := run(b, shift)
		ahead := s.ahead
		if !dense {
			ahead = nil
		}
		switch {
		case s.k.Narrow == nil:
			s.k.run(out, &row, ahead)
		default:
			w := run(wide[:size<<wider], wider)
			s.k.run(w, &row, nil)
			if ahead != nil && s.k.Stream != nil {
				s.k.Stream(out, w, nil, nil, ahead)
			} else {
				s.k.Narrow(out, w)
			}
		}
		if !dense {
			spread(dd, b, db, d)
		}
	}
}

// block returns the elements of operand o, whose element 0 is at origin, from row r
// and column x of the two inner loops on, in one of their passes.
func block(s *cuts, o, origin, pass, r, x int) conv.Block {
	in, mid := &s.nest.Loops[0], &s.nest.Loops[1]
	return conv.Block{Rows: min(s.rows, mid.Ext-r), Cols: min(s.cols, in.Ext-x), Row: mid.Str[o], Col: in.Str[o],
		Off: origin + s.nest.At(o, pass) + r*mid.Str[o] + x*in.Str[o]}
}

// Scratchpad holds the dense copies of one worker: at most four, twice where they are widened.
type Scratchpad struct{ Bytes [4 * 2 * packedBytes]byte }

var Scratch = sync.Pool{New: func() any { return new(Scratchpad) }}

// carve cuts n bytes off the front of a scratch, and moves it on by a multiple of 64.
func carve(scratch *[]byte, n int) []byte {
	b := (*scratch)[:n]
	*scratch = (*scratch)[(n+63)&^63:]
	return b
}

// At returns the element of a at an index of a shape that a stretches to, as a Run of one.
func At(a *tensor.Any, idx []int) Run {
	data, off := a.Memory()
	lay := a.LayoutRef()
	own := make([]int, walk.Ref(lay).Rank())
	for i := range own {
		if walk.Ref(lay).Dim(i) > 1 {
			own[i] = idx[len(idx)-len(own)+i]
		}
	}
	at, _ := lay.At(own)
	s := shifts[a.DType()]
	return run(data[(off+at)<<s:(off+at+1)<<s], s)
}

// Item returns the first element of a.
func Item(a *tensor.Any) (w Word) {
	data, off := a.Memory()
	size := a.DType().Size()
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&w)), size), data[off*size:])
	runtime.KeepAlive(a)
	return w
}
