package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// MaxPool returns the largest element under a window that moves over the spatial
// axes of x [N, C, D1, …]; padding is never the largest. NaN if any is NaN, and
// −0 < +0. A window with no element inside gives the type's smallest value. ONNX
// MaxPool.
func MaxPool[T num.Native | num.Narrow | num.Fixed](x tensor.Tensor[T], win Window, opts ...Option) tensor.Tensor[T] {
	st := read(opts)
	s := win.spans("MaxPool", spatial("MaxPool", exec.Ref(&x).LayoutRef()))
	dst := target[T]("MaxPool", &st, outShape(x.Dim(0), x.Dim(1), s))
	out := resultOf(dst, x)
	maxPooled(exec.Job{Name: "MaxPool", Ctx: st.ctx()}, x, s, out, nil)
	if !out.Any().SameData(dst.Any()) {
		dst.CopyFrom(out)
	}
	return dst
}

// resultOf returns dst when results may be written to it as a row-major run while
// x is read, else a tensor of its shape to be copied to it.
func resultOf[T, R num.Elem](dst tensor.Tensor[R], x tensor.Tensor[T]) tensor.Tensor[R] {
	if dst.IsContiguous() && !exec.MustCopy(exec.Ref(&x), exec.Ref(&dst)) && dst.Len() > 0 {
		if d, ok := any(dst).(tensor.Tensor[T]); !ok || !d.Any().SameData(x.Any()) {
			return dst
		}
	}
	return tensor.Empty[R](dst.Shape()...)
}

// maxPooled fills out, and index, unless nil, with the place of each largest
// element among all of x in row-major order.
func maxPooled[T num.Native | num.Narrow | num.Fixed](j exec.Job, x tensor.Tensor[T], s []span, out tensor.Tensor[T], index []int64) {
	if out.Len() == 0 {
		return
	}
	dst := tensor.Run[T](exec.Ref(&out), exec.Ref(&out).LayoutRef())
	if index == nil && maxPooledRows(j, x, s, dst) {
		return
	}
	plane := 1
	for i := range s {
		plane *= s[i].in
	}
	outs := 1
	for i := range s {
		outs *= s[i].out
	}
	better := greaterOf[T]()
	low := lowest[T]()
	pooled(j, x, s, index != nil, func(o int, window []T, place []int, _ int) {
		best := -1
		for i, v := range window {
			if best < 0 || better(v, window[best]) {
				best = i
			}
		}
		if best < 0 {
			dst[o] = low
			return
		}
		dst[o] = window[best]
		if index != nil {
			index[o] = int64(o/outs*plane + place[best])
		}
	})
	canonicalRow(dst)
}

// maxPooledRows is maxPooled by rows of Max, which doesn't mind in which order: of the lines
// of x that a line of results looks at, and then of what they came to, shifted. It returns
// false for types that have no such rows and for padding that is all there is.
func maxPooledRows[T num.Elem](j exec.Job, x tensor.Tensor[T], s []span, dst []T) bool {
	larger := row2Of[T](&maxOp.rows)
	if r := fastest(maxOp.fast); r != nil && row2Of[T](r) != nil {
		larger = row2Of[T](r)
	}
	last, outer := s[len(s)-1], s[:len(s)-1]
	if larger == nil || last.kernel > 64+4*last.in {
		return false
	}
	x = x.Contiguous()
	data, x0 := x.Data()
	lines, rows, plane := 1, 1, last.in
	for i := range outer {
		lines *= outer[i].out
		plane *= outer[i].in
		rows *= min(outer[i].kernel, outer[i].in)
	}
	low, canon := lowest[T](), canonFor[T]()
	exec.Split(j.Name, j.Ctx, x.Dim(0)*x.Dim(1)*lines, (rows*last.in+2*last.kernel*last.out)/4+8, func(from, to int) {
		best, some := make([]T, last.in), make([]T, last.out)
		oc, kc, lo, hi := make([]int, len(outer)), make([]int, len(outer)), make([]int, len(outer)), make([]int, len(outer))
		for l := from; l < to; l++ {
			src := data[x0+l/lines*plane:][:plane]
			empty := false
			for i, rest := len(outer)-1, l%lines; i >= 0; i-- {
				oc[i], rest = rest%outer[i].out, rest/outer[i].out
				lo[i], hi[i], _ = outer[i].reach(oc[i])
				empty = empty || lo[i] == hi[i]
			}
			line := dst[l*last.out:][:last.out]
			for i := range line {
				line[i] = low
			}
			copy(kc, lo)
			for more, first := !empty, true; more; more = advance(kc, lo, hi) {
				at := 0
				for i := range outer {
					at = at*outer[i].in + outer[i].at(oc[i], kc[i])
				}
				if row := src[at*last.in:][:last.in]; first {
					copy(best, row)
				} else {
					larger(best, best, row)
				}
				first = false
			}
			for k := 0; k < last.kernel && !empty; k++ {
				at := last.at(0, k) // of the first output, which may lie in the padding, as may the last
				first := max(0, (-at+last.stride-1)/last.stride)
				end := min(last.out, (last.in-1-at+last.stride)/last.stride)
				if first >= end {
					continue
				}
				taps := best[at+first*last.stride:]
				if last.stride > 1 {
					for i := range some[:end-first] {
						some[i] = taps[i*last.stride]
					}
					taps = some
				}
				larger(line[first:end], line[first:end], taps[:end-first])
			}
			if canon != nil {
				canon(line)
			}
		}
	})
	runtime.KeepAlive(x)
	return true
}

