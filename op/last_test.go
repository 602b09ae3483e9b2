package op

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// Operators give the same bits for operands and targets that lie channels last.
func TestLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if rapid.Bool().Draw(t, "single") {
			last[float32](t)
		} else {
			last[float64](t)
		}
	})
}

func last[T num.Float](t *rapid.T) {
	rank := rapid.IntRange(1, 3).Draw(t, "axes")
	shape := []int{rapid.IntRange(1, 2).Draw(t, "images"), rapid.SampledFrom([]int{1, 2, 3, 16, 40, 70}).Draw(t, "channels")}
	win := Window{}
	for range rank {
		n := rapid.IntRange(1, []int{40, 12, 5}[rank-1]).Draw(t, "in")
		k, dilation := rapid.IntRange(1, min(n, 3)).Draw(t, "kernel"), rapid.IntRange(1, 2).Draw(t, "dilation")
		if (k-1)*dilation >= n {
			dilation = 1
		}
		shape = append(shape, n)
		win.Kernel, win.Dilations, win.Strides = append(win.Kernel, k), append(win.Dilations, dilation), append(win.Strides, rapid.IntRange(1, 3).Draw(t, "stride"))
	}
	for range 2 {
		for _, k := range win.Kernel {
			win.Pads = append(win.Pads, rapid.IntRange(0, k-1).Draw(t, "pad"))
		}
	}
	win.Ceil = rapid.Bool().Draw(t, "ceil")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	x := random[T](r, shape...)
	for range r.IntN(4) {
		at := make([]int, len(shape))
		for i, n := range shape {
			at[i] = r.IntN(n)
		}
		x.Set(T([]float64{math.NaN(), math.Inf(1), math.Copysign(0, -1), 0}[r.IntN(4)]), at...)
	}
	ones := []int{shape[1]}
	for range rank {
		ones = append(ones, 1)
	}
	beside, scale := random[T](r, shape...), random[T](r, ones...)
	var params [4]tensor.Tensor[T]
	for i := range params {
		params[i] = random[T](r, shape[1])
	}
	operators := map[string]func(x, beside tensor.Tensor[T], opts ...Option) tensor.Tensor[T]{
		"MaxPool": func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] { return MaxPool(x, win, opts...) },
		"AveragePool": func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
			return AveragePool(x, win, AveragePoolOptions{}, opts...)
		},
		"with pads": func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
			return AveragePool(x, win, AveragePoolOptions{CountIncludePad: true}, opts...)
		},
		"global": func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] { return GlobalAveragePool(x, opts...) },
		"Add":    func(x, y tensor.Tensor[T], opts ...Option) tensor.Tensor[T] { return Add(x, y, opts...) },
		"Mul":    func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] { return Mul(x, scale, opts...) },
		"BatchNormalization": func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
			return BatchNormalization(x, params[0], params[1], params[2], Abs(params[3]), 1e-5, opts...)
		},
		"Sigmoid":       func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] { return Sigmoid(x, opts...) },
		"Clip":          func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] { return Clip(x, 0, 1, opts...) },
		"PRelu":         func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] { return PRelu(x, scale, opts...) },
		"Softmax":       func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] { return Softmax(x, 1, opts...) },
		"of lines":      func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] { return Softmax(x, -1, opts...) },
		"GlobalMaxPool": func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] { return GlobalMaxPool(x, opts...) },
		"of channels": func(x, _ tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
			return ReduceMean(x, []int{1}, append(opts, KeepDims())...)
		},
	}
	more := rapid.IntRange(0, 9).Draw(t, "more channels")
	as := func(a tensor.Tensor[T]) tensor.Tensor[T] {
		if rapid.IntRange(0, 3).Draw(t, "lies") == 0 {
			return a
		}
		b := lastLike(a, more)
		b.CopyFrom(a)
		return b
	}
	turned, other := as(x), as(beside)
	for name, f := range operators {
		want := f(x, beside)
		to := as(tensor.Empty[T](want.Shape()...))
		got := f(turned, other, Into(to))
		a, _ := tensor.Bytes(got.Contiguous().Any())
		b, _ := tensor.Bytes(want.Any())
		if !bytes.Equal(a, b) {
			t.Fatalf("%s of %v with %+v: got %v, want %v", name, shape, win, got, want)
		}
	}
}
