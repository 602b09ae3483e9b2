package pack

import (
	"context"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/packed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Product returns x·pᵀ: p is a matrix [n, k] of weights in a format of rows, as checkpoints have it. x has the shape [..., k], and
// the result [..., n]. An element is the sum of the products of a row of x and a row of p. The result has the bits of op.MatMul of
// x and the transpose of the unpacked matrix. NaNs are canonical. The matrix is unpacked a few rows at a time, which serve for all
// rows of x. Product uses all threads; ctx may be nil.
//
// Product fails if p isn't a matrix in blocks with a scale, if the shapes don't fit, if ctx ends, and as Unpack does.
func (p Tensor) Product(ctx context.Context, x tensor.Tensor[float32]) (y tensor.Tensor[float32], err error) {
	const op = "pack.Product"
	if err := p.open(op); err != nil {
		return y, err
	}
	f, ok := p.format.(*blocks)
	switch {
	case !ok || f.flat:
		return y, fail(op, tensor.ErrDType, "%v isn't in blocks with a scale; op.MatMul multiplies by what Unpack returns", p.Spec)
	case x.IsZero():
		return y, fail(op, tensor.ErrDType, "there is no operand: it is the zero value")
	case p.Rank() != 2 || x.Rank() == 0 || x.Dim(-1) != p.Dim(1):
		return y, fail(op, tensor.ErrShape, "%s by %v; want [..., k] by a matrix [n, k]", tensor.Describe(x.Any()), p.Spec)
	}
	defer runtime.KeepAlive(p.buf)
	n, k := p.Dim(0), p.Dim(1)
	_, width := p.PhysicalShape()
	err = tensor.Try(func() {
		y = tensor.Empty[float32](append(slices.Clone(x.Shape()[:x.Rank()-1]), n)...)
		dense := x.Contiguous()
		b, stride := p.buf.Bytes()[p.from:], f.Size(width)
		m := packed.Matrix{N: n, K: k, Len: f.len, Size: f.size, Bytes: b, Stride: stride, Kernel: f.fast(),
			Decode: func(dst []float32, row, block int) { f.Decode(dst, b[row*stride+block*f.size:][:f.Size(len(dst))], 0) }}
		packed.Product(ctx, run(y), run(dense), m)
		runtime.KeepAlive(dense)
	})
	if err != nil {
		return tensor.Tensor[float32]{}, tensor.Wrap(op, err)
	}
	return y, nil
}
