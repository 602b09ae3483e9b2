package op

import (
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CountNonzero returns how many elements of a aren't zero along the given axes, nil
// meaning all: both zeros of a float are zero, NaN isn't; true isn't. An empty axis
// gives 0. It panics when an axis doesn't exist or is named twice.
// numpy.count_nonzero.
func CountNonzero[T num.Elem](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[int64] {
	return reduceTo("CountNonzero", truthOf(a), axes, opts, func() folder[bool, int64] { return &truthCount{} })
}

// Any reports whether an element of a isn't zero along the given axes, nil meaning
// all, as CountNonzero counts them. An empty axis gives false. numpy.any.
func Any[T num.Elem](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[bool] {
	return reduceTo("Any", truthOf(a), axes, opts, func() folder[bool, bool] { return &truthTest{} })
}

// AllTrue reports whether no element of a is zero, as Any does. An empty axis gives
// true. numpy.all; All is the list of operators.
func AllTrue[T num.Elem](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[bool] {
	return reduceTo("AllTrue", truthOf(a), axes, opts, func() folder[bool, bool] { return &truthTest{all: true} })
}

func truthOf[T num.Elem](a tensor.Tensor[T]) tensor.Tensor[bool] {
	return tensor.FromSlice(truths(wordsOf(a.Any())), a.Shape()...)
}

type truthCount struct{ n int64 }

func (f *truthCount) start() { f.n = 0 }

func (f *truthCount) take(x []bool) {
	for _, v := range x {
		if v {
			f.n++
		}
	}
}

func (f *truthCount) result() int64 { return f.n }

// truthTest is the folder of Any and AllTrue: it looks for true, or for false.
type truthTest struct{ all, found bool }

func (f *truthTest) start() { f.found = false }

func (f *truthTest) take(x []bool) {
	for _, v := range x {
		f.found = f.found || v != f.all
	}
}

func (f *truthTest) result() bool { return f.found != f.all }
