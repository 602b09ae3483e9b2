package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Less reports a < b, element by element. Shapes broadcast. −0 equals +0, and a
// comparison with NaN is false. ONNX Less.
func Less[T num.Real](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[bool]) {
	lessOp.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var lessOp = pointwise.Operator{About: plan.About{Name: "Less", Shapes: true, Orion: &orionInt32, Versions: []int{1, 7, 9, 13}, Attrs: []string{"axis", "broadcast"}},
	Rows: exec.Compare(&simd.Less, &rowsCmp{I8: lessRow[int8], I16: lessRow[int16], I32: lessRow[int32], I64: lessRow[int64],
		U8: lessRow[uint8], U16: lessRow[uint16], U32: lessRow[uint32], U64: lessRow[uint64],
		F32: lessRow[float32], F64: lessRow[float64]}),
	Order: lessOpOrder}

// lessRow defines Less.
func lessRow[T num.Native](dst []bool, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] < b[i]
	}
}

func lessOpOrder(c int) bool { return c < 0 }
