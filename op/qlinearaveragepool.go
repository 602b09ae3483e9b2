package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearAveragePool of the domain com.microsoft is AveragePool in float64 of the numbers that a
// quantized operand stands for, quantized again; the inputs are those of QLinearSigmoid. With
// channels_last the channels are the last axis of the operand and the result, and so they are in
// QLinearGlobalAveragePool, which is GlobalAveragePool. Typed programs call DequantizeLinear,
// AveragePool and QuantizeLinear.
//
// It differs from these in two points, as ONNX Runtime does. Where ceil_mode lets a window end beyond
// the padding, count_include_pad counts the whole window. The zero point is added before the number is
// rounded, so of two integers at the same distance the result is the even one. Source:
// docs/ContribOperators.md and onnxruntime/contrib_ops/cpu/quantization/qlinear_pool.cc of
// github.com/microsoft/onnxruntime.
var qLinearAveragePool = opN{about: about{name: "QLinearAveragePool", takesUp: inDoubles, domain: "com.microsoft", onnx: []int{1},
	attrs: []string{"auto_pad", "ceil_mode", "channels_last", "count_include_pad", "dilations", "kernel_shape", "pads", "strides"}, why: "of integers of 8 bits alone"}, least: 2, most: 5, takes: bytes8,
	move: func(c *Call) *transfer {
		const name = "QLinearAveragePool"
		win, pad := windowOf(c), c.Attrs.Int("count_include_pad", 0) != 0
		return quantizedPool(name, c, zeroFirst, func(planes tensor.Any) []int {
			return poolOf(exec.Job{Name: name}, &planes, win).shape
		}, func(y, x *tensor.Any, opts []Option) {
			averagePooled(y, x, win.padded(name, spatial(name, x.LayoutRef())), pad, opts)
		})
	}}

// padded returns the window with explicit pads that reach to the end of its last position over the spatial extents in.
func (w *Window) padded(name string, in []int) Window {
	n := len(in)
	p := Window{Kernel: w.Kernel, Strides: w.Strides, Dilations: w.Dilations, Pads: make([]int, 2*n)}
	for i, s := range w.spans(name, in) {
		end := s.end
		if s.out > 0 {
			end = max(end, s.at(s.out-1, s.kernel-1)+1-s.in)
		}
		p.Pads[i], p.Pads[n+i] = s.begin, end
	}
	return p
}

var qLinearGlobalAveragePool = opN{about: about{name: "QLinearGlobalAveragePool", takesUp: inDoubles, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"channels_last"}, why: "of integers of 8 bits alone"}, least: 2, most: 5, takes: bytes8,
	move: func(c *Call) *transfer {
		const name = "QLinearGlobalAveragePool"
		return quantizedPool(name, c, byMeans, func(planes tensor.Any) []int {
			shape := planes.Shape()
			for _, axis := range planeAxes(name, planes) {
				shape[axis] = 1
			}
			return shape
		}, func(y, x *tensor.Any, opts []Option) { globalAveragePool.overPlanes(y, x, opts) })
	}}

// quantizedPool is a pool of a quantized operand: shape is that of the result for an operand whose
// channels are axis 1, and f the pool of such a one.
func quantizedPool(name string, c *Call, how requantizing, shape func(planes tensor.Any) []int, f func(y, x *tensor.Any, opts []Option)) *transfer {
	in := unaryQuantized(name, c)
	rank := in[0].Rank()
	if c.Attrs.Int("channels_last", 0) == 0 || rank < 3 {
		return quantizedBy(name, in, shape(in[0]), how, f)
	}
	first, last := []int{0, rank - 1}, []int{0}
	extents := []int{in[0].Dim(0), in[0].Dim(rank - 1)}
	for i := 1; i < rank-1; i++ {
		first, last, extents = append(first, i), append(last, i+1), append(extents, in[0].Dim(i))
	}
	planes := shape(spec(name, in[0].DType(), extents...))
	out := append(append([]int{planes[0]}, planes[2:]...), planes[1])
	return quantizedBy(name, in, out, how, func(y, x *tensor.Any, opts []Option) {
		turned := x.Permute(first...)
		f(y, &turned, opts)
		*y = y.Permute(append(last, 1)...)
	})
}
