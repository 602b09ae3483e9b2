package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Gcd returns the greatest common divisor of a and b, element by element: never
// negative, but where the result would be 2⁷, 2¹⁵, … it wraps; of two zeros it is
// 0. Shapes broadcast. It panics if they don't. NumPy gcd.
func Gcd[T num.Integer](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	gcdOp.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var gcdOp = pointwise.Operator{About: plan.About{Name: "Gcd"}, Cost: 50,
	Rows: exec.Two(nil, &rows2{I8: gcdRow[int8], I16: gcdRow[int16], I32: gcdRow[int32], I64: gcdRow[int64],
		U8: gcdRow[uint8], U16: gcdRow[uint16], U32: gcdRow[uint32], U64: gcdRow[uint64]})}

// gcdRow defines Gcd.
func gcdRow[T num.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = gcd(a[i], b[i])
	}
}

func gcd[T num.Integer](a, b T) T {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}
