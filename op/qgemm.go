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

// QGemm of the domain com.microsoft is Gemm of quantized matrices. The inputs, from 0 on, are a, its
// scale and zero point, b, its scale and zero point, and c, of int32, which broadcasts to the result
// and may be absent. The sum of c and the products of a − zero and b − zero is exact; then, in
// float64,
//
//	y = sum·(alpha · scale of a · scale of b)
//
// with every step from the left rounded. Without inputs 7 and 8, a scale and a zero point, the
// result is y in the type of the scales; with them it is
//
//	saturate(round(y / scale of y) + zero point of y)
//
// The scale and the zero point of b are one number, or have one for each column of the product;
// the others are one number. Typed programs call MatMulInteger or QLinearMatMul. Source:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var qGemm = plan.Operator{About: plan.About{Kept: keepInput, Weights: 3, Name: "QGemm", Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"alpha", "transA", "transB"}, Why: "of integers of 8 bits alone"}, Least: 2, Most: 9, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		const name = "QGemm"
		c.Must(name, 0, 1, 3, 4)
		a, b, plus := c.In(0), c.In(3), c.In(6)
		if a.Rank() != 2 || b.Rank() != 2 {
			panic(plan.Fail(name, tensor.ErrShape, "operands %s and %s; want two matrices", tensor.Describe(a), tensor.Describe(b)))
		}
		a, b = turnedSide(c, 0, "A"), turnedSide(c, 3, "B")
		plan.Must(name, plan.Bytes8.Has(b.DType()), b.DType())
		x := productOf(name, nil, a.LayoutRef(), b.LayoutRef())
		checkQuantum(name, 1, c.In(1), c.In(2), a.DType())
		checkScales(name, 4, c.In(4), c.In(5), b, 1)
		if !plus.IsZero() && (plus.DType() != dtype.Int32 || !move.Stretches(plus.LayoutRef(), x.shape)) {
			panic(plan.Fail(name, tensor.ErrShape, "c, input 6, is %s; want int32 that stretches to %s", tensor.Describe(plus), plan.ShapeText(x.shape)))
		}
		d := c.In(1).DType()
		plan.Must(name, plan.Floats.Has(d), d)
		if scale, zero := c.In(7), c.In(8); !scale.IsZero() {
			if zero.IsZero() {
				panic(plan.Fail(name, tensor.ErrShape, "the scale of the result is there, input 7, but not its zero point, input 8"))
			}
			d = zero.DType()
			plan.Must(name, plan.Bytes8.Has(d), d)
			checkQuantum(name, 7, scale, zero, d)
		}
		alpha := float64(c.Attrs.Float("alpha", 1))
		p := x.bytes(a, c.In(2), b, c.In(5), keptInput(c, 3))
		right, turned := b, b
		if p.keeps > 0 { // once it is packed nothing reads it
			right = c.In(3)
		}
		alike := plus.IsZero() || plus.Rank() < 2 || plus.Dim(0) == 1 // rows of c
		scales := steady(func(in []move.Words) scaling {
			s := scaling{rows: scalesOf(in[0]), cols: scalesOf(in[1])}
			s.rows[0] *= alpha
			s.byColumn(x.n)
			if alike && !in[2].Absent() {
				s.addends = scalesOf(in[2].Stretched([]int{1, x.n}))
			}
			return s
		}, c.In(1), c.In(4), plus)
		result := steady(quantumIn, c.In(7), c.In(8))
		return &move.Transfer{Name: name, D: d, Shape: x.shape, Price: x.bytesPrice(), Keeps: p.keeps, In: move.OperandsOf(a, c.In(1), c.In(2), right, c.In(4), c.In(5), plus, c.In(7), c.In(8)), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
			then, to, qy := scales(in[1], in[4], in[6]).begun(x.k, dst.Len()), move.NumericOf(dst), quantum{}
			if !alike {
				then.plus = move.NumericOf(in[6].Stretched(x.shape)).Real
			}
			if !in[7].Absent() {
				qy = result(in[7], in[8])
			}
			left, right := p.left(in[0], in[2]), p.right(in[3], in[5])
			if p.keeps > 0 {
				right.Turned = func() []byte { return move.WordsOf(turned).Mem }
			}
			p.run(exec.Job{Name: name, Ctx: ctx}, left, right, true, func(i, at, from int, sums []int32, last bool) {
				if !d.IsFloat() {
					then.requantize(dst, qy, i, at, from, sums, last)
					return
				}
				then.each(i, at, from, sums, last, func(from int, sums []int32, factor, plus []float64) {
					for j, v := range sums {
						to.SetFloat(from+j, float64((float64(v)+plus[j])*factor[j]))
					}
				})
			})
			runtime.KeepAlive(in)
		}}
	}}
