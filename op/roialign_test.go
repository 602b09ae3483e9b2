package op_test

import (
	"math"
	"testing"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestRoiAlignSamples takes many samples in a bin, and the same ones in bins of their own: their mean has the same bits.
func TestRoiAlignSamples(t *testing.T) {
	for _, n := range []int{1, 6, 32, 33, 80} { // 1024 are added at once
		x := tensor.RandomUniform[float64](uint64(n), -1, 1, 1, 2, 90, 90)
		rois := tensor.FromSlice([]float64{2, 3, 2 + float64(n), 3 + float64(n)}).Reshape(1, 4)
		image := tensor.FromSlice([]int64{0})
		all := op.RoiAlignOptions{Height: 1, Width: 1, Sampling: n, Scale: 1, HalfPixel: true}
		each := op.RoiAlignOptions{Height: n, Width: n, Sampling: 1, Scale: 1, HalfPixel: true}
		samples := op.RoiAlign(x, rois, image, each)
		mean := op.RoiAlign(x, rois, image, all)
		for c := range 2 {
			want := op.ReduceSum(samples.Reshape(2, n*n), []int{1}).At(c) / float64(n*n)
			if got := mean.At(0, c, 0, 0); math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("%d samples of channel %d: mean %v, want %v", n*n, c, got, want)
			}
		}
	}
}
