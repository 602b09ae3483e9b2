package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// BitwiseOr returns a or b, bit by bit, element by element. Shapes broadcast. It
// panics if they don't. ONNX BitwiseOr.
func BitwiseOr[T num.Integer](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	bitwiseOr.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var bitwiseOr = pointwise.Operator{About: plan.About{Name: "BitwiseOr", Versions: []int{18}},
	Rows: exec.Two(nil, &rows2{I8: bitwiseOrRow[int8], I16: bitwiseOrRow[int16], I32: bitwiseOrRow[int32], I64: bitwiseOrRow[int64],
		U8: bitwiseOrRow[uint8], U16: bitwiseOrRow[uint16], U32: bitwiseOrRow[uint32], U64: bitwiseOrRow[uint64]})}

// bitwiseOrRow defines BitwiseOr.
func bitwiseOrRow[T num.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] | b[i]
	}
}
