package op

import (
	"context"
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// DeformConv is Conv of images x [N, C, H, W] whose patches are read beside their
// places: the element at a kernel position of an output is the one at its place plus
// an offset (down, across), found by linear interpolation, where what is outside of
// the image is +0; then it is multiplied by its mask, if there is one. offset is [N,
// G·k1·k2·2, out1, out2], mask, or the zero Tensor, [N, G·k1·k2, out1, out2]; the
// channels are in G equal runs that share them. w is [M, C/group, k1, k2], bias [M] or
// the zero Tensor.
//
// With y and x the place in float64, and v and u what they are above whole numbers,
// an element is ((1−v)·(1−u)·a + (1−v)·u·b) + (v·(1−u)·c + v·u·d), of the four around
// it, each step rounded in float64; times the mask; rounded once to the type that
// Conv contracts in. What isn't finite as an offset reads +0. The rest is Conv. It
// panics when extents don't fit. ONNX DeformConv, of two spatial axes. The patches of
// an image exist as a whole.
func DeformConv[T num.Float | num.Narrow](x, w, offset, bias, mask tensor.Tensor[T], win Window, group, offsetGroup int, opts ...Option) (r tensor.Tensor[T]) {
	deformedConv(x.Any(), w.Any(), offset.Any(), bias.Any(), mask.Any(), win, group, offsetGroup).into(exec.Ref(&r), opts)
	return r
}

func deformedConv(x, w, offset, bias, mask tensor.Any, win Window, group, runs int) *transfer {
	const name = "DeformConv"
	present(name, &x, &w, &offset)
	oneType(name, x, w, offset, bias, mask)
	if x.Rank() != 4 {
		panic(fail(name, tensor.ErrShape, "the input is %s; want [N, C, H, W]", tensor.Describe(x)))
	}
	g := convOf(name, &x, &w, &bias, win, group)
	if runs < 1 || g.c%runs != 0 {
		panic(fail(name, tensor.ErrShape, "offset_group %d doesn't divide %d channels", runs, g.c))
	}
	volume := g.s[0].kernel * g.s[1].kernel
	for i, a := range []tensor.Any{offset, mask} {
		if a.IsZero() {
			continue
		}
		want := []int{g.n, extent(name, 1, runs, volume) * (2 - i), g.s[0].out, g.s[1].out}
		if lay := a.Layout(); !sameShape(&lay, want) {
			panic(fail(name, tensor.ErrShape, "the %s is %s, want %s", []string{"offset", "mask"}[i], tensor.Describe(a), shapeText(want)))
		}
	}
	return &transfer{name: name, d: x.DType(), shape: g.shape, in: operandsOf(x, w, offset, bias, mask), fill: func(ctx context.Context, dst words, in []words) {
		inFloat(name, dst, in, func(d *tensor.Any, in []*tensor.Any) { g.deform(exec.Job{Name: name, Ctx: ctx}, runs, in, d) })
	}}
}

// deform computes a DeformConv of x, w, offset, bias and mask, image by image.
func (g *convolution) deform(j exec.Job, runs int, in []*tensor.Any, dst *tensor.Any) {
	if dst.Len() == 0 {
		return
	}
	volume := g.s[0].kernel * g.s[1].kernel
	patches := tensor.EmptyOf(dst.DType(), g.c, volume, g.patch)
	for n := range g.n {
		if dst.DType() == dtype.Float64 {
			deformed[float64](j, g, runs, n, in, &patches)
		} else {
			deformed[float32](j, g, runs, n, in, &patches)
		}
		e := g.contraction(j, 1, false, nil)
		e.cAt.origin = n * g.m * g.patch
		e.bRow, e.bCol, e.bAt = g.patch, 1, entriesOf(0, loop{g.group, g.k * g.patch})
		e.run(in[1], &patches, dst, in[3], nil)
	}
	patches.Close()
}

// deformed computes the patches of image n.
func deformed[T num.Float](j exec.Job, g *convolution, runs, n int, in []*tensor.Any, patches *tensor.Any) {
	volume, plane := g.s[0].kernel*g.s[1].kernel, g.plane()
	src, offs, at := elemsOf[T](in[0]), elemsOf[T](in[2]), elemsOf[T](patches)
	var factors []T
	if in[4] != nil {
		factors = elemsOf[T](in[4])
	}
	exec.Split(j.Name, j.Ctx, g.c*volume, g.patch*20, func(from, to int) {
		for row := from; row < to; row++ {
			c, k := row/volume, row%volume
			u := (n*runs+c/(g.c/runs))*volume + k // of the mask; of the offset the two from 2u on
			image := src[(n*g.c+c)*plane:][:plane]
			for o := range g.patch {
				oy, ox := o/g.s[1].out, o%g.s[1].out
				y := float64(g.s[0].at(oy, k/g.s[1].kernel)) + float64(offs[2*u*g.patch+o])
				x := float64(g.s[1].at(ox, k%g.s[1].kernel)) + float64(offs[(2*u+1)*g.patch+o])
				v := between(image, g.s[0].in, g.s[1].in, y, x)
				if factors != nil {
					v *= float64(factors[u*g.patch+o])
				}
				at[row*g.patch+o] = T(v)
			}
		}
	})
	runtime.KeepAlive(in)
	runtime.KeepAlive(patches)
}

// between returns the element at (y, x) of an image of h rows by linear interpolation,
// and 0 outside.
func between[T num.Float](image []T, h, w int, y, x float64) float64 {
	if !(y > -1 && y < float64(h) && x > -1 && x < float64(w)) {
		return 0
	}
	fy, fx := math.Floor(y), math.Floor(x)
	v, u := y-fy, x-fx
	iy, ix := int(fy), int(fx)
	at := func(i, j int) float64 {
		if uint(i) >= uint(h) || uint(j) >= uint(w) {
			return 0
		}
		return float64(image[i*w+j])
	}
	a := float64(float64((1-v)*(1-u)) * at(iy, ix))
	b := float64(float64((1-v)*u) * at(iy, ix+1))
	c := float64(float64(v*(1-u)) * at(iy+1, ix))
	d := float64(float64(v*u) * at(iy+1, ix+1))
	return (a + b) + (c + d)
}

var deformConv = opN{about: about{name: "DeformConv", takesUp: inBlocks | inPatches, onnx: []int{19, 22},
	attrs: []string{"dilations", "group", "kernel_shape", "offset_group", "pads", "strides"}}, least: 3, most: 5, takes: floats, fast: productFast,
	move: func(c *Call) *transfer {
		return deformedConv(c.in(0), c.in(1), c.in(2), c.in(3), c.in(4), windowOf(c), attrInt(c, "group", 1), attrInt(c, "offset_group", 1))
	}}
