package op

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Compress returns the entries of a along axis where cond, of rank 1, is true; those
// beyond its end go. It panics when cond is longer than the axis. Elements keep
// their bits. ONNX Compress, which without an axis takes elements of the flattened
// tensor: a.Reshape(-1) is that.
func Compress[T num.Elem](a tensor.Tensor[T], cond tensor.Tensor[bool], axis int, opts ...Option) (r tensor.Tensor[T]) {
	compressed(a.Any(), cond.Any(), axis).into(exec.Ref(&r), opts)
	return r
}

func compressed(a, cond tensor.Any, axis int) *transfer {
	present("Compress", &a, &cond)
	shape := a.Shape()
	axis = axisOf("Compress", axis, len(shape))
	switch {
	case cond.DType() != dtype.Bool:
		panic(fail("Compress", tensor.ErrDType, "the condition holds %v, want bool", cond.DType()))
	case cond.Rank() != 1 || cond.Dim(0) > shape[axis]:
		panic(fail("Compress", tensor.ErrShape, "the condition is %s; want one axis of at most %d, the extent of axis %d", tensor.Describe(cond), shape[axis], axis))
	}
	if cond.IsSpec() {
		panic(unknown("Compress", 1))
	}
	held := wordsOf(cond)
	list := make([]int, 0, fits("Compress", held.len(), 8))
	for i, v := range held.mem {
		if v != 0 {
			list = append(list, i)
		}
	}
	runtime.KeepAlive(held.of)
	maps := make([][]int, len(shape))
	maps[axis] = list
	return &transfer{name: "Compress", d: a.DType(), shape: mapped(shape, maps), in: []tensor.Any{a}, fill: func(ctx context.Context, dst words, in []words) {
		remap("Compress", ctx, dst, in[0], shape, maps, nil)
	}}
}

var compress = opN{about: about{name: "Compress", onnx: []int{9, 11}, attrs: []string{"axis"}}, least: 2,
	move: func(c *Call) *transfer {
		a := c.in(0)
		if c.Attrs.Has("axis") {
			return compressed(a, c.in(1), attrInt(c, "axis", 0))
		}
		if a.IsSpec() {
			flat, err := tensor.NewSpec(a.DType(), a.Len())
			if err != nil {
				panic(err)
			}
			return compressed(flat.Any(), c.in(1), 0)
		}
		return compressed(viewed(tensor.Reshape(a, a.Len())), c.in(1), 0)
	}}
