package op

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Ceil returns the smallest integer not below a, element by element: −0 between −1
// and 0. ±0, ±∞ and NaN stay. ONNX Ceil.
func Ceil[T num.Float | num.Narrow](a tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	return apply1(&ceil, &a, opts)
}

var ceil = op1{about: about{name: "Ceil", onnx: []int{6, 13}, why: "integers are whole"}, rows: rows1{F32: ceilRow[float32], F64: ceilRow[float64]}}

// ceilRow defines Ceil.
func ceilRow[T num.Float](dst, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = T(math.Ceil(float64(x)))
	}
}
