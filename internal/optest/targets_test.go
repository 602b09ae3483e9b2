package optest

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// The functions that have ways of their own for lines, rows, tiles and products write to
// targets laid out in every way what they return in new memory, on every instruction set;
// and of empty operands nothing, at once.
func TestTargets(t *testing.T) {
	const only = "ASHLAR_TARGETS_RUN"
	if which := os.Getenv(only); which != "" {
		fmt.Sscanf(which, "%d/%d", &targetsTurn, &targetsTurns)
		anyTargets[float32](t)
		floatTargets[float32](t)
		narrowTargets[float32](t)
		anyTargets[int32](t)
		anyTargets[fixed.FP16x16](t)
		floatTargets[fixed.FP16x16](t)
		anyTargets[float64](t)
		floatTargets[float64](t)
		floatTargets[num.F16](t)
		return
	}
	onLevels(t, "TestTargets", only)
}

// A call has its turn where the calls before it, modulo targetsTurns, are targetsTurn.
var targetsTurn, targetsTurns, targetCalls int

// targets calls f with operands of rank 3: one run, parts of lines, parts of rows, turned and
// backwards ones, and empty ones.
func targets[T, R num.Elem](t *testing.T, name string, f unaryFunc[T, R]) {
	t.Helper()
	if targetCalls++; targetCalls%targetsTurns != targetsTurn {
		return
	}
	var z T
	name = fmt.Sprintf("%s of %T", name, z)
	whole := tensor.New[T](18, 5, 24)
	fill(source(name), whole.Any(), calm, true)
	for i, a := range []tensor.Tensor[T]{whole, whole.Slice(tensor.Colon, tensor.R(0, 4), tensor.R(1, 20)), whole.Slice(tensor.Colon, tensor.R(0, 4)),
		whole.Permute(2, 0, 1), whole.Permute(1, 2, 0), whole.Flip(0, 1, 2), whole.Slice(tensor.Colon, tensor.R(0, 1))} {
		what := fmt.Sprintf("%s, operand %d", name, i)
		var want tensor.Tensor[R]
		if err := tensor.Try(func() { want = f(a) }); err != nil {
			continue // numbers beyond the format
		}
		into(t, what, want, func(o op.Option) tensor.Tensor[R] { return f(a, o) })
		dst := tensor.New[R](want.Shape()...)
		for axis := range dst.Rank() { // backwards along some axes
			dst = dst.Flip(axis)
			if err := tensor.Try(func() { f(a, op.Into(dst)) }); err != nil || string(content(dst.Any())) != string(content(want.Any())) {
				t.Errorf("%s, into a target that runs backwards: another result, %v", what, err)
			}
		}
	}
	most := ordinary
	if strconv.IntSize == 64 {
		most = huge
	}
	for _, e := range []int{ordinary, most} {
		for _, shape := range [][]int{{0, 3, e}, {3, 0, e}, {e, 3, 0}, {e, 0, 3}, {0, e, 3}} {
			a, ctx := tensor.New[T](shape...), ended.After(1000)
			var out tensor.Tensor[R]
			if err := tensor.Try(func() { out = f(a, op.Context(ctx)) }); err == nil && out.Len() == 0 {
				if dst := out; dst.Rank() > 0 {
					err = tensor.Try(func() { f(a, op.Into(tensor.New[R](dst.Shape()...).Flip(0)), op.Context(ctx)) })
					if err != nil {
						t.Errorf("%s of shape %v: into a target: %v", name, shape, err)
					}
				}
			}
		}
	}
}

