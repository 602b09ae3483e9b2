package tensor

import (
	"math"
	"runtime"
)

// Float64s returns a function that gives the elements of a by their index as float64: for
// pictures and statistics of a run-time element type. Integers beyond 2^53 and fixed-point
// numbers of more than 53 bits are rounded. A bool is 0 or 1, and a complex number its
// absolute value. The function panics as At does. It is nil where a has no elements of its
// own.
func Float64s(a Any) func(idx ...int) float64 {
	if a.st == nil || a.st.foreign != nil {
		return nil
	}
	var all boxed
	if a.open() {
		all = a.st.boxed()
	}
	return func(idx ...int) float64 {
		const op = "tensor.At"
		off := position(&a, op, idx)
		a.pointer(op)
		v := number(all.ref(off))
		runtime.KeepAlive(a.st)
		return v
	}
}

// number returns the element that p points to as a float64.
func number(p any) float64 {
	switch p := p.(type) {
	case *bool:
		if *p {
			return 1
		}
		return 0
	case *int8:
		return float64(*p)
	case *int16:
		return float64(*p)
	case *int32:
		return float64(*p)
	case *int64:
		return float64(*p)
	case *uint8:
		return float64(*p)
	case *uint16:
		return float64(*p)
	case *uint32:
		return float64(*p)
	case *uint64:
		return float64(*p)
	case *float32:
		return float64(*p)
	case *float64:
		return *p
	case *complex64:
		return magnitude(complex128(*p))
	case *complex128:
		return magnitude(*p)
	case interface{ Int64() int64 }:
		return float64(p.Int64())
	}
	return p.(interface{ Float64() float64 }).Float64()
}

// magnitude is the absolute value of a complex number, by steps that are the same on
// every platform.
func magnitude(v complex128) float64 {
	a, b := math.Abs(real(v)), math.Abs(imag(v))
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return math.Inf(1)
	}
	if a < b {
		a, b = b, a
	}
	if a == 0 || a != a || b != b {
		return a + b
	}
	q := b / a
	return a * math.Sqrt(1+float64(q*q))
}
