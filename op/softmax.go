package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Softmax returns eᵃ divided by the sum of all eᵃ along axis, computed from the
// distance to the largest: e = exp(a − max) rounded, their sum in the fixed order
// of this package rounded, e ÷ sum rounded. NaN anywhere makes the line NaN, and
// so does +∞. Fixed point is rounded once and never fails. ONNX Softmax; before opset 13 a line is axis and all after it.
func Softmax[T num.Fractional](a tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[T]) {
	softmax.Along(exec.Ref(&r), exec.Ref(&a), axis, opts)
	return r
}

// softmaxLines defines Softmax.
func softmaxLines[T num.Float](dst, w, a []T, n int, stream bool) {
	if softmaxLong(dst, w, a, n, false, stream) {
		return
	}
	var tops [reduce.LinesAtOnce]T
	var sums [reduce.LinesAtOnce]float64
	for len(a) > 0 {
		m := min(len(a)/n, max(1, exec.RunLen/n), reduce.LinesAtOnce)
		largestLines(tops[:m], a, n)
		for i, top := range tops[:m] {
			exponentials(w[i*n:(i+1)*n], a[i*n:], top)
		}
		reduce.SumEach(sums[:m], w, n, n)
		for i, s := range sums[:m] {
			divideBy(dst[i*n:(i+1)*n], w[i*n:], T(s), stream)
		}
		dst, a = dst[m*n:], a[m*n:]
	}
}

// longLine is how long a line is that is worth calls of its own.
const longLine = 512

// softmaxLong is Softmax, or LogSoftmax, of long lines of float32 where there are kernels for it: beside the exponentials of a line,
// which leave memory and the divider idle, they store the results of the line before and find the largest element of the next. They
// ignore NaNs there: a NaN in a line makes its sum NaN, and so all its results.
func softmaxLong[T num.Float](to, scratch, from []T, n int, log, stream bool) bool {
	dst, ok := any(to).([]float32)
	if !ok || n < longLine || len(scratch) < 2*n || !simd.Has(cpu.Current()) {
		return false
	}
	a, e, old := conv.As[float32](from), conv.As[float32](scratch)[:n], conv.As[float32](scratch)[n:2*n]
	var lanes [32]float32
	var top [1]float32 // of the line that comes
	var sum [1]float64
	var p, s float32 // of the line at hand, s the sum or its logarithm
	largestLines(top[:], a, n)
	for i := 0; i < len(a); i += n {
		line, next, last := a[i:i+n], a[i:], p // the last line has none after it, and looks at itself
		if i+n < len(a) {
			next = a[i+n:]
		}
		p = top[0]
		if i == 0 {
			exponentials(e, line, p)
			largestLines(top[:], next, n)
		} else {
			for j := range lanes {
				lanes[j] = float32(math.Inf(-1))
			}
			if log {
				simd.TryLogSoftmax32(e, line, p, dst[i-n:i], a[i-n:i], last, s, &lanes, next, stream)
			} else {
				simd.TrySoftmax32(e, line, p, dst[i-n:i], old, s, &lanes, next, stream)
			}
			largestLines(top[:], lanes[:], len(lanes))
		}
		reduce.SumEach(sum[:], e, n, n)
		if s = float32(sum[0]); log {
			s = float.Log32(s)
		}
		e, old = old, e
	}
	dst, a = dst[len(dst)-n:], a[len(a)-n:]
	if log {
		subtract(e, a, p, false)
		subtract(dst, e, s, stream)
	} else {
		divideBy(dst, old, s, stream)
	}
	return true
}

// exponentials stores Exp of a − top, rounded. Where both are −∞ that is NaN, as ∞ − ∞ is.
func exponentials[T num.Float](dst, a []T, top T) {
	if dst, ok := any(dst).([]float32); ok && simd.TryExpLess32(dst, conv.As[float32](a), float32(top)) {
		return
	}
	subtract(dst, a, top, false)
	switch dst := any(dst).(type) {
	case []float32:
		expRow32(dst, dst)
	case []float64:
		if r := simd.Exp.Best(); r != nil {
			r.F64(dst, dst)
		} else {
			expRow64(dst, dst)
		}
	}
}

// largestLines stores the largest element of each line of n, or NaN.
func largestLines[T num.Float](tops, a []T, n int) {
	if reduce.BestLines(tops, a, n, n, false) {
		return
	}
	for i := range tops {
		tops[i] = a[i*n]
		for _, v := range a[i*n+1 : (i+1)*n] {
			if move.GreaterFloat(v, tops[i]) {
				tops[i] = v
			}
		}
	}
}

// subtract stores a − v, NaNs canonical; with non-temporal stores, where there are kernels for it and stream is true.
func subtract[T num.Float](dst, a []T, v T, stream bool) {
	switch dst := any(dst).(type) {
	case []float32:
		if simd.TrySubNumber32(dst, conv.As[float32](a), float32(v), stream) {
			return
		}
	case []float64:
		if simd.TrySubNumber64(dst, conv.As[float64](a), float64(v), stream) {
			return
		}
	}
	for i := range dst {
		dst[i] = a[i] - v
	}
	cast.CanonicalRow(dst)
}

// divideBy stores a ÷ v, as subtract does.
func divideBy[T num.Float](dst, a []T, v T, stream bool) {
	switch dst := any(dst).(type) {
	case []float32:
		if simd.TryDivNumber32(dst, conv.As[float32](a), float32(v), stream) {
			return
		}
	case []float64:
		if simd.TryDivNumber64(dst, conv.As[float64](a), float64(v), stream) {
			return
		}
	}
	for i := range dst {
		dst[i] = a[i] / v
	}
	cast.CanonicalRow(dst)
}

// softmaxFixed is Softmax of a line of fixed point.
func softmaxFixed[T num.Fixed](dst, x []T, mode []fixed.Mode) error {
	fixed.Softmax(dst, x)
	return nil
}

var softmax = reduce.Liner{About: plan.About{Name: "Softmax", Versions: []int{1, 11, 13}, Attrs: []string{"axis"}},
	F32: softmaxLines[float32], F64: softmaxLines[float64],
	Fixed: reduce.FixedMap{FP8x23: softmaxFixed[fixed.FP8x23], FP16x16: softmaxFixed[fixed.FP16x16], FP32x32: softmaxFixed[fixed.FP32x32], FP64x64: softmaxFixed[fixed.FP64x64]}}
