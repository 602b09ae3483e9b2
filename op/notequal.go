package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NotEqual reports a ≠ b, element by element. Shapes broadcast. −0 equals +0, NaN
// differs from everything. NumPy not_equal.
func NotEqual[T bool | num.Number](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[bool]) {
	notEqual.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var notEqual = pointwise.Operator{About: plan.About{Name: "NotEqual"},
	Rows: exec.Compare(&simd.NotEqual, &rowsCmp{Bool: notEqualRow[bool], I8: notEqualRow[int8], I16: notEqualRow[int16], I32: notEqualRow[int32], I64: notEqualRow[int64],
		U8: notEqualRow[uint8], U16: notEqualRow[uint16], U32: notEqualRow[uint32], U64: notEqualRow[uint64],
		F32: notEqualRow[float32], F64: notEqualRow[float64],
		C64: notEqualRow[complex64], C128: notEqualRow[complex128]}),
	Order: notEqualOrder}

// notEqualRow defines NotEqual.
func notEqualRow[T bool | num.Native | num.Complex](dst []bool, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] != b[i]
	}
}

func notEqualOrder(c int) bool { return c != 0 }
