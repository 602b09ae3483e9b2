package plan

import (
	"math"

	"github.com/ashlar-go/ashlar/tensor"
)

// FLOPs is how many floating-point operations an operator does: so many for each element of the first result, or of the first
// input. The zero value is a number that nobody has said.
type FLOPs struct {
	Each, Read int64
	Free       bool // none: it moves elements
	Rule       func(c *Use, out []tensor.Any) int64
}

// FLOPs counts the floating-point operations of a call, a product and a sum being two, from inputs and results of which the
// types and shapes are known at most: an unknown one is the zero Any. It returns -1 for a number that isn't known.
func (o *Op) FLOPs(c *Call, out []tensor.Any) int64 {
	f := o.says.FLOPs
	switch {
	case c == nil:
		return -1
	case f.Rule != nil:
		d := &Use{Call: *c}
		d.complete()
		return f.Rule(d, out)
	case f.Each > 0:
		return ProductOfAll(f.Each, LengthOf(Nth(out, 0)))
	case f.Read > 0:
		return ProductOfAll(f.Read, LengthOf(Nth(c.Inputs, 0)))
	case f.Free:
		return 0
	}
	return -1
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

// FoldFLOPs counts, for each element of the result, one less than there are inputs.
func FoldFLOPs(c *Use, out []tensor.Any) int64 {
	return ProductOfAll(int64(len(c.Inputs))-1, LengthOf(Nth(out, 0)))
}

// FilterOf is the number of elements of w that belong to one entry of its first axis.
func FilterOf(w tensor.Any) int64 {
	n := SizeOf(w, 0)
	if n > 0 {
		n = LengthOf(w) / n
	}
	return n
}

// WithBias is n, and one for each element of the result if there is an input i.
func WithBias(n int64, c *Use, i int, out []tensor.Any) int64 {
	if !c.In(i).IsZero() {
		return SumOfAll(n, LengthOf(Nth(out, 0)))
	}
	return n
}
