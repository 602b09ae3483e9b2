package plan

import (
	"math"

	"github.com/ashlar-go/ashlar/tensor"
)

// FLOPs is how many floating-point operations an operator does where its plan doesn't say: so many for each element of the
// first result, or of the first input. The zero value is a number that nobody has said.
type FLOPs struct {
	Each, Read int64
	Fold       bool // for each element of the result, one less than there are inputs
	Free       bool // none: it moves elements
}

// Of counts the operations of a call by types and shapes. An input or result that isn't known is the zero Any. It returns
// -1 for a number that isn't known.
func (f FLOPs) Of(in, out []tensor.Any) int64 {
	switch {
	case f.Fold:
		return ProductOfAll(int64(len(in))-1, LengthOf(Nth(out, 0)))
	case f.Each > 0:
		return ProductOfAll(f.Each, LengthOf(Nth(out, 0)))
	case f.Read > 0:
		return ProductOfAll(f.Read, LengthOf(Nth(in, 0)))
	case f.Free:
		return 0
	}
	return -1
}

// Operations is op.Plan.FLOPs.
func (p *Draft) Operations() int64 {
	out := p.known()
	if p.flops != 0 {
		return p.flops - 1
	}
	return p.op.says.FLOPs.Of(p.Call.Inputs, out)
}

// Nth returns element i of a list, or the zero Any.
func Nth(list []tensor.Any, i int) tensor.Any {
	if i >= len(list) {
		return tensor.Any{}
	}
	return list[i]
}

// LengthOf is the number of elements of a, -1 if it is unknown.
func LengthOf(a tensor.Any) int64 {
	if a.IsZero() {
		return -1
	}
	return int64(a.Len())
}

// Count is the number of elements of a shape, -1 if it is beyond an int64.
func Count(shape []int) int64 {
	n := int64(1)
	for _, e := range shape {
		n = ProductOfAll(n, int64(e))
	}
	return n
}

// SizeOf is the size of an axis, counted from the end where it is negative; -1 if it is unknown.
func SizeOf(a tensor.Any, axis int) int64 {
	if a.IsZero() {
		return -1
	}
	if axis < 0 {
		axis += a.Rank()
	}
	if axis < 0 || axis >= a.Rank() {
		return -1
	}
	return int64(a.Dim(axis))
}

// ProductOfAll is the product of numbers, -1 if one is unknown or the product is beyond an int64.
func ProductOfAll(list ...int64) int64 {
	p := int64(1)
	for _, n := range list {
		if n < 0 || n > 0 && p > math.MaxInt64/n {
			return -1
		}
		p *= n
	}
	return p
}

// SumOfAll is the sum of numbers, -1 if one is unknown or the sum is beyond an int64.
func SumOfAll(list ...int64) int64 {
	s := int64(0)
	for _, n := range list {
		if n < 0 || s > math.MaxInt64-n {
			return -1
		}
		s += n
	}
	return s
}

// FilterOf is the number of elements of w that belong to one entry of its first axis.
func FilterOf(w tensor.Any) int64 {
	n := SizeOf(w, 0)
	if n > 0 {
		n = LengthOf(w) / n
	}
	return n
}

// WithBias is n, and one for each of size elements if there is a bias.
func WithBias(n int64, bias *tensor.Any, size int64) int64 {
	if bias == nil || bias.IsZero() {
		return n
	}
	return SumOfAll(n, size)
}
