package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CenterCropPad returns a with the given extents on the given axes, nil meaning all:
// where an axis is too long its middle stays, where it is too short zeros go on both
// sides; of an odd difference the larger half is at the end. It panics when there
// isn't an extent of at least 0 for each axis. Elements keep their bits. ONNX
// CenterCropPad.
func CenterCropPad[T num.Elem](a tensor.Tensor[T], extents, axes []int, opts ...Option) (r tensor.Tensor[T]) {
	centered(a.Any(), extents, axes).into(exec.Ref(&r), opts)
	return r
}

func centered(a tensor.Any, extents, axes []int) *transfer {
	const name = "CenterCropPad"
	present(name, &a)
	shape := a.Shape()
	if axes == nil {
		for i := range shape {
			axes = append(axes, i)
		}
	}
	if len(extents) != len(axes) {
		panic(fail(name, tensor.ErrShape, "%d extents for %d axes", len(extents), len(axes)))
	}
	out := append([]int{}, shape...)
	seen := make([]bool, len(shape))
	for k, x := range axes {
		i := axisOf(name, x, len(shape))
		if seen[i] {
			panic(fail(name, tensor.ErrAxis, "axis %d is named twice in %s", x, listText(axes)))
		}
		seen[i] = true
		if out[i] = extents[k]; out[i] < 0 {
			panic(fail(name, tensor.ErrShape, "extent %d of axis %d is negative", out[i], i))
		}
	}
	maps := make([]mapping, len(shape))
	for i, n := range shape {
		if out[i] != n {
			first := (n - out[i]) / 2 // rounds toward 0 both ways: the smaller half is in front
			maps[i] = mapping{out[i], func(place int) run { return padRun(PadConstant, place+first, n) }}
		}
	}
	return &transfer{name: name, d: a.DType(), shape: out, in: []tensor.Any{a}, scratch: remapScratch(maps), fill: func(ctx context.Context, dst words, in []words) {
		remap(name, ctx, dst, in[0], shape, maps, make([]byte, dst.size))
	}}
}

var centerCropPad = opN{about: about{name: "CenterCropPad", flops: flops{free: true}, onnx: []int{18}, attrs: []string{"axes"}}, least: 2,
	move: func(c *Call) *transfer {
		extents, _ := ints("CenterCropPad", c, 1)
		axes, _ := attrInts(c, "axes")
		return centered(c.in(0), extents, axes)
	}}
