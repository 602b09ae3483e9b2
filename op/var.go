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

// Var returns the variances over axes, or over all when axes is nil: with μ the
// mean in float64, the sum of (x − μ)² in the fixed order of this package, divided
// by the count less ddof and rounded once. ddof is 0 for all there is and 1 for a
// sample. Where the count isn't above ddof the result is NaN or ∞, of
// fixed point, whose variance is exact and rounded once, an error. The reduced axes
// go, unless KeepDims. NumPy var.
func Var[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, ddof int, opts ...Option) (r tensor.Tensor[T]) {
	varOp.call(exec.Ref(&r), exec.Ref(&a), axes, float64(ddof), opts)
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

func (f *deviation[T]) start() {
	f.termMean.start()
	f.second = false
}

func (f *deviation[T]) take(x []T) {
	if f.second {
		addSquares(&f.summer, x, f.mean)
		return
	}
	f.termMean.take(x)
}

func (f *deviation[T]) again() bool {
	if f.second {
		return false
	}
	f.mean, f.second = f.termMean.total(), true
	f.summer.start()
	return true
}

func (f *deviation[T]) total() float64 {
	v := f.summer.total() / float64(max(f.n-f.ddof, 0)) // as NumPy does: ∞, or NaN for 0 ÷ 0
	if f.root {
		return math.Sqrt(v)
	}
	return v
}

func deviationFolder(r *exec.Reducer, root bool) exec.Folder {
	ddof := int(r.P)
	switch r.DType {
	case dtype.FP8x23:
		return &fixedDeviation[fixed.FP8x23]{modes: r.Modes, ddof: ddof, root: root}
	case dtype.FP16x16:
		return &fixedDeviation[fixed.FP16x16]{modes: r.Modes, ddof: ddof, root: root}
	case dtype.FP32x32:
		return &fixedDeviation[fixed.FP32x32]{modes: r.Modes, ddof: ddof, root: root}
	case dtype.FP64x64:
		return &fixedDeviation[fixed.FP64x64]{modes: r.Modes, ddof: ddof, root: root}
	}
	return termsFolder(r, &deviation[float32]{ddof: ddof, root: root}, &deviation[float64]{ddof: ddof, root: root})
}

func ddofOf(c *Call) float64 { return float64(c.Attrs.Int("ddof", 0)) }

var varOp = reduction{about: about{name: "Var", attrs: []string{"axes", "ddof", "keepdims"}}, since: 18, takes: floats | fixeds,
	folder: func(r *exec.Reducer) exec.Folder { return deviationFolder(r, false) }, spare: &sync.Pool{}, param: ddofOf}
