package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// AveragePool returns the mean under a window that moves over the spatial axes
// of x [N, C, D1, …]: the elements inside are added in float64 in the fixed
// order of this package and divided once by their number, or with includePad by
// the number of window positions inside the padded input. A window with nothing
// to divide by gives NaN. Fixed point is added exactly and rounded once; there such a
// window is an error. ONNX AveragePool.
func AveragePool[T num.Float | num.Narrow | num.Fixed](x tensor.Tensor[T], win Window, includePad bool, opts ...Option) (r tensor.Tensor[T]) {
	averagePooled(exec.Ref(&r), exec.Ref(&x), win, includePad, opts)
	return r
}

// averagePooled is AveragePool for a run-time element type.
func averagePooled(r, x *tensor.Any, win Window, includePad bool, opts []Option) {
	const name = "AveragePool"
	plan.Present(name, x)
	d, s := x.DType(), plan.Read(opts)
	p := poolOf(exec.Job{Name: name, Ctx: s.Ctx()}, x, win)
	plan.AimShape(r, name, &s, d, p.shape)
	if r.Len() == 0 {
		return
	}
	out := plan.Beside(r, d.IsFixed() && s.Into != nil || !r.IsContiguous(), x)
	var c tensor.Any
	if d.IsNarrow() {
		c = inSingle(name, x)
	} else {
		c = x.Contiguous()
	}
	var bad exec.Failure
	switch d {
	case dtype.Float32:
		meansByRows(p, move.ElemsOf[float32](&c), includePad, move.ElemsOf[float32](out))
		conv.Canon32(move.ElemsOf[float32](out))
	case dtype.Float64:
		meansByRows(p, move.ElemsOf[float64](&c), includePad, move.ElemsOf[float64](out))
		conv.Canon64(move.ElemsOf[float64](out))
	case dtype.FP8x23:
		fixedMeans[fixed.FP8x23](p, &c, out, includePad, &s, &bad)
	case dtype.FP16x16:
		fixedMeans[fixed.FP16x16](p, &c, out, includePad, &s, &bad)
	case dtype.FP32x32:
		fixedMeans[fixed.FP32x32](p, &c, out, includePad, &s, &bad)
	case dtype.FP64x64:
		fixedMeans[fixed.FP64x64](p, &c, out, includePad, &s, &bad)
	default:
		to := move.NumericOf(move.WordsOf(*out))
		means(p, move.ElemsOf[float32](&c), includePad, to.SetFloat)
	}
	plan.Drop(&c, x)
	cast.Refuse(name, &bad, p.shape)
	plan.Put(r, out)
}

// means has set the mean of each window of x.
func means[T num.Float](p *pooling, x []T, includePad bool, set func(o int, mean float64)) {
	pooled(p, x, false, func(o int, window []T, _ []int, padded int) {
		n := len(window)
		if includePad {
			n = padded
		}
		set(o, reduce.SumRow(window)/float64(n))
	})
}

// fixedMeans sets r to the exact mean of each window, rounded once, and notes the first that there isn't.
func fixedMeans[T num.Fixed](p *pooling, x, r *tensor.Any, includePad bool, s *plan.Settings, bad *exec.Failure) {
	to, modes := move.ElemsOf[T](r), cast.StateOf(s, r.DType()).Modes
	pooled(p, move.ElemsOf[T](x), false, func(o int, window []T, _ []int, padded int) {
		n := len(window)
		if includePad {
			n = padded
		}
		var sum fixed.Sum[T]
		sum.AddRow(window)
		v, err := sum.Mean(n, modes...)
		bad.Note(o, err)
		to[o] = v
	})
}

