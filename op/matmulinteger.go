package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// MatMulInteger returns the matrix product of a less aZero and b less bZero, as
// MatMul does, in int32, which wraps. aZero is one number or has one for each row of
// a, bZero one or one for each column of b; the zero Tensor is 0. It panics when the
// shapes don't fit. ONNX MatMulInteger, of which zero points for each row of a batch
// of matrices, in more than one axis, are left out. It computes in int64.
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
		wrapped(dst, x.wholeSums(exec.Job{Name: name, Ctx: ctx}, aboveZero(in[0], in[2], rows), aboveZero(in[1], in[3], columns)))
	}}
}

// wholeSums is a matrix product of int64. It gives a and b back.
func (x *product) wholeSums(j exec.Job, a, b tensor.Any) tensor.Any {
	sums := tensor.EmptyOf(dtype.Int64, x.shape...)
	if sums.Len() > 0 {
		x.multiply(j, &a, &b, &sums, nil, 0, 0, false, nil)
	}
	a.Close()
	b.Close()
	return sums
}

// wrapped writes whole numbers to int32s.
func wrapped(dst move.Words, sums tensor.Any) {
	for i, v := range move.ElemsOf[int64](&sums) {
		dst.SetBits(i, uint64(v))
	}
	sums.Close()
}

var matMulInteger = plan.Operator{About: plan.About{Name: "MatMulInteger", TakesUp: plan.InBlocks | plan.InWhole, FLOPs: plan.FLOPs{Rule: productFLOPs}, Versions: []int{10}, Why: "of integers of 8 bits alone"}, Least: 2, Most: 4, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover { return integerProduct(c.In(0), c.In(1), c.In(2), c.In(3)) }}
