package op

import (
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceLogSumExp returns log(Σeᵃ) over axes, or over all when axes is nil: with m the
// largest, m + log(Σe^(a − m)), in float64, the sum in the fixed order of this package,
// rounded once. So nothing overflows on the way. Of nothing, and of −∞ alone, it is
// −∞; +∞ gives +∞, and NaN NaN. The reduced axes go, unless KeepDims. ONNX
// ReduceLogSumExp.
func ReduceLogSumExp[T num.Fractional](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceLogSumExp.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// logSumExp keeps the sequence.
type logSumExp[T num.Float] struct {
	all []float64
	top float64
}

func (f *logSumExp[T]) Begin() { f.all, f.top = f.all[:0], math.Inf(-1) }

func (f *logSumExp[T]) Add(x []T) {
	for _, v := range x {
		v := float64(v)
		if f.all = append(f.all, v); move.GreaterFloat(v, f.top) {
			f.top = v
		}
	}
}

func (f *logSumExp[T]) Total() float64 {
	if math.IsInf(f.top, 0) {
		return f.top
	}
	exponentials(f.all, f.all, f.top)
	return f.top + float.Log64(reduce.SumRow(f.all))
}

func logSumExpFolder(r *exec.Reducer) exec.Folder {
	switch r.DType {
	case dtype.FP8x23:
		return &reduce.FixedLogSumExp[fixed.FP8x23]{Modes: r.Modes}
	case dtype.FP16x16:
		return &reduce.FixedLogSumExp[fixed.FP16x16]{Modes: r.Modes}
	case dtype.FP32x32:
		return &reduce.FixedLogSumExp[fixed.FP32x32]{Modes: r.Modes}
	case dtype.FP64x64:
		return &reduce.FixedLogSumExp[fixed.FP64x64]{Modes: r.Modes}
	}
	return reduce.TermsFolder(r, new(logSumExp[float32]), new(logSumExp[float64]))
}

var reduceLogSumExp = reduce.Operator{About: plan.About{Name: "ReduceLogSumExp", PerAxis: 0b10, FLOPs: plan.FLOPs{Read: 2}, Versions: []int{1, 11, 13, 18}, Attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, Since: 18, Takes: plan.Floats | plan.Fixeds,
	Folder: logSumExpFolder, Spare: &sync.Pool{}, Collects: true, Cost: 40}
