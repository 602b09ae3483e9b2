package op

import (
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearAveragePool of the domain com.microsoft is AveragePool in float64 of the numbers that a
// quantized operand stands for, quantized again; the inputs are as in QLinearSigmoid. With
// channels_last the channels are the last axis of the operand and the result, and so they are in
// QLinearGlobalAveragePool, which is GlobalAveragePool. Typed programs call DequantizeLinear,
// AveragePool and QuantizeLinear.
//
// It differs from these in two points, as ONNX Runtime does. Where ceil_mode lets a window end beyond
// the padding, count_include_pad counts the whole window. The zero point is added before the number is
// rounded, so of two integers at the same distance the result is the even one. Source:
// docs/ContribOperators.md and onnxruntime/contrib_ops/cpu/quantization/qlinear_pool.cc of
// github.com/microsoft/onnxruntime.
var qLinearAveragePool = plan.Operator{About: plan.About{Name: "QLinearAveragePool", Domain: "com.microsoft", Versions: []int{1},
	Attrs: []string{"auto_pad", "ceil_mode", "channels_last", "count_include_pad", "dilations", "kernel_shape", "pads", "strides"}, Why: "of integers of 8 bits alone"}, Least: 2, Most: 5, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		const name = "QLinearAveragePool"
		win, pad := contract.WindowOf(c), c.Attrs.Int("count_include_pad", 0) != 0
		return quantizedPool(name, c, zeroFirst, func(planes tensor.Any) []int {
			return poolOf(exec.Job{Name: name}, &planes, win).shape
		}, func(y, x *tensor.Any, opts []Option) {
			averagePooled(y, x, paddedWindow(&win, name, plan.Spatial(name, x.LayoutRef())), pad, opts)
		})
	}}

// paddedWindow returns the window with explicit pads that reach to the end of its last position over the spatial extents in.
func paddedWindow(w *contract.Window, name string, in []int) contract.Window {
	n := len(in)
	p := contract.Window{Kernel: w.Kernel, Strides: w.Strides, Dilations: w.Dilations, Pads: make([]int, 2*n)}
	for i, s := range contract.SpansOf(w, name, in) {
		end := s.End
		if s.Out > 0 {
			end = max(end, s.At(s.Out-1, s.Kernel-1)+1-s.In)
		}
		p.Pads[i], p.Pads[n+i] = s.Begin, end
	}
	return p
}

var qLinearGlobalAveragePool = plan.Operator{About: plan.About{Name: "QLinearGlobalAveragePool", Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"channels_last"}, Why: "of integers of 8 bits alone"}, Least: 2, Most: 5, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		const name = "QLinearGlobalAveragePool"
		return quantizedPool(name, c, byMeans, func(planes tensor.Any) []int {
			shape := planes.Shape()
			for _, axis := range reduce.PlaneAxes(name, planes) {
				shape[axis] = 1
			}
			return shape
		}, func(y, x *tensor.Any, opts []Option) { globalAveragePool.OverPlanes(y, x, opts) })
	}}

// quantizedPool is a pool of a quantized operand: shape is that of the result for an operand whose
// channels are axis 1, and f the pool of such a one.
func quantizedPool(name string, c *plan.Use, how requantizing, shape func(planes tensor.Any) []int, f func(y, x *tensor.Any, opts []Option)) *move.Transfer {
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
	planes := shape(plan.Spec(name, in[0].DType(), extents...))
	out := append(append([]int{planes[0]}, planes[2:]...), planes[1])
	return quantizedBy(name, in, out, how, func(y, x *tensor.Any, opts []Option) {
		turned := x.Permute(first...)
		f(y, &turned, opts)
		*y = y.Permute(append(last, 1)...)
	})
}
