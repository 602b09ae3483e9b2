package op

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/plan"
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

func convKept[T num.Float](t *rapid.T) int {
	list := func(name string, n, lo, hi int) []int {
		return rapid.SliceOfN(rapid.IntRange(lo, hi), n, n).Draw(t, name)
	}
	rank := rapid.IntRange(1, 3).Draw(t, "axes")
	side := []int{40, 12, 5}[rank-1]
	images, group := rapid.IntRange(1, 2).Draw(t, "images"), rapid.IntRange(1, 2).Draw(t, "group")
	x, w := []int{images, group * rapid.SampledFrom([]int{1, 3, 40, 130}).Draw(t, "channels")}, []int{group * rapid.SampledFrom([]int{1, 15, 16, 17, 33, 48, 70, 300}).Draw(t, "outputs"), 0}
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
		o, _ = plan.Rectified(o)
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
	form, _ := plan.WithWeights(o, call(data[0], weights))
	into := tensor.EmptyLike[T](data[0])
	kept := call(into, weights)
	kept.Fixed = []bool{false, true, true}
	p, err := form.Plan(kept)
	if err != nil {
		t.Fatal(err)
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
		a, _ := tensor.Bytes(got.Any())
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
