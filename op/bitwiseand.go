package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// BitwiseAnd returns a and b, bit by bit, element by element. Shapes broadcast. It
// panics if they don't. ONNX BitwiseAnd.
func BitwiseAnd[T num.Integer](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	bitwiseAnd.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var bitwiseAnd = pointwise.Operator{About: plan.About{Name: "BitwiseAnd", Versions: []int{18}},
	Rows: exec.Two(nil, &rows2{I8: bitwiseAndRow[int8], I16: bitwiseAndRow[int16], I32: bitwiseAndRow[int32], I64: bitwiseAndRow[int64],
		U8: bitwiseAndRow[uint8], U16: bitwiseAndRow[uint16], U32: bitwiseAndRow[uint32], U64: bitwiseAndRow[uint64]})}

// bitwiseAndRow defines BitwiseAnd.
func bitwiseAndRow[T num.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] & b[i]
	}
}
