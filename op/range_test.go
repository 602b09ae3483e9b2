package op

import (
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Range of opset 27 computes 16-bit floats in the type that stash_type names, and rounds once.
func TestRangeStash(t *testing.T) {
	const n = 3000
	differ := 0
	for _, v := range [][2]float64{{0, 0x1.02p-3}, {1, 0x1.54p-9}, {-300, 0x1.9ap-4}, {1e6, 0x1.fep3}, {0x1.02p17, 0x1.fep0}} {
		start, step := num.FromFloat64[num.BF16](v[0]), num.FromFloat64[num.BF16](v[1])
		limit := num.FromFloat64[num.BF16](v[0] + n*v[1])
		in := []tensor.Any{tensor.Scalar(start).Any(), tensor.Scalar(limit).Any(), tensor.Scalar(step).Any()}
		one := asOf[num.BF16](runs(t, "Range", &Call{Inputs: in, Attrs: given{"stash_type": int64(1)}})[0])
		same(t, "default", one, asOf[num.BF16](runs(t, "Range", &Call{Inputs: in})[0]))
		two := asOf[num.BF16](runs(t, "Range", &Call{Inputs: in, Attrs: given{"stash_type": int64(11)}})[0])
		for i, got := range two.Elems() {
			if want := num.FromFloat64[num.BF16](start.Float64() + float64(float64(i)*step.Float64())); got != want {
				t.Fatalf("element %d of %v by %v in float64 is %v, want %v", i, start, step, got, want)
			}
			if want := num.FromFloat64[num.BF16](float64(start.Float32() + float32(float32(i)*step.Float32()))); one.At(i) != want {
				t.Fatalf("element %d of %v by %v in float32 is %v, want %v", i, start, step, one.At(i), want)
			}
			if got != one.At(i) {
				differ++
			}
		}
	}
	if differ == 0 {
		t.Error("the types give the same numbers")
	}
	half := tensor.Scalar(num.FromFloat64[num.F16](1)).Any()
	if runs(t, "Range", &Call{Inputs: []tensor.Any{half, half, half}, Attrs: given{"stash_type": int64(10)}}) != nil {
		t.Error("stash_type float16 runs")
	}
}