func anyTargets[T num.Native | num.Fixed](t *testing.T) {
	type on = tensor.Tensor[T]
	for _, axes := range [][]int{{2}, {0}, {1, 2}, nil} {
		of := fmt.Sprint(" over ", axes)
		targets(t, "ReduceSum"+of, func(a on, opts ...op.Option) on { return op.ReduceSum(a, axes, opts...) })
		targets(t, "ReduceMean"+of, func(a on, opts ...op.Option) on { return op.ReduceMean(a, axes, opts...) })
		targets(t, "ReduceMax"+of, func(a on, opts ...op.Option) on { return op.ReduceMax(a, axes, opts...) })
		targets(t, "ReduceMin"+of, func(a on, opts ...op.Option) on { return op.ReduceMin(a, axes, append(opts, op.KeepDims())...) })
		targets(t, "ReduceProd"+of, func(a on, opts ...op.Option) on { return op.ReduceProd(a, axes, opts...) })
		targets(t, "ReduceL1"+of, func(a on, opts ...op.Option) on { return op.ReduceL1(a, axes, opts...) })
		targets(t, "ReduceSumSquare"+of, func(a on, opts ...op.Option) on { return op.ReduceSumSquare(a, axes, opts...) })
		targets(t, "SumAs"+of, func(a on, opts ...op.Option) tensor.Tensor[float64] { return op.SumAs[float64](a, axes, opts...) })
		targets(t, "Any"+of, func(a on, opts ...op.Option) tensor.Tensor[bool] { return op.Any(a, axes, opts...) })
		targets(t, "CountNonZero"+of, func(a on, opts ...op.Option) tensor.Tensor[int64] { return op.CountNonZero(a, axes, opts...) })
	}
	for axis := range 3 {
		of := fmt.Sprint(" along ", axis)
		targets(t, "ArgMax"+of, func(a on, opts ...op.Option) tensor.Tensor[int64] {
			return op.ArgMax(a, axis, op.ArgOptions{}, opts...)
		})
		targets(t, "ArgMin"+of, func(a on, opts ...op.Option) tensor.Tensor[int64] {
			return op.ArgMin(a, axis, op.ArgOptions{LastIndex: true}, opts...)
		})
		targets(t, "CumSum"+of, func(a on, opts ...op.Option) on { return op.CumSum(a, axis, op.CumOptions{}, opts...) })
		targets(t, "CumProd"+of, func(a on, opts ...op.Option) on {
			return op.CumProd(a, axis, op.CumOptions{Exclusive: true, Reverse: true}, opts...)
		})
		targets(t, "Roll"+of, func(a on, opts ...op.Option) on { return op.Roll(a, 2, axis, opts...) })
		targets(t, "Concat"+of, func(a on, opts ...op.Option) on { return op.Concat([]on{a, a}, axis, opts...) })
		targets(t, "Gather"+of, func(a on, opts ...op.Option) on {
			return op.Gather(a, tensor.FromSlice([]int64{0, -1, 0}), axis, opts...)
		})
	}
	targets(t, "Neg", func(a on, opts ...op.Option) on { return op.Neg(a, opts...) })
	targets(t, "Add", func(a on, opts ...op.Option) on { return op.Add(a, a, opts...) })
	targets(t, "Less", func(a on, opts ...op.Option) tensor.Tensor[bool] { return op.Less(a, a, opts...) })
	targets(t, "Cast", func(a on, opts ...op.Option) tensor.Tensor[float64] { return op.Cast[float64](a, opts...) })
	targets(t, "MatMul", func(a on, opts ...op.Option) on { return op.MatMul(a, a.Permute(0, 2, 1), opts...) })
	targets(t, "MatMul with its transpose", func(a on, opts ...op.Option) on {
		a = a.Slice(tensor.Colon, tensor.Colon, tensor.R(0, min(a.Dim(2), 36)))
		return op.MatMul(a.Permute(0, 2, 1), a, opts...)
	})
	targets(t, "MaxPool", func(a on, opts ...op.Option) on { return op.MaxPool(a, op.Window{Kernel: []int{2}}, opts...) })
	targets(t, "Tile", func(a on, opts ...op.Option) on { return op.Tile(a, []int{1, 2, 2}, opts...) })
	targets(t, "Pad", func(a on, opts ...op.Option) on {
		var z T
		return op.Pad(a, []int{1, 0, 1}, []int{0, 1, 2}, op.PadConstant, z, opts...)
	})
	targets(t, "Triu", func(a on, opts ...op.Option) on { return op.Triu(a, 1, opts...) })
}

