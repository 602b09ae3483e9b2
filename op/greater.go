package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Greater reports a > b, element by element. Shapes broadcast. −0 equals +0, and a
// comparison with NaN is false. ONNX Greater.
func Greater[T num.Real](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[bool]) {
	greaterOp.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var greaterOp = pointwise.Operator{About: plan.About{Name: "Greater", Shapes: true, Orion: &orionUint32, Versions: []int{1, 7, 9, 13}, Attrs: []string{"axis", "broadcast"}},
	Rows: exec.Compare(&simd.Greater, &rowsCmp{I8: greaterRow[int8], I16: greaterRow[int16], I32: greaterRow[int32], I64: greaterRow[int64],
		U8: greaterRow[uint8], U16: greaterRow[uint16], U32: greaterRow[uint32], U64: greaterRow[uint64],
		F32: greaterRow[float32], F64: greaterRow[float64]}),
	Order: greaterOpOrder}

// greaterRow defines Greater.
func greaterRow[T num.Native](dst []bool, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] > b[i]
	}
}

func greaterOpOrder(c int) bool { return c > 0 }
