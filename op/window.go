package op

import (
	"math"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// Window is how a kernel moves over the spatial axes of a tensor [N, C, D1, D2,
// …], in Conv and the pools: one entry per spatial axis in each list. A nil list
// is all 1 for Strides and Dilations, all 0 for Pads.
type Window struct {
	Kernel    []int // extents; Conv takes them from the weights when nil
	Strides   []int
	Dilations []int
	Pads      []int  // the begins of all axes, then the ends
	AutoPad   string // "" or NOTSET uses Pads; VALID, SAME_UPPER and SAME_LOWER ignore them
	Ceil      bool   // a last window that reaches past the end counts (pools)
}

// span is a window over one spatial axis.
type span struct {
	in, out, kernel, stride, dilation int
	begin, end                        int // padding
}

// at returns the input position of kernel step k of output o; it may lie in the
// padding.
func (s *span) at(o, k int) int { return o*s.stride + k*s.dilation - s.begin }

// checker returns what panics unless a list, which may be nil, has so many numbers for n
// spatial axes, each from least to 2^31 − 1.
func checker(name string, n int) func(what string, v []int, want, least int) {
	return func(what string, v []int, want, least int) {
		if v != nil && len(v) != want {
			panic(fail(name, tensor.ErrShape, "%d %s for %d spatial axes; give %d", len(v), what, n, want))
		}
		for _, x := range v {
			if x < least || x > 1<<31-1 {
				panic(fail(name, tensor.ErrShape, "%s %s; each must be %d to 2³¹−1", what, listText(v), least))
			}
		}
	}
}

// spans checks a window against the spatial extents in and returns one span per
// axis.
func (w *Window) spans(name string, in []int) []span {
	n := len(in)
	check := checker(name, n)
	if w.Kernel == nil {
		panic(fail(name, tensor.ErrShape, "no kernel extents for %d spatial axes", n))
	}
	check("kernel extents", w.Kernel, n, 1)
	check("strides", w.Strides, n, 1)
	check("dilations", w.Dilations, n, 1)
	check("pads", w.Pads, 2*n, 0)
	out := make([]span, n)
	for i := range out {
		s := span{in: in[i], kernel: w.Kernel[i], stride: 1, dilation: 1}
		if w.Strides != nil {
			s.stride = w.Strides[i]
		}
		if w.Dilations != nil {
			s.dilation = w.Dilations[i]
		}
		reach := int64(s.kernel-1)*int64(s.dilation) + 1 // both below 2^31
		fits := func(padding int64) {
			if int64(s.in)+padding > math.MaxInt {
				panic(fail(name, tensor.ErrOverflow, "spatial axis %d: an input of %d with a padding of %d doesn't fit an int", i, s.in, padding))
			}
		}
		switch w.AutoPad {
		case "", "NOTSET":
			if w.Pads != nil {
				s.begin, s.end = w.Pads[i], w.Pads[n+i]
			}
		case "VALID":
		case "SAME_UPPER", "SAME_LOWER":
			s.out = int((int64(s.in) + int64(s.stride) - 1) / int64(s.stride))
			total := max(0, int64(s.out-1)*int64(s.stride)+reach-int64(s.in))
			fits(total)
			s.begin, s.end = int(total/2), int(total-total/2)
			if w.AutoPad == "SAME_LOWER" {
				s.begin, s.end = s.end, s.begin
			}
			out[i] = s
			continue
		default:
			panic(fail(name, tensor.ErrValue, "auto_pad %q; want NOTSET, VALID, SAME_UPPER or SAME_LOWER", w.AutoPad))
		}
		fits(int64(s.begin) + int64(s.end))
		if int64(s.in+s.begin+s.end) < reach {
			panic(fail(name, tensor.ErrShape, "spatial axis %d: a kernel of %d steps of %d reaches over %d, the input has %d with padding %d and %d",
				i, s.kernel, s.dilation, reach, s.in, s.begin, s.end))
		}
		room := s.in + s.begin + s.end - int(reach)
		s.out = room/s.stride + 1
		if w.Ceil && room%s.stride != 0 && int64(s.out)*int64(s.stride) < int64(s.in+s.begin) { // it must start before the padding at the end
			s.out++
		}
		out[i] = s
	}
	return out
}

// windowOf reads a window from a node's attributes.
func windowOf(c *Call) Window {
	var w Window
	w.Kernel, _ = attrInts(c, "kernel_shape")
	w.Strides, _ = attrInts(c, "strides")
	w.Dilations, _ = attrInts(c, "dilations")
	w.Pads, _ = attrInts(c, "pads")
	w.AutoPad = c.Attrs.Str("auto_pad", "")
	w.Ceil = c.Attrs.Int("ceil_mode", 0) != 0
	return w
}

// spatial returns the extents after the first two axes, and panics when there
// are none.
func spatial(name string, l *layout.Layout) []int {
	if l.Rank() < 3 {
		panic(fail(name, tensor.ErrShape, "the input has shape %s; want [N, C] and at least one spatial axis", l.ShapeString()))
	}
	return l.Shape()[2:]
}

func outShape(n, c int, s []span) []int {
	shape := []int{n, c}
	for i := range s {
		shape = append(shape, s[i].out)
	}
	return shape
}

// poolFLOPs counts one for each element of the kernel and of the result.
func poolFLOPs(c *Call, out []tensor.Any) int64 {
	kernel, ok := c.Attrs.Ints("kernel_shape")
	if !ok {
		return -1
	}
	return productOfAll(productOfAll(kernel...), lengthOf(nth(out, 0)))
}
