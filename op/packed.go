package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// Packed is a float32 matrix whose elements aren't in memory as they are, and are had
// by rows: a pack.Tensor of block floats or small integers.
type Packed interface {
	// Any returns the matrix as a tensor.
	Any() tensor.Any
	// UnpackRows writes rows from number row on to dst, which has the matrix's columns.
	UnpackRows(dst tensor.Tensor[float32], row int) error
}

// MatMulPacked returns a · b as MatMul does, bit for bit as MatMul with b unpacked,
// but no more than 256 rows of b are unpacked at a time. It panics when b isn't a
// matrix, its rows don't fit a, or they can't be had.
func MatMulPacked(a tensor.Tensor[float32], b Packed, opts ...Option) (r tensor.Tensor[float32]) {
	packedProduct(exec.Ref(&r), exec.Ref(&a), b, opts)
	return r
}

func packedProduct(r, a *tensor.Any, b Packed, opts []Option) {
	const name, rows = "MatMulPacked", 256 // a block of the contraction's order
	plan.Present(name, a)
	if b == nil {
		panic(plan.Fail(name, tensor.ErrClosed, "the packed matrix is nil"))
	}
	m := b.Any()
	plan.Present(name, a, &m)
	if m.Rank() != 2 || a.Rank() == 0 || a.Dim(-1) != m.Dim(0) {
		panic(plan.Fail(name, tensor.ErrShape, "%s and %s don't multiply: want […,k] and [k,n]", tensor.Describe(*a), tensor.Describe(m)))
	}
	k, n, s := m.Dim(0), m.Dim(1), plan.Read(name, opts)
	plan.AimShape(r, name, &s, dtype.Float32, append(a.Shape()[:a.Rank()-1], n))
	out := plan.Beside(r, s.Into != nil && k > rows, a) // rows that can't be had leave the target as it is
	scratch := tensor.EmptyOf(dtype.Float32, min(rows, k), n)
	defer scratch.Close()
	var product tensor.Any
	for at := 0; at == 0 || at < k; at += rows {
		block := scratch.Slice(tensor.R(0, min(rows, k-at)))
		if err := b.UnpackRows(*exec.Typed[float32](&block), at); err != nil {
			panic(plan.Fail(name, err, "rows from %d of %s: %v", at, tensor.Describe(m), err))
		}
		part := a.Slice(tensor.Ellipsis, tensor.R(at, min(at+rows, k)))
		switch {
		case at == 0:
			matrixProduct(out, &part, &block, []Option{s.Target(out)})
			continue
		case product.IsZero():
			product = tensor.EmptyOf(dtype.Float32, out.Shape()...)
			defer product.Close()
		}
		matrixProduct(&product, &part, &block, []Option{s.Target(&product)})
		add.Call(out, []Option{s.Target(out)}, out, &product)
	}
	plan.Put(r, out)
}
