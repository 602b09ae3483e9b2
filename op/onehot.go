package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// OneHot returns a tensor with an axis of extent depth more than indices, inserted
// at axis of the result: on where the coordinate on that axis is the index, off
// elsewhere. An index from -depth to -1 counts from the end; one further outside
// has no on. It panics when depth is negative. ONNX OneHot, whose indices may be
// floats: their fraction is dropped.
func OneHot[T num.Elem](indices tensor.Tensor[int64], depth, axis int, off, on T, opts ...Option) (r tensor.Tensor[T]) {
	oneHotOf(indices.Any(), depth, axis, tensor.FromSlice([]T{off, on}).Any()).Into(exec.Ref(&r), opts)
	return r
}

func oneHotOf(indices tensor.Any, depth, axis int, values tensor.Any) *move.Transfer {
	plan.Present("OneHot", &indices)
	if depth < 0 {
		panic(plan.Fail("OneHot", tensor.ErrShape, "depth %d is negative", depth))
	}
	if values.Rank() != 1 || values.Dim(0) != 2 {
		panic(plan.Fail("OneHot", tensor.ErrShape, "the values are %s; want two, off and on", tensor.Describe(values)))
	}
	by := indices.Shape()
	axis = plan.AxisOf("OneHot", axis, len(by)+1)
	shape := append(append(append([]int{}, by[:axis]...), depth), by[axis:]...)
	return &move.Transfer{Name: "OneHot", D: values.DType(), Shape: shape, In: []tensor.Any{indices, values}, Price: plan.Taking(plan.BytesIn(24, by), 0), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		v := in[1].Mem
		dst.Fill(0, dst.Len(), v[:dst.Size])
		_, _, after := move.Around(shape, axis)
		for i, at := range wholeNumbers("OneHot", 0, in[0]) {
			if at < 0 {
				at += int64(depth)
			}
			if at >= 0 && at < int64(depth) {
				to := (i/after*depth+int(at))*after + i%after
				copy(dst.Mem[to*dst.Size:], v[dst.Size:])
			}
		}
	}}
}

// wholeNumbers returns the elements of a real tensor, which is an input, without
// fractions.
func wholeNumbers(name string, i int, w move.Words) []int64 {
	if d := w.Of.DType(); !plan.Reals.Has(d) {
		panic(plan.Fail(name, tensor.ErrDType, "input %d holds %v, want numbers", i, d))
	}
	return move.WordsOf(pointwise.InType(*w.Of, dtype.Int64)).Int64s(name)
}

var oneHot = plan.Operator{About: plan.About{Name: "OneHot", Moves: plan.Moves{In: 0b100, Out: 1}, Versions: []int{9, 11}, Attrs: []string{"axis"}}, Least: 3,
	Takes: plan.Reals, Move: func(c *plan.Use) plan.Mover {
		if c.In(1).IsSpec() {
			panic(plan.Unknown("OneHot", 1))
		}
		depth := wholeNumbers("OneHot", 1, move.WordsOf(c.In(1)))
		if len(depth) != 1 || int64(int(depth[0])) != depth[0] {
			panic(plan.Fail("OneHot", tensor.ErrShape, "the depth is %s; want one number that fits an int", tensor.Describe(c.In(1))))
		}
		return oneHotOf(c.In(0), int(depth[0]), plan.AttrInt(c, "axis", -1), c.In(2))
	}}
