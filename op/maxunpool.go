package op

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// MaxUnpool puts the elements of x [N, C, D1, …] back where MaxPool found them: at index,
// of x's shape, counted in row-major order in the result; all else is +0. Of several for
// one place the last in row-major order stays. The result has shape, the shape of
// MaxPool's operand, or if that is nil [N, C, (D−1)·stride + kernel − pads, …]. An axis
// of shape may be longer, or shorter by less than a stride. Elements keep their bits. It
// panics when the shapes don't fit or an index is out of range. ONNX MaxUnpool; with a
// shape PyTorch max_unpool and ONNX Runtime.
func MaxUnpool[T num.Native | num.Narrow](x tensor.Tensor[T], index tensor.Tensor[int64], win Window, shape []int, opts ...Option) (r tensor.Tensor[T]) {
	unpooled(x.Any(), index.Any(), win, shape).Into(exec.Ref(&r), opts)
	return r
}

func unpooled(x, index tensor.Any, win Window, shape []int) *move.Transfer {
	const name = "MaxUnpool"
	plan.Present(name, &x, &index)
	lay, li := x.Layout(), index.Layout()
	in := plan.Spatial(name, &lay)
	if index.DType() != dtype.Int64 {
		panic(plan.Fail(name, tensor.ErrDType, "the indices hold %v, want int64", index.DType()))
	}
	if !plan.SameShape(&li, lay.Shape()) {
		panic(plan.Fail(name, tensor.ErrShape, "the indices have shape %s, the elements %s", li.ShapeString(), lay.ShapeString()))
	}
	t := ConvTransposeWindow{Window: win}
	t.AutoPad = ""
	if win.Kernel == nil {
		panic(plan.Fail(name, tensor.ErrShape, "no kernel extents for %d spatial axes", len(in)))
	}
	if len(win.Kernel) != len(in) {
		panic(plan.Fail(name, tensor.ErrShape, "%d kernel extents for %d spatial axes; give %d", len(win.Kernel), len(in), len(in)))
	}
	t.Dilations = nil
	out := contract.OutShape(x.Dim(0), x.Dim(1), t.reaches(name, in, win.Kernel))
	if shape != nil {
		fits := len(shape) == len(out)
		for i := 0; fits && i < len(out); i++ {
			least := out[i]
			if i >= 2 && win.Strides != nil { // the last window of a pool may have reached past the end
				least -= win.Strides[i-2] - 1
			}
			fits = shape[i] >= max(least, 0)
		}
		if !fits {
			panic(plan.Fail(name, tensor.ErrShape, "a result of shape %s has no room for %s", plan.ShapeText(shape), plan.ShapeText(out)))
		}
		out = slices.Clone(shape)
	}
	plan.Spec(name, x.DType(), out...) // refuses a shape that doesn't fit an int
	return &move.Transfer{Name: name, D: x.DType(), Shape: out, In: move.OperandsOf(x, index), Picky: true, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		at := in[1].Places(name)
		for i, v := range at {
			if v < 0 || v >= int64(dst.Len()) {
				panic(plan.Fail(name, tensor.ErrIndex, "index %d at %s; there are %d places", v, plan.ShapeText(plan.Unravel(i, lay.Shape())), dst.Len()))
			}
		}
		clear(dst.Mem)
		for i, v := range at {
			dst.Copy(int(v), in[0], i, 1)
		}
	}}
}

var maxUnpool = plan.Operator{About: plan.About{Name: "MaxUnpool", PerAxis: 0b100, Versions: []int{9, 11, 22}, Attrs: []string{"kernel_shape", "pads", "strides"}}, Least: 2, Most: 3, Takes: plan.Reals,
	Move: func(c *plan.Use) plan.Mover {
		shape, _ := move.Ints("MaxUnpool", c, 2)
		return unpooled(c.In(0), c.In(1), Window(contract.WindowOf(c)), shape)
	}}
