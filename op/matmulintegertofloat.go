package op

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// MatMulIntegerToFloat of the domain com.microsoft is the matrix product of quantized a and b as
// floats. The inputs, from 0 on, are a, b, the scale of a, the scale of b, the zero point of a, the
// zero point of b, and a bias. The bias has one number for each column of b. Zero points and bias
// may be absent.
// The sums of products of a − zero and b − zero are exact; then, in float64,
//
//	y = sum·(scale of a · scale of b) + bias
//
// with every step rounded, and the result rounded once to the scales' type. The scale and the zero
// point of b are one number, or have one for each column; for a they are one. DynamicQuantizeMatMul
// quantizes a as DynamicQuantizeLinear does: its inputs are a, of float32, b, the scale and the
// zero point of b, and the bias. Typed programs call QLinearMatMul's relatives: MatMulInteger, Cast,
// Mul and Add. Source: docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var matMulIntegerToFloat = plan.Operator{About: plan.About{Kept: keepInput, Weights: 1, Name: "MatMulIntegerToFloat", Domain: "com.microsoft", Versions: []int{1}, Why: "of integers of 8 bits alone"}, Least: 4, Most: 7, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		const name = "MatMulIntegerToFloat"
		checkQuantum(name, 2, c.In(2), tensor.Any{}, c.In(0).DType())
		move.CheckZero(name, 4, c.In(4), c.In(0), -1)
		return scaledProduct(name, c, c.In(0), c.In(1), c.In(3), c.In(5), c.In(6), []tensor.Any{c.In(2), c.In(4)}, [3]int{3, 5, 6}, func(_ context.Context, in []move.Words) (a, scale, zero move.Words) {
			return in[0], in[5], in[6]
		})
	}}

var dynamicQuantizeMatMul = plan.Operator{About: plan.About{Kept: keepInput, Weights: 1, Name: "DynamicQuantizeMatMul", Domain: "com.microsoft", Versions: []int{1}, Why: "of float32 alone: Cast first"}, Least: 3, Most: 5, Takes: 1 << dtype.Float32,
	Move: func(c *plan.Use) plan.Mover {
		return scaledProduct("DynamicQuantizeMatMul", c, c.In(0), c.In(1), c.In(2), c.In(3), c.In(4), nil, [3]int{2, 3, 4}, func(ctx context.Context, in []move.Words) (a, scale, zero move.Words) {
			var y, s, z tensor.Any
			quantizedDynamically(&y, &s, &z, in[0].Of, nil)
			return move.WordsOf(y), move.WordsOf(s), move.WordsOf(z)
		})
	}}

// scaledProduct is a product of a and b, whose scale, zero point and bias are the inputs at. left
// makes a, its scale and zero point of the operands: a, b, three for b, and more.
func scaledProduct(name string, c *plan.Use, a, b, scale, zero, bias tensor.Any, more []tensor.Any, at [3]int, left func(ctx context.Context, in []move.Words) (a, scale, zero move.Words)) *move.Transfer {
	plan.Must(name, plan.Bytes8.Has(b.DType()), b.DType())
	d := scale.DType()
	plan.Must(name, plan.Floats.Has(d), d)
	x := productOf(name, nil, a.LayoutRef(), b.LayoutRef())
	columns := b.Rank() - 1
	if b.Rank() < 2 {
		columns = -1
	}
	checkScales(name, at[0], scale, tensor.Any{}, b, columns)
	move.CheckZero(name, at[1], zero, b, columns)
	if !bias.IsZero() && (bias.DType() != d || bias.Rank() != 1 || bias.Dim(0) != x.n) {
		panic(plan.Fail(name, tensor.ErrShape, "the bias, input %d, is %s; want %d numbers of %v", at[2], tensor.Describe(bias), x.n, d))
	}
	unknown := plan.Spec(name, dtype.Uint8) // the scale and the zero point of a may be results of left
	p := x.bytes(a, unknown, b, zero, keptInput(c, 1))
	column := steady(func(in []move.Words) []float64 { return scalesOf(in[0]) }, scale)
	addends := steady(func(in []move.Words) []float64 {
		if in[0].Absent() {
			return nil
		}
		return scalesOf(in[0])
	}, bias)
	return &move.Transfer{Name: name, D: d, Shape: x.shape, Keeps: p.keeps, In: move.OperandsOf(append([]tensor.Any{a, b, scale, zero, bias}, more...)...), Price: x.bytesPrice(), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		a, scale, zero := left(ctx, in)
		s, plus, to := scaling{rows: scalesOf(scale), cols: column(in[2])}, addends(in[4]), move.NumericOf(dst)
		then := s.begun(x.k, dst.Len())
		p.run(exec.Job{Name: name, Ctx: ctx}, p.left(a, zero), p.right(in[1], in[3]), true, func(i, at, from int, sums []int32, last bool) {
			then.each(i, at, from, sums, last, func(from int, sums []int32, factor, before []float64) {
				var y [scaledBlock]float64
				for j, v := range sums {
					y[j] = float64((float64(v) + before[j]) * factor[j])
				}
				for j := range sums {
					if plus != nil {
						y[j] += plus[(from+j)%x.n]
					}
				}
				to.SetFloats(from, y[:len(sums)])
			})
		})
		runtime.KeepAlive(in)
	}}
}
