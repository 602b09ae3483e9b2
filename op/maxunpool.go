package op

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// MaxUnpool puts the elements of x [N, C, D1, …] back where MaxPool found them: at index,
// of x's shape, counted in row-major order in the result; all else is +0. Of several for
// one place the last in row-major order stays. The result has shape, that of what
// MaxPool was given, or if that is nil [N, C, (D−1)·stride + kernel − pads, …]. An axis
// of shape may be longer, or shorter by less than a stride. Elements keep their bits. It
// panics when the shapes don't fit or an index is out of range. ONNX MaxUnpool; with a
// shape PyTorch max_unpool and ONNX Runtime.
func MaxUnpool[T num.Native | num.Narrow](x tensor.Tensor[T], index tensor.Tensor[int64], win Window, shape []int, opts ...Option) (r tensor.Tensor[T]) {
	unpooled(x.Any(), index.Any(), win, shape).into(exec.Ref(&r), opts)
	return r
}

func unpooled(x, index tensor.Any, win Window, shape []int) *transfer {
	const name = "MaxUnpool"
	present(name, &x, &index)
	lay, li := x.Layout(), index.Layout()
	in := spatial(name, &lay)
	if index.DType() != dtype.Int64 {
		panic(fail(name, tensor.ErrDType, "the indices hold %v, want int64", index.DType()))
	}
	if !sameShape(&li, lay.Shape()) {
		panic(fail(name, tensor.ErrShape, "the indices have shape %s, the elements %s", li.ShapeString(), lay.ShapeString()))
	}
	t := TransposeWindow{Window: win}
	t.AutoPad = ""
	if win.Kernel == nil {
		panic(fail(name, tensor.ErrShape, "no kernel extents for %d spatial axes", len(in)))
	}
	if len(win.Kernel) != len(in) {
		panic(fail(name, tensor.ErrShape, "%d kernel extents for %d spatial axes; give %d", len(win.Kernel), len(in), len(in)))
	}
	t.Dilations = nil
	out := outShape(x.Dim(0), x.Dim(1), t.reaches(name, in, win.Kernel))
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
			panic(fail(name, tensor.ErrShape, "a result of shape %s has no room for %s", shapeText(shape), shapeText(out)))
		}
		out = slices.Clone(shape)
	}
	spec(name, x.DType(), out...) // refuses what doesn't fit an int
	return &transfer{name: name, d: x.DType(), shape: out, in: operandsOf(x, index), picky: true, fill: func(ctx context.Context, dst words, in []words) {
		at := in[1].places(name)
		for i, v := range at {
			if v < 0 || v >= int64(dst.len()) {
				panic(fail(name, tensor.ErrIndex, "index %d at %s; there are %d places", v, shapeText(unravel(i, lay.Shape())), dst.len()))
			}
		}
		clear(dst.mem)
		for i, v := range at {
			dst.copy(int(v), in[0], i, 1)
		}
	}}
}

var maxUnpool = opN{about: about{name: "MaxUnpool", onnx: []int{9, 11, 22}, attrs: []string{"kernel_shape", "pads", "strides"}}, least: 2, most: 3, takes: reals,
	move: func(c *Call) *transfer {
		shape, _ := ints("MaxUnpool", c, 2)
		return unpooled(c.in(0), c.in(1), windowOf(c), shape)
	}}
