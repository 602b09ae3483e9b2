package reduce

import (
	"math/bits"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
)

// A Term names the term of each integer or fixed-point number, and the function of their sum.
type Term uint8

const (
	Plain Term = iota
	Magnitudes
	Squares
	Averages   // the sum is exact, and divided by the count
	Roots      // of fixed point: the root of the sum of squares
	Logarithms // of fixed point: the logarithm of the sum
)

// intSum adds integers, which wrap.
type intSum[T num.Integer] struct {
	kind   Term
	sum    T
	hi, lo uint64 // of averages: the sum in two's complement
	n      int
}

// IntFolder makes the folder of an integer type.
func IntFolder(d dtype.DType, kind Term) exec.Folder {
	switch d {
	case dtype.Int8:
		return &intSum[int8]{kind: kind}
	case dtype.Int16:
		return &intSum[int16]{kind: kind}
	case dtype.Int32:
		return &intSum[int32]{kind: kind}
	case dtype.Int64:
		return &intSum[int64]{kind: kind}
	case dtype.Uint8:
		return &intSum[uint8]{kind: kind}
	case dtype.Uint16:
		return &intSum[uint16]{kind: kind}
	case dtype.Uint32:
		return &intSum[uint32]{kind: kind}
	}
	return &intSum[uint64]{kind: kind}
}

func (f *intSum[T]) Start() { f.sum, f.hi, f.lo, f.n = 0, 0, 0, 0 }

func (f *intSum[T]) Take(r exec.Run) {
	x := exec.Of[T](r)
	switch f.kind {
	case Plain:
		for _, v := range x {
			f.sum += v
		}
	case Magnitudes:
		for _, v := range x {
			if v < 0 {
				v = -v
			}
			f.sum += v
		}
	case Squares:
		for _, v := range x {
			f.sum += v * v
		}
	case Averages:
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

func (f *intSum[T]) Result(out exec.Run) error {
	exec.Of[T](out)[0] = f.result()
	return nil
}

// result returns the sum, or the mean rounded toward zero. The mean of nothing is 0.
func (f *intSum[T]) result() T {
	if f.kind != Averages || f.n == 0 {
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
