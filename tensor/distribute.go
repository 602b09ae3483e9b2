package tensor

import (
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/modes"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// DistributeOptions say how elements are dealt to threads. A nil *DistributeOptions is
// one of zeros.
type DistributeOptions struct {
	// Axes are divided, each by its mode of the threads' layout: threads that differ in
	// other modes get the same elements. With none all axes are.
	Axes []int
	// Swizzle gives the offset at which each fragment begins for its first element's,
	// both counted from the tensor's first element in units of its elements or vectors;
	// the strides stay.
	Swizzle layout.Swizzle
}

// Distribute returns a view of the elements that belong to one thread. threads maps
// coordinates in a grid of threads to thread ids; with (c0,c1,…) the coordinate
// of id thread and (T0,T1,…) the shape of the grid, they are the elements whose
// index along every axis i is ci, ci+Ti, ci+2·Ti, …. So the threads' fragments
// interleave; for blocks, use Tile, or Vectorize before. A nested axis is divided
// leaf by leaf where the mode of threads nests alike. When threads is compact, each
// element belongs to one thread. A fragment may be empty.
//
// Coordinates are found leaf by leaf: (thread / stride) mod extent. It panics when
// thread is negative or past the largest id, threads has a stride below 1 or another
// rank than t, or a fragment of a nested axis crosses its leaves unevenly; with
// a Swizzle also when t isn't compact, or a fragment doesn't stay inside it.
func Distribute[T num.Elem](t Tensor[T], threads layout.Layout, thread int, opts *DistributeOptions) Tensor[T] {
	distribute("tensor.Distribute", &t.a.where, &threads, thread, opts)
	return t
}

func distribute(op string, w *where, threads *layout.Layout, thread int, o *DistributeOptions) {
	d := newDistribution(op, &w.lay, threads, thread, o)
	lay, off := d.apply(op, &w.lay)
	if lay.Size() > 0 {
		off = d.swizzle(op, &w.lay, &lay, off, 1)
	}
	move(w, &lay, off)
}

// A distribution is one thread's share.
type distribution struct {
	threads *layout.Layout
	thread  int
	axes    []int // that are divided, as the options name them; none: all
	rank    int   // of the tensor
	w       layout.Swizzle
}

func newDistribution(op string, lay, threads *layout.Layout, thread int, o *DistributeOptions) distribution {
	d := distribution{threads: threads, thread: thread, rank: walk.Ref(lay).Rank()}
	fits := o != nil && len(o.Axes) > 0 || walk.Ref(threads).Rank() == d.rank
	if o != nil {
		d.w, d.axes = o.Swizzle, o.Axes
		for _, axis := range o.Axes {
			fits = fits && axisOf(op, axis, d.rank) < walk.Ref(threads).Rank()
		}
	}
	if !fits {
		panic(&Error{op, sprintf("threads %v have %d modes, %v has %d axes", *threads, walk.Ref(threads).Rank(), *lay, walk.Ref(lay).Rank()), ErrShape})
	}
	for i := range walk.Ref(threads).Leaves() {
		if ext, str := walk.Ref(threads).Leaf(i); ext > 1 && str < 1 {
			panic(&Error{op, sprintf("leaf %d of threads %v has stride %d; ids can't be taken apart", i, *threads, str), ErrShape})
		}
	}
	if _, last := threads.Span(); thread < 0 || thread > last {
		panic(&Error{op, sprintf("thread %d is outside %v, whose ids are 0 to %d", thread, *threads, last), ErrIndex})
	}
	return d
}

func (d *distribution) divides(axis int) bool {
	return len(d.axes) == 0 || slices.Contains(d.axes, axis) || slices.Contains(d.axes, axis-d.rank)
}

// at returns the thread's coordinate along an axis, and how many there are.
func (d *distribution) at(axis int) (c, count int) {
	if !d.divides(axis) {
		return 0, 1
	}
	count = 1
	lo, hi := d.threads.ModeLeaves(axis)
	for k := lo; k < hi; k++ {
		ext, str := walk.Ref(d.threads).Leaf(k)
		if ext > 1 {
			c += d.thread / str % ext * count
		}
		count *= ext
	}
	return c, count
}

// apply returns the layout of the fragment, and the offset of its first element.
func (d *distribution) apply(op string, lay *layout.Layout) (layout.Layout, int) {
	var few [modes.Inline]Index
	idx := few[:0]
	for axis := range walk.Ref(lay).Rank() {
		if d.alike(lay, axis) {
			return d.byLeaf(op, lay)
		}
		c, count := d.at(axis)
		idx = append(idx, layout.Range(c, layout.None, count))
	}
	out, off, err := lay.Slice(idx...)
	if err != nil {
		panic(Wrap(op, err))
	}
	return out, off
}

// alike reports whether an axis is nested as its mode of the threads is.
func (d *distribution) alike(lay *layout.Layout, axis int) bool {
	if !d.divides(axis) {
		return false
	}
	a, b := lay.Mode(axis), d.threads.Mode(axis)
	return a.Rank() > 1 && a.Rank() == b.Rank()
}

// byLeaf divides each axis apart, axes that nest as the threads do entry by entry.
func (d *distribution) byLeaf(op string, lay *layout.Layout) (layout.Layout, int) {
	modes, total := make([]layout.Layout, walk.Ref(lay).Rank()), 0
	for axis := range modes {
		var off int
		var err error
		mode := lay.Mode(axis)
		if d.alike(lay, axis) {
			sub := d.threads.Mode(axis)
			inner := distribution{threads: &sub, thread: d.thread, rank: sub.Rank()}
			mode, off = inner.apply(op, &mode)
		} else {
			c, count := d.at(axis)
			if mode, err = layout.Join(mode); err == nil { // one axis again
				mode, off, err = mode.Slice(layout.Range(c, layout.None, count))
			}
			if err != nil {
				panic(Wrap(op, err))
			}
			mode = mode.Mode(0)
		}
		modes[axis], total = mode, total+off
	}
	out, err := layout.Join(modes...)
	if err != nil {
		panic(Wrap(op, err))
	}
	if out.Size() == 0 {
		total = 0
	}
	return out, total
}

// swizzle moves the start of a fragment of whole. Both are offsets in units of unit
// elements.
func (d *distribution) swizzle(op string, whole, frag *layout.Layout, off, unit int) int {
	if d.w == (layout.Swizzle{}) {
		return off
	}
	lo, hi := whole.Span()
	if !whole.IsCompact() || off%unit != 0 || lo < 0 {
		panic(&Error{op, sprintf("%v has holes or negative strides; a swizzled fragment could leave it", *whole), ErrView})
	}
	to := d.w.At(off/unit) * unit
	if a, b := frag.Span(); to+a < lo || to+b > hi {
		panic(&Error{op, sprintf("%v moves the fragment %v from offset %d to %d, outside %v", d.w, *frag, off, to, *whole), ErrIndex})
	}
	return to
}
