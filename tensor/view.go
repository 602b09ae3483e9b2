package tensor

import (
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// Index selects along one axis; see R, I, Colon, NewAxis and Ellipsis.
type Index = layout.Index

// The indices without parameters.
var (
	Colon    = layout.Range(layout.None, layout.None, 1) // the whole axis, t[:]
	NewAxis  = layout.NewAxis()                          // a new axis of extent 1, t[None]
	Ellipsis = layout.Ellipsis()                         // all axes not named, t[...]
)

// None stands for an omitted bound in R: R(None, None, -1) is t[::-1].
const None = layout.None

// R selects start, start+step, … before stop: t[start:stop:step] with step 1 when
// absent. Negative bounds count from the end; bounds beyond the axis are clamped.
func R(start, stop int, step ...int) Index {
	if len(step) == 0 {
		return layout.Range(start, stop, 1)
	}
	return layout.Range(start, stop, step[0])
}

// I selects one position and drops the axis: t[i]. -1 is the last.
func I(i int) Index { return layout.Point(i) }

// Slice returns a view of the elements that idx selects, axis by axis, as
// NumPy's basic indexing; axes without an index are kept whole. It panics when
// there are too many indices, one is outside its axis, or a range of a nested
// axis has no layout. A view keeps the whole storage in memory: Clone of a small
// slice lets go of it.
func (t Tensor[T]) Slice(idx ...Index) Tensor[T] {
	slice("tensor.Slice", &t.a.where, idx)
	return t
}

func slice(op string, w *where, idx []Index) {
	lay, off, err := w.lay.Slice(idx...)
	if err != nil {
		panic(Wrap(op, err))
	}
	move(w, &lay, off)
}

// S is Slice with the indices as NumPy writes them: t.S("1:3, ::-1, ..., 2").
func (t Tensor[T]) S(text string) Tensor[T] {
	const op = "tensor.S"
	slice(op, &t.a.where, parseSlice(op, text))
	return t
}

func parseSlice(op, text string) []Index {
	idx, err := layout.ParseSlice(text)
	if err != nil {
		panic(Wrap(op, err))
	}
	return idx
}

// BroadcastTo returns a read-only view stretched to shape: axes are aligned at
// the last one, and axes of extent 1 or absent repeat. It panics when another
// extent differs.
func (t Tensor[T]) BroadcastTo(shape ...int) Tensor[T] {
	stretchTo("tensor.BroadcastTo", &t.a.lay, shape)
	return t.ReadOnly()
}

// stretchTo stretches a layout to shape.
func stretchTo(op string, lay *layout.Layout, shape []int) {
	to, err := lay.BroadcastTo(shape...)
	if err != nil {
		panic(Wrap(op, err))
	}
	*lay = to
}

// Diagonal returns a read-only view of the elements whose index along axis2 is
// that along axis1 plus offset. Both axes go, and the diagonal is the last axis of
// the result, as NumPy has it. The matrix above is Diagonal(t, 0, -2, -1). It is
// empty when offset lies outside. It panics when the axes are the same or don't
// exist, or one is nested and has no single stride.
func Diagonal[T num.Elem](t Tensor[T], offset, axis1, axis2 int) Tensor[T] {
	diagonal("tensor.Diagonal", &t.a.where, offset, axis1, axis2)
	return t.ReadOnly()
}

func diagonal(op string, w *where, offset, axis1, axis2 int) {
	lay := &w.lay
	a, b := axisOf(op, axis1, walk.Ref(lay).Rank()), axisOf(op, axis2, walk.Ref(lay).Rank())
	if a == b {
		panic(&Error{op, sprintf("axes %d and %d are the same", axis1, axis2), ErrAxis})
	}
	n, down, right := min(walk.Ref(lay).Dim(a), walk.Ref(lay).Dim(b)-offset), strideOf(op, lay, a), strideOf(op, lay, b)
	from := offset * right
	if offset < 0 {
		n, from = min(walk.Ref(lay).Dim(a)+offset, walk.Ref(lay).Dim(b)), -offset*down
	}
	if n <= 0 {
		n, from = 0, 0
	}
	var modes []layout.Layout
	for i := range walk.Ref(lay).Rank() {
		if i != a && i != b {
			modes = append(modes, lay.Mode(i))
		}
	}
	out := join(op, append(modes, leaf(op, n, down+right)))
	if out.Size() == 0 {
		from = 0
	}
	move(w, &out, from)
}

// SlidingWindow returns a read-only view of every stretch of size neighbours along
// an axis: the axis becomes one of positions, of extent Dim(axis)-size+1, and a
// last axis of extent size is added. Call it again for windows along several axes.
// It panics unless 0 ≤ size ≤ Dim(axis), or when the axis is nested and has no
// single stride.
func SlidingWindow[T num.Elem](t Tensor[T], axis, size int) Tensor[T] {
	slidingWindow("tensor.SlidingWindow", &t.a.where, axis, size)
	return t.ReadOnly()
}

func slidingWindow(op string, w *where, axis, size int) {
	rank := walk.Ref(&w.lay).Rank()
	a := axisOf(op, axis, rank)
	n := walk.Ref(&w.lay).Dim(a)
	if size < 0 || size > n {
		panic(&Error{op, sprintf("a window of %d on axis %d of extent %d", size, axis, n), ErrShape})
	}
	step := strideOf(op, &w.lay, a)
	modes := make([]layout.Layout, rank, rank+1)
	for i := range modes {
		modes[i] = w.lay.Mode(i)
	}
	modes[a] = leaf(op, n-size+1, step)
	w.lay = join(op, append(modes, leaf(op, size, step)))
}

// strideOf returns the one stride of an axis.
func strideOf(op string, lay *layout.Layout, axis int) int {
	s, ok := walk.Ref(lay).Stride(axis)
	if !ok {
		panic(&Error{op, sprintf("axis %d of %v has no single stride; use it on Contiguous()", axis, *lay), ErrView})
	}
	return s
}

// leaf is a layout of one axis.
func leaf(op string, ext, str int) layout.Layout {
	l, err := layout.New([]int{ext}, []int{str})
	if err != nil {
		panic(Wrap(op, err))
	}
	return l
}

func join(op string, modes []layout.Layout) layout.Layout {
	l, err := layout.Join(modes...)
	if err != nil {
		panic(Wrap(op, err))
	}
	return l
}
