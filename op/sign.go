package op

import (
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Sign returns −1, 0 or 1 for a less than, equal to or greater than 0, element by
// element: +0 for −0, NaN for NaN. ONNX Sign.
func Sign[T num.Native | num.Narrow](a tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	return apply1(&sign, &a, opts)
}

var sign = op1{about: about{name: "Sign", onnx: []int{9, 13}},
	rows: rows1{I8: signRow[int8], I16: signRow[int16], I32: signRow[int32], I64: signRow[int64],
		U8: signRow[uint8], U16: signRow[uint16], U32: signRow[uint32], U64: signRow[uint64],
		F32: signRow[float32], F64: signRow[float64]}}

// signRow defines Sign.
func signRow[T num.Native](dst, a []T) {
	for i, x := range a[:len(dst)] {
		switch {
		case x > 0:
			x = 1
		case x < 0:
			x = 0
			x--
		case x == 0:
			x = 0
		}
		dst[i] = x
	}
}
