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
		"op.Add: it doesn't have the option KeepDims, which is for reductions":                                       func() { op.Add(a, a, op.KeepDims()) },
		"op.Add: it doesn't have the option Smallest, which is for TopK":                                             func() { op.Add(a, a, op.Into(a), op.Smallest()) },
		"op.Exp: it doesn't have the option TransB, which is for Gemm":                                               func() { op.Exp(a, op.TransB()) },
		"op.Cast: it doesn't have the option CRD, which is for DepthToSpace":                                         func() { op.Cast[int8](a, op.CRD()) },
		"op.Softmax: it doesn't have the option LastIndex, which is for ArgMax and ArgMin":                           func() { op.Softmax(a, 0, op.LastIndex()) },
		"op.ReduceSum: it doesn't have the option LastIndex, which is for ArgMax and ArgMin":                         func() { op.ReduceSum(a, nil, op.LastIndex()) },
		"op.Gather: it doesn't have the option Reverse, which is for CumSum and CumProd":                             func() { op.Gather(a, n, 0, op.Reverse()) },
		"op.Sort: it doesn't have the option Unsorted, which is for Unique":                                          func() { op.Sort(a, 0, op.Unsorted()) },
		"op.TopK: it doesn't have the option KeepDims, which is for reductions":                                      func() { op.TopK(a, 1, 0, op.KeepDims()) },
		"op.MatMul: it doesn't have the option TransA, which is for Gemm":                                            func() { op.MatMul(a, a, op.TransA()) },
		"op.Sum: it doesn't have the option KeepDims, which is for reductions":                                       func() { op.Sum([]tensor.Tensor[float32]{a}, op.KeepDims()) },
		"op.HannWindow: it doesn't have the option TwoSided, which is for STFT":                                      func() { op.HannWindow[float32](3, op.TwoSided()) },
		"op.Unique: it doesn't have the option Symmetric, which is for HannWindow, HammingWindow and BlackmanWindow": func() { op.Unique(a, 0, op.Symmetric()) },
		"op.ArgMax: it doesn't have the option train.Nesterov, which is for Momentum":                                func() { op.ArgMax(a, 0, train.Nesterov()) },
		"op.IsNaN: it doesn't have the option Negative, which is for IsInf":                                          func() { op.IsNaN(a, op.Negative()) },
		"op.Scaler: it doesn't have the option ml.NoZeros, which is for OneHotEncoder":                               func() { ml.Scaler(a, []float32{0}, []float32{1}, ml.NoZeros()) },
		"op.Adagrad: it doesn't have the option train.Nesterov, which is for Momentum":                               func() { train.Adagrad(a, a, a, train.Options{}, 0, 0, train.Nesterov()) },
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
	for want, opts := range map[[2]int8][]op.Option{{1, 3}: {op.Into(to)}, {3, 1}: {op.Unsorted(), op.Into(to)}} {
		got, _, _, _ := op.Unique(a, 0, opts...)
		if [2]int8(to.Elems()) != want || !got.Any().SameData(to.Any()) {
			t.Errorf("%v in the target, want %v", to, want)
		}
	}
	if err := tensor.Try(func() { op.Unique(a, 0, op.Into(tensor.New[int8](3))) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a target of another shape: %v", err)
	}
}

// A lazy operand doesn't change which options an operator has.
func TestOptionsLazy(t *testing.T) {
	a := tensor.FromSlice([]float32{1, float32(math.Inf(1)), float32(math.Inf(-1))}, 3)
	for _, o := range []op.Option{op.Negative(), op.Positive()} {
		if got, want := op.Fuse(op.IsInf(op.Lazy(a), o)), op.IsInf(a, o); !slices.Equal(got.Elems(), want.Elems()) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if err := tensor.Try(func() { op.IsInf(op.Lazy(a), op.KeepDims()) }); err == nil || !strings.Contains(err.Error(), "op.IsInf: it doesn't have the option KeepDims") {
		t.Error(err)
	}
}