func floatTargets[T num.Fractional](t *testing.T) {
	type on = tensor.Tensor[T]
	for axis := range 3 {
		of := fmt.Sprint(" along ", axis)
		targets(t, "Softmax"+of, func(a on, opts ...op.Option) on { return op.Softmax(a, axis, opts...) })
		targets(t, "LogSoftmax"+of, func(a on, opts ...op.Option) on { return op.LogSoftmax(a, axis, opts...) })
		targets(t, "Hardmax"+of, func(a on, opts ...op.Option) on { return op.Hardmax(a, axis, opts...) })
		targets(t, "ReduceL2"+of, func(a on, opts ...op.Option) on { return op.ReduceL2(a, []int{axis}, opts...) })
		targets(t, "ReduceLogSumExp"+of, func(a on, opts ...op.Option) on { return op.ReduceLogSumExp(a, []int{axis}, opts...) })
		targets(t, "LayerNormalization"+of, func(a on, opts ...op.Option) on {
			return op.LayerNormalization(a, like(a, axis), on{}, axis, 1e-5, opts...)
		})
		targets(t, "RMSNormalization"+of, func(a on, opts ...op.Option) on { return op.RMSNormalization(a, like(a, axis), axis, 1e-5, opts...) })
	}
	targets(t, "GlobalAveragePool", func(a on, opts ...op.Option) on { return op.GlobalAveragePool(a, opts...) })
	targets(t, "AveragePool", func(a on, opts ...op.Option) on {
		return op.AveragePool(a, op.Window{Kernel: []int{3}}, op.AveragePoolOptions{}, opts...)
	})
	targets(t, "Conv", func(a on, opts ...op.Option) on {
		w := tensor.New[T](3, a.Dim(1), 2)
		fill(source("weights"), w.Any(), calm, true)
		return op.Conv(a, w, on{}, op.Window{}, 1, opts...)
	})
	targets(t, "Exp", func(a on, opts ...op.Option) on { return op.Exp(a, opts...) })
}

// like returns a scale of one number, in the rank of the axes from axis on.
func like[T num.Elem](a tensor.Tensor[T], axis int) tensor.Tensor[T] {
	shape := make([]int, a.Rank()-axis)
	for i := range shape {
		shape[i] = 1
	}
	s := tensor.New[T](shape...)
	fill(source("scale"), s.Any(), calm, true)
	return s
}

func narrowTargets[T num.Float](t *testing.T) {
	type on = tensor.Tensor[T]
	for axis := range 3 {
		of := fmt.Sprint(" along ", axis)
		targets(t, "Sort"+of, func(a on, opts ...op.Option) on { return op.Sort(a, axis, opts...) })
		targets(t, "ArgSort"+of, func(a on, opts ...op.Option) tensor.Tensor[int64] { return op.ArgSort(a, axis, opts...) })
		targets(t, "Median"+of, func(a on, opts ...op.Option) on { return op.Median(a, []int{axis}, opts...) })
		targets(t, "NanSum"+of, func(a on, opts ...op.Option) on { return op.NanSum(a, []int{axis}, opts...) })
		targets(t, "LpNormalization"+of, func(a on, opts ...op.Option) on { return op.LpNormalization(a, axis, 2, opts...) })
		targets(t, "TopK"+of, func(a on, opts ...op.Option) on { v, _ := op.TopK(a, 3, axis, op.TopKOptions{}, opts...); return v })
	}
	targets(t, "LpPool", func(a on, opts ...op.Option) on { return op.LpPool(a, op.Window{Kernel: []int{3}}, 2, opts...) })
	targets(t, "LRN", func(a on, opts ...op.Option) on { return op.LRN(a, 3, 1e-4, 0.75, 1, opts...) })
}
