package tensor

import (
	"iter"
	"runtime"
)

// Values enumerates the elements in row-major order, the last axis fastest.
// Writes during the loop show in what comes later.
func (t Tensor[T]) Values() iter.Seq[T] {
	return func(yield func(T) bool) {
		t.data("tensor.Values")
		n := t.lay.Size()
		if n == 0 {
			return
		}
		ext, str := t.lay.Runs()
		at, off := make([]int, len(ext)), t.origin()
		for {
			v := t.data("tensor.Values")[off] // again each time: the loop may have closed the storage
			runtime.KeepAlive(t.st)
			if !yield(v) {
				return
			}
			k := 0
			for ; k < len(ext); k++ {
				off += str[k]
				if at[k]++; at[k] < ext[k] {
					break
				}
				off -= ext[k] * str[k]
				at[k] = 0
			}
			if k == len(ext) {
				return
			}
		}
	}
}

// All enumerates indices and elements in row-major order, the last axis fastest.
// The slice of indices is the same one in every round: clone it to keep it.
//
//	for i, v := range t.All() {
//		t.Set(2*v, i...)
//	}
func (t Tensor[T]) All() iter.Seq2[[]int, T] {
	return func(yield func([]int, T) bool) {
		idx, given := make([]int, t.Rank()), make([]int, t.Rank())
		for v := range t.Values() {
			copy(given, idx) // the loop may have written to it
			if !yield(given, v) {
				return
			}
			for k := len(idx) - 1; k >= 0; k-- {
				if idx[k]++; idx[k] < t.lay.Dim(k) {
					break
				}
				idx[k] = 0
			}
		}
	}
}
