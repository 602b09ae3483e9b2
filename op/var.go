package op

import (
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Var returns the variances over axes, or over all when axes is nil: with μ the
// mean in float64, the sum of (x − μ)² in the fixed order of this package, divided
// by the count less ddof and rounded once. ddof is 0 for all there is and 1 for a
// sample. Where the count isn't above ddof the result is NaN or ∞, of
// fixed point, whose variance is exact and rounded once, an error. The reduced axes
// go, unless KeepDims. NumPy var.
func Var[T num.Fractional](a tensor.Tensor[T], axes []int, ddof int, opts ...Option) (r tensor.Tensor[T]) {
	varOp.Call(exec.Ref(&r), exec.Ref(&a), axes, float64(ddof), opts)
	return r
}

// deviation is the folder of Var and Std: one pass for the mean, one for the squares.
type deviation[T num.Float] struct {
	termMean[T]
	ddof   int
	root   bool
	second bool
	mean   float64
}

func (f *deviation[T]) Begin() {
	f.termMean.Begin()
	f.second = false
}

func (f *deviation[T]) Add(x []T) {
	if f.second {
		reduce.AddSquares(&f.Summer, x, f.mean)
		return
	}
	f.termMean.Add(x)
}

func (f *deviation[T]) Again() bool {
	if f.second {
		return false
	}
	f.mean, f.second = f.termMean.Total(), true
	f.Summer.Begin()
	return true
}

func (f *deviation[T]) Total() float64 {
	v := f.Summer.Total() / float64(max(f.n-f.ddof, 0)) // as NumPy does: ∞, or NaN for 0 ÷ 0
	if f.root {
		return math.Sqrt(v)
	}
	return v
}

func deviationFolder(r *exec.Reducer, root bool) exec.Folder {
	ddof := int(r.P)
	switch r.DType {
	case dtype.FP8x23:
		return &reduce.FixedDeviation[fixed.FP8x23]{Modes: r.Modes, Ddof: ddof, Root: root}
	case dtype.FP16x16:
		return &reduce.FixedDeviation[fixed.FP16x16]{Modes: r.Modes, Ddof: ddof, Root: root}
	case dtype.FP32x32:
		return &reduce.FixedDeviation[fixed.FP32x32]{Modes: r.Modes, Ddof: ddof, Root: root}
	case dtype.FP64x64:
		return &reduce.FixedDeviation[fixed.FP64x64]{Modes: r.Modes, Ddof: ddof, Root: root}
	}
	return reduce.TermsFolder(r, &deviation[float32]{ddof: ddof, root: root}, &deviation[float64]{ddof: ddof, root: root})
}

func ddofOf(c *plan.Use) float64 { return float64(c.Attrs.Int("ddof", 0)) }

var varOp = reduce.Operator{About: plan.About{Name: "Var", Attrs: []string{"axes", "ddof", "keepdims"}}, Since: 18, Takes: plan.Floats | plan.Fixeds,
	Folder: func(r *exec.Reducer) exec.Folder { return deviationFolder(r, false) }, Spare: &sync.Pool{}, Param: ddofOf}
