// Package linalg moves matrices between tensors and gonum: Dense, Vec and Matrix give gonum a tensor's elements,
// FromMatrix and FromVec a tensor gonum's. Where strides allow it both see the same memory, and each function says when
// they do. It is a module of its own, so that only programs that want gonum need it.
//
// Like the functions of package tensor these panic with a *tensor.Error on a mistake of the program.
package linalg

import (
	"fmt"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

func fail(op string, sentinel error, format string, args ...any) {
	panic(&tensor.Error{Op: "linalg." + op, Text: fmt.Sprintf(format, args...), Err: sentinel})
}

// dims returns the extents of a matrix that gonum can have.
func dims(op string, t tensor.Any) (rows, cols int) {
	if t.Rank() != 2 {
		fail(op, tensor.ErrShape, "%v has rank %d; a matrix has 2", tensor.Describe(t), t.Rank())
	}
	rows, cols = t.Dim(0), t.Dim(1)
	if (rows == 0) != (cols == 0) {
		fail(op, tensor.ErrShape, "%d×%d; gonum has no matrix of which one extent alone is 0", rows, cols)
	}
	return rows, cols
}

// Dense returns a tensor of rank 2 as a gonum matrix, and whether the two share their elements: they do when the rows
// have unit stride and don't overlap, and t can be written, as a slice of a matrix in row-major order. Else the matrix is
// a copy; of a transposed one Dense(t.Transpose()) shares, and its method T turns it back. A shared matrix is valid until
// t is closed, and a large storage without Close stays for good then. It panics unless the rank is 2 and both extents
// or none are 0.
func Dense(t tensor.Tensor[float64]) (m *mat.Dense, shared bool) {
	rows, cols := dims("Dense", t.Any())
	m = &mat.Dense{}
	if rows == 0 {
		return m, false
	}
	lay := t.Layout()
	row, flat0 := lay.Stride(0)
	col, flat1 := lay.Stride(1)
	if rows == 1 {
		row = cols // one row can't overlap
	}
	if cols == 1 {
		col = 1
	}
	raw := blas64.General{Rows: rows, Cols: cols}
	if shared = flat0 && flat1 && col == 1 && row >= cols && !t.IsReadOnly(); shared {
		raw.Stride, raw.Data = row, lent(t, (rows-1)*row+cols, tensor.I(0), tensor.I(0))
	} else {
		raw.Stride, raw.Data = cols, tensor.Flatten(t).Elems()
	}
	m.SetRawMatrix(raw)
	return m, shared
}

// lent returns n elements of t's storage from element 0 on, which first selects, as a slice that the collector doesn't
// take back.
func lent(t tensor.Tensor[float64], n int, first ...tensor.Index) []float64 {
	t.Slice(first...).Elems() // one element: but what is lent is the storage
	data, off := tensor.Mutable(t)
	return data[off : off+n : off+n]
}

// Vec returns a tensor of rank 1 as a gonum vector, and whether the two share their elements: they do when the stride is
// positive and t can be written. Else the vector is a copy. A shared one is valid as Dense has it. It panics unless the
// rank is 1.
func Vec(t tensor.Tensor[float64]) (v *mat.VecDense, shared bool) {
	if t.Rank() != 1 {
		fail("Vec", tensor.ErrShape, "%v has rank %d; a vector has 1", tensor.Describe(t.Any()), t.Rank())
	}
	v = &mat.VecDense{}
	n := t.Len()
	if n == 0 {
		return v, false
	}
	lay := t.Layout()
	inc, flat := lay.Stride(0)
	if n == 1 {
		inc = 1
	}
	raw := blas64.Vector{N: n, Inc: 1}
	if shared = flat && inc > 0 && !t.IsReadOnly(); shared {
		raw.Inc, raw.Data = inc, lent(t, (n-1)*inc+1, tensor.I(0))
	} else {
		raw.Data = tensor.Flatten(t).Elems()
	}
	v.SetRawVector(raw)
	return v, shared
}

// Matrix returns a tensor of rank 2, of any layout, as a gonum matrix that reads its elements where they are: gonum's
// functions take it as an operand. It panics as Dense does.
func Matrix[T num.Float](t tensor.Tensor[T]) mat.Matrix {
	dims("Matrix", t.Any())
	return view[T]{t}
}

type view[T num.Float] struct{ t tensor.Tensor[T] }

func (v view[T]) Dims() (r, c int)    { return v.t.Dim(0), v.t.Dim(1) }
func (v view[T]) At(i, j int) float64 { return float64(v.t.At(i, j)) }
func (v view[T]) T() mat.Matrix       { return view[T]{v.t.Transpose()} }

// FromMatrix returns a gonum matrix as a tensor, and whether the two share their elements: they do for *mat.Dense, its
// slices and its transpose. Else the tensor is a row-major copy.
func FromMatrix(m mat.Matrix) (t tensor.Tensor[float64], shared bool) {
	switch m := m.(type) {
	case mat.Transpose:
		t, shared = FromMatrix(m.Matrix)
		return t.Transpose(), shared
	case mat.RawMatrixer:
		raw := m.RawMatrix()
		if raw.Rows == 0 || raw.Cols == 0 {
			return tensor.New[float64](raw.Rows, raw.Cols), false
		}
		return strided(raw.Data, []int{raw.Rows, raw.Cols}, []int{raw.Stride, 1}), true
	}
	rows, cols := m.Dims()
	t = tensor.New[float64](rows, cols)
	for i := range t.Any().Indices() {
		t.Set(m.At(i[0], i[1]), i...)
	}
	return t, false
}

// FromVec returns a tensor of rank 1 that shares the elements of a gonum vector.
func FromVec(v *mat.VecDense) tensor.Tensor[float64] {
	raw := v.RawVector()
	if raw.N == 0 {
		return tensor.New[float64](0)
	}
	return strided(raw.Data, []int{raw.N}, []int{raw.Inc})
}

func strided(data []float64, ext, str []int) tensor.Tensor[float64] {
	lay, err := layout.New(ext, str)
	if err != nil {
		panic(&tensor.Error{Op: "linalg.FromMatrix", Text: err.Error(), Err: err})
	}
	return tensor.FromLayout(data, lay)
}
