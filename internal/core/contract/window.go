package contract

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/plan"
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

// Span is a window over one spatial axis.
type Span struct {
	In, Out, Kernel, Stride, Dilation int
	Begin, End                        int // padding
}

// At returns the input position of kernel step k of output o; it may lie in the
// padding.
func (s *Span) At(o, k int) int { return o*s.Stride + k*s.Dilation - s.Begin }

// Checker returns a function that panics unless a list, which may be nil, has want numbers for n
// spatial axes, each from least to 2^31 − 1.
func Checker(name string, n int) func(what string, v []int, want, least int) {
	return func(what string, v []int, want, least int) {
		if v != nil && len(v) != want {
			panic(plan.Fail(name, tensor.ErrShape, "%d %s for %d spatial axes; give %d", len(v), what, n, want))
		}
		for _, x := range v {
			if x < least || x > 1<<31-1 {
				panic(plan.Fail(name, tensor.ErrShape, "%s %s; each must be %d to 2³¹−1", what, plan.ListText(v), least))
			}
		}
	}
}

// SpansOf checks a window against the spatial extents in and returns one span per
// axis.
func SpansOf(w *Window, name string, in []int) []Span {
	n := len(in)
	check := Checker(name, n)
	if w.Kernel == nil {
		panic(plan.Fail(name, tensor.ErrShape, "no kernel extents for %d spatial axes", n))
	}
	check("kernel extents", w.Kernel, n, 1)
	check("strides", w.Strides, n, 1)
	check("dilations", w.Dilations, n, 1)
	check("pads", w.Pads, 2*n, 0)
	out := make([]Span, n)
	for i := range out {
		s := Span{In: in[i], Kernel: w.Kernel[i], Stride: 1, Dilation: 1}
		if w.Strides != nil {
			s.Stride = w.Strides[i]
		}
		if w.Dilations != nil {
			s.Dilation = w.Dilations[i]
		}
		reach := int64(s.Kernel-1)*int64(s.Dilation) + 1 // both below 2^31
		fits := func(padding int64) {
			if int64(s.In)+padding > math.MaxInt {
				panic(plan.Fail(name, tensor.ErrOverflow, "spatial axis %d: an input of %d with a padding of %d doesn't fit an int", i, s.In, padding))
			}
		}
		switch w.AutoPad {
		case "", "NOTSET":
			if w.Pads != nil {
				s.Begin, s.End = w.Pads[i], w.Pads[n+i]
			}
		case "VALID":
		case "SAME_UPPER", "SAME_LOWER":
			s.Out = int((int64(s.In) + int64(s.Stride) - 1) / int64(s.Stride))
			total := max(0, int64(s.Out-1)*int64(s.Stride)+reach-int64(s.In))
			fits(total)
			s.Begin, s.End = int(total/2), int(total-total/2)
			if w.AutoPad == "SAME_LOWER" {
				s.Begin, s.End = s.End, s.Begin
			}
			out[i] = s
			continue
		default:
			panic(plan.Fail(name, tensor.ErrValue, "auto_pad %q; want NOTSET, VALID, SAME_UPPER or SAME_LOWER", w.AutoPad))
		}
		fits(int64(s.Begin) + int64(s.End))
		if int64(s.In+s.Begin+s.End) < reach {
			panic(plan.Fail(name, tensor.ErrShape, "spatial axis %d: a kernel of %d steps of %d reaches over %d, the input has %d with padding %d and %d",
				i, s.Kernel, s.Dilation, reach, s.In, s.Begin, s.End))
		}
		room := s.In + s.Begin + s.End - int(reach)
		s.Out = room/s.Stride + 1
		if w.Ceil && room%s.Stride != 0 && int64(s.Out)*int64(s.Stride) < int64(s.In+s.Begin) { // it must start before the padding at the end
			s.Out++
		}
		out[i] = s
	}
	return out
}

// WindowOf reads a window from a node's attributes.
func WindowOf(c *plan.Use) Window {
	var w Window
	w.Kernel, _ = plan.AttrInts(c, "kernel_shape")
	w.Strides, _ = plan.AttrInts(c, "strides")
	w.Dilations, _ = plan.AttrInts(c, "dilations")
	w.Pads, _ = plan.AttrInts(c, "pads")
	w.AutoPad = c.Attrs.Str("auto_pad", "")
	w.Ceil = c.Attrs.Int("ceil_mode", 0) != 0
	return w
}

// OutShape returns the shape of n images of c channels after a window.
func OutShape(n, c int, s []Span) []int {
	shape := []int{n, c}
	for i := range s {
		shape = append(shape, s[i].Out)
	}
	return shape
}

// Reach returns which kernel steps [lo, hi) of output o lie inside the input, and
// how many lie inside the padded input.
func (s *Span) Reach(o int) (lo, hi, padded int) {
	below := func(end int) int { // how many steps lie before a position
		if end -= s.At(o, 0); end <= 0 {
			return 0
		}
		return min(s.Kernel, (end-1)/s.Dilation+1)
	}
	hi = below(s.In)
	return min(below(0), hi), hi, below(s.In + s.End)
}
