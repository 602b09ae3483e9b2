package op

import (
	"context"
	"runtime"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// KeepDims leaves the reduced axes in the result, with extent 1.
func KeepDims() Option { return Option{flags: keepDims} }

// axes is which axes of an operand a reduction runs over.
type axes struct {
	kept, gone sequence // of the axes that stay, the first elements of the outputs; of those that go, the elements of one output, counted from there
}

// reduced sorts out the axes of a reduction, of which nil means all, and appends the
// result's extents to shape.
func reduced(x *axes, shape []int, name string, lay *layout.Layout, list []int, keepDims bool) []int {
	rank := lay.Rank()
	var few [layout.Inline]bool
	gone := append(few[:0], make([]bool, rank)...)
	for _, a := range list {
		i := axisOf(name, a, rank)
		if gone[i] {
			panic(fail(name, tensor.ErrAxis, "axis %d is named twice in %s", a, listText(list)))
		}
		gone[i] = true
	}
	for i := range rank {
		switch gone[i] = gone[i] || list == nil; {
		case !gone[i]:
			shape = append(shape, lay.Dim(i))
		case keepDims:
			shape = append(shape, 1)
		}
	}
	x.kept.clear()
	x.gone.clear()
	for i := rank - 1; i >= 0; i-- {
		if gone[i] {
			x.gone.mode(lay, i)
		} else {
			x.kept.mode(lay, i)
		}
	}
	return shape
}

const (
	foldLen   = 4096 // elements a folder sees at once: a block of the sum rule
	foldGroup = 16   // outputs reduced side by side where their elements are neighbours
	foldPiece = 256  // elements of each that are gathered at a time
)

// folder takes in a sequence piece by piece and gives its result. A piece is
// always a multiple of 32 long, but for the last of a block of 4096.
type folder[T, R num.Elem] interface {
	start()
	take(x []T)
	result() R
}

// A reducer is what a reduction does with elements, by how they lie in memory. lines
// and rows return false, before they do anything, where there is no such way.
type reducer[T, R num.Elem] interface {
	folder() folder[T, R]
	// lines reduces the n elements at each multiple of step; it is asked with none first.
	lines(out []R, x []T, step, n int) bool
	// rows reduces as many columns as out is long of the rows that begin at the elements of down, the
	// first at x[from]; it is asked with no columns first.
	rows(out []R, x []T, from int, down sequence) bool
}

// folding is a reducer that has folders alone.
type folding[T, R num.Elem] func() folder[T, R]

func (f folding[T, R]) folder() folder[T, R]              { return f() }
func (f folding[T, R]) lines([]R, []T, int, int) bool     { return false }
func (f folding[T, R]) rows([]R, []T, int, sequence) bool { return false }

// reducing is one call of a reducer.
type reducing[T, R num.Elem] struct {
	axes
	to       sequence // the outputs
	by       reducer[T, R]
	data     []T
	out      []R
	base, at int // the first elements of data and out
	group    int // outputs that are folded side by side
	ctx      context.Context
}

// run reduces a to dst by the way that suits the memory.
func (r *reducing[T, R]) run(j exec.Job, a *tensor.Tensor[T], dst *tensor.Tensor[R]) {
	r.to.of(exec.Ref(dst).LayoutRef())
	r.data, r.base = a.Data()
	r.out, r.at = dst.Mutable()
	if r.to.n > 0 && !r.byLines(&j) && !r.byRows(&j) {
		r.byFolders(&j)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(dst)
}

// byFolders feeds each sequence to a folder.
func (r *reducing[T, R]) byFolders(j *exec.Job) {
	r.group = 1
	if r.gone.few[0].str != 1 && r.gone.n > 1 && r.kept.few[0].str == 1 {
		r.group = min(foldGroup, r.kept.few[0].ext)
	}
	steps, cost := (r.to.n+r.group-1)/r.group, max(1, r.gone.n)*r.group*j.Cost
	if j.Little(steps, cost) {
		r.fold(0, steps)
		return
	}
	c := *r // here, and nowhere else, it moves to the heap
	c.ctx = j.Ctx
	exec.Split(j.Name, j.Ctx, steps, cost, c.fold)
}

// folds is what fold works with.
type folds[T, R num.Elem] struct {
	folders []folder[T, R]
	tile    [max(foldLen, foldGroup*foldPiece)]T
}

// foldPools has a sync.Pool of folds for each reducer but folding, which can't be compared.
var foldPools sync.Map

func (r *reducing[T, R]) fold(from, to int) {
	if _, ok := r.by.(folding[T, R]); ok {
		r.foldWith(new(folds[T, R]), from, to)
		return
	}
	pool, ok := foldPools.Load(r.by)
	if !ok {
		pool, _ = foldPools.LoadOrStore(r.by, &sync.Pool{New: func() any { return new(folds[T, R]) }})
	}
	f := pool.(*sync.Pool).Get().(*folds[T, R])
	r.foldWith(f, from, to)
	pool.(*sync.Pool).Put(f)
}

func (r *reducing[T, R]) foldWith(f *folds[T, R], from, to int) {
	for len(f.folders) < r.group {
		f.folders = append(f.folders, r.by.folder())
	}
	folders, tile, n := f.folders, f.tile[:], r.to.n
	for o := from * r.group; o < min(to*r.group, n); {
		first := r.base + r.kept.offset(o)
		g := min(r.group, n-o)
		if r.group > 1 { // outputs that are neighbours in memory, up to the end of their run
			g = min(g, r.kept.few[0].ext-o%r.kept.few[0].ext, to*r.group-o)
		}
		for i := range g {
			folders[i].start()
		}
		for more := true; more; more = again(folders[:g]) {
			if g == 1 {
				foldOne(folders[0], &r.gone, r.data, first, tile, r.ctx)
			} else {
				foldGroups(folders[:g], &r.gone, r.data, first, tile, r.ctx)
			}
		}
		for i := range g {
			r.out[r.at+r.to.offset(o+i)] = folders[i].result()
		}
		o += g
	}
}

// A repeater is a folder that may want to see its sequence again from the start:
// again says so once all of it has been taken.
type repeater interface{ again() bool }

// again asks each of some folders of one kind.
func again[T, R num.Elem](fs []folder[T, R]) (more bool) {
	for _, f := range fs {
		if p, ok := f.(repeater); ok {
			more = p.again() || more
		}
	}
	return more
}

// ended reports whether nobody waits any more for what split computes. What stops for it
// leaves anything behind: split panics.
func ended(ctx context.Context) bool { return ctx != nil && ctx.Err() != nil }

// foldOne feeds one sequence, straight from memory where it is a run.
func foldOne[T, R num.Elem](f folder[T, R], s *sequence, data []T, base int, tile []T, ctx context.Context) {
	for i := 0; i < s.n && !ended(ctx); i += foldLen {
		n := min(foldLen, s.n-i)
		if s.run() {
			f.take(data[base+i : base+i+n])
			continue
		}
		gather(s, tile[:n], data, base, i)
		f.take(tile[:n])
	}
}

// foldGroups feeds neighbouring sequences side by side: a strip of foldPiece
// elements of each is transposed at a time, so that cache lines are used up.
func foldGroups[T, R num.Elem](fs []folder[T, R], s *sequence, data []T, base int, tile []T, ctx context.Context) {
	e, step := s.few[0].ext, s.few[0].str
	for i := 0; i < s.n && !ended(ctx); i += foldPiece {
		n := min(foldPiece, s.n-i)
		for done := 0; done < n; {
			in := (i + done) % e
			m := min(e-in, n-done)
			conv.Copy2(tile, data, conv.Block{Off: done, Rows: m, Row: 1, Cols: len(fs), Col: foldPiece},
				conv.Block{Off: base + s.offset(i+done), Rows: m, Row: step, Cols: len(fs), Col: 1})
			done += m
		}
		for g, f := range fs {
			f.take(tile[g*foldPiece : g*foldPiece+n])
		}
	}
}

// rounded is a folder over a float type T that is computed from C in float64 and
// rounded once. NaNs come out canonical.
type rounded[T, C num.Elem] struct {
	folder[C, float64]
	widen func([]C, []T) // nil when T is C
	wide  []C
	round func(float64) T
}

func (f *rounded[T, C]) take(x []T) {
	if f.widen == nil {
		f.folder.take(conv.As[C](x))
		return
	}
	if f.wide == nil {
		f.wide = make([]C, foldLen)
	}
	f.widen(f.wide[:len(x)], x)
	f.folder.take(f.wide[:len(x)])
}

func (f *rounded[T, C]) again() bool {
	p, ok := f.folder.(repeater)
	return ok && p.again()
}

func (f *rounded[T, C]) result() T {
	return canonicalNumber(f.round(f.folder.result()))
}

// floatFolder makes the folder over a float type T from those of float32 and
// float64.
func floatFolder[T num.Elem](f32 func() folder[float32, float64], f64 func() folder[float64, float64]) folder[T, T] {
	if dtype.Of[T]() == dtype.Float64 {
		return &rounded[T, float64]{folder: f64(), round: rounding[T]()}
	}
	return &rounded[T, float32]{folder: f32(), round: rounding[T](), widen: widenFor[T]()}
}

// reduceTo reduces a with the folders that fresh makes.
func reduceTo[T, R num.Elem](name string, a tensor.Tensor[T], list []int, opts []Option, fresh func() folder[T, R]) tensor.Tensor[R] {
	return reduceBy(name, &a, list, opts, folding[T, R](fresh))
}

// reduceBy reduces a.
func reduceBy[T, R num.Elem](name string, a *tensor.Tensor[T], list []int, opts []Option, by reducer[T, R]) tensor.Tensor[R] {
	if t := ready(opts, dtype.Of[R]()); t != nil && directly(a, list, exec.Typed[R](t), by) {
		return *exec.Typed[R](t)
	}
	return reduceAny(name, a, list, opts, by)
}

// directly is reduceBy for an operand that is a run of elements, over neighbouring axes or
// all, and too few for threads. It returns false, before it does anything, where that
// isn't so. This is what makes a call cheap.
func directly[T, R num.Elem](a *tensor.Tensor[T], list []int, dst *tensor.Tensor[R], by reducer[T, R]) bool {
	lay, to := exec.Ref(a).LayoutRef(), exec.Ref(dst).LayoutRef()
	rank, size := lay.Rank(), lay.Size()
	if !lay.IsRowMajor() || !lay.Flat() || !to.Flat() || size == 0 || size > exec.SplitCost/2 {
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
			e, _ := lay.Leaf(i)
			if i >= first && i < first+len(list) {
				n *= e
				continue
			}
			if i > first {
				wide *= e
			}
			if kept == to.Rank() || to.Dim(kept) != e {
				return false
			}
			kept++
		}
	}
	if kept != to.Rank() {
		return false
	}
	x, out := runOf(a, lay), runOf(dst, to)
	if conv.Overlap(x, out) {
		return false
	}
	done := false
	if wide == 1 {
		done = by.lines(out, x, n, n)
	} else if n > 1 && wide <= stripLen && (wide >= fewOuts || size <= foldLen) { // to make folders takes longer than to use them so little
		down := sequence{n: n, rank: 1}
		down.few[0] = loop{n, wide}
		for from := 0; from < len(x); from += n * wide {
			if done = by.rows(out[:wide], x, from, down); !done {
				break
			}
			out = out[wide:]
		}
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(dst)
	return done
}

// reduceAny is reduceBy for all other cases. Its frame is large, so it stays out of reduceBy's.
//
//go:noinline
func reduceAny[T, R num.Elem](name string, x *tensor.Tensor[T], list []int, opts []Option, by reducer[T, R]) tensor.Tensor[R] {
	a, s := *x, read(opts)
	s.keepDims = s.keepDims || s.orion && keepsVectors(name) && a.Rank() == 1
	r := reducing[T, R]{by: by}
	var few [layout.Inline]int
	shape := reduced(&r.axes, few[:0], name, exec.Ref(&a).LayoutRef(), list, s.keepDims)
	dst := target[R](name, &s, shape)
	if conv.Overlap(exec.Reach(exec.Ref(&a)), exec.Reach(exec.Ref(&dst))) {
		a = a.Clone()
		reduced(&r.axes, few[:0], name, exec.Ref(&a).LayoutRef(), list, s.keepDims) // the clone is dense, a may not have been
	}
	r.run(exec.Job{Name: name, Ctx: s.ctx(), Cost: 1}, &a, &dst)
	return dst
}

// reduceArgs reads the axes of a reduction: an attribute before the opset that
// made them an input. No axes means all, unless noop_with_empty_axes.
func reduceArgs(name string, c *Call, inputSince int) (axes []int, opts []Option) {
	axes, _ = axesArg(name, c, inputSince)
	if len(axes) == 0 {
		axes = nil
		if c.Opset >= inputSince && c.Attrs.Int("noop_with_empty_axes", 0) != 0 {
			axes = []int{}
		}
	}
	opts = options(c)
	if c.Attrs.Int("keepdims", 1) != 0 {
		opts = append(opts, KeepDims())
	}
	return axes, opts
}

// inferReduce describes the result of a reduction.
func inferReduce(name string, c *Call, inputSince int) []tensor.Any {
	axes, _ := reduceArgs(name, c, inputSince)
	lay := c.in(0).Layout()
	return one(spec(name, c.in(0).DType(), reducedShape(name, &lay, axes, c.Attrs.Int("keepdims", 1) != 0)...))
}

// reducedShape returns the result's extents alone.
func reducedShape(name string, lay *layout.Layout, list []int, keepDims bool) []int {
	return reduced(new(axes), nil, name, lay, list, keepDims)
}
