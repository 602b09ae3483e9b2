package op

import (
	"math"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// The differences that docs/onnx.md lists beside ONNX Runtime, as far as no other test has them.

func TestResizeExtentsFollowFromTheExactScale(t *testing.T) {
	x := tensor.Arange[float32](0, 10, 1)
	single := func(v float64) []float64 { return []float64{float64(float32(v))} }
	for _, c := range []struct {
		scale  float64
		extent int
	}{{0.7, 6}, {0.9, 8}, {0.5, 5}, {0.6, 6}, {1.3, 12}, {2.3, 22}, {1.5, 15}} {
		if got := Resize(x, ResizeOptions{Scales: single(c.scale)}).Dim(0); got != c.extent {
			t.Errorf("10 elements by %v in float32 are %d, want %d", c.scale, got, c.extent)
		}
	}
	// 11 / 1.1 in float32 is 10; the quotient of the numbers is less.
	big := Resize(tensor.Arange[float32](0, 20, 1), ResizeOptions{Scales: single(1.1), Coordinates: "asymmetric", Nearest: "floor"})
	if got := big.At(11); got != 9 {
		t.Errorf("element 11 is %v, want 9", got)
	}
}

func TestSoftsignOfInfinitiesIsOne(t *testing.T) {
	inf := math.Inf(1)
	same(t, "float64", Softsign(tensor.FromSlice([]float64{inf, -inf})), tensor.FromSlice([]float64{1, -1}))
	same(t, "float32", Softsign(tensor.FromSlice([]float32{float32(inf), -float32(inf)})), tensor.FromSlice([]float32{1, -1}))
	half := num.FromFloat64[num.F16]
	same(t, "float16", Softsign(tensor.FromSlice([]num.F16{half(inf), half(-inf)})), tensor.FromSlice([]num.F16{half(1), half(-1)}))
}

func TestCeluOfAlphaZeroHasNoNaN(t *testing.T) {
	inf, zero := math.Inf(1), math.Copysign(0, -1)
	x := tensor.FromSlice([]float64{-inf, -2, zero, 0, 1, inf})
	same(t, "alpha 0", Celu(x, 0), tensor.FromSlice([]float64{zero, zero, zero, 0, 1, inf}))
}
