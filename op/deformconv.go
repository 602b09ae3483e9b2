package op

import (
	"context"
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// DeformConv is Conv of images x [N, C, H, W] whose patches are read beside their
// places: the element at a kernel position of an output is the one at its place plus
// an offset (down, across), found by linear interpolation, where elements outside of
// the image are +0; then it is multiplied by its mask, if there is one. offset is [N,
// G·k1·k2·2, out1, out2], mask, or the zero Tensor, [N, G·k1·k2, out1, out2]; the
// channels are in G equal runs that share them. w is [M, C/group, k1, k2], bias [M] or
// the zero Tensor.
//
// y and x are the place in float64, and v and u their fractions above whole numbers.
// An element is computed from the four elements a, b, c and d around the place:
//
//	((1−v)·(1−u)·a + (1−v)·u·b) + (v·(1−u)·c + v·u·d)
//
// Each step is rounded in float64. The element is multiplied by the mask, and rounded
// once to the type that Conv contracts in. An offset that isn't finite reads +0. The
// rest is Conv. DeformConv panics if extents don't fit. ONNX DeformConv, of two spatial
// axes. The patches of an image exist as a whole.
func DeformConv[T num.Floating](x, w, offset, bias, mask tensor.Tensor[T], win Window, group, offsetGroup int, opts ...Option) (r tensor.Tensor[T]) {
	deformedConv(x.Any(), w.Any(), offset.Any(), bias.Any(), mask.Any(), contract.Window(win), group, offsetGroup).Into(exec.Ref(&r), opts)
	return r
}

func deformedConv(x, w, offset, bias, mask tensor.Any, win contract.Window, group, runs int) *move.Transfer {
	const name = "DeformConv"
	plan.Present(name, &x, &w, &offset)
	plan.OneType(name, x, w, offset, bias, mask)
	if x.Rank() != 4 {
		panic(plan.Fail(name, tensor.ErrShape, "the input is %s; want [N, C, H, W]", tensor.Describe(x)))
	}
	g := contract.ConvOf(name, &x, &w, &bias, win, group)
	g.Rows = &afterProduct
	if runs < 1 || g.C%runs != 0 {
		panic(plan.Fail(name, tensor.ErrShape, "offset_group %d doesn't divide %d channels", runs, g.C))
	}
	volume := g.S[0].Kernel * g.S[1].Kernel
	for i, a := range []tensor.Any{offset, mask} {
		if a.IsZero() {
			continue
		}
		want := []int{g.N, plan.Extent(name, 1, runs, volume) * (2 - i), g.S[0].Out, g.S[1].Out}
		if lay := a.Layout(); !plan.SameShape(&lay, want) {
			panic(plan.Fail(name, tensor.ErrShape, "the %s is %s, want %s", []string{"offset", "mask"}[i], tensor.Describe(a), plan.ShapeText(want)))
		}
	}
	price := g.Price(&x, &w, &bias)
	price.Takes(float64(max(4, x.DType().Size()))*float64(g.C)*float64(volume)*plan.BytesIn(1, g.Shape[2:]), 0) // the patches
	return &move.Transfer{Name: name, D: x.DType(), Shape: g.Shape, In: move.OperandsOf(x, w, offset, bias, mask), Price: price, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		inFloat(name, dst, in, func(d *tensor.Any, in []*tensor.Any) { deform(g, exec.Job{Name: name, Ctx: ctx}, runs, in, d) })
	}}
}

// deform computes a DeformConv of x, w, offset, bias and mask, image by image.
func deform(g *contract.Convolution, j exec.Job, runs int, in []*tensor.Any, dst *tensor.Any) {
	if dst.Len() == 0 {
		return
	}
	volume := g.S[0].Kernel * g.S[1].Kernel
	patches := tensor.EmptyOf(dst.DType(), g.C, volume, g.Patch)
	for n := range g.N {
		if dst.DType() == dtype.Float64 {
			deformed[float64](j, g, runs, n, in, &patches)
		} else {
			deformed[float32](j, g, runs, n, in, &patches)
		}
		e := g.Contraction(j, 1, false, nil)
		e.CAt.Origin = n * g.M * g.Patch
		e.BRow, e.BCol, e.BAt = g.Patch, 1, contract.EntriesOf(0, contract.Loop{Ext: g.Group, Str: g.K * g.Patch})
		e.Run(in[1], &patches, dst, in[3])
	}
	patches.Close()
}

// deformed computes the patches of image n.
func deformed[T num.Float](j exec.Job, g *contract.Convolution, runs, n int, in []*tensor.Any, patches *tensor.Any) {
	volume, plane := g.S[0].Kernel*g.S[1].Kernel, g.Plane()
	src, offs, at := move.ElemsOf[T](in[0]), move.ElemsOf[T](in[2]), move.ElemsOf[T](patches)
	var factors []T
	if in[4] != nil {
		factors = move.ElemsOf[T](in[4])
	}
	exec.Split(j.Name, j.Ctx, g.C*volume, g.Patch*20, func(from, to int) {
		for row := from; row < to; row++ {
			c, k := row/volume, row%volume
			u := (n*runs+c/(g.C/runs))*volume + k // of the mask; of the offset the two from 2u on
			image := src[(n*g.C+c)*plane:][:plane]
			for o := range g.Patch {
				oy, ox := o/g.S[1].Out, o%g.S[1].Out
				y := float64(g.S[0].At(oy, k/g.S[1].Kernel)) + float64(offs[2*u*g.Patch+o])
				x := float64(g.S[1].At(ox, k%g.S[1].Kernel)) + float64(offs[(2*u+1)*g.Patch+o])
				v := between(image, g.S[0].In, g.S[1].In, y, x)
				if factors != nil {
					v *= float64(factors[u*g.Patch+o])
				}
				at[row*g.Patch+o] = T(v)
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

var deformConv = plan.Operator{About: plan.About{Name: "DeformConv", Convolves: true, Versions: []int{19, 22},
	Attrs: []string{"dilations", "group", "kernel_shape", "offset_group", "pads", "strides"}}, Least: 3, Most: 5, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		return deformedConv(c.In(0), c.In(1), c.In(2), c.In(3), c.In(4), contract.WindowOf(c), plan.AttrInt(c, "group", 1), plan.AttrInt(c, "offset_group", 1))
	}}
