package exec

import (
	"context"
	"runtime"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	FoldLen   = 4096 // elements a Folder sees at once: a block of the sum rule
	foldGroup = 16   // outputs reduced side by side where their elements are neighbours
	foldPiece = 256  // elements of each that are gathered at a time

	StripLen = 1024 // outputs side by side whose rows are reduced at a time
	fewOuts  = 16   // outputs for which that pays
)

// A Folder takes in the elements of a sequence piece by piece and gives its result. A piece is
// always a multiple of 32 long, but for the last of a block of 4096.
type Folder interface {
	Start()
	Take(x Run)
	Result(out Run) error // stores one element, or says why there is none
}

// A Repeater is a Folder that may want to see its sequence again from the start: Again says
// so once all of it has been taken.
type Repeater interface{ Again() bool }

// A Pool is a sync.Pool. A program compiles the methods of generic types that it sees in the fields of a type, and here there are none.
type Pool interface {
	Get() any
	Put(v any)
}

// A Reducer has the functions of a reduction for elements of one type, by how they lie in memory.
type Reducer struct {
	DType  dtype.DType // of the elements
	P      float64     // a parameter of the reduction
	Modes  []fixed.Mode
	Folder func(r *Reducer) Folder
	Spare  Pool // of folders in use again; nil for a Reducer with a parameter

	// Lines reduces the n elements from each multiple of step on. Rows reduces as many columns
	// as out is long of the rows that begin at the elements of down, the first at x[from]. They
	// return false, before they do anything, where there is no such way, and may be nil. They
	// are asked with no outputs first.
	Lines func(d dtype.DType, out, x Run, step, n int) bool
	Rows  func(d dtype.DType, out, x Run, from int, down Sequence) bool
}

func (r *Reducer) lines(out, x Run, step, n int) bool {
	return r.Lines != nil && r.Lines(r.DType, out, x, step, n)
}

func (r *Reducer) rows(out, x Run, from int, down Sequence) bool {
	return r.Rows != nil && r.Rows(r.DType, out, x, from, down)
}

// Axes is which axes of an operand a reduction runs over.
type Axes struct {
	kept, gone Sequence // of the axes that stay, the first elements of the outputs; of the axes that go, the elements of one output, counted from there
}

// Set sorts out the axes of a layout, and appends the result's extents to shape.
func (x *Axes) Set(lay *layout.Layout, gone []bool, keepDims bool, shape []int) []int {
	for i := range walk.Ref(lay).Rank() {
		switch {
		case !gone[i]:
			shape = append(shape, walk.Ref(lay).Dim(i))
		case keepDims:
			shape = append(shape, 1)
		}
	}
	x.kept.Clear()
	x.gone.Clear()
	for i := walk.Ref(lay).Rank() - 1; i >= 0; i-- {
		if gone[i] {
			x.gone.mode(lay, i)
		} else {
			x.kept.mode(lay, i)
		}
	}
	return shape
}

// reducing is one call of a Reducer.
type reducing struct {
	Axes
	by        Reducer
	to        Sequence // the outputs
	data, out []byte
	base, at  int // the first elements of data and out
	shift     uint8
	result    dtype.DType
	group     int             // outputs that are folded side by side
	name      string          // of the operator, and its
	ctx       context.Context // if the reduction is split
	bad       *Failure
}

