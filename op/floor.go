package op

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Floor returns the largest integer not above a, element by element. ±0, ±∞ and
// NaN stay. ONNX Floor.
func Floor[T num.Float | num.Narrow](a tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	return apply1(&floor, &a, opts)
}

var floor = op1{about: about{name: "Floor", onnx: []int{6, 13}, why: "integers are whole"}, rows: rows1{F32: floorRow[float32], F64: floorRow[float64]}}

// floorRow defines Floor.
func floorRow[T num.Float](dst, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = T(math.Floor(float64(x)))
	}
}
