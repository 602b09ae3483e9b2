package tensor

import (
	"iter"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/num"
)

// Values enumerates the elements in row-major order, the last axis fastest.
// Writes during the loop show in later elements.
func (t Tensor[T]) Values() iter.Seq[T] {
	return func(yield func(T) bool) { values(&t.a, yield) }
}

// values is the loop of Values. A program compiles a closure anew for each wrapper of the method that returns it, and this once.
func values[T num.Elem](a *Any, yield func(T) bool) { ValuesOf[T](*a)(yield) }

// ValuesOf enumerates the elements of a as Tensor.Values does. T is as for DataOf, and the
// loop panics as that does.
func ValuesOf[T num.Elem](a Any) iter.Seq[T] {
	return func(yield func(T) bool) {
		const op = "tensor.Values"
		p := a.pointer(op)
		checkWord(op, a.st.dtype, dtype.Of[T](), p, a.st.n)
		n := walk.Ref(&a.lay).Size()
		if n == 0 {
			return
		}
		ext, str := a.lay.Runs()
		inner, step := 1, 0
		if len(ext) > 0 {
			inner, step = ext[0], str[0]
		}
		at, off, st := make([]int, len(ext)), a.origin(), a.st
		for {
			for range inner {
				p := st.open() // again each time: the loop may have closed the storage
				if p == nil {
					p = a.pointer(op)
				}
				v := *element[T](p, off)
				runtime.KeepAlive(st)
				if !yield(v) {
					return
				}
				off += step
			}
			off -= inner * step
			k := 1
			for ; k < len(ext); k++ {
				off += str[k]
				if at[k]++; at[k] < ext[k] {
					break
				}
				off -= ext[k] * str[k]
				at[k] = 0
			}
			if k >= len(ext) {
				return
			}
		}
	}
}

// Values enumerates the elements in row-major order, each of the Go type of its element
// type.
func (a Any) Values() iter.Seq[any] {
	return func(yield func(any) bool) {
		a.pointer("tensor.Values")
		all, off := a.st.boxed(), a.origin()
		for idx := range positions(a.lay.Shape()) {
			at, _ := a.lay.At(idx)
			if !yield(all.at(off + at)) {
				break
			}
		}
		runtime.KeepAlive(a.st)
	}
}

// All enumerates indices and elements in row-major order, the last axis fastest.
// The slice of indices is the same one in every round: clone it to keep it.
//
//	for i, v := range t.All() {
//		t.Set(2*v, i...)
//	}
func (t Tensor[T]) All() iter.Seq2[[]int, T] {
	return func(yield func([]int, T) bool) { all(&t.a, yield) }
}

// all is the loop of All.
func all[T num.Elem](a *Any, yield func([]int, T) bool) {
	shape := a.lay.Shape()
	idx, given := make([]int, len(shape)), make([]int, len(shape))
	for v := range ValuesOf[T](*a) {
		copy(given, idx) // the loop may have written to it
		if !yield(given, v) {
			return
		}
		step(idx, shape)
	}
}

// step goes to the next index of a shape in row-major order, and reports whether there
// is one.
func step(idx, shape []int) bool {
	for k := len(idx) - 1; k >= 0; k-- {
		if idx[k]++; idx[k] < shape[k] {
			return true
		}
		idx[k] = 0
	}
	return false
}

// Indices enumerates the indices of all elements in row-major order, the last axis
// fastest. The slice is the same one in every round: clone it to keep it.
func (a Any) Indices() iter.Seq[[]int] { return positions(a.lay.Shape()) }

// positions enumerates the indices of a shape in row-major order.
func positions(shape []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		if slices.Contains(shape, 0) {
			return
		}
		idx, given := make([]int, len(shape)), make([]int, len(shape))
		for {
			copy(given, idx) // the loop may have written to it
			if !yield(given) || !step(idx, shape) {
				return
			}
		}
	}
}

// Axis enumerates the positions along an axis and the views of the elements there, which
// lack that axis: Axis(t, 0) gives the rows of a matrix. It panics when there is no
// such axis.
func Axis[T num.Elem](t Tensor[T], axis int) iter.Seq2[int, Tensor[T]] {
	moveAxis("tensor.Axis", &t.a.lay, axis, 0)
	return func(yield func(int, Tensor[T]) bool) {
		for i := range walk.Ref(&t.a.lay).Dim(0) {
			if !yield(i, t.Slice(I(i))) {
				return
			}
		}
	}
}

// Windows enumerates all views of the given size that fit into t, in row-major order
// of the index of their first element, and that index. Neighbours share elements,
// and a write shows in all of them; SlidingWindow is all windows as one read-only
// tensor. The slice of indices is the same one in every round. It panics unless
// there is one size per axis and each is from 0 to the extent, and while running
// when a range of a nested axis has no layout.
func Windows[T num.Elem](t Tensor[T], size ...int) iter.Seq2[[]int, Tensor[T]] {
	each := windows("tensor.Windows", &t.a.where, size)
	return func(yield func([]int, Tensor[T]) bool) {
		each(func(at []int, w where) bool { return yield(at, Tensor[T]{a: Any{st: t.a.st, where: w}}) })
	}
}

func windows(op string, t *where, size []int) iter.Seq2[[]int, where] {
	if len(size) != walk.Ref(&t.lay).Rank() {
		panic(&Error{op, sprintf("%d sizes for the %d axes of %s", len(size), walk.Ref(&t.lay).Rank(), t.lay.ShapeString()), ErrShape})
	}
	size = slices.Clone(size)
	count := make([]int, len(size))
	for k, n := range size {
		if n < 0 || n > walk.Ref(&t.lay).Dim(k) {
			panic(&Error{op, sprintf("a window of %d on axis %d of extent %d", n, k, walk.Ref(&t.lay).Dim(k)), ErrShape})
		}
		count[k] = walk.Ref(&t.lay).Dim(k) - n + 1
	}
	return func(yield func([]int, where) bool) {
		idx := make([]Index, len(size))
		for at := range positions(count) {
			for k, i := range at {
				idx[k] = R(i, i+size[k])
			}
			w := *t
			slice("tensor.Slice", &w, idx)
			if !yield(at, w) {
				return
			}
		}
	}
}
