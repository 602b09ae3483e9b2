package op_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/ml"
	"github.com/ashlar-go/ashlar/op/train"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// TestForeignOptions gives operators options of others.
func TestForeignOptions(t *testing.T) {
	a := tensor.FromSlice([]float32{3, 1, 2, 4}, 2, 2)
	n := tensor.FromSlice([]int64{1, 0})
	for want, f := range map[string]func(){
		"op.Add: it doesn't have the option KeepDims, which is for reductions":      func() { op.Add(a, a, op.KeepDims()) },
		"op.Exp: it doesn't have the option KeepDims, which is for reductions":      func() { op.Exp(a, op.Into(a), op.KeepDims()) },
		"op.Cast: it doesn't have the option KeepDims, which is for reductions":     func() { op.Cast[int8](a, op.KeepDims()) },
		"op.Softmax: it doesn't have the option KeepDims, which is for reductions":  func() { op.Softmax(a, 0, op.KeepDims()) },
		"op.Gather: it doesn't have the option KeepDims, which is for reductions":   func() { op.Gather(a, n, 0, op.KeepDims()) },
		"op.TopK: it doesn't have the option KeepDims, which is for reductions":     func() { op.TopK(a, 1, 0, op.TopKOptions{}, op.KeepDims()) },
		"op.Gemm: it doesn't have the option KeepDims, which is for reductions":     func() { op.Gemm(a, a, a, 1, 1, op.GemmOptions{}, op.KeepDims()) },
		"op.Sum: it doesn't have the option KeepDims, which is for reductions":      func() { op.Sum([]tensor.Tensor[float32]{a}, op.KeepDims()) },
		"op.Scaler: it doesn't have the option KeepDims, which is for reductions":   func() { ml.Scaler(a, []float32{0}, []float32{1}, op.KeepDims()) },
		"op.Momentum: it doesn't have the option KeepDims, which is for reductions": func() { train.Momentum(a, a, a, train.Options{}, train.MomentumOptions{}, op.KeepDims()) },
	} {
		var e *tensor.Error
		if err := tensor.Try(f); !errors.As(err, &e) || err.Error() != want || !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestOptionsOfAll gives the options of all operators to some that have several results, views, or results whose number follows from
// the elements.
func TestOptionsOfAll(t *testing.T) {
	x := tensor.RandomUniform[float32](1, -2, -1, 3000, 4)
	target, none := tensor.RandomIntegers[int64](2, 0, 4, 3000), tensor.Tensor[float32]{}
	boxes, scores := tensor.RandomUniform[float32](3, 0, 9, 2, 6, 4), tensor.RandomUniform[float32](4, 0, 1, 2, 3, 6)
	packed, err := pack.Pack(tensor.RandomUniform[float32](5, -1, 1, 4, 8).Any(), &pack.Options{Tile: pack.TileOf(32, 32), Format: pack.BFP8})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(o ...op.Option) tensor.Any{
		"Flatten":      func(o ...op.Option) tensor.Any { return op.Flatten(x, 1, o...).Any() },
		"Histogram":    func(o ...op.Option) tensor.Any { n, _ := op.Histogram(x, 5, -2, -1, o...); return n.Any() },
		"MatMulPacked": func(o ...op.Option) tensor.Any { return op.MatMulPacked(x, packed, o...).Any() },
		"NegativeLogLikelihoodLoss": func(o ...op.Option) tensor.Any {
			return op.NegativeLogLikelihoodLoss(x, target, none, op.LossOptions{}, o...).Any()
		},
		"SoftmaxCrossEntropyLoss": func(o ...op.Option) tensor.Any {
			loss, _ := op.SoftmaxCrossEntropyLoss(x, target, none, op.LossOptions{Reduction: "none"}, o...)
			return loss.Any()
		},
		"NonMaxSuppression": func(o ...op.Option) tensor.Any {
			return op.NonMaxSuppression(boxes, scores, op.NonMaxSuppressionOptions{Most: 3, Overlap: 0.5}, o...).Any()
		},
		"LabelEncoder": func(o ...op.Option) tensor.Any {
			return ml.LabelEncoder(target, []int64{1, 2}, []float32{0.5, 0.25}, -1, o...).Any()
		},
	} {
		want := f()
		switch d := want.DType(); d {
		case dtype.Int64:
			to := tensor.New[int64](want.Shape()...)
			tensortest.Equal(t, f(op.Into(to)), want)
			tensortest.Equal(t, to.Any(), want)
		default:
			to := tensor.New[float32](want.Shape()...)
			tensortest.Equal(t, f(op.Into(to)), want)
			tensortest.Equal(t, to.Any(), want)
		}
		if err := tensor.Try(func() { f(op.Into(tensor.New[int8](want.Shape()...))) }); !errors.Is(err, tensor.ErrDType) {
			t.Errorf("%s into int8: %v", name, err)
		}
		if err := tensor.Try(func() { f(op.KeepDims()) }); err == nil || !strings.HasPrefix(err.Error(), "op."+name+": it doesn't have the option KeepDims") {
			t.Errorf("%s with KeepDims: %v", name, err)
		}
		if name == "Flatten" {
			continue // a view takes no time
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := tensor.Try(func() { f(op.Context(ctx)) }); !errors.Is(err, context.Canceled) {
			t.Errorf("%s under a context that has ended: %v", name, err)
		}
	}
	for name, f := range map[string]func(){
		"op.Split":      func() { op.Split(x, []int{1, 3}, 1, op.Into(x)) },
		"op.ArraySplit": func() { op.ArraySplit(x, 2, 1, op.Into(x)) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) || !strings.HasPrefix(err.Error(), name+": it returns views") {
			t.Errorf("%s into a target: %v", name, err)
		}
	}
	// A view of the target's own memory.
	m := tensor.Arange[int32](0, 6, 1).Reshape(2, 3)
	op.Flatten(m.Transpose(), 1, op.Into(m.Reshape(3, 2)))
	tensortest.Equal(t, m.Any(), tensor.FromSlice([]int32{0, 3, 1, 4, 2, 5}, 2, 3).Any())
}

// TestUniqueInto writes the entries to a target.
func TestUniqueInto(t *testing.T) {
	a, to := tensor.FromSlice([]int8{3, 1, 3}), tensor.New[int8](2)
	for want, o := range map[[2]int8]op.UniqueOptions{{1, 3}: {}, {3, 1}: {Unsorted: true}} {
		got, _, _, _ := op.Unique(a, 0, o, op.Into(to))
		if [2]int8(to.Elems()) != want || !got.Any().SameData(to.Any()) {
			t.Errorf("%v in the target, want %v", to, want)
		}
	}
	if err := tensor.Try(func() { op.Unique(a, 0, op.UniqueOptions{}, op.Into(tensor.New[int8](3))) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a target of another shape: %v", err)
	}
}

// A lazy operand doesn't change which options an operator has.
func TestOptionsLazy(t *testing.T) {
	a := tensor.FromSlice([]float32{1, float32(math.Inf(1)), float32(math.Inf(-1))}, 3)
	for _, sign := range []int{-1, 0, 1} {
		if got, want := op.Fuse(op.IsInf(op.Lazy(a), sign)), op.IsInf(a, sign); !slices.Equal(got.Elems(), want.Elems()) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if err := tensor.Try(func() { op.IsInf(op.Lazy(a), 0, op.KeepDims()) }); err == nil || !strings.Contains(err.Error(), "op.IsInf: it doesn't have the option KeepDims") {
		t.Error(err)
	}
}
