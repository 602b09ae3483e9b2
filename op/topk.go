package op

import (
	"context"
	"encoding/binary"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// TopK returns the k largest elements of each line along axis, in descending order,
// or without largest the k smallest, in ascending order, and where on the axis they
// were. Of equals, the two zeros among them, the one with the lower position comes
// first. NaN counts as larger than every number, so the largest begin with NaNs,
// and among the smallest they are last. It panics unless 0 ≤ k ≤ the axis's extent.
// Elements keep their bits; an Into target takes the elements. ONNX TopK, which may
// leave the order open; here it never is.
func TopK[T num.Native | num.Narrow](a tensor.Tensor[T], k, axis int, largest bool, opts ...Option) (tensor.Tensor[T], tensor.Tensor[int64]) {
	s := read(opts)
	axis = axisOf("TopK", axis, a.Rank())
	where := topAt(a.Any(), k, axis, largest).run(s.ctx())
	return moved[T](gathered("TopK", a.Any(), where, axis), opts), *exec.Typed[int64](&where)
}

// topAt is the positions that TopK returns.
func topAt(a tensor.Any, k, axis int, largest bool) *transfer {
	shape := a.Shape()
	if k < 0 || k > shape[axis] {
		panic(fail("TopK", tensor.ErrShape, "k is %d; axis %d has extent %d", k, axis, shape[axis]))
	}
	out := append([]int{}, shape...)
	out[axis] = k
	return &transfer{name: "TopK", d: dtype.Int64, shape: out, in: []tensor.Any{a}, fill: func(ctx context.Context, dst words, in []words) {
		before, n, after := around(shape, axis)
		ordered("TopK", ctx, in[0], before, n, after, largest, func(first int, line []keyed) {
			to := first/(n*after)*k*after + first%after
			for i, e := range line[:k] {
				binary.NativeEndian.PutUint64(dst.mem[8*(to+i*after):], uint64(e.at))
			}
		})
	}}
}

// topOf reads a node: k is an attribute before opset 10, an input from there on.
func topOf(c *Call) (at *transfer, axis int) {
	a := c.in(0)
	axis = axisOf("TopK", int(c.Attrs.Int("axis", -1)), a.Rank())
	k := int(c.Attrs.Int("k", -1))
	if c.Opset >= 10 {
		v, _ := ints("TopK", c, 1)
		if len(v) != 1 {
			panic(fail("TopK", tensor.ErrShape, "k has %d elements; want one", len(v)))
		}
		k = v[0]
	}
	return topAt(a, k, axis, c.Attrs.Int("largest", 1) != 0), axis
}

var topK = opN{about: about{name: "TopK", onnx: []int{1, 10, 11, 24}, attrs: []string{"axis", "k", "largest", "sorted"}}, least: 1, most: 2, takes: reals,
	infer: func(c *Call) []tensor.Any {
		at, _ := topOf(c)
		return []tensor.Any{spec("TopK", c.in(0).DType(), at.shape...), spec("TopK", dtype.Int64, at.shape...)}
	},
	run: func(c *Call) []tensor.Any {
		at, axis := topOf(c)
		where := at.run(c.Context)
		return []tensor.Any{gathered("TopK", c.in(0), where, axis).run(c.Context), where}
	}}
