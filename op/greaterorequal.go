package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GreaterOrEqual reports a ≥ b, element by element. Shapes broadcast. −0 equals +0, and a
// comparison with NaN is false. ONNX GreaterOrEqual.
func GreaterOrEqual[T num.Real](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[bool]) {
	greaterOrEqual.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var greaterOrEqual = pointwise.Operator{About: plan.About{Name: "GreaterOrEqual", Shapes: true, Orion: &orionUint32, Versions: []int{12, 16}},
	Rows: exec.Compare(&simd.GreaterOrEqual, &rowsCmp{I8: greaterOrEqualRow[int8], I16: greaterOrEqualRow[int16], I32: greaterOrEqualRow[int32], I64: greaterOrEqualRow[int64],
		U8: greaterOrEqualRow[uint8], U16: greaterOrEqualRow[uint16], U32: greaterOrEqualRow[uint32], U64: greaterOrEqualRow[uint64],
		F32: greaterOrEqualRow[float32], F64: greaterOrEqualRow[float64]}),
	Order: greaterOrEqualOrder}

// greaterOrEqualRow defines GreaterOrEqual.
func greaterOrEqualRow[T num.Native](dst []bool, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] >= b[i]
	}
}

func greaterOrEqualOrder(c int) bool { return c >= 0 }
