package main

import (
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
)

// Ratios that a case should have at least.
const (
	goalConv, goalDepthwise, goalSmall = 0.93, 0.9, 0.8
)

// cases are single layers, and chains of a few.
func cases() (list []subject) {
	plain := func(c, m, side, k, s int) { list = append(list, layers("", convolution{c, m, k, s, 1}, side)) }
	plain(64, 256, 56, 1, 1)
	plain(256, 64, 56, 1, 1)
	plain(256, 1024, 14, 1, 1)
	plain(1024, 256, 14, 1, 1)
	plain(512, 2048, 7, 1, 1)
	plain(2048, 512, 7, 1, 1)
	plain(256, 512, 56, 1, 2)
	plain(48, 48, 52, 1, 1)
	plain(24, 24, 128, 1, 1)
	plain(64, 64, 56, 3, 1)
	plain(128, 128, 28, 3, 1)
	plain(256, 256, 14, 3, 1)
	plain(512, 512, 7, 3, 1)
	plain(128, 32, 28, 3, 1)
	plain(128, 128, 56, 3, 2)
	plain(256, 256, 28, 3, 2)
	plain(3, 64, 224, 7, 2)
	plain(8, 8, 8, 3, 1)
	plain(8, 16, 14, 5, 1)
	plain(1024, 1024, 7, 3, 1)
	depthwise := func(c, side, k, s int) { list = append(list, layers("depthwise ", convolution{c, c, k, s, c}, side)) }
	depthwise(96, 52, 3, 1)
	depthwise(96, 52, 3, 2)
	depthwise(272, 14, 3, 1)
	depthwise(120, 28, 5, 1)
	depthwise(120, 28, 5, 2)
	chain := func(name string, c, wide, side, k, group int) {
		m := layers(name, convolution{c, wide, 1, 1, 1}, side, convolution{wide, wide, k, 1, group}, convolution{wide, c, 1, 1, 1})
		m.name = fmt.Sprintf("%s %d > %d > %d @%d", name, c, wide, c, side)
		list = append(list, m)
	}
	chain("bottleneck", 256, 64, 56, 3, 1)
	chain("bottleneck", 512, 128, 28, 3, 1)
	chain("bottleneck", 1024, 256, 14, 3, 1)
	chain("bottleneck", 2048, 512, 7, 3, 1)
	chain("mobile 3x3", 48, 96, 52, 3, 96)
	chain("mobile 5x5", 64, 192, 28, 5, 192)
	depthwise(24, 128, 3, 1)
	depthwise(64, 112, 3, 1)
	depthwise(96, 104, 3, 2)
	depthwise(112, 28, 3, 1)
	depthwise(128, 56, 3, 1)
	depthwise(128, 56, 3, 2)
	depthwise(544, 7, 3, 1)
	for _, s := range [][3]int{{1, 1536, 128}, {1, 2048, 1000}, {1, 128, 128}, {1, 64, 64}, {4, 1536, 128}} {
		list = append(list, product(s[0], s[1], s[2], ""))
	}
	for _, s := range [][3]int{{16, 384, 1536}, {64, 100, 64}, {2000, 100, 64}} {
		list = append(list, product(s[0], s[1], s[2], "Gelu"))
	}
	for _, s := range []struct {
		n, c, from, to int
		mode           string
	}{{2, 576, 2, 4, "linear"}, {2, 256, 4, 8, "linear"}, {2, 128, 8, 16, "linear"}, {1, 64, 20, 40, "linear"}, {1, 64, 20, 40, "nearest"}} {
		list = append(list, subject{name: fmt.Sprintf("Resize %s %dx%d @%d > %d", s.mode, s.n, s.c, s.from, s.to), opset: 13, goal: goalSmall,
			build: func(g *onnx.Builder) {
				b := &maker{Builder: g}
				b.end(b.resize(b.Input("x", dtype.Float32, s.n, s.c, s.from, s.from), s.n, s.c, s.to, s.mode))
			}})
	}
	return append(list, subject{name: "gaze, of OpenSeeFace's shape", opset: 14, goal: goalSmall, build: gaze})
}

// layers is a chain of convolutions, each with Relu. More than one add the input before the last Relu.
func layers(kind string, first convolution, side int, more ...convolution) subject {
	all := append([]convolution{first}, more...)
	m := subject{name: fmt.Sprintf("%s%dx%d %d > %d @%d", kind, first.k, first.k, first.c, first.m, (side-1)/first.s+1), opset: 13, goal: goalConv}
	if first.s > 1 {
		m.name += fmt.Sprintf(" /%d", first.s)
	}
	if first.group > 1 {
		m.goal = goalDepthwise
	}
	m.build = func(g *onnx.Builder) {
		b := &maker{Builder: g}
		x := b.Input("x", dtype.Float32, 1, first.c, side, side)
		v := x
		for i, l := range all {
			if v = b.conv(v, l); i > 0 && i == len(all)-1 {
				v = b.Node("Add", []string{v, x})
			}
			v = b.Node("Relu", []string{v})
		}
		b.end(v)
	}
	return m
}

// product is a Gemm of rows with a weight [to, from], and an operator after it, if it has a name.
func product(rows, from, to int, after string) subject {
	m := subject{name: fmt.Sprintf("Gemm %d x %d > %d", rows, from, to), opset: 20, goal: goalConv}
	if after != "" {
		m.name, m.goal = m.name+", "+after, goalSmall
	}
	m.build = func(g *onnx.Builder) {
		b := &maker{Builder: g}
		v := b.Node("Gemm", []string{b.Input("x", dtype.Float32, rows, from), b.weight(from, to, from), b.weight(100, to)}, onnx.IntAttr("transB", 1))
		if after != "" {
			v = b.Node(after, []string{v})
		}
		b.end(v)
	}
	return m
}
