package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A threshold is a number of package contract that was measured. A call has the geometry of a value. ways names the ways of a call where the
// number is larger than all geometries, and where it is 0. A size has no ways: the geometry stays, and the number varies.
type threshold struct {
	name string
	ways [2]string
	call func(value int) func() tensor.Any // makes the operands. The result is the call's own
}

// thresholds has a line for each number in contract.Measured.
var thresholds = []threshold{
	{"FewRows", [2]string{"in order", "tiles"}, func(v int) func() tensor.Any { return matmul(v, 256, 1024) }},
	{"gemmLarge", [2]string{"in place", "copied"}, func(v int) func() tensor.Any { n := int(math.Cbrt(float64(v / 4))); return matmul(n, n, n) }},
	{"rowsPacked", [2]string{"packed", "in place"}, func(v int) func() tensor.Any { return keptProduct(v, 512, 512) }},
	{"mostPacked", [2]string{"packed", "in place"}, func(v int) func() tensor.Any { n := int(math.Sqrt(float64(v))); return keptProduct(4, n, n) }},
	{"copiedOnce", [2]string{}, func(int) func() tensor.Any { return turned(4, 768, 768) }},
	{"longBlocks", [2]string{"in order", "side by side"}, func(v int) func() tensor.Any { return matmul(1, 256*v, 1) }},
	{"skinnyStrip", [2]string{}, func(int) func() tensor.Any { return matmul(3, 256, 16384) }},
	{"turnedPlane", [2]string{"direct", "planes"}, func(v int) func() tensor.Any {
		return cold(func() func() tensor.Any { return convolution(512, 512, 1, 1, v, 1) })
	}},
	{"leastChannels", [2]string{"windows", "direct"}, func(v int) func() tensor.Any { return convolution(16, v, 1, 56, 56, 3) }},
	{"singleChannels", [2]string{"windows", "direct"}, func(v int) func() tensor.Any { return convolution(1, v, 1, 56, 56, 3) }},
	{"singleLine", [2]string{"direct", "windows"}, func(v int) func() tensor.Any { return convolution(1, 12, 1, 64, v, 3) }},
	{"shortLine", [2]string{"deep", "windows"}, func(v int) func() tensor.Any { return convolution(128, 128, 128, v, v, 3) }},
	{"deepChannels", [2]string{"windows", "deep"}, func(v int) func() tensor.Any { return convolution(v, v, v, 14, 14, 3) }},
	{"PoolLine", [2]string{"by planes", "by lines"}, func(v int) func() tensor.Any { return pool(256, v) }},
	{"PoolPlanes", [2]string{"by lines", "by planes"}, func(v int) func() tensor.Any { return pool(v, 10) }},
	{"directRoom", [2]string{}, func(int) func() tensor.Any { return convolution(64, 64, 1, 56, 56, 3) }},
	{"directLine", [2]string{}, func(int) func() tensor.Any { return convolution(64, 64, 1, 1, 3136, 3) }},
	{"directPanel", [2]string{}, func(int) func() tensor.Any { return convolution(96, 96, 1, 28, 28, 3) }},
	{"deepTile", [2]string{}, func(int) func() tensor.Any { return convolution(1024, 1024, 1024, 14, 14, 3) }},
	{"windowStrip", [2]string{}, func(int) func() tensor.Any { return convolution(32, 32, 32, 112, 112, 3) }},
	{"byteRows", [2]string{}, func(int) func() tensor.Any { return bytesProduct(512) }},
	{"bytePairs", [2]string{}, func(int) func() tensor.Any { return bytesProduct(512) }},
	{"byteSums", [2]string{}, func(int) func() tensor.Any { return bytesProduct(512) }},
	{"byteRoom", [2]string{}, func(int) func() tensor.Any { return bytesConvolution(64, 64, 56) }},
	{"byteTogether", [2]string{}, func(int) func() tensor.Any { return bytesConvolution(16, 16, 56) }},
	{"byteChannels", [2]string{"by parts", "direct"}, func(v int) func() tensor.Any { return bytesConvolution(16, v, 56) }},
}

// calibrate prints, for half of each number, the number and twice as much, the times of both ways, or of the size.
func calibrate(w io.Writer, seconds float64) {
	for i := range thresholds {
		t := &thresholds[i]
		n := contract.Measured()[t.name]
		was := *n
		for _, v := range []int{was / 2, was, 2 * was} {
			if t.ways == ([2]string{}) {
				*n = v
				fmt.Fprintf(w, "%-15s %10d %10.1f µs\n", t.name, v, t.times(n, [2]int{v, v}, v, seconds)[0]*1e6)
			} else {
				both := t.times(n, [2]int{math.MaxInt32, 0}, v, seconds)
				best := t.ways[0]
				if both[1] < both[0] {
					best = t.ways[1]
				}
				fmt.Fprintf(w, "%-15s %10d %10.1f µs %-10s %10.1f µs %-14s %s\n", t.name, v, both[0]*1e6, t.ways[0], both[1]*1e6, t.ways[1], best)
			}
			*n = was
		}
	}
}

