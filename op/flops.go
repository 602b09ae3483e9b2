package op

import (
	"math"

	"github.com/ashlar-go/ashlar/tensor"
)

// flops is how many floating-point operations an operator does: so many for each element of the first result, or of the first
// input. The zero value is a number that nobody has said.
type flops struct {
	each, read int64
	free       bool // none: it moves elements
	rule       func(c *Call, out []tensor.Any) int64
}

// FLOPs counts the floating-point operations of a call, a product and a sum being two, from inputs and results of which the
// types and shapes are known at most: an unknown one is the zero Any. It returns -1 for a number that isn't known.
func (o *Op) FLOPs(c *Call, out []tensor.Any) int64 {
	f := o.flops
	switch {
	case c == nil:
		return -1
	case f.rule != nil:
		d := *c
		if d.Attrs == nil {
			d.Attrs = NoAttrs{}
		}
		return f.rule(&d, out)
	case f.each > 0:
		return productOfAll(f.each, lengthOf(nth(out, 0)))
	case f.read > 0:
		return productOfAll(f.read, lengthOf(c.in(0)))
	case f.free:
		return 0
	}
	return -1
}

// nth returns element i of a list, or the zero Any.
func nth(list []tensor.Any, i int) tensor.Any {
	if i >= len(list) {
		return tensor.Any{}
	}
	return list[i]
}

// lengthOf is the number of elements of a, -1 if it is unknown.
func lengthOf(a tensor.Any) int64 {
	if a.IsZero() {
		return -1
	}
	return int64(a.Len())
}

// sizeOf is the size of an axis, counted from the end where it is negative; -1 if it is unknown.
func sizeOf(a tensor.Any, axis int) int64 {
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

// times is the product of numbers, -1 if one is unknown or the product is beyond an int64.
func productOfAll(list ...int64) int64 {
	p := int64(1)
	for _, n := range list {
		if n < 0 || n > 0 && p > math.MaxInt64/n {
			return -1
		}
		p *= n
	}
	return p
}

// plus is the sum of numbers, -1 if one is unknown or the sum is beyond an int64.
func sumOfAll(list ...int64) int64 {
	s := int64(0)
	for _, n := range list {
		if n < 0 || s > math.MaxInt64-n {
			return -1
		}
		s += n
	}
	return s
}

// foldFLOPs counts, for each element of the result, one less than there are inputs.
func foldFLOPs(c *Call, out []tensor.Any) int64 {
	return productOfAll(int64(len(c.Inputs))-1, lengthOf(nth(out, 0)))
}

// filterOf is the number of elements of w that belong to one entry of its first axis.
func filterOf(w tensor.Any) int64 {
	n := sizeOf(w, 0)
	if n > 0 {
		n = lengthOf(w) / n
	}
	return n
}

// withBias is n, and one for each element of the result if there is an input i.
func withBias(n int64, c *Call, i int, out []tensor.Any) int64 {
	if !c.in(i).IsZero() {
		return sumOfAll(n, lengthOf(nth(out, 0)))
	}
	return n
}
