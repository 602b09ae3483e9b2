package op_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/ml"
	"github.com/ashlar-go/ashlar/op/train"
	"github.com/ashlar-go/ashlar/tensor"
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
