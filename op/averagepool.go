package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// AveragePool returns the mean under a window that moves over the spatial axes
// of x [N, C, D1, …]: the elements inside are added in float64 in the fixed
// order of this package and divided once by their number, or with includePad by
// the number of window positions inside the padded input. A window with nothing
// to divide by gives NaN. Fixed point is added exactly and rounded once; there such a
// window is an error. ONNX AveragePool.
func AveragePool[T num.Float | num.Narrow | num.Fixed](x tensor.Tensor[T], win Window, includePad bool, opts ...Option) tensor.Tensor[T] {
	st := read(opts)
	s := win.spans("AveragePool", spatial("AveragePool", exec.Ref(&x).LayoutRef()))
	if dtype.Of[T]().IsFixed() {
		return asFixed(x,
			func(x tensor.Tensor[num.FP8x23]) tensor.Tensor[num.FP8x23] {
				return averageFixed(x, s, includePad, opts)
			},
			func(x tensor.Tensor[num.FP16x16]) tensor.Tensor[num.FP16x16] {
				return averageFixed(x, s, includePad, opts)
			},
			func(x tensor.Tensor[num.FP32x32]) tensor.Tensor[num.FP32x32] {
				return averageFixed(x, s, includePad, opts)
			},
			func(x tensor.Tensor[num.FP64x64]) tensor.Tensor[num.FP64x64] {
				return averageFixed(x, s, includePad, opts)
			})
	}
	dst := target[T]("AveragePool", &st, outShape(x.Dim(0), x.Dim(1), s))
	averagePooled(exec.Job{Name: "AveragePool", Ctx: st.ctx()}, x, s, includePad, dst)
	return dst
}

func averagePooled[T num.Float | num.Narrow | num.Fixed](j exec.Job, x tensor.Tensor[T], s []span, includePad bool, dst tensor.Tensor[T]) {
	if dst.Len() == 0 {
		return
	}
	out := resultOf(dst, x)
	res := tensor.Run[T](exec.Ref(&out), exec.Ref(&out).LayoutRef())
	switch a := any(x).(type) {
	case tensor.Tensor[float32]:
		meansByRows(j, a, s, includePad, any(res).([]float32))
	case tensor.Tensor[float64]:
		meansByRows(j, a, s, includePad, any(res).([]float64))
	default:
		means(j, widened(x), s, includePad, res, sumRow[float32])
	}
	canonicalRow(res)
	if !out.Any().SameData(dst.Any()) {
		dst.CopyFrom(out)
	}
}

// means writes the mean of each window of x, which is computed in C, to res.
func means[T, C num.Elem](j exec.Job, x tensor.Tensor[C], s []span, includePad bool, res []T, sum func(x []C) float64) {
	round := rounding[T]()
	pooled(j, x, s, false, func(o int, window []C, _ []int, padded int) {
		n := len(window)
		if includePad {
			n = padded
		}
		res[o] = round(sum(window) / float64(n))
	})
}

// meansByRows is means for windows of few elements: those of neighbouring outputs are added
// together, in the same order for each, where no window ends outside.
func meansByRows[T num.Float](j exec.Job, x tensor.Tensor[T], s []span, includePad bool, res []T) {
	last, outer := s[len(s)-1], s[:len(s)-1]
	volume, lines, plane := min(last.kernel, sumLanes+1), 1, last.in
	for i := range outer {
		volume *= min(outer[i].kernel, sumLanes+1)
		volume = min(volume, sumLanes+1)
		lines *= outer[i].out
		plane *= outer[i].in
	}
	if volume > sumLanes {
		means(j, x, s, includePad, res, sumRow[T])
		return
	}
	// All taps of outputs from first on, before end, are inside.
	first := min(last.out, max(0, (last.begin+last.stride-1)/last.stride))
	end := max(first, min(last.out, (last.in-1-last.at(0, last.kernel-1)+last.stride)/last.stride))
	const most = 64 // outputs at a time
	x = x.Contiguous()
	data, x0 := x.Data()
	exec.Split(j.Name, j.Ctx, x.Dim(0)*x.Dim(1)*lines, 2*volume*last.out, func(from, to int) {
		lane, window := make([]float64, volume*most), make([]T, volume)
		rows := make([][]T, 0, volume)
		oc, kc, lo, hi := make([]int, len(outer)), make([]int, len(outer)), make([]int, len(outer)), make([]int, len(outer))
		for l := from; l < to; l++ {
			src, line := data[x0+l/lines*plane:][:plane], res[l*last.out:][:last.out]
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
	runtime.KeepAlive(x)
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

// rounding returns the conversion of a float64 to T, rounded once.
func rounding[T num.Elem]() func(v float64) T {
	var p any
	switch any((*T)(nil)).(type) {
	case *float32:
		p = func(v float64) float32 { return float32(v) }
	case *float64:
		p = func(v float64) float64 { return v }
	case *num.F16:
		p = num.F16FromFloat64
	case *num.BF16:
		p = num.BF16FromFloat64
	case *num.F8E4M3:
		p = num.F8E4M3FromFloat64
	case *num.F8E5M2:
		p = num.F8E5M2FromFloat64
	}
	f, _ := p.(func(v float64) T)
	return f
}

var averagePool = opN{about: about{name: "AveragePool", onnx: []int{1, 7, 10, 11, 19, 22},
	attrs: []string{"auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads", "strides"}}, least: 1,
	infer: func(c *Call) []tensor.Any {
		w, lay := windowOf(c), c.in(0).Layout()
		s := w.spans("AveragePool", spatial("AveragePool", &lay))
		return one(spec("AveragePool", c.in(0).DType(), outShape(lay.Dim(0), lay.Dim(1), s)...))
	},
	typed: perType{dtype.Float8E4M3: runAveragePool[num.F8E4M3], dtype.Float8E5M2: runAveragePool[num.F8E5M2], dtype.Float16: runAveragePool[num.F16],
		dtype.BFloat16: runAveragePool[num.BF16], dtype.Float32: runAveragePool[float32], dtype.Float64: runAveragePool[float64],
		dtype.FP8x23: runAveragePool[num.FP8x23], dtype.FP16x16: runAveragePool[num.FP16x16], dtype.FP32x32: runAveragePool[num.FP32x32], dtype.FP64x64: runAveragePool[num.FP64x64]}}

func runAveragePool[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	return one(AveragePool(as[T]("AveragePool", c, 0), windowOf(c), c.Attrs.Int("count_include_pad", 0) != 0, options(c)...).Any())
}
