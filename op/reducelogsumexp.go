package op

import (
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceLogSumExp returns log(Σeᵃ) over axes, or over all when axes is nil: with m the
// largest, m + log(Σe^(a − m)), in float64, the sum in the fixed order of this package,
// rounded once. So nothing overflows on the way. Of nothing, and of −∞ alone, it is
// −∞; +∞ gives +∞, and NaN NaN. The reduced axes go, unless KeepDims. ONNX
// ReduceLogSumExp.
func ReduceLogSumExp[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceLogSumExp.call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// logSumExp keeps the sequence.
type logSumExp[T num.Float] struct {
	all []float64
	top float64
}

func (f *logSumExp[T]) start() { f.all, f.top = f.all[:0], math.Inf(-1) }

func (f *logSumExp[T]) take(x []T) {
	for _, v := range x {
		v := float64(v)
		if f.all = append(f.all, v); greaterFloat(v, f.top) {
			f.top = v
		}
	}
}

func (f *logSumExp[T]) total() float64 {
	if math.IsInf(f.top, 0) {
		return f.top
	}
	exponentials(f.all, f.all, f.top)
	return f.top + num.Log64(sumRow(f.all))
}

func logSumExpFolder(r *exec.Reducer) exec.Folder {
	switch r.DType {
	case dtype.FP8x23:
		return &fixedLogSumExp[fixed.FP8x23]{modes: r.Modes}
	case dtype.FP16x16:
		return &fixedLogSumExp[fixed.FP16x16]{modes: r.Modes}
	case dtype.FP32x32:
		return &fixedLogSumExp[fixed.FP32x32]{modes: r.Modes}
	case dtype.FP64x64:
		return &fixedLogSumExp[fixed.FP64x64]{modes: r.Modes}
	}
	return termsFolder(r, new(logSumExp[float32]), new(logSumExp[float64]))
}

var reduceLogSumExp = reduction{about: about{name: "ReduceLogSumExp", flops: flops{read: 2}, onnx: []int{1, 11, 13, 18}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, since: 18, takes: floats | fixeds,
	folder: logSumExpFolder, spare: &sync.Pool{}, collects: true, cost: 40}
