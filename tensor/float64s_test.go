package tensor_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleFloat64s() {
	at := tensor.Float64s(tensor.FromSlice([]complex64{1, 3 - 4i}, 2, 1).Transpose().Any())
	fmt.Println(at(0, 1))
	// Output: 5
}

func TestFloat64s(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		a    tensor.Any
		want float64
	}{
		{tensor.Scalar(true).Any(), 1}, {tensor.Scalar(false).Any(), 0},
		{tensor.Scalar[int8](-3).Any(), -3}, {tensor.Scalar[int16](-3).Any(), -3}, {tensor.Scalar[int32](-3).Any(), -3}, {tensor.Scalar[int64](-3).Any(), -3},
		{tensor.Scalar[uint8](3).Any(), 3}, {tensor.Scalar[uint16](3).Any(), 3}, {tensor.Scalar[uint32](3).Any(), 3}, {tensor.Scalar[uint64](math.MaxUint64).Any(), 1 << 64},
		{tensor.Scalar(num.FromFloat64[num.F16](0.5)).Any(), 0.5}, {tensor.Scalar(num.FromFloat64[num.BF16](0.5)).Any(), 0.5},
		{tensor.Scalar(num.FromFloat64[num.F8E4M3](0.5)).Any(), 0.5}, {tensor.Scalar(num.FromFloat64[num.F8E5M2](-inf)).Any(), -inf},
		{tensor.Scalar[float32](0.1).Any(), float64(float32(0.1))}, {tensor.Scalar(-0.1).Any(), -0.1},
		{tensor.Scalar[complex64](-4 + 3i).Any(), 5}, {tensor.Scalar(0i).Any(), 0},
		{tensor.Scalar(complex(1e300, 1e300)).Any(), 1e300 * math.Sqrt(2)},
		{tensor.Scalar(complex(math.NaN(), inf)).Any(), inf}, {tensor.Scalar(complex(math.NaN(), 1)).Any(), math.NaN()},
	} {
		if got := tensor.Float64s(c.a)(); got != c.want && got == got {
			t.Errorf("%s %v: got %v, want %v", tensor.Describe(c.a), c.a, got, c.want)
		}
	}
	for _, d := range dtype.All() {
		a, err := tensor.Make(d, 2, 2)
		if err != nil {
			t.Fatal(err)
		}
		zero := 0.0
		if d == dtype.Float8E8M0 { // which has no zero
			zero = 0x1p-127
		}
		if at := tensor.Float64s(a); at == nil || at(1, 1) != zero {
			t.Errorf("%v has no float64s", d)
		}
		if s, err := tensor.NewSpec(d, 2); err != nil || tensor.Float64s(s.Any()) != nil {
			t.Errorf("a Spec of %v has float64s, or %v", d, err)
		}
	}
}
