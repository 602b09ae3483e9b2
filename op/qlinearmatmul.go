package op

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearMatMul is the matrix product of quantized a and b, quantized as qy says. The
// sum of products of a − Zero and b − Zero is exact; then, in float64,
//
//	y = saturate(round(sum·(scale of a · scale of b) / scale of y) + zero point of y)
//
// with every step rounded, and round to nearest, even on a tie. The scale and the zero
// point of a may be one for each row, and those of b one for each column; y has one.
// It panics when the shapes don't fit. ONNX QLinearMatMul, of integers.
func QLinearMatMul[S num.Float | num.Narrow, A, B, Y int8 | uint8](a tensor.Tensor[A], qa Quantization[S, A], b tensor.Tensor[B], qb Quantization[S, B], qy Quantization[S, Y], opts ...Option) (r tensor.Tensor[Y]) {
	quantizedProduct([]tensor.Any{a.Any(), qa.Scale.Any(), qa.Zero.Any(), b.Any(), qb.Scale.Any(), qb.Zero.Any(), qy.Scale.Any(), qy.Zero.Any()}, dtype.Of[Y]()).Into(exec.Ref(&r), opts)
	return r
}

func quantizedProduct(in []tensor.Any, d dtype.DType) *move.Transfer {
	const name = "QLinearMatMul"
	a, b := in[0], in[3]
	plan.Present(name, &a, nil, nil, &b)
	plan.Must(name, plan.Bytes8.Has(b.DType()), b.DType())
	plan.Must(name, plan.Bytes8.Has(d), d)
	x := productOf(name, nil, a.LayoutRef(), b.LayoutRef())
	rows, columns := a.Rank()-2, b.Rank()-1
	if b.Rank() < 2 {
		columns = -1
	}
	checkScales(name, 1, in[1], in[2], a, rows)
	checkScales(name, 4, in[4], in[5], b, columns)
	checkQuantum(name, 6, in[6], in[7], d)
	return &move.Transfer{Name: name, D: d, Shape: x.shape, In: move.OperandsOf(in...), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		sums := x.wholeSums(exec.Job{Name: name, Ctx: ctx}, aboveZero(in[0], in[2], rows), aboveZero(in[3], in[5], columns))
		defer sums.Close()
		requantize(dst, sums, scales{move.NumericOf(in[1]), x.n}, scales{move.NumericOf(in[4]), 1}, quantumOf(in[6], in[7]))
	}}
}

// checkScales panics unless a scale, input i, is one number or has one for each index
// along axis of a, and the zero point after it too.
func checkScales(name string, i int, scale, zero, a tensor.Any, axis int) {
	plan.PresentAt(name, i, &scale)
	if !plan.Floats.Has(scale.DType()) {
		panic(plan.Fail(name, tensor.ErrDType, "the scale, input %d, holds %v; want floats", i, scale.DType()))
	}
	if scale.Len() != 1 && (axis < 0 || scale.Rank() != 1 || scale.Dim(0) != a.Dim(axis)) {
		panic(plan.Fail(name, tensor.ErrShape, "the scale, input %d, is %s; want one number%s", i, tensor.Describe(scale), move.PerIndex(a, axis)))
	}
	move.CheckZero(name, i+1, zero, a, axis)
}

// scales are those of an operand, of which one stands for per results next to each
// other before the next one does.
type scales struct {
	move.Numeric
	per int
}

func (s *scales) at(i int) float64 { return s.Real(i / s.per % s.Len()) }

// requantize writes exact sums of products, by the scales of their factors.
func requantize(dst move.Words, sums tensor.Any, a, b scales, y quantum) {
	to := move.NumericOf(dst)
	for i, v := range move.ElemsOf[int64](&sums) {
		to.SetQuantized(i, float64(float64(v)*float64(a.at(i)*b.at(i)))/y.scale, y.zero, true)
	}
	runtime.KeepAlive(&sums)
}

var qLinearMatMul = plan.Operator{About: plan.About{Name: "QLinearMatMul", TakesUp: plan.InBlocks | plan.InWhole, FLOPs: plan.FLOPs{Rule: productFLOPs}, Versions: []int{10, 21}, Why: "of integers of 8 bits alone"}, Least: 8, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		return quantizedProduct(append([]tensor.Any{}, c.Inputs[:8]...), c.In(7).DType())
	}}

func qLinearConvFLOPs(c *plan.Use, out []tensor.Any) int64 {
	return plan.WithBias(plan.ProductOfAll(2, plan.LengthOf(plan.Nth(out, 0)), plan.FilterOf(c.In(3))), c, 8, out)
}
