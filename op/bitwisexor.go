package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// BitwiseXor returns a exclusive or b, bit by bit, element by element. Shapes broadcast. It
// panics if they don't. ONNX BitwiseXor.
func BitwiseXor[T num.Integer](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	bitwiseXor.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var bitwiseXor = pointwise.Operator{About: plan.About{Name: "BitwiseXor", Versions: []int{18}},
	Rows: exec.Two(nil, &rows2{I8: bitwiseXorRow[int8], I16: bitwiseXorRow[int16], I32: bitwiseXorRow[int32], I64: bitwiseXorRow[int64],
		U8: bitwiseXorRow[uint8], U16: bitwiseXorRow[uint16], U32: bitwiseXorRow[uint32], U64: bitwiseXorRow[uint64]})}

// bitwiseXorRow defines BitwiseXor.
func bitwiseXorRow[T num.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] ^ b[i]
	}
}
