package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CopySign returns a with the sign of b, element by element; NaNs keep their other
// bits. Shapes broadcast. It panics if they don't. IEEE 754 copySign; NumPy
// copysign.
func CopySign[T num.Floating](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	copySign.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var copySign = pointwise.Operator{About: plan.About{Name: "CopySign"}, Clean: true,
	Rows: exec.Two(nil, &rows2{F32: copySignRow32, F64: copySignRow64, B16: copySignWords[uint16], B8: copySignWords[uint8]})}

// copySignWords defines CopySign: of words, the top bit is the sign.
func copySignWords[T num.Uint](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	top := ^(^T(0) >> 1)
	for i := range dst {
		dst[i] = a[i]&^top | b[i]&top
	}
}

func copySignRow32(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = math.Float32frombits(math.Float32bits(a[i])&^(1<<31) | math.Float32bits(b[i])&(1<<31))
	}
}

func copySignRow64(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = math.Copysign(a[i], b[i])
	}
}
