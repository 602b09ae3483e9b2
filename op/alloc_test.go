package op

import (
	"runtime/debug"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// With Into nothing is allocated, whatever the layouts: results, scratch, plans and
// options included.
func TestIntoAllocatesNothing(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("coverage counters allocate")
	}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("under the race detector a sync.Pool drops some of what it is given")
	}
	a, b := tensor.Full[float32](2, 8, 12), tensor.Full[float32](3, 12)
	dst, mask := tensor.New[float32](8, 12), tensor.New[bool](8, 12)
	turned := tensor.New[float32](12, 8).Transpose()
	back := tensor.Full[float32](1, 8, 12).Flip()
	h, hdst := tensor.Full(num.FromFloat64[num.F16](2), 8, 12), tensor.New[num.F16](8, 12)
	i, idst := tensor.Full[int32](7, 8, 12), tensor.New[int32](8, 12)
	cube, one := tensor.Full[float32](2, 3, 40, 20), tensor.New[float32]()
	row12, wide, column, hcolumn, tall := tensor.New[float32](12), tensor.New[float64](20, 3), tensor.New[float32](8), tensor.New[int64](8), tensor.New[float32](3, 40, 1)
	cube64, sides, place := tensor.Full[float64](2, 3, 40, 20), tensor.New[float32](3, 20), tensor.New[int64](3, 20)
	long, longDst := tensor.Full[float32](1, 3*exec.RunLen+5), tensor.New[float32](3*exec.RunLen+5)
	small, four, hfour, first, last := tensor.Full[float32](1, 4, 4), tensor.New[float32](4), tensor.New[int64](4), []int{0}, []int{1}
	square, out44, vector := tensor.Full[float32](3, 4, 4), tensor.New[float32](4, 4), tensor.New[float32](4)
	batched, spread, batches := tensor.Full[float32](1, 3, 1, 4, 5), tensor.Full[float32](1, 2, 5, 4), tensor.New[float32](3, 2, 4, 4)
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"Add", func() { Add(a, a, Into(dst)) }},
		{"Add of a row", func() { Add(a, b, Into(dst)) }},
		{"Add of a transposed operand", func() { Add(a, turned, Into(dst)) }},
		{"Add of a reversed operand", func() { Add(back, a, Into(dst)) }},
		{"Add to a transposed target", func() { Add(a, b, Into(turned)) }},
		{"Add of more than a chunk", func() { Add(long, long, Into(longDst)) }},
		{"Add of float16", func() { Add(h, h, Into(hdst)) }},
		{"Add in place", func() { Add(dst, a, Into(dst)) }},
		{"Sub", func() { Sub(a, a, Into(dst)) }},
		{"Mul of integers", func() { Mul(i, i, Into(idst)) }},
		{"Div", func() { Div(a, b, Into(dst)) }},
		{"Div of integers", func() { Div(i, i, Into(idst)) }},
		{"Max", func() { Max(a, b, Into(dst)) }},
		{"Pow", func() { Pow(a, b, Into(dst)) }},
		{"Exp", func() { Exp(a, Into(dst)) }},
		{"Tanh of a transposed operand", func() { Tanh(turned, Into(dst)) }},
		{"Sqrt of float16", func() { Sqrt(h, Into(hdst)) }},
		{"Neg", func() { Neg(a, Into(dst)) }},
		{"Abs of float16", func() { Abs(h, Into(hdst)) }},
		{"Relu", func() { Relu(a, Into(dst)) }},
		{"LeakyRelu", func() { LeakyRelu(a, 0.1, Into(dst)) }},
		{"LeakyRelu of float16", func() { LeakyRelu(h, 0.1, Into(hdst)) }},
		{"Clip", func() { Clip(a, 0, 6, Into(dst)) }},
		{"Clip of a reversed operand", func() { Clip(back, 0, 6, Into(dst)) }},
		{"Less", func() { Less(a, b, Into(mask)) }},
		{"Equal", func() { Equal(a, a, Into(mask)) }},
		{"And", func() { And(mask, mask, Into(mask)) }},
		{"IsNaN", func() { IsNaN(a, Into(mask)) }},
		{"IsInf of float16", func() { IsInf(h, 0, Into(mask)) }},
		{"Where", func() { Where(mask, a, a, Into(dst)) }},
		{"Where of a row", func() { Where(mask, a, b, Into(dst)) }},
		{"Cast", func() { Cast[float32](i, Into(dst)) }},
		{"Cast of a transposed operand", func() { Cast[num.F16](turned, Into(hdst)) }},
		{"ReduceSum of all", func() { ReduceSum(cube, nil, Into(one)) }},
		{"ReduceSum by lines", func() { ReduceSum(a, []int{-1}, Into(column)) }},
		{"ReduceSum of a line beyond a block", func() { ReduceSum(long, nil, Into(one)) }},
		{"ReduceSum of few lines", func() { ReduceSum(small, last, Into(four)) }},
		{"ReduceSum of few rows", func() { ReduceSum(small, first, Into(four)) }},
		{"ReduceMax of few rows", func() { ReduceMax(small, first, Into(four)) }},
		{"ArgMax of few rows", func() { ArgMax(small, 0, ArgOptions{}, Into(hfour)) }},
		{"ReduceMean by rows", func() { ReduceMean(cube, []int{1}, Into(sides)) }},
		{"ReduceMean to a transposed target", func() { ReduceMean(cube64, []int{1}, Into(wide.Transpose())) }},
		{"ReduceMean of a transposed operand", func() { ReduceMean(turned, []int{0}, Into(row12)) }},
		{"ReduceMax by lines, kept", func() { ReduceMax(cube, []int{2}, KeepDims(), Into(tall)) }},
		{"ReduceMin by rows", func() { ReduceMin(cube, []int{1}, Into(sides)) }},
		{"ArgMax by lines", func() { ArgMax(a, 1, ArgOptions{}, Into(hcolumn)) }},
		{"ArgMin by rows", func() { ArgMin(cube, 1, ArgOptions{}, Into(place)) }},
		{"Softmax", func() { Softmax(a, 1, Into(dst)) }},
		{"Softmax of a transposed operand", func() { Softmax(turned, -1, Into(dst)) }},
		{"MatMul", func() { MatMul(small, square, Into(out44)) }},
		{"MatMul of a transposed operand", func() { MatMul(small.Transpose(), square, Into(out44)) }},
		{"MatMul of a batch that stretches", func() { MatMul(batched, spread, Into(batches)) }},
		{"MatMul of a row", func() { MatMul(four, square, Into(vector)) }},
		{"Gemm with a bias and Relu", func() { Gemm(small, square, four, 1, 1, GemmOptions{TransA: true}, Rectify(), Into(out44)) }},
		{"Identity", func() { Identity(a, Into(dst)) }},
		{"a prepared chain", Prepare(Tanh(Add(Mul(Lazy(a), b), turned)), Into(dst))},
		{"a prepared chain in place", Prepare(Exp(Sub(Lazy(dst), a)), Into(dst))},
		{"a prepared chain with a whole part", Prepare(Add(Exp(Lazy(b)), a), Into(dst))},
	} {
		if n := testing.AllocsPerRun(20, c.f); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}
