package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Equal reports a = b, element by element. Shapes broadcast. −0 equals +0, NaN
// equals nothing. ONNX Equal.
func Equal[T bool | num.Number](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[bool]) {
	equal.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var equal = pointwise.Operator{About: plan.About{Name: "Equal", Shapes: true, Moves: plan.Moves{In: 0b11}, Orion: &orionUint32, Versions: []int{1, 7, 11, 13}, Attrs: []string{"axis", "broadcast"}},
	Rows: exec.Compare(&simd.Equal, &rowsCmp{Bool: equalRow[bool], I8: equalRow[int8], I16: equalRow[int16], I32: equalRow[int32], I64: equalRow[int64],
		U8: equalRow[uint8], U16: equalRow[uint16], U32: equalRow[uint32], U64: equalRow[uint64],
		F32: equalRow[float32], F64: equalRow[float64],
		C64: equalRow[complex64], C128: equalRow[complex128]}),
	Order: equalOrder}

// equalRow defines Equal.
func equalRow[T bool | num.Native | num.Complex](dst []bool, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] == b[i]
	}
}

func equalOrder(c int) bool { return c == 0 }
