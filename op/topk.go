package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/order"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// TopK returns the k largest elements of each line along axis, in descending order,
// or with o.Smallest the k smallest, in ascending order, and where on the axis they
// were. Of equals, the two zeros among them, the one with the lower position comes
// first. NaN counts as larger than every number, so the largest begin with NaNs,
// and among the smallest they are last. It panics unless 0 ≤ k ≤ the axis's extent.
// A line of n elements takes O(n) steps, whatever their order. Elements keep their
// bits; an Into target takes the elements. ONNX TopK, which may
// leave the order open; here it never is.
func TopK[T num.Native | num.Narrow](a tensor.Tensor[T], k, axis int, o TopKOptions, opts ...Option) (r tensor.Tensor[T], at tensor.Tensor[int64]) {
	topped(exec.Ref(&r), exec.Ref(&at), a.Any(), k, axis, !o.Smallest, opts)
	return r, at
}

// TopKOptions says which elements TopK returns.
type TopKOptions struct {
	Smallest bool // the smallest: 0 of ONNX's attribute largest
}

func topped(r, at *tensor.Any, a tensor.Any, k, axis int, largest bool, opts []Option) {
	plan.Present("TopK", &a)
	s := plan.Read("TopK", opts)
	*at = topAt(a, k, axis, largest).Run(s.Ctx())
	elementsAt("TopK", a, *at, axis).Into(r, opts)
}

// topAt is the positions that TopK returns.
func topAt(a tensor.Any, k, axis int, largest bool) *move.Transfer {
	shape := a.Shape()
	axis = plan.AxisOf("TopK", axis, len(shape))
	if k < 0 || k > shape[axis] {
		panic(plan.Fail("TopK", tensor.ErrShape, "k is %d; axis %d has extent %d", k, axis, shape[axis]))
	}
	out := append([]int{}, shape...)
	out[axis] = k
	return &move.Transfer{Name: "TopK", D: dtype.Int64, Shape: out, In: []tensor.Any{a}, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		before, n, after := move.Around(shape, axis)
		f := move.FormOf(a.DType())
		numbers := 1
		if k >= 1024 && k >= n/64 { // then all keys are ranked, in scratch of their own
			numbers = 2
		}
		move.ByLines("TopK", ctx, dst, in[0], before, n, after, k, numbers, max(4, f.Size), func(room []byte) func(to, line []byte) {
			if f.Size == 8 {
				return topper[uint64](f, n, k, largest, numbers > 1, room)
			}
			return topper[uint32](f, n, k, largest, numbers > 1, room)
		})
	}}
}

// topper returns a function that stores the positions of the first k of lines of n elements.
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
func topOf(c *plan.Use) (k, axis int, largest bool) {
	k = plan.AttrInt(c, "k", -1)
	if c.Opset < 10 {
		plan.Takes("TopK", c, 1)
	} else {
		v, _ := move.Ints("TopK", c, 1)
		if len(v) != 1 {
			panic(plan.Fail("TopK", tensor.ErrShape, "k has %d elements; want one", len(v)))
		}
		k = v[0]
	}
	return k, plan.AttrInt(c, "axis", -1), c.Attrs.Int("largest", 1) != 0
}

var topK = plan.Operator{About: plan.About{Name: "TopK", Versions: []int{1, 10, 11, 24}, Attrs: []string{"axis", "k", "largest", "sorted"}}, Least: 1, Most: 2, Takes: plan.Reals,
	Planned: func(c *plan.Use, p *plan.Draft) {
		k, axis, largest := topOf(c)
		a := c.With("TopK", 0)
		if !p.Brief {
			shape := topAt(*a, k, axis, largest).Shape
			p.Out = []tensor.Any{plan.Spec("TopK", a.DType(), shape...), plan.Spec("TopK", dtype.Int64, shape...)}
		}
		p.Copies(0, 2, 1)
		p.List(c, 2, func(to []tensor.Any, opts []Option) { topped(&to[0], &to[1], *a, k, axis, largest, opts) })
	}}
