package main

import (
	"fmt"
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// noise has the numbers of weights, again and again, from another place on in each.
var noise = sync.OnceValue(func() []float32 { return tensor.RandomUniform[float32](1, -1, 1, 1<<16+1).Elems() })

// A maker adds layers with weights from a seed to a graph of one input and one output.
type maker struct {
	*onnx.Builder
	n int // weights so far
}

// weight adds numbers that keep the size of values over a sum of fan of them.
func (b *maker) weight(fan int, shape ...int) string {
	high := float32(math.Sqrt(3 / float64(fan)))
	a := tensor.New[float32](shape...)
	list := a.Elems()
	for from, at := 0, b.n*997%len(noise()); from < len(list); at = 0 {
		from += copy(list[from:], noise()[at:])
	}
	for i := range list {
		list[i] *= high
	}
	b.n++
	return b.Weight(fmt.Sprint("w", b.n), a.Any())
}

func (b *maker) constant(list []float32, shape ...int) string {
	b.n++
	return b.Weight(fmt.Sprint("c", b.n), tensor.FromSlice(list, shape...).Any())
}

func (b *maker) extents(list ...int64) string {
	b.n++
	return b.Weight(fmt.Sprint("e", b.n), tensor.FromSlice(list, len(list)).Any())
}

// A convolution of k×k from c to m channels in groups, of stride s, padded by k/2.
type convolution struct{ c, m, k, s, group int }

func (b *maker) conv(x string, l convolution) string {
	group, p, s, k := max(1, l.group), int64(l.k/2), int64(l.s), int64(l.k)
	fan := l.c / group * l.k * l.k
	return b.Node("Conv", []string{x, b.weight(fan, l.m, l.c/group, l.k, l.k), b.weight(100, l.m)}, onnx.IntsAttr("kernel_shape", k, k),
		onnx.IntsAttr("pads", p, p, p, p), onnx.IntsAttr("strides", s, s), onnx.IntAttr("group", int64(group)))
}

func (b *maker) linear(x string, from, to int) string {
	return b.Node("Add", []string{b.Node("MatMul", []string{x, b.weight(from, from, to)}), b.weight(100, to)})
}

// end names the output, whose shape the nodes give.
func (b *maker) end(v string) { b.OutputOf(b.Rename(v, "y"), onnx.Type{}) }

// resnet18 is ResNet-18 with BatchNormalization folded into Conv, as PyTorch exports it.
func resnet18(g *onnx.Builder) {
	b := &maker{Builder: g}
	relu := func(v string) string { return b.Node("Relu", []string{v}) }
	v := relu(b.conv(b.Input("x", dtype.Float32, 1, 3, 224, 224), convolution{c: 3, m: 64, k: 7, s: 2}))
	v = b.Node("MaxPool", []string{v}, onnx.IntsAttr("kernel_shape", 3, 3), onnx.IntsAttr("strides", 2, 2), onnx.IntsAttr("pads", 1, 1, 1, 1))
	c := 64
	for _, m := range []int{64, 128, 256, 512} {
		for i := range 2 {
			s, from := 1, v
			if i == 0 && m != 64 {
				s = 2
				from = b.conv(v, convolution{c: c, m: m, k: 1, s: s})
			}
			v = relu(b.conv(v, convolution{c: c, m: m, k: 3, s: s}))
			v = relu(b.Node("Add", []string{b.conv(v, convolution{c: m, m: m, k: 3, s: 1}), from}))
			c = m
		}
	}
	v = b.Node("ReduceMean", []string{v}, onnx.IntsAttr("axes", 2, 3), onnx.IntAttr("keepdims", 0))
	b.end(b.Node("Gemm", []string{v, b.weight(512, 1000, 512), b.weight(100, 1000)}, onnx.IntAttr("transB", 1)))
}

// encoder6 is a text encoder of six layers, 128 tokens, 384 features and twelve heads, with Gelu as PyTorch writes it.
func encoder6(g *onnx.Builder) {
	const tokens, size, heads, wide = 128, 384, 12, 1536
	b := &maker{Builder: g}
	v := b.Input("x", dtype.Float32, 1, tokens, size)
	split, joined := b.extents(1, tokens, heads, size/heads), b.extents(1, tokens, size)
	scale := b.constant([]float32{float32(math.Sqrt(heads / float64(size)))})
	root, one, half := b.constant([]float32{math.Sqrt2}), b.constant([]float32{1}), b.constant([]float32{0.5})
	normal := func(v, more string) string {
		return b.Node("LayerNormalization", []string{b.Node("Add", []string{v, more}), b.weight(3, size), b.weight(100, size)})
	}
	for range 6 {
		head := func(axes ...int64) string {
			return b.Node("Transpose", []string{b.Node("Reshape", []string{b.linear(v, size, size), split})}, onnx.IntsAttr("perm", axes...))
		}
		q, k, values := head(0, 2, 1, 3), head(0, 2, 3, 1), head(0, 2, 1, 3)
		a := b.Node("Softmax", []string{b.Node("Mul", []string{b.Node("MatMul", []string{q, k}), scale})}, onnx.IntAttr("axis", -1))
		a = b.Node("Transpose", []string{b.Node("MatMul", []string{a, values})}, onnx.IntsAttr("perm", 0, 2, 1, 3))
		v = normal(v, b.linear(b.Node("Reshape", []string{a, joined}), size, size))
		f := b.linear(v, size, wide)
		more := b.Node("Add", []string{b.Node("Erf", []string{b.Node("Div", []string{f, root})}), one})
		f = b.Node("Mul", []string{b.Node("Mul", []string{f, more}), half})
		v = normal(v, b.linear(f, wide, size))
	}
	b.end(v)
}

// gaze has the shape of OpenSeeFace's model of gaze: two eyes of 32×32, small depthwise layers with HardSwish, and a bilinear Resize
// three times.
func gaze(g *onnx.Builder) {
	b := &maker{Builder: g}
	swish := func(v string) string { return b.Node("HardSwish", []string{v}) }
	v := swish(b.conv(b.Input("x", dtype.Float32, 2, 3, 32, 32), convolution{c: 3, m: 16, k: 3, s: 2}))
	left := []string{v}
	c := 16
	for _, m := range []int{24, 48, 96} {
		v = swish(b.conv(v, convolution{c: c, m: 4 * c, k: 1, s: 1}))
		v = swish(b.conv(v, convolution{c: 4 * c, m: 4 * c, k: 5, s: 2, group: 4 * c}))
		v = b.conv(v, convolution{c: 4 * c, m: m, k: 1, s: 1})
		left, c = append(left, v), m
	}
	v = swish(b.conv(v, convolution{c: c, m: 576, k: 1, s: 1}))
	c = 576
	for i, m := range []int{256, 128, 64} {
		side, skip := 4<<i, 48>>i
		if i == 2 {
			skip = 16
		}
		v = b.Node("Concat", []string{left[2-i], b.resize(v, 2, c, side, "linear")}, onnx.IntAttr("axis", 1))
		c += skip
		v = b.conv(v, convolution{c: c, m: c, k: 3, s: 1, group: c})
		v = b.conv(v, convolution{c: c, m: m, k: 1, s: 1})
		c = m
	}
	b.end(v)
}

// resize makes squares of n pictures of c channels as wide as side.
func (b *maker) resize(v string, n, c, side int, mode string) string {
	how := "align_corners"
	if mode == "nearest" {
		how = "asymmetric"
	}
	return b.Node("Resize", []string{v, "", "", b.extents(int64(n), int64(c), int64(side), int64(side))}, onnx.StringAttr("mode", mode),
		onnx.StringAttr("coordinate_transformation_mode", how), onnx.StringAttr("nearest_mode", "floor"))
}
