package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Lcm returns the least common multiple of |a| and |b|, element by element; 0 if
// either is 0. It wraps where it doesn't fit. Shapes broadcast. It panics if they
// don't. NumPy lcm.
func Lcm[T num.Integer](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	lcmOp.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var lcmOp = pointwise.Operator{About: plan.About{Name: "Lcm"}, Cost: 50,
	Rows: exec.Two(nil, &rows2{I8: lcmRow[int8], I16: lcmRow[int16], I32: lcmRow[int32], I64: lcmRow[int64],
		U8: lcmRow[uint8], U16: lcmRow[uint16], U32: lcmRow[uint32], U64: lcmRow[uint64]})}

// lcmRow defines Lcm.
func lcmRow[T num.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = lcm(a[i], b[i])
	}
}

func lcm[T num.Integer](a, b T) T {
	d := gcd(a, b)
	if d == 0 {
		return 0
	}
	m := a / d * b
	if (a < 0) != (b < 0) {
		m = -m
	}
	return m
}