// times returns the least times of a call where a number is set to one or the other, in turns.
func (t *threshold) times(n *int, set [2]int, v int, seconds float64) (least [2]float64) {
	var calls [2]func() tensor.Any
	for i := range calls {
		*n = set[i]
		calls[i] = t.call(v)
		calls[i]()
		least[i] = math.Inf(1)
	}
	for begin := time.Now(); math.IsInf(least[1], 1) || time.Since(begin).Seconds() < seconds; {
		for i, call := range calls {
			*n = set[i]
			_, once := measure(func() { call() }, 0)
			least[i] = min(least[i], once)
		}
	}
	return least
}

func matmul(m, k, n int) func() tensor.Any {
	a, b, c := values[float32](true, m, k), values[float32](true, k, n), tensor.Empty[float32](m, n)
	return func() tensor.Any { op.MatMul(a, b, op.Into(c)); return c.Any() }
}

// turned is a product with the transpose of a matrix.
func turned(m, k, n int) func() tensor.Any {
	a, b, c := values[float32](true, m, k), values[float32](true, n, k), tensor.Empty[float32](m, n)
	b = b.Transpose()
	return func() tensor.Any { op.MatMul(a, b, op.Into(c)); return c.Any() }
}

// keptProduct is a product whose matrix a session may keep packed.
func keptProduct(m, k, n int) func() tensor.Any {
	a, b, c := values[float32](true, m, k).Any(), values[float32](true, k, n).Any(), tensor.Empty[float32](m, n).Any()
	_, ok := contract.Packs(a.DType(), m, n, k, false)
	var f *contract.Filter
	if ok {
		f = &contract.Filter{W: b}
	}
	return func() tensor.Any {
		g := contract.Contraction{Job: exec.Job{Name: "MatMul"}, Batch: 1, M: m, N: n, K: k, ARow: k, ACol: 1, BRow: n, BCol: 1, CRow: n, CCol: 1, Columns: f}
		g.Run(&a, &b, &c, nil)
		return c
	}
}

// convolution is a convolution whose weights a session keeps.
func convolution(in, out, group, h, w, kernel int) func() tensor.Any {
	high := kernel
	if h < kernel {
		high = 1
	}
	x, weights, r := values[float32](true, 1, in, h, w).Any(), values[float32](true, out, in/group, high, kernel).Any(), tensor.Empty[float32](1, out, h, w).Any()
	down, along := high/2, kernel/2
	g := contract.ConvOf("Conv", &x, &weights, nil, contract.Window{Pads: []int{down, along, down, along}}, group)
	g.Filter = &contract.Filter{W: weights}
	return func() tensor.Any {
		g.Convolve(exec.Job{Name: "Conv"}, &x, &weights, nil, &r, false, nil)
		return r
	}
}

// cold makes several calls of one, whose operands leave the second-level cache to each other, as those of a model's nodes do.
func cold(one func() func() tensor.Any) func() tensor.Any {
	var calls [8]func() tensor.Any
	for i := range calls {
		calls[i] = one()
	}
	return func() (r tensor.Any) {
		for _, call := range calls {
			r = call()
		}
		return r
	}
}

func pool(channels, side int) func() tensor.Any {
	x, r := values[float32](true, 1, channels, side, side), tensor.Empty[float32](1, channels, side, side)
	win := op.Window{Kernel: []int{3, 3}, Pads: slices.Repeat([]int{1}, 4)}
	return func() tensor.Any { op.MaxPool(x, win, op.Into(r)); return r.Any() }
}

func bytesProduct(n int) func() tensor.Any {
	a, b, c := octets(n, n), octets(n, n), tensor.Empty[int32](n, n)
	return func() tensor.Any {
		op.MatMulInteger(a, b, tensor.Tensor[uint8]{}, tensor.Tensor[uint8]{}, op.Into(c))
		return c.Any()
	}
}

func bytesConvolution(in, out, side int) func() tensor.Any {
	x, w, c := octets(1, in, side, side), octets(out, in, 3, 3), tensor.Empty[int32](1, out, side, side)
	win := op.Window{Pads: slices.Repeat([]int{1}, 4)}
	return func() tensor.Any {
		op.ConvInteger(x, w, tensor.Tensor[uint8]{}, tensor.Tensor[uint8]{}, win, 1, op.Into(c))
		return c.Any()
	}
}

func octets(shape ...int) tensor.Tensor[uint8] {
	return op.Cast[uint8](tensor.RandomUniform[float32](1, 0, 255, shape...))
}
