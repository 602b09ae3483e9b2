package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/order"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// TopK returns the k largest elements of each line along axis, in descending order,
// or without largest the k smallest, in ascending order, and where on the axis they
// were. Of equals, the two zeros among them, the one with the lower position comes
// first. NaN counts as larger than every number, so the largest begin with NaNs,
// and among the smallest they are last. It panics unless 0 ≤ k ≤ the axis's extent.
// A line of n elements takes O(n) steps, whatever their order. Elements keep their
// bits; an Into target takes the elements. ONNX TopK, which may
// leave the order open; here it never is.
func TopK[T num.Native | num.Narrow](a tensor.Tensor[T], k, axis int, largest bool, opts ...Option) (r tensor.Tensor[T], at tensor.Tensor[int64]) {
	topped(exec.Ref(&r), exec.Ref(&at), a.Any(), k, axis, largest, opts)
	return r, at
}

func topped(r, at *tensor.Any, a tensor.Any, k, axis int, largest bool, opts []Option) {
	present("TopK", &a)
	s := read(opts)
	*at = topAt(a, k, axis, largest).run(s.ctx())
	elementsAt("TopK", a, *at, axis).into(r, opts)
}

// topAt is the positions that TopK returns.
func topAt(a tensor.Any, k, axis int, largest bool) *transfer {
	shape := a.Shape()
	axis = axisOf("TopK", axis, len(shape))
	if k < 0 || k > shape[axis] {
		panic(fail("TopK", tensor.ErrShape, "k is %d; axis %d has extent %d", k, axis, shape[axis]))
	}
	out := append([]int{}, shape...)
	out[axis] = k
	return &transfer{name: "TopK", d: dtype.Int64, shape: out, in: []tensor.Any{a}, fill: func(ctx context.Context, dst words, in []words) {
		before, n, after := around(shape, axis)
		f := formOf(a.DType())
		numbers := 1
		if k >= 1024 && k >= n/64 { // then all keys are ranked, in scratch of their own
			numbers = 2
		}
		byLines("TopK", ctx, dst, in[0], before, n, after, k, numbers, max(4, f.Size), func(room []byte) func(to, line []byte) {
			if f.Size == 8 {
				return topper[uint64](f, n, k, largest, numbers > 1, room)
			}
			return topper[uint32](f, n, k, largest, numbers > 1, room)
		})
	}}
}

// topper returns what stores the positions of the first k of lines of n elements.
func topper[K order.Key](f *order.Form, n, k int, largest, whole bool, room []byte) func(to, line []byte) {
	keys := conv.Carve[K](&room, n)
	var t order.Topper[K]
	if whole {
		t.Spare = conv.Carve[K](&room, n)
	}
	return func(to, line []byte) {
		order.Keys(keys, line, f, largest)
		t.Top(order.Positions(to), keys, k, 8*f.Size)
	}
}

// topOf reads a node: k is an attribute before opset 10, an input from there on.
func topOf(c *Call) (k, axis int, largest bool) {
	k = attrInt(c, "k", -1)
	if c.Opset < 10 {
		takes("TopK", c, 1)
	} else {
		v, _ := ints("TopK", c, 1)
		if len(v) != 1 {
			panic(fail("TopK", tensor.ErrShape, "k has %d elements; want one", len(v)))
		}
		k = v[0]
	}
	return k, attrInt(c, "axis", -1), c.Attrs.Int("largest", 1) != 0
}

var topK = opN{about: about{name: "TopK", takesUp: inStepwise, onnx: []int{1, 10, 11, 24}, attrs: []string{"axis", "k", "largest", "sorted"}}, least: 1, most: 2, takes: reals,
	planned: func(c *Call, p *Plan) {
		k, axis, largest := topOf(c)
		a := c.with("TopK", 0)
		if !p.brief {
			shape := topAt(*a, k, axis, largest).shape
			p.out = []tensor.Any{spec("TopK", a.DType(), shape...), spec("TopK", dtype.Int64, shape...)}
		}
		p.list(c, 2, func(to []tensor.Any, opts []Option) { topped(&to[0], &to[1], *a, k, axis, largest, opts) })
	}}
