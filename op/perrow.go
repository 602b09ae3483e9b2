package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/tensor"
)

// An operand of a product of bytes has scales and zero points: one number, or one for each row of a and column of b. These are a
// vector, for every matrix of a batch, or have the operand's rank: [D1,D2,M,1] for a [D1,D2,M,K], [D1,D2,1,N] for b [D1,D2,K,N].
// Source: ONNX QLinearMatMul and MatMulInteger.

// ofMatrices reports whether a parameter has the rank of operand a, and stretches to one number for each index along axis of each matrix.
func ofMatrices(p, a tensor.Any, axis int) bool {
	n := a.Rank()
	if p.IsZero() || n < 2 || p.Rank() != n {
		return false
	}
	for k := range n {
		if e := p.Dim(k); e != 1 && (e != a.Dim(k) || k >= n-2 && k != axis) {
			return false
		}
	}
	return true
}

// plain returns one number in place of a parameter that is ranked, for checks of the other forms.
func plain(p, a tensor.Any, axis int) tensor.Any {
	if ofMatrices(p, a, axis) {
		return tensor.EmptyOf(p.DType())
	}
	return p
}

// perRow has a parameter's numbers.
type perRow[T any] struct {
	all []T
	of  int              // how many belong to a matrix; 0 is all of them, to each
	at  contract.Entries // where those of a matrix begin
}

func perRowOf[T any](x *product, w move.Words, list func(move.Words) []T) perRow[T] {
	r, shape := perRow[T]{all: list(w)}, w.Of.Shape()
	if lead := len(shape) - 2; lead >= 0 && len(r.all) > 1 {
		r.of = shape[lead] * shape[lead+1]
		r.at = contract.MatricesOf(shape[:lead], x.batch(), r.of)
	}
	return r
}

// matrix returns the numbers of entry e of a batch.
func (r *perRow[T]) matrix(e int) []T {
	if r.of == 0 {
		return r.all
	}
	return r.all[r.at.At(e):][:r.of]
}

// rows returns the numbers of the rows of entry e of p, which may be all rows of all matrices.
func (r *perRow[T]) rows(p *byteProduct, x *product, e int) (list []T) {
	if p.M == x.m || r.of == 0 {
		return r.matrix(e)
	}
	for row := range p.M {
		of := r.matrix(row / x.m)
		list = append(list, of[row%x.m%len(of)])
	}
	return list
}

// manyRanked reports whether one of the parameters has more than a vector.
func manyRanked(params ...tensor.Any) bool {
	return slices.ContainsFunc(params, func(p tensor.Any) bool { return p.Rank() > 1 && p.Len() > 1 })
}

// byMatrix calls f with each entry e of the batch as a product of its own, and with its sides. Its result begins at element from.
func (p *byteProduct) byMatrix(x *product, a, aZero, b, bZero move.Words, f func(one *byteProduct, e, from int, a, b contract.ByteSide)) {
	zeroA, zeroB := perRowOf(x, aZero, zerosOf), perRowOf(x, bZero, zerosOf)
	side := func(w move.Words, zero []int32) contract.ByteSide {
		return contract.ByteSide{Mem: w.Mem, Signed: w.Of.DType().IsSigned(), Zero: zero}
	}
	for e := range p.Batch {
		one := *p
		one.Batch, one.Row, one.First = 1, func(int) int { return p.Row(e) }, func(int) int { return p.First(e) }
		f(&one, e, e*p.M*p.N, side(a, zeroA.rows(p, x, e)), side(b, zeroB.matrix(e)))
	}
}
