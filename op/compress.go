package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
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
	n := len(held.mem)
	out := append([]int{}, shape...)
	out[axis] = conv.True(held.mem)
	return &transfer{name: "Compress", d: a.DType(), shape: out, in: []tensor.Any{a, *held.of}, fill: func(ctx context.Context, dst words, in []words) {
		truth := in[1].mem
		before, extent, after := around(shape, axis)
		exec.Split("Compress", ctx, before, n*after, func(from, to int) {
			for b := from; b < to; b++ {
				line, into := in[0].mem[b*extent*after*dst.size:][:n*after*dst.size], dst.mem[b*out[axis]*after*dst.size:][:out[axis]*after*dst.size]
				if after == 1 {
					conv.Filter(into, line, dst.size, truth)
					continue
				}
				k := 0
				for i, v := range truth {
					if v != 0 {
						k += copy(into[k:], line[i*after*dst.size:(i+1)*after*dst.size])
					}
				}
			}
		})
	}}
}

var compress = opN{about: about{name: "Compress", flops: flops{free: true}, onnx: []int{9, 11}, attrs: []string{"axis"}}, least: 2,
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
