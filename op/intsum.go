package op

import (
	"math/bits"

	"github.com/ashlar-go/ashlar/num"
)

// termKind is what of each integer enters a sum.
type termKind uint8

const (
	plain termKind = iota
	magnitudes
	squares
	averages // the sum is exact, and divided by the count
)

// intSum adds integers, which wrap.
type intSum[T num.Integer] struct {
	kind   termKind
	sum    T
	hi, lo uint64 // of averages: the sum in two's complement
	n      int
}

// intFolder makes the folder over an integer type; nil for other types.
func intFolder[T num.Elem](kind termKind) folder[T, T] {
	var f any
	switch any((*T)(nil)).(type) {
	case *int8:
		f = &intSum[int8]{kind: kind}
	case *int16:
		f = &intSum[int16]{kind: kind}
	case *int32:
		f = &intSum[int32]{kind: kind}
	case *int64:
		f = &intSum[int64]{kind: kind}
	case *uint8:
		f = &intSum[uint8]{kind: kind}
	case *uint16:
		f = &intSum[uint16]{kind: kind}
	case *uint32:
		f = &intSum[uint32]{kind: kind}
	case *uint64:
		f = &intSum[uint64]{kind: kind}
	}
	s, _ := f.(folder[T, T])
	return s
}

func (f *intSum[T]) start() { f.sum, f.hi, f.lo, f.n = 0, 0, 0, 0 }

func (f *intSum[T]) take(x []T) {
	switch f.kind {
	case plain:
		for _, v := range x {
			f.sum += v
		}
	case magnitudes:
		for _, v := range x {
			if v < 0 {
				v = -v
			}
			f.sum += v
		}
	case squares:
		for _, v := range x {
			f.sum += v * v
		}
	case averages:
		f.n += len(x)
		for _, v := range x {
			var sign, carry uint64
			if v < 0 {
				sign = ^sign
			}
			f.lo, carry = bits.Add64(f.lo, uint64(v), 0)
			f.hi, _ = bits.Add64(f.hi, sign, carry)
		}
	}
}

// result is the sum, or the mean toward zero: of nothing, 0.
func (f *intSum[T]) result() T {
	if f.kind != averages || f.n == 0 {
		return f.sum
	}
	hi, lo, negative := f.hi, f.lo, f.hi>>63 != 0
	if negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	q, _ := bits.Div64(hi, lo, uint64(f.n)) // a mean fits, so hi < n
	if negative {
		return -T(q)
	}
	return T(q)
}