// meansByRows computes the means of windows of few elements: those of neighbouring outputs are added
// together, in the same order for each, where no window ends outside.
func meansByRows[T num.Float](p *pooling, x []T, includePad bool, res []T) {
	s := p.s
	last, outer := s[len(s)-1], s[:len(s)-1]
	volume, lines, plane := min(last.Kernel, reduce.SumLanes+1), 1, last.In
	for i := range outer {
		volume *= min(outer[i].Kernel, reduce.SumLanes+1)
		volume = min(volume, reduce.SumLanes+1)
		lines *= outer[i].Out
		plane *= outer[i].In
	}
	if volume > reduce.SumLanes {
		means(p, x, includePad, func(o int, v float64) { res[o] = T(v) })
		return
	}
	// All taps of outputs from first on, before end, are inside.
	first := min(last.Out, max(0, (last.Begin+last.Stride-1)/last.Stride))
	end := max(first, min(last.Out, (last.In-1-last.At(0, last.Kernel-1)+last.Stride)/last.Stride))
	const most = 64 // outputs at a time
	exec.Split(p.Name, p.Ctx, p.planes*lines, 2*volume*last.Out, func(from, to int) {
		lane, window := make([]float64, volume*most), make([]T, volume)
		rows := make([][]T, 0, volume)
		oc, kc, lo, hi := make([]int, len(outer)), make([]int, len(outer)), make([]int, len(outer)), make([]int, len(outer))
		for l := from; l < to; l++ {
			src, line := x[l/lines*plane:][:plane], res[l*last.Out:][:last.Out]
			empty, padded := false, 1
			for i, rest := len(outer)-1, l%lines; i >= 0; i-- {
				var p int
				oc[i], rest = rest%outer[i].Out, rest/outer[i].Out
				lo[i], hi[i], p = outer[i].Reach(oc[i])
				empty, padded = empty || lo[i] == hi[i], padded*p
			}
			rows = rows[:0]
			copy(kc, lo)
			for more := !empty; more; more = advance(kc, lo, hi) {
				at := 0
				for i := range outer {
					at = at*outer[i].In + outer[i].At(oc[i], kc[i])
				}
				rows = append(rows, src[at*last.In:][:last.In])
			}
			for o := range line {
				if o >= first && o < end && len(rows) > 0 {
					continue
				}
				from, to, p := last.Reach(o)
				n := 0
				for _, row := range rows {
					for k := from; k < to; k++ {
						window[n] = row[last.At(o, k)]
						n++
					}
				}
				by := n
				if includePad {
					by = padded * p
				}
				line[o] = T(reduce.SumRow(window[:n]) / float64(by))
			}
			n := len(rows) * last.Kernel
			by := float64(n)
			if includePad {
				by = float64(padded * last.Kernel)
			}
			for at := first; at < end && n > 0; at += most {
				m := min(most, end-at)
				for i := range n {
					pick(lane[i*m:(i+1)*m], rows[i/last.Kernel][last.At(at, i%last.Kernel):], last.Stride)
				}
				for h, left := reduce.SumLanes/2, n; h > 0; h /= 2 { // as sumRow
					for i := h; i < left; i++ {
						reduce.AddTo(lane[(i-h)*m:(i-h+1)*m], lane[i*m:])
					}
					left = min(left, h)
				}
				for i, v := range lane[:m] {
					line[at+i] = T(v / by)
				}
			}
		}
	})
}

// pick sets dst to every step-th element of src.
func pick[T num.Float](dst []float64, src []T, step int) {
	if s, ok := any(src).([]float32); ok && step == 1 {
		conv.WidenF32(dst, s)
		return
	}
	for i := range dst {
		dst[i] = float64(src[i*step])
	}
}

var averagePool = plan.Operator{About: plan.About{Name: "AveragePool", FLOPs: plan.FLOPs{Rule: contract.PoolFLOPs}, Versions: []int{1, 7, 10, 11, 19, 22},
	Attrs: []string{"auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads", "strides"}}, Least: 1, Takes: plan.Floats | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) {
		x, win, pads := c.With("AveragePool", 0), contract.WindowOf(c), c.Attrs.Int("count_include_pad", 0) != 0
		p.Gives(x.DType(), poolOf(exec.Job{Name: "AveragePool"}, x, win).shape...)
		p.By(c, 0, func(r *tensor.Any, opts []Option) { averagePooled(r, x, win, pads, opts) })
	}}
