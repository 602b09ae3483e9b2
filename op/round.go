package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Round returns the integer nearest to a, the even one of two, element by element:
// −0 from −0.5 to −0. ±0, ±∞ and NaN stay. An integer beyond
// a format of fixed point is an error. ONNX Round.
func Round[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	if s := plan.Read("Round", opts); s.Orion {
		roundAway.Call(exec.Ref(&r), opts, exec.Ref(&a))
		return r
	}
	round.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var round = pointwise.Operator{About: plan.About{Name: "Round", Shapes: true, Orion: &inOrion{op: &roundAway}, Versions: []int{11, 22}, Why: "integers are whole"}, Rows: exec.One(&simd.Round, &rows1{F32: roundRow[float32], F64: roundRow[float64]}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Round[fixed.FP8x23], FP16x16: fixed.Round[fixed.FP16x16], FP32x32: fixed.Round[fixed.FP32x32], FP64x64: fixed.Round[fixed.FP64x64]}}

// roundAway is Round for Orion.
var roundAway = pointwise.Operator{About: plan.About{Name: "Round"}, Rows: exec.One(nil, &rows1{F32: roundAwayRow[float32], F64: roundAwayRow[float64]}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.RoundAway[fixed.FP8x23], FP16x16: fixed.RoundAway[fixed.FP16x16], FP32x32: fixed.RoundAway[fixed.FP32x32], FP64x64: fixed.RoundAway[fixed.FP64x64]}}

func roundAwayRow[T num.Float](dst, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = T(math.Round(float64(x)))
	}
}

// roundRow defines Round.
func roundRow[T num.Float](dst, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = T(math.RoundToEven(float64(x)))
	}
}
