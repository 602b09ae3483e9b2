package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// MatMulInteger returns the matrix product of a less aZero and b less bZero, as
// MatMul does, in int32, which wraps. aZero is one number or has one for each row of
// a, bZero one or one for each column of b; the zero Tensor is 0. It panics when the
// shapes don't fit. ONNX MatMulInteger, of which zero points for each row of a batch
// of matrices, in more than one axis, are left out. It computes in int64.
func MatMulInteger[A, B Byte](a tensor.Tensor[A], b tensor.Tensor[B], aZero tensor.Tensor[A], bZero tensor.Tensor[B], opts ...Option) (r tensor.Tensor[int32]) {
	integerProduct(a.Any(), b.Any(), aZero.Any(), bZero.Any()).into(exec.Ref(&r), opts)
	return r
}

func integerProduct(a, b, aZero, bZero tensor.Any) *transfer {
	const name = "MatMulInteger"
	present(name, &a, &b)
	must(name, bytes8.has(b.DType()), b.DType())
	x := productOf(name, nil, a.LayoutRef(), b.LayoutRef())
	rows, columns := a.Rank()-2, b.Rank()-1
	if b.Rank() < 2 {
		columns = -1
	}
	checkZero(name, 2, aZero, a, rows)
	checkZero(name, 3, bZero, b, columns)
	return &transfer{name: name, d: dtype.Int32, shape: x.shape, in: operandsOf(a, b, aZero, bZero), fill: func(ctx context.Context, dst words, in []words) {
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
func wrapped(dst words, sums tensor.Any) {
	for i, v := range elemsOf[int64](&sums) {
		dst.setBits(i, uint64(v))
	}
	sums.Close()
}

var matMulInteger = opN{about: about{name: "MatMulInteger", takesUp: inBlocks | inWhole, flops: flops{rule: productFLOPs}, onnx: []int{10}, why: "of integers of 8 bits alone"}, least: 2, most: 4, takes: bytes8,
	move: func(c *Call) *transfer { return integerProduct(c.in(0), c.in(1), c.in(2), c.in(3)) }}
