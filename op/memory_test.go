package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// The helpers that the tests of reductions, contractions and moves share: random numbers
// whose sums depend on the order, and tensors that hold the same numbers in
// different memory.

// wild returns a number of random sign and magnitude, so that a sum in another
// order has other bits.
func wild(r *rand.Rand) float64 {
	return math.Ldexp(r.Float64()*2-1, r.IntN(24)-12)
}

// of converts to an element type, rounded once; to float64 it goes back exactly.
func of[T num.Elem](v float64) T {
	var z T
	var a any
	switch any(z).(type) {
	case bool:
		a = v > 0
	case int8:
		a = int8(int64(v * 16))
	case int16:
		a = int16(int64(v * 16))
	case int32:
		a = int32(int64(v * 16))
	case int64:
		a = int64(v * 16)
	case uint8:
		a = uint8(int64(v * 16))
	case uint16:
		a = uint16(int64(v * 16))
	case uint32:
		a = uint32(int64(v * 16))
	case uint64:
		a = uint64(int64(v * 16))
	case float32:
		a = float32(v)
	case float64:
		a = v
	case num.F16:
		a = num.FromFloat64[num.F16](v)
	case num.BF16:
		a = num.FromFloat64[num.BF16](v)
	case num.F8E4M3:
		a = num.FromFloat64[num.F8E4M3](v)
	case num.F8E5M2:
		a = num.FromFloat64[num.F8E5M2](v)
	case complex64:
		a = complex(float32(v), float32(-v))
	case complex128:
		a = complex(v, -v)
	case fixed.FP64x64:
		a, _ = fixed.FromFloat64[fixed.FP64x64](v, fixed.Saturate)
	}
	return a.(T)
}

// rawBits returns the bits of an element, which tell zeros and NaNs apart.
func rawBits[T num.Elem](v T) any {
	switch v := any(v).(type) {
	case float32:
		return math.Float32bits(v)
	case float64:
		return math.Float64bits(v)
	}
	return v
}

func random[T num.Elem](r *rand.Rand, shape ...int) tensor.Tensor[T] {
	t := tensor.New[T](shape...)
	e := t.Elems()
	for i := range e {
		e[i] = of[T](wild(r))
	}
	return t
}

type variant[T num.Elem] struct {
	name string
	t    tensor.Tensor[T]
}

// variants returns tensors with the elements of a, in other memory.
func variants[T num.Elem](a tensor.Tensor[T]) []variant[T] {
	rank := a.Rank()
	vs := []variant[T]{{"row-major", a.Clone()}}
	add := func(name string, t tensor.Tensor[T]) {
		t.CopyFrom(a)
		vs = append(vs, variant[T]{name, t})
	}
	add("column-major", blank[T]("columns", a.Shape()))
	if rank > 0 {
		add("reversed", blank[T]("reversed", a.Shape()))
		add("strided", blank[T]("strided", a.Shape()))
	}
	if lay, ok := nestedLayout(a.Shape()); ok {
		add("nested "+lay.String(), tensor.FromLayout(make([]T, a.Len()), lay))
	}
	return vs
}

// blank returns a tensor of zeros in one kind of memory.
func blank[T num.Elem](kind string, shape []int) tensor.Tensor[T] {
	rank := len(shape)
	switch kind {
	case "columns":
		back := make([]int, rank)
		for i := range back {
			back[i] = shape[rank-1-i]
		}
		return tensor.New[T](back...).Transpose()
	case "reversed":
		t := tensor.New[T](shape...)
		for i := range rank {
			t = t.Flip(i)
		}
		return t
	case "strided":
		wide := append([]int{}, shape...)
		idx := make([]tensor.Index, rank)
		for i := range wide {
			wide[i] = 2*shape[i] + 1
			idx[i] = tensor.R(1, 2*shape[i]+1, 2)
		}
		return tensor.New[T](wide...).Slice(idx...)
	}
	panic(kind)
}

// nestedLayout splits the first axis that can be split in two that don't merge.
func nestedLayout(shape []int) (layout.Layout, bool) {
	for axis, e := range shape {
		p := 0
		for _, q := range []int{2, 3, 5, 7} {
			if e > q && e%q == 0 {
				p = q
				break
			}
		}
		if p == 0 {
			continue
		}
		// Coordinate i of the axis is i0 + p·i1, at i0·(e/p) + i1: then the others.
		var ext, str []string
		step := e
		for i, n := range shape {
			if i == axis {
				ext, str = append(ext, fmt.Sprintf("(%d,%d)", p, e/p)), append(str, fmt.Sprintf("(%d,1)", e/p))
				continue
			}
			ext, str = append(ext, fmt.Sprint(n)), append(str, fmt.Sprint(step))
			step *= n
		}
		return layout.MustParse("(" + strings.Join(ext, ",") + "):(" + strings.Join(str, ",") + ")"), true
	}
	return layout.Layout{}, false
}

// same reports the first element in which got differs from want.
func same[T num.Elem](t *testing.T, what string, got, want tensor.Tensor[T]) {
	t.Helper()
	if fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape()) {
		t.Errorf("%s: shape %v, want %v", what, got.Shape(), want.Shape())
		return
	}
	for at, w := range want.All() {
		if g := got.At(at...); rawBits(g) != rawBits(w) {
			t.Errorf("%s: at %v %v (%x), want %v (%x)", what, at, g, rawBits(g), w, rawBits(w))
			return
		}
	}
}

// fails checks that f panics with an operator's error that holds the given words.
func fails(t *testing.T, f func(), words ...string) {
	t.Helper()
	err := tensor.Try(f)
	if err == nil {
		t.Errorf("no error; want one about %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q doesn't say %q", err, w)
		}
	}
}
