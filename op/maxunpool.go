package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// MaxUnpool puts the elements of x [N, C, D1, …] back where MaxPool found them: at index,
// of x's shape, counted in row-major order in a tensor [N, C, (D−1)·stride + kernel −
// pads, …]; all else is +0. Of several for one place the last in row-major order stays.
// With shape, which may be nil, that tensor is the beginning of a larger one. Elements
// keep their bits. It panics when the shapes don't fit or an index is out of range.
// ONNX MaxUnpool.
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
	own := outShape(x.Dim(0), x.Dim(1), t.reaches(name, in, win.Kernel))
	out := own
	if shape != nil {
		out = append([]int{}, shape...)
		fits := len(out) == len(own)
		for i := 0; fits && i < len(out); i++ {
			fits = out[i] >= own[i]
		}
		if !fits {
			panic(fail(name, tensor.ErrShape, "a result of shape %s has no room for %s", shapeText(out), shapeText(own)))
		}
	}
	spec(name, x.DType(), own...) // refuses what doesn't fit an int
	return &transfer{name: name, d: x.DType(), shape: out, in: operandsOf(x, index), picky: true, fill: func(ctx context.Context, dst words, in []words) {
		at := in[1].int64s(name)
		size := 1
		for _, e := range own {
			size *= e
		}
		for i, v := range at {
			if v < 0 || v >= int64(size) {
				panic(fail(name, tensor.ErrIndex, "index %d at %s; there are %d places", v, shapeText(unravel(i, lay.Shape())), size))
			}
		}
		clear(dst.mem)
		c, step := make([]int, len(own)), steps(out)
		for i, v := range at {
			unravelInto(c, int(v), own)
			to := 0
			for k := range c {
				to += c[k] * step[k]
			}
			dst.copy(to, in[0], i, 1)
		}
	}}
}

var maxUnpool = opN{about: about{name: "MaxUnpool", onnx: []int{9, 11, 22}, attrs: []string{"kernel_shape", "pads", "strides"}}, least: 2, most: 3, takes: reals,
	move: func(c *Call) *transfer {
		shape, _ := ints("MaxUnpool", c, 2)
		return unpooled(c.in(0), c.in(1), windowOf(c), shape)
	}}
