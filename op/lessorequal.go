package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LessOrEqual reports a ≤ b, element by element. Shapes broadcast. −0 equals +0, and a
// comparison with NaN is false. ONNX LessOrEqual.
func LessOrEqual[T num.Real](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[bool]) {
	lessOrEqual.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var lessOrEqual = pointwise.Operator{About: plan.About{Name: "LessOrEqual", Shapes: true, Orion: &orionInt32, Versions: []int{12, 16}},
	Rows: exec.Compare(&simd.LessOrEqual, &rowsCmp{I8: lessOrEqualRow[int8], I16: lessOrEqualRow[int16], I32: lessOrEqualRow[int32], I64: lessOrEqualRow[int64],
		U8: lessOrEqualRow[uint8], U16: lessOrEqualRow[uint16], U32: lessOrEqualRow[uint32], U64: lessOrEqualRow[uint64],
		F32: lessOrEqualRow[float32], F64: lessOrEqualRow[float64]}),
	Order: lessOrEqualOrder}

// lessOrEqualRow defines LessOrEqual.
func lessOrEqualRow[T num.Native](dst []bool, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] <= b[i]
	}
}

func lessOrEqualOrder(c int) bool { return c <= 0 }
