package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// OneHot returns a tensor with an axis of extent depth more than indices, inserted
// at axis of the result: on where the coordinate on that axis is the index, off
// elsewhere. An index from -depth to -1 counts from the end; one further outside
// has no on. It panics when depth is negative. ONNX OneHot, whose indices may be
// floats: their fraction is dropped.
func OneHot[T num.Elem](indices tensor.Tensor[int64], depth, axis int, off, on T, opts ...Option) (r tensor.Tensor[T]) {
	oneHotOf(indices.Any(), depth, axis, tensor.FromSlice([]T{off, on}).Any()).into(exec.Ref(&r), opts)
	return r
}

func oneHotOf(indices tensor.Any, depth, axis int, values tensor.Any) *transfer {
	present("OneHot", &indices)
	if depth < 0 {
		panic(fail("OneHot", tensor.ErrShape, "depth %d is negative", depth))
	}
	if values.Rank() != 1 || values.Dim(0) != 2 {
		panic(fail("OneHot", tensor.ErrShape, "the values are %s; want two, off and on", tensor.Describe(values)))
	}
	by := indices.Shape()
	axis = axisOf("OneHot", axis, len(by)+1)
	shape := append(append(append([]int{}, by[:axis]...), depth), by[axis:]...)
	return &transfer{name: "OneHot", d: values.DType(), shape: shape, in: []tensor.Any{indices, values}, scratch: bytesIn(24, by), fill: func(ctx context.Context, dst words, in []words) {
		v := in[1].mem
		dst.fill(0, dst.len(), v[:dst.size])
		_, _, after := around(shape, axis)
		for i, at := range wholeNumbers("OneHot", 0, in[0]) {
			if at < 0 {
				at += int64(depth)
			}
			if at >= 0 && at < int64(depth) {
				to := (i/after*depth+int(at))*after + i%after
				copy(dst.mem[to*dst.size:], v[dst.size:])
			}
		}
	}}
}

// wholeNumbers returns the elements of a real tensor, which is an input, without
// fractions.
func wholeNumbers(name string, i int, w words) []int64 {
	if d := w.of.DType(); !reals.has(d) {
		panic(fail(name, tensor.ErrDType, "input %d holds %v, want numbers", i, d))
	}
	return wordsOf(inType(*w.of, dtype.Int64)).int64s(name)
}

var oneHot = opN{about: about{name: "OneHot", onnx: []int{9, 11}, attrs: []string{"axis"}}, least: 3,
	takes: reals, move: func(c *Call) *transfer {
		if c.in(1).IsSpec() {
			panic(unknown("OneHot", 1))
		}
		depth := wholeNumbers("OneHot", 1, wordsOf(c.in(1)))
		if len(depth) != 1 || int64(int(depth[0])) != depth[0] {
			panic(fail("OneHot", tensor.ErrShape, "the depth is %s; want one number that fits an int", tensor.Describe(c.in(1))))
		}
		return oneHotOf(c.in(0), int(depth[0]), attrInt(c, "axis", -1), c.in(2))
	}}
