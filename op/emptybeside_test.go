package op_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// repeats returns one number at every place of a shape, however large.
func repeats[T num.Elem](v T, shape ...int) tensor.Tensor[T] {
	return tensor.Scalar(v).BroadcastTo(shape...)
}

// A result without elements takes no memory for operands whose elements repeat along a huge axis. Their values are checked still.
func TestNoElementsBesideHuge(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("an int has no room for huge extents")
	}
	const huge = 1 << 45
	for name, c := range map[string]struct {
		f    func() []int // the shape of the result
		fail error
	}{
		"LinearAttention of values without elements": {f: func() []int {
			o := op.LinearAttentionOptions[num.F16]{Heads: 4, KVHeads: 2, Decay: repeats(num.F16{}, 2, huge, 2)}
			y, state := op.LinearAttention(repeats(num.F16{}, 2, huge, 12), repeats(num.F16{}, 2, huge, 6), repeats(num.F16{}, 2, huge, 0), o)
			return append(y.Shape(), state.Shape()...)
		}},
		"MaxRoiPool without channels": {f: func() []int {
			return op.MaxRoiPool(tensor.New[float32](1, 0, 6, 4), repeats[float32](0, huge, 5), 2, 3, 1).Shape()
		}},
		"MaxRoiPool without channels, of rows that repeat": {f: func() []int {
			row := tensor.FromSlice(make([]num.F16, 5), 1, 5)
			return op.MaxRoiPool(tensor.New[num.F16](1, 0, 6, 4), row.BroadcastTo(huge, 5), 2, 3, 1).Shape()
		}},
		"MaxRoiPool of another image": {f: func() []int {
			return op.MaxRoiPool(tensor.New[float32](1, 0, 6, 4), repeats[float32](1, huge, 5), 2, 3, 1).Shape()
		}, fail: tensor.ErrIndex},
		"MaxRoiPool of another image at the end": {f: func() []int {
			return op.MaxRoiPool(tensor.New[float32](1, 0, 6, 4), tensor.FromSlice([]float32{9: 0, 10: 1, 14: 0}, 3, 5), 2, 3, 1).Shape()
		}, fail: tensor.ErrIndex},
		"RoiAlign without channels": {f: func() []int {
			return op.RoiAlign(tensor.New[float32](1, 0, 6, 4), repeats[float32](0, huge, 4), repeats[int64](0, huge), op.RoiAlignOptions{Height: 2, Width: 3, Sampling: 1, Scale: 1}).Shape()
		}},
		"RoiAlign of another image": {f: func() []int {
			return op.RoiAlign(tensor.New[float32](1, 0, 6, 4), repeats[float32](0, huge, 4), repeats[int64](1, huge), op.RoiAlignOptions{Height: 2, Width: 3, Sampling: 1, Scale: 1}).Shape()
		}, fail: tensor.ErrIndex},
		"NonMaxSuppression of no classes": {f: func() []int {
			return op.NonMaxSuppression(repeats[float32](0, huge, 3, 4), tensor.New[float32](huge, 0, 3), op.NonMaxSuppressionOptions{Most: 2}).Shape()
		}},
		"NonMaxSuppression that keeps none": {f: func() []int {
			return op.NonMaxSuppression(repeats[float32](0, huge, 3, 4), repeats[float32](0, huge, 2, 3), op.NonMaxSuppressionOptions{}).Shape()
		}},
		"ScatterND of updates without places": {f: func() []int {
			return op.ScatterND(tensor.New[float32](0, huge), tensor.New[int64](3, 1), repeats[float32](0, 3, huge), op.ScatterReplace).Shape()
		}, fail: tensor.ErrIndex},
		"ScatterND of no updates": {f: func() []int {
			return op.ScatterND(tensor.New[float32](0, huge), tensor.New[int64](0, 1), repeats[float32](0, 0, huge), op.ScatterReplace).Shape()
		}},
	} {
		var shape []int
		err := tensor.Try(func() { shape = c.f() })
		if c.fail != nil && errors.Is(err, c.fail) {
			continue
		}
		if c.fail != nil || err != nil || !slices.Contains(shape, 0) {
			t.Errorf("%s: a result of shape %v, %v; want no elements, or %v", name, shape, err, c.fail)
		}
	}
}