// Reduce reduces a, whose axes are x, to dst by the way that suits the memory. It returns
// the first output without a result, if there is one.
func Reduce(j Job, a, dst *tensor.Any, x *Axes, by *Reducer) *Failure {
	r := reducing{Axes: *x, by: *by, shift: shifts[by.DType], result: dst.DType()}
	r.to.Of(dst.LayoutRef())
	r.data, r.base = a.Memory()
	r.out, r.at = dst.Memory()
	if by.DType.IsFixed() {
		r.bad = new(Failure)
	}
	if r.to.N > 0 && !r.byLines(&j) && !r.byRows(&j) {
		r.byFolders(&j)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(dst)
	return r.bad
}

// run returns elements of the operand.
func (r *reducing) run(first, n int) Run {
	return run(r.data[first<<r.shift:(first+n)<<r.shift], r.shift)
}

// outs returns outputs that lie side by side.
func (r *reducing) outs(first, n int) Run { return part(r.out, r.result, first, n) }

// part returns n elements of a memory of elements of a type.
func part(mem []byte, d dtype.DType, first, n int) Run {
	s := shifts[d]
	return run(mem[first<<s:(first+n)<<s], s)
}

// byFolders feeds each sequence to a Folder.
func (r *reducing) byFolders(j *Job) {
	r.group = 1
	if r.gone.few[0].str != 1 && r.gone.N > 1 && r.kept.few[0].str == 1 {
		r.group = min(foldGroup, r.kept.few[0].ext)
	}
	steps, cost := (r.to.N+r.group-1)/r.group, max(1, r.gone.N)*r.group*j.Cost
	if j.Little(steps, cost) {
		r.fold(0, steps)
		return
	}
	c := *r // here, and nowhere else, it moves to the heap
	c.name, c.ctx = j.Name, j.Ctx
	Split(j.Name, j.Ctx, steps, cost, c.fold)
}

// folds has the state of fold.
type folds struct {
	dtype   dtype.DType
	folders []Folder
	packed  []byte
}

func (r *reducing) fold(from, to int) {
	if r.by.Spare == nil {
		r.foldWith(new(folds), from, to)
		return
	}
	f, _ := r.by.Spare.Get().(*folds)
	if f == nil || f.dtype != r.by.DType {
		f = &folds{dtype: r.by.DType}
	}
	r.foldWith(f, from, to)
	r.by.Spare.Put(f)
}

func (r *reducing) foldWith(f *folds, from, to int) {
	for len(f.folders) < r.group {
		by := r.by
		f.folders = append(f.folders, by.Folder(&by))
	}
	if f.packed == nil && (r.group > 1 || !r.gone.run()) {
		f.packed = make([]byte, max(FoldLen, foldGroup*foldPiece)<<r.shift)
	}
	folders, n := f.folders, r.to.N
	for o := from * r.group; o < min(to*r.group, n); {
		first := r.base + r.kept.Offset(o)
		g := min(r.group, n-o)
		if r.group > 1 { // outputs that are neighbours in memory, up to the end of their run
			g = min(g, r.kept.few[0].ext-o%r.kept.few[0].ext, to*r.group-o)
		}
		for i := range g {
			folders[i].Start()
		}
		for more := true; more; more = again(folders[:g]) {
			if g == 1 {
				r.foldOne(folders[0], first, f.packed)
			} else {
				r.foldGroups(folders[:g], first, f.packed)
			}
		}
		for i := range g {
			if err := folders[i].Result(r.outs(r.at+r.to.Offset(o+i), 1)); err != nil {
				r.bad.Note(o+i, err)
			}
		}
		o += g
	}
}

// again asks each of some folders of one kind.
func again(fs []Folder) (more bool) {
	for _, f := range fs {
		if p, ok := f.(Repeater); ok {
			more = p.Again() || more
		}
	}
	return more
}

// foldOne feeds one sequence, straight from memory where it is a run.
func (r *reducing) foldOne(f Folder, base int, packed []byte) {
	s := &r.gone
	for i := 0; i < s.N; i += FoldLen {
		Look(r.name, r.ctx)
		n := min(FoldLen, s.N-i)
		if s.run() {
			f.Take(r.run(base+i, n))
			continue
		}
		s.gather(packed[:n<<r.shift], r.data, r.by.DType, base, i)
		f.Take(run(packed[:n<<r.shift], r.shift))
	}
}

// foldGroups feeds neighbouring sequences side by side: a strip of foldPiece
// elements of each is transposed at a time, so that cache lines are used up.
func (r *reducing) foldGroups(fs []Folder, base int, packed []byte) {
	s := &r.gone
	e, step := s.few[0].ext, s.few[0].str
	for i := 0; i < s.N; i += foldPiece {
		Look(r.name, r.ctx)
		n := min(foldPiece, s.N-i)
		for done := 0; done < n; {
			in := (i + done) % e
			m := min(e-in, n-done)
			CopyBlock(packed, r.data, conv.Block{Off: done, Rows: m, Row: 1, Cols: len(fs), Col: foldPiece},
				conv.Block{Off: base + s.Offset(i+done), Rows: m, Row: step, Cols: len(fs), Col: 1}, r.by.DType)
			done += m
		}
		for g, f := range fs {
			f.Take(part(packed, r.by.DType, g*foldPiece, n))
		}
	}
}

// A reduction over elements that lie side by side, such as over the last axis of
// a row-major matrix, takes many lines in one call of a kernel.

// byLines gives the Reducer lines, where elements lie side by side.
func (r *reducing) byLines(j *Job) bool {
	if !r.gone.run() || r.gone.N == 0 || r.kept.few[0].str < 0 || !r.by.lines(nil, nil, 0, 0) {
		return false
	}
	if cost := r.gone.N * j.Cost; j.Little(r.to.N, cost) {
		r.linesOf(0, r.to.N)
	} else {
		c := *r // here, and nowhere else, it moves to the heap
		Split(j.Name, j.Ctx, r.to.N, cost, c.linesOf)
	}
	return true
}

func (r *reducing) linesOf(from, till int) {
	packed, sc := r.strip()
	if sc != nil {
		defer Scratch.Put(sc)
	}
	wide, step, n := r.kept.few[0].ext, r.kept.few[0].str, r.gone.N
	for o := from; o < till; {
		m := min(till-o, wide-o%wide)
		if packed != nil {
			m = min(m, StripLen)
		}
		r.by.lines(r.place(packed, o, m), r.run(r.base+r.kept.Offset(o), (m-1)*step+n), step, n)
		r.put(packed, o, m)
		o += m
	}
}

// strip returns room for outputs, where they aren't a run.
func (r *reducing) strip() ([]byte, *Scratchpad) {
	if r.to.run() {
		return nil, nil
	}
	sc := Scratch.Get().(*Scratchpad)
	rest := sc.Bytes[:]
	return carve(&rest, StripLen<<shifts[r.result]), sc
}

// place returns where outputs from o on are computed: in the packed copy, or if there is none in
// the result.
func (r *reducing) place(packed []byte, o, n int) Run {
	if packed == nil {
		return r.outs(r.at+o, n)
	}
	return part(packed, r.result, 0, n)
}

// put stores the outputs of a packed copy.
func (r *reducing) put(packed []byte, o, n int) {
	if packed != nil {
		r.to.scatter(r.out, packed[:n<<shifts[r.result]], r.result, r.at, o)
	}
}

// A reduction over the first axis of a row-major matrix has neighbouring outputs whose
// elements lie side by side. It takes whole stretches of rows at a time.

// byRows gives the Reducer rows, where the elements of neighbouring outputs lie side by side.
func (r *reducing) byRows(j *Job) bool {
	wide := r.kept.few[0].ext
	if r.gone.N > len(r.data)>>r.shift { // of elements that repeat there may be any number: folders look at the context
		return false
	}
	if r.gone.N < 2 || r.gone.few[0].str == 1 || r.kept.few[0].str != 1 || wide < fewOuts || !r.by.rows(nil, nil, 0, Sequence{}) {
		return false
	}
	strips, cost := r.kept.N/wide*((wide+StripLen-1)/StripLen), r.gone.N*min(wide, StripLen)*j.Cost
	if j.Little(strips, cost) {
		r.strips(0, strips)
	} else {
		c := *r // here, and nowhere else, it moves to the heap
		Split(j.Name, j.Ctx, strips, cost, c.strips)
	}
	return true
}

func (r *reducing) strips(from, till int) {
	packed, sc := r.strip()
	if sc != nil {
		defer Scratch.Put(sc)
	}
	wide := r.kept.few[0].ext
	across := (wide + StripLen - 1) / StripLen
	all := run(r.data, r.shift)
	for s := from; s < till; s++ {
		o, w := s/across*wide+s%across*StripLen, min(StripLen, wide-s%across*StripLen)
		r.by.rows(r.place(packed, o, w), all, r.base+r.kept.Offset(o), r.gone)
		r.put(packed, o, w)
	}
}

// ReduceDense is Reduce for an operand that is a run of elements, over neighbouring axes or
// all, and too few for threads. It returns false, before it does anything, where that
// isn't so. This makes a call cheap.
func ReduceDense(a, dst *tensor.Any, list []int, by *Reducer) bool {
	lay, to := a.LayoutRef(), dst.LayoutRef()
	rank, size := walk.Ref(lay).Rank(), walk.Ref(lay).Size()
	if !walk.Ref(lay).IsRowMajor() || !walk.Ref(lay).Flat() || !walk.Ref(to).Flat() || size == 0 || size > SplitCost/2 {
		return false
	}
	wide, n, kept := 1, size, 0 // neighbouring outputs whose elements are apart, and how many of those each has
	if list != nil {
		if len(list) == 0 {
			return false
		}
		first := list[0]
		if first < 0 {
			first += rank
		}
		for i, axis := range list {
			if axis != list[0]+i {
				return false
			}
		}
		if uint(first) > uint(rank) || len(list) > rank-first {
			return false
		}
		n = 1
		for i := range rank {
			e, _ := walk.Ref(lay).Leaf(i)
			if i >= first && i < first+len(list) {
				n *= e
				continue
			}
			if i > first {
				wide *= e
			}
			if kept == walk.Ref(to).Rank() || walk.Ref(to).Dim(kept) != e {
				return false
			}
			kept++
		}
	}
	if kept != walk.Ref(to).Rank() {
		return false
	}
	x, out := a.Run(lay), dst.Run(to)
	if conv.Overlap(x, out) {
		return false
	}
	done := false
	in, d := shifts[by.DType], dst.DType()
	if wide == 1 {
		done = by.lines(run(out, shifts[d]), run(x, in), n, n)
	} else if n > 1 && wide <= StripLen && (wide >= fewOuts || size <= FoldLen) { // to make folders takes longer than to use them so little
		down := Sequence{N: n, rank: 1}
		down.few[0] = loop{n, wide}
		for from, o := 0, 0; from < size; from, o = from+n*wide, o+wide {
			if done = by.rows(part(out, d, o, wide), run(x, in), from, down); !done {
				break
			}
		}
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(dst)
	return done
}

// A Failure is the first of the outputs without a result that threads have found.
type Failure struct {
	mu  sync.Mutex
	At  int // in row-major order
	Err error
}

// Note takes note of an output without a result.
func (f *Failure) Note(at int, err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Err == nil || at < f.At {
		f.At, f.Err = at, err
	}
}
