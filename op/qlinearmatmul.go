package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/contract"
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
// point of a may be one for each row, and for b one for each column: a vector, or
// of the operand's rank, with an extent of 1 along its other axis. y has one.
// It panics when the shapes don't fit. ONNX QLinearMatMul, of integers.
func QLinearMatMul[S num.Floating, A, B, Y int8 | uint8](a tensor.Tensor[A], qa Quantization[S, A], b tensor.Tensor[B], qb Quantization[S, B], qy Quantization[S, Y], opts ...Option) (r tensor.Tensor[Y]) {
	quantizedProduct([]tensor.Any{a.Any(), qa.Scale.Any(), qa.Zero.Any(), b.Any(), qb.Scale.Any(), qb.Zero.Any(), qy.Scale.Any(), qy.Zero.Any()}, dtype.Of[Y](), nil).Into(exec.Ref(&r), opts)
	return r
}

func quantizedProduct(in []tensor.Any, d dtype.DType, f *contract.Filter) *move.Transfer {
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
	checkScales(name, 1, plain(in[1], a, rows), plain(in[2], a, rows), a, rows)
	checkScales(name, 4, plain(in[4], b, columns), plain(in[5], b, columns), b, columns)
	checkQuantum(name, 6, in[6], in[7], d)
	p := x.bytes(a, in[2], b, in[5], f)
	scales, result := steady(x.scaling, in[1], in[4]), steady(quantumIn, in[6], in[7])
	many := manyRanked(in[1], in[2], in[4], in[5])
	return &move.Transfer{Name: name, D: d, Shape: x.shape, Keeps: p.keeps, In: move.OperandsOf(in...), Price: x.bytesPrice(), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		if many {
			rows, cols, y := perRowOf(&x, in[1], scalesOf), perRowOf(&x, in[4], scalesOf), result(in[6], in[7])
			before := scaling{}.begun(x.k, dst.Len()).before
			p.byMatrix(&x, in[0], in[2], in[3], in[5], func(one *byteProduct, e, first int, a, b contract.ByteSide) {
				then := scaling{rows: rows.rows(p, &x, e), cols: cols.matrix(e), before: before}
				one.run(exec.Job{Name: name, Ctx: ctx}, a, b, true, func(i, at, from int, sums []int32, last bool) {
					then.requantize(dst, y, i, at, first+from, sums, last)
				})
			})
			return
		}
		then, y := scales(in[1], in[4]).begun(x.k, dst.Len()), result(in[6], in[7])
		p.run(exec.Job{Name: name, Ctx: ctx}, p.left(in[0], in[2]), p.right(in[3], in[5]), true, func(i, at, from int, sums []int32, last bool) {
			then.requantize(dst, y, i, at, from, sums, last)
		})
	}}
}

// scaling returns the scaling of a product whose rows and columns have scales.
func (x *product) scaling(in []move.Words) scaling {
	s := scaling{rows: scalesOf(in[0]), cols: scalesOf(in[1])}
	if len(s.cols) > 1 {
		s.byColumn(x.n)
	}
	return s
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

var qLinearMatMul = plan.Operator{About: plan.About{Kept: keepInput, Weights: 3, Name: "QLinearMatMul", Versions: []int{10, 21}, Why: "of integers of 8 bits alone"}, Least: 8, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		return quantizedProduct(append([]tensor.Any{}, c.Inputs[:8]...), c.In(7).DType(), keptInput(c, 3))
	}}
