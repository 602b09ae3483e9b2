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
// a, bZero one or one for each column of b; the zero Tensor is 0. It panics when the
// shapes don't fit. ONNX MatMulInteger, of which zero points for each row of a batch
// of matrices, in more than one axis, are left out.
func MatMulInteger[A, B Byte](a tensor.Tensor[A], b tensor.Tensor[B], aZero tensor.Tensor[A], bZero tensor.Tensor[B], opts ...Option) (r tensor.Tensor[int32]) {
	integerProduct(a.Any(), b.Any(), aZero.Any(), bZero.Any()).Into(exec.Ref(&r), opts)
	return r
}

func integerProduct(a, b, aZero, bZero tensor.Any) *move.Transfer {
	const name = "MatMulInteger"
	plan.Present(name, &a, &b)
	plan.Must(name, plan.Bytes8.Has(b.DType()), b.DType())
	x := productOf(name, nil, a.LayoutRef(), b.LayoutRef())
	rows, columns := a.Rank()-2, b.Rank()-1
	if b.Rank() < 2 {
		columns = -1
	}
	move.CheckZero(name, 2, aZero, a, rows)
	move.CheckZero(name, 3, bZero, b, columns)
	return &move.Transfer{Name: name, D: dtype.Int32, Shape: x.shape, In: move.OperandsOf(a, b, aZero, bZero), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		to := move.ElemsOf[int32](dst.Of)
		x.bytes(exec.Job{Name: name, Ctx: ctx}, in[0], in[2], in[1], in[3], false, func(i, at, from int, sums []int32, last bool) {
			copy(to[from:], sums)
		})
	}}
}

// bytes computes a product of bytes a and b less their zero points. emit takes sums of row i of a from column at on, which in the result are from element
// from on; see contract.ByteProduct.
func (x *product) bytes(j exec.Job, a, aZero, b, bZero move.Words, exact bool, emit func(i, at, from int, sums []int32, last bool)) {
	la, lb := a.Of.Shape(), b.Of.Shape()
	p := contract.ByteProduct{Job: j, Batch: plan.Elements(x.batch()), M: x.m, N: x.n, K: x.k, A: bytesOf(a, aZero), B: bytesOf(b, bZero), Step: x.n, Exact: exact}
	if len(lb) <= 2 && len(la) > 2 { // one matrix
		p.Batch, p.M = 1, p.Batch*p.M
	}
	ea := contract.MatricesOf(la[:max(0, len(la)-2)], x.batch(), x.m)
	eb := contract.MatricesOf(lb[:max(0, len(lb)-2)], x.batch(), x.k*x.n)
	p.Row, p.First = ea.At, eb.At
	p.Emit = func(entry, i, at int, sums []int32, last bool) { emit(i, at, (entry*p.M+i)*x.n+at, sums, last) }
	p.Run()
}

var matMulInteger = plan.Operator{About: plan.About{Name: "MatMulInteger", TakesUp: plan.InBlocks | plan.InWhole, FLOPs: plan.FLOPs{Rule: productFLOPs}, Versions: []int{10}, Why: "of integers of 8 bits alone"}, Fast: bytesFast, Least: 2, Most: 4, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover { return integerProduct(c.In(0), c.In(1), c.In(2), c.In(3)) }}
