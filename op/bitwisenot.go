package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// BitwiseNot returns a with every bit turned over, element by element. ONNX
// BitwiseNot.
func BitwiseNot[T num.Integer](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	bitwiseNot.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var bitwiseNot = pointwise.Operator{About: plan.About{Name: "BitwiseNot", Versions: []int{18}},
	Rows: exec.One(nil, &rows1{I8: bitwiseNotRow[int8], I16: bitwiseNotRow[int16], I32: bitwiseNotRow[int32], I64: bitwiseNotRow[int64],
		U8: bitwiseNotRow[uint8], U16: bitwiseNotRow[uint16], U32: bitwiseNotRow[uint32], U64: bitwiseNotRow[uint64]})}

// bitwiseNotRow defines BitwiseNot.
func bitwiseNotRow[T num.Integer](dst, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = ^x
	}
}
