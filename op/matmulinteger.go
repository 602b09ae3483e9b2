package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// MatMulInteger returns the matrix product of a less aZero and b less bZero, as
// MatMul does, in int32, which wraps. aZero is one number or has one for each row of
// a, bZero one or one for each column of b: a vector, or of the operand's rank, with
// an extent of 1 along its other axis. The zero Tensor is 0. It panics when the
// shapes don't fit. ONNX MatMulInteger.
func MatMulInteger[A, B Byte](a tensor.Tensor[A], b tensor.Tensor[B], aZero tensor.Tensor[A], bZero tensor.Tensor[B], opts ...Option) (r tensor.Tensor[int32]) {
	integerProduct(a.Any(), b.Any(), aZero.Any(), bZero.Any(), nil).Into(exec.Ref(&r), opts)
	return r
}

func integerProduct(a, b, aZero, bZero tensor.Any, f *contract.Filter) *move.Transfer {
	const name = "MatMulInteger"
	plan.Present(name, &a, &b)
	plan.Must(name, plan.Bytes8.Has(b.DType()), b.DType())
	x := productOf(name, nil, a.LayoutRef(), b.LayoutRef())
	rows, columns := a.Rank()-2, b.Rank()-1
	if b.Rank() < 2 {
		columns = -1
	}
	move.CheckZero(name, 2, plain(aZero, a, rows), a, rows)
	move.CheckZero(name, 3, plain(bZero, b, columns), b, columns)
	many := manyRanked(aZero, bZero)
	p := x.bytes(a, aZero, b, bZero, f)
	return &move.Transfer{Name: name, D: dtype.Int32, Shape: x.shape, Keeps: p.keeps, In: move.OperandsOf(a, b, aZero, bZero), Price: x.bytesPrice(), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		to := move.ElemsOf[int32](dst.Of)
		if many {
			p.byMatrix(&x, in[0], in[2], in[1], in[3], func(one *byteProduct, _, first int, a, b contract.ByteSide) {
				one.run(exec.Job{Name: name, Ctx: ctx}, a, b, false, func(i, at, from int, sums []int32, last bool) {
					copy(to[first+from:], sums)
				})
			})
			return
		}
		p.run(exec.Job{Name: name, Ctx: ctx}, p.left(in[0], in[2]), p.right(in[1], in[3]), false, func(i, at, from int, sums []int32, last bool) {
			copy(to[from:], sums)
		})
	}}
}

// A byteProduct is a product of bytes less their zero points.
type byteProduct struct {
	contract.ByteProduct
	left, right func(a, zero move.Words) contract.ByteSide
	keeps       int64
}

// bytes plans a product of bytes a and b. f is the packed weights that b is, or nil; only one matrix is kept.
func (x *product) bytes(a, aZero, b, bZero tensor.Any, f *contract.Filter) *byteProduct {
	la, lb := a.Shape(), b.Shape()
	p := &byteProduct{ByteProduct: contract.ByteProduct{Batch: plan.Elements(x.batch()), M: x.m, N: x.n, K: x.k, Step: x.n}}
	if len(lb) <= 2 && len(la) > 2 { // one matrix
		p.Batch, p.M = 1, p.Batch*p.M
	}
	if f != nil && len(lb) == 2 {
		p.keeps = contract.BytesKept(x.n, x.k)
	} else {
		f = nil
	}
	p.left, p.right = sideOf(aZero, nil), sideOf(bZero, f)
	ea := contract.MatricesOf(la[:max(0, len(la)-2)], x.batch(), x.m)
	eb := contract.MatricesOf(lb[:max(0, len(lb)-2)], x.batch(), x.k*x.n)
	p.Row, p.First = ea.At, eb.At
	return p
}

// run computes the product. emit takes sums of row i of a from column at on, which in the result are from element from on; see contract.ByteProduct.
func (p *byteProduct) run(j exec.Job, a, b contract.ByteSide, exact bool, emit func(i, at, from int, sums []int32, last bool)) {
	q := p.ByteProduct
	q.Job, q.A, q.B, q.Exact = j, a, b, exact
	q.Emit = func(entry, i, at int, sums []int32, last bool) { emit(i, at, (entry*q.M+i)*q.N+at, sums, last) }
	q.Run()
}

var matMulInteger = plan.Operator{About: plan.About{Kept: keepInput, Weights: 1, Name: "MatMulInteger", Versions: []int{10}, Why: "of integers of 8 bits alone"}, Least: 2, Most: 4, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		return integerProduct(c.In(0), c.In(1), c.In(2), c.In(3), keptInput(c, 1))
	}}
