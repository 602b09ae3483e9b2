package op

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// TestConvKept compares plans that keep the weights of small planes with Conv: images, groups, strides, dilations, padding, NaN, Relu, more than
// a block of k, new inputs, and other weights.
func TestConvKept(t *testing.T) {
	keeps := 0
	rapid.Check(t, func(t *rapid.T) {
		if rapid.Bool().Draw(t, "single") {
			keeps += convKept[float32](t)
		} else {
			keeps += convKept[float64](t)
		}
	})
	if simd.Product32.Best() != nil && keeps == 0 {
		t.Error("no convolution keeps its weights")
	}
}

// lastLike returns a tensor of a's shape that lies channels last, with more channels that it doesn't have.
func lastLike[T num.Elem](a tensor.Tensor[T], more int) tensor.Tensor[T] {
	axes, shape := []int{0, a.Rank() - 1}, []int{a.Dim(0)}
	for i := 2; i < a.Rank(); i++ {
		axes, shape = append(axes, i-1), append(shape, a.Dim(i))
	}
	all := tensor.New[T](append(shape, a.Dim(1)+more)...).Permute(axes...)
	return all.Slice(tensor.Colon, tensor.R(more/2, more/2+a.Dim(1)))
}

func convKept[T num.Float](t *rapid.T) int {
	list := func(name string, n, lo, hi int) []int {
		return rapid.SliceOfN(rapid.IntRange(lo, hi), n, n).Draw(t, name)
	}
	rank := rapid.IntRange(1, 3).Draw(t, "axes")
	side := []int{40, 12, 5}[rank-1]
	images, group := rapid.IntRange(1, 2).Draw(t, "images"), rapid.IntRange(1, 2).Draw(t, "group")
	deep := rapid.IntRange(0, 3).Draw(t, "depthwise") == 0
	x, w := []int{images, group * rapid.SampledFrom([]int{1, 3, 40, 130}).Draw(t, "channels")}, []int{group * rapid.SampledFrom([]int{1, 15, 16, 17, 33, 48, 70, 300}).Draw(t, "outputs"), 0}
	if deep {
		group, x[1] = w[0], w[0]
	}
	w[1] = x[1] / group
	x, w = append(x, list("in", rank, 4, side)...), append(w, list("kernel", rank, 1, 3)...)
	win := Window{Strides: list("strides", rank, 1, 2), Dilations: list("dilations", rank, 1, 2), Pads: list("pads", 2*rank, 0, 2)}
	for i := range rank {
		if (w[2+i]-1)*win.Dilations[i]+1 > x[2+i]+win.Pads[i]+win.Pads[rank+i] {
			win.Dilations[i] = 1
		}
	}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	weights, bias := random[T](r, w...), random[T](r, w[0])
	data := []tensor.Tensor[T]{random[T](r, x...), random[T](r, x...), random[T](r, x...)}
	for i := range x {
		x[i] = r.IntN(x[i])
	}
	data[1].Set(T(math.NaN()), x...)
	o, ok := Lookup("Conv")
	if !ok {
		t.Fatal("no Conv")
	}
	rectify := rapid.Bool().Draw(t, "rectify")
	if rectify {
		o, _ = withRelu(o)
	}
	longs := func(list []int) (l []int64) {
		for _, v := range list {
			l = append(l, int64(v))
		}
		return l
	}
	call := func(x, w tensor.Tensor[T]) *Call {
		return &Call{Inputs: []tensor.Any{x.Any(), w.Any(), bias.Any()}, Opset: 22, Attrs: AttrMap{
			"strides": longs(win.Strides), "dilations": longs(win.Dilations), "pads": longs(win.Pads), "group": int64(group)}}
	}
	form, _ := withWeights(o, call(data[0], weights))
	into := tensor.EmptyLike[T](data[0])
	switch rapid.IntRange(0, 4).Draw(t, "input lies") {
	case 0, 1:
		into = lastLike(into, rapid.IntRange(0, 20).Draw(t, "more channels"))
	case 2: // backward
		into = into.Flip(len(x) - 1)
	}
	kept := call(into, weights)
	kept.Fixed = []bool{false, true, true}
	kept.Context = WithThreads(context.Background(), rapid.IntRange(1, 7).Draw(t, "threads"))
	p, err := form.Plan(kept)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := p.Results(); err != nil {
		t.Fatal(err)
	} else if p.draft().Last && rapid.Bool().Draw(t, "result last") {
		p.Into(lastLike(tensor.Empty[T](list[0].Shape()...), rapid.IntRange(0, 20).Draw(t, "more results")).Any())
	}
	for i, x := range data {
		into.CopyFrom(x)
		out, err := p.Run()
		if err != nil {
			t.Fatal(err)
		}
		want := Conv(x, weights, bias, win, group)
		if rectify {
			want = Relu(want)
		}
		got, _ := tensor.As[T](out[0])
		a, _ := tensor.Bytes(got.Contiguous().Any())
		b, _ := tensor.Bytes(want.Any())
		if !bytes.Equal(a, b) {
			t.Fatalf("run %d, keeps %d bytes: got %v, want %v", i, p.Keeps(), got, want)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	p.Under(ended)
	if _, err := p.Run(); !errors.Is(err, context.Canceled) {
		t.Fatalf("an ended context gives the error %v", err)
	}
	other := random[T](r, w...)
	change := call(data[0], other)
	change.Fixed = kept.Fixed
	if q, err := form.Plan(change); err != nil || q.Keeps() != 0 {
		t.Fatal(fmt.Sprint("other weights are kept: ", err))
	}
	return int(p.Keeps())
}