var maxPool = opN{about: about{name: "MaxPool", onnx: []int{1, 8, 10, 11, 12, 22},
	attrs: []string{"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"}}, least: 1,
	infer: func(c *Call) []tensor.Any {
		w, lay := windowOf(c), c.in(0).Layout()
		s := w.spans("MaxPool", spatial("MaxPool", &lay))
		shape := outShape(lay.Dim(0), lay.Dim(1), s)
		out := one(spec("MaxPool", c.in(0).DType(), shape...))
		if c.Outputs > 1 {
			out = append(out, spec("MaxPool", dtype.Int64, shape...))
		}
		return out
	},
	typed: perType{dtype.Int8: runMaxPool[int8], dtype.Int16: runMaxPool[int16], dtype.Int32: runMaxPool[int32], dtype.Int64: runMaxPool[int64],
		dtype.Uint8: runMaxPool[uint8], dtype.Uint16: runMaxPool[uint16], dtype.Uint32: runMaxPool[uint32], dtype.Uint64: runMaxPool[uint64],
		dtype.Float8E4M3: runMaxPool[num.F8E4M3], dtype.Float8E5M2: runMaxPool[num.F8E5M2], dtype.Float16: runMaxPool[num.F16],
		dtype.BFloat16: runMaxPool[num.BF16], dtype.Float32: runMaxPool[float32], dtype.Float64: runMaxPool[float64],
		dtype.FP8x23: runMaxPool[num.FP8x23], dtype.FP16x16: runMaxPool[num.FP16x16], dtype.FP32x32: runMaxPool[num.FP32x32], dtype.FP64x64: runMaxPool[num.FP64x64]}}

func runMaxPool[T num.Native | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	x, w := as[T]("MaxPool", c, 0), windowOf(c)
	if c.Outputs < 2 {
		return one(MaxPool(x, w, options(c)...).Any())
	}
	s := w.spans("MaxPool", spatial("MaxPool", exec.Ref(&x).LayoutRef()))
	out := tensor.Empty[T](outShape(x.Dim(0), x.Dim(1), s)...)
	index := tensor.New[int64](out.Shape()...)
	places := tensor.Run[int64](exec.Ref(&index), exec.Ref(&index).LayoutRef())
	maxPooled(exec.Job{Name: "MaxPool", Ctx: c.Context}, x, s, out, places)
	if c.Attrs.Int("storage_order", 0) != 0 && x.Len() > 0 {
		columnMajor(places, s)
	}
	runtime.KeepAlive(index)
	return []tensor.Any{out.Any(), index.Any()}
}

// columnMajor turns places in row-major order of the spatial axes to places in
// column-major order.
func columnMajor(places []int64, s []span) {
	plane := 1
	for i := range s {
		plane *= s[i].in
	}
	for i, v := range places {
		at, p, step := int(v)%plane, int(v)/plane*plane, plane
		for k := len(s) - 1; k >= 0; k-- {
			step /= s[k].in
			p += at % s[k].in * step
			at /= s[k].in
		}
		places[i] = int64(p)
	}
}
