package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// SignBit reports which elements have their sign bit set: negative numbers, −0,
// and NaNs with a sign. NumPy signbit.
func SignBit[T num.Floating](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[bool]) {
	signBitOp.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var signBitOp = pointwise.Operator{About: plan.About{Name: "SignBit"}, Rows: exec.Test(&rowsTest{F32: signBitRow32, F64: signBitRow64})}

// signBitRow32 and signBitRow64 define SignBit. They look at bits: converting a
// float32 to float64 takes the sign of a NaN away on riscv64.
func signBitRow32(dst []bool, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = math.Float32bits(x)>>31 != 0
	}
}

func signBitRow64(dst []bool, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = math.Signbit(x)
	}
}
