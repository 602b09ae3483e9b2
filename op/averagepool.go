package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
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
	present(name, x)
	d, s := x.DType(), read(opts)
	p := poolOf(exec.Job{Name: name, Ctx: s.ctx()}, x, win)
	aimShape(r, name, &s, d, p.shape)
	if r.Len() == 0 {
		return
	}
	out := beside(r, d.IsFixed() && s.into != nil || !r.IsContiguous(), x)
	var c tensor.Any
	if d.IsNarrow() {
		c = inSingle(name, x)
	} else {
		c = x.Contiguous()
	}
	var bad exec.Failure
	switch d {
	case dtype.Float32:
		meansByRows(p, elemsOf[float32](&c), includePad, elemsOf[float32](out))
		conv.Canon32(elemsOf[float32](out))
	case dtype.Float64:
		meansByRows(p, elemsOf[float64](&c), includePad, elemsOf[float64](out))
		conv.Canon64(elemsOf[float64](out))
	case dtype.FP8x23:
		fixedMeans[fixed.FP8x23](p, &c, out, includePad, &s, &bad)
	case dtype.FP16x16:
		fixedMeans[fixed.FP16x16](p, &c, out, includePad, &s, &bad)
	case dtype.FP32x32:
		fixedMeans[fixed.FP32x32](p, &c, out, includePad, &s, &bad)
	case dtype.FP64x64:
		fixedMeans[fixed.FP64x64](p, &c, out, includePad, &s, &bad)
	default:
		to := numericOf(wordsOf(*out))
		means(p, elemsOf[float32](&c), includePad, to.setFloat)
	}
	drop(&c, x)
	refuse(name, &bad, p.shape)
	put(r, out)
}

// means has set the mean of each window of x.
func means[T num.Float](p *pooling, x []T, includePad bool, set func(o int, mean float64)) {
	pooled(p, x, false, func(o int, window []T, _ []int, padded int) {
		n := len(window)
		if includePad {
			n = padded
		}
		set(o, sumRow(window)/float64(n))
	})
}

// fixedMeans sets r to the exact mean of each window, rounded once, and notes the first that there isn't.
func fixedMeans[T num.Fixed](p *pooling, x, r *tensor.Any, includePad bool, s *settings, bad *exec.Failure) {
	to, modes := elemsOf[T](r), stateOf(s, r.DType()).modes
	pooled(p, elemsOf[T](x), false, func(o int, window []T, _ []int, padded int) {
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
	volume, lines, plane := min(last.kernel, sumLanes+1), 1, last.in
	for i := range outer {
		volume *= min(outer[i].kernel, sumLanes+1)
		volume = min(volume, sumLanes+1)
		lines *= outer[i].out
		plane *= outer[i].in
	}
	if volume > sumLanes {
		means(p, x, includePad, func(o int, v float64) { res[o] = T(v) })
		return
	}
	// All taps of outputs from first on, before end, are inside.
	first := min(last.out, max(0, (last.begin+last.stride-1)/last.stride))
	end := max(first, min(last.out, (last.in-1-last.at(0, last.kernel-1)+last.stride)/last.stride))
	const most = 64 // outputs at a time
	exec.Split(p.Name, p.Ctx, p.planes*lines, 2*volume*last.out, func(from, to int) {
		lane, window := make([]float64, volume*most), make([]T, volume)
		rows := make([][]T, 0, volume)
		oc, kc, lo, hi := make([]int, len(outer)), make([]int, len(outer)), make([]int, len(outer)), make([]int, len(outer))
		for l := from; l < to; l++ {
			src, line := x[l/lines*plane:][:plane], res[l*last.out:][:last.out]
			empty, padded := false, 1
			for i, rest := len(outer)-1, l%lines; i >= 0; i-- {
				var p int
				oc[i], rest = rest%outer[i].out, rest/outer[i].out
				lo[i], hi[i], p = outer[i].reach(oc[i])
				empty, padded = empty || lo[i] == hi[i], padded*p
			}
			rows = rows[:0]
			copy(kc, lo)
			for more := !empty; more; more = advance(kc, lo, hi) {
				at := 0
				for i := range outer {
					at = at*outer[i].in + outer[i].at(oc[i], kc[i])
				}
				rows = append(rows, src[at*last.in:][:last.in])
			}
			for o := range line {
				if o >= first && o < end && len(rows) > 0 {
					continue
				}
				from, to, p := last.reach(o)
				n := 0
				for _, row := range rows {
					for k := from; k < to; k++ {
						window[n] = row[last.at(o, k)]
						n++
					}
				}
				by := n
				if includePad {
					by = padded * p
				}
				line[o] = T(sumRow(window[:n]) / float64(by))
			}
			n := len(rows) * last.kernel
			by := float64(n)
			if includePad {
				by = float64(padded * last.kernel)
			}
			for at := first; at < end && n > 0; at += most {
				m := min(most, end-at)
				for i := range n {
					pick(lane[i*m:(i+1)*m], rows[i/last.kernel][last.at(at, i%last.kernel):], last.stride)
				}
				for h, left := sumLanes/2, n; h > 0; h /= 2 { // as sumRow
					for i := h; i < left; i++ {
						addTo(lane[(i-h)*m:(i-h+1)*m], lane[i*m:])
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

// sumRow returns the sum of a row in float64, in the fixed order. Up to 32
// elements each have a lane of their own.
func sumRow[T num.Float](x []T) float64 {
	if len(x) > sumLanes {
		if len(x) <= sumBlock {
			var sum [1]float64
			if trySums(sum[:], x, 0, len(x)) {
				return sum[0]
			}
		}
		var s summer
		s.start()
		addTerms(&s, x)
		return s.total()
	}
	if len(x) == 0 {
		return 0
	}
	var lane [sumLanes]float64
	for i, v := range x {
		lane[i] = float64(v)
	}
	for h, n := sumLanes/2, len(x); h > 0; h /= 2 { // absent lanes are −0 and may be skipped
		for i := h; i < n; i++ {
			lane[i-h] += lane[i]
		}
		n = min(n, h)
	}
	return lane[0]
}

var averagePool = opN{about: about{name: "AveragePool", flops: flops{rule: poolFLOPs}, onnx: []int{1, 7, 10, 11, 19, 22},
	attrs: []string{"auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads", "strides"}}, least: 1, takes: floats | fixeds,
	planned: func(c *Call, p *Plan) {
		x, win, pads := c.with("AveragePool", 0), windowOf(c), c.Attrs.Int("count_include_pad", 0) != 0
		p.gives(x.DType(), poolOf(exec.Job{Name: "AveragePool"}, x, win).shape...)
		p.by(c, 0, func(r *tensor.Any, opts []Option) { averagePooled(r, x, win, pads, opts) })
	}}
