package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceProd returns the products over axes, or over all when axes is nil; 1 for
// nothing. Integers wrap in their own type, where NumPy's prod of narrow ones has 64 bits. Floats are multiplied in float64, one after the other
// in row-major order, and rounded once; fixed point is multiplied exactly and rounded
// once. The reduced axes go, unless KeepDims.
// ONNX ReduceProd.
func ReduceProd[T num.Real](a tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	reduceProd.Call(exec.Ref(&r), exec.Ref(&a), axes, 0, opts)
	return r
}

// wordProd multiplies integers of any size and sign: the low bits depend on low bits alone.
type wordProd[T num.Integer] struct{ prod T }

func (f *wordProd[T]) Start() { f.prod = 1 }

func (f *wordProd[T]) Take(x exec.Run) {
	for _, v := range exec.Of[T](x) {
		f.prod *= v
	}
}

func (f *wordProd[T]) Result(out exec.Run) error {
	exec.Of[T](out)[0] = f.prod
	return nil
}

type termProd[T num.Float] struct{ prod float64 }

func (f *termProd[T]) Begin() { f.prod = 1 }

func (f *termProd[T]) Add(x []T) {
	for _, v := range x {
		f.prod *= float64(v)
	}
}

func (f *termProd[T]) Total() float64 { return f.prod }

func prodFolder(r *exec.Reducer) exec.Folder {
	switch d := r.DType; {
	case d.IsFloat():
		return reduce.TermsFolder(r, new(termProd[float32]), new(termProd[float64]))
	case d == dtype.FP8x23:
		return &reduce.FixedProd[fixed.FP8x23]{Modes: r.Modes}
	case d == dtype.FP16x16:
		return &reduce.FixedProd[fixed.FP16x16]{Modes: r.Modes}
	case d == dtype.FP32x32:
		return &reduce.FixedProd[fixed.FP32x32]{Modes: r.Modes}
	case d == dtype.FP64x64:
		return &reduce.FixedProd[fixed.FP64x64]{Modes: r.Modes}
	case d.Size() == 1:
		return new(wordProd[uint8])
	case d.Size() == 2:
		return new(wordProd[uint16])
	case d.Size() == 4:
		return new(wordProd[uint32])
	}
	return new(wordProd[uint64])
}

var reduceProd = reduce.Operator{Vector: true, About: plan.About{Name: "ReduceProd", Shapes: true, PerAxis: 0b10, Orion: &orionVector, Versions: []int{1, 11, 13, 18}, Attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, Since: 18, Takes: plan.Reals | plan.Fixeds,
	Folder: prodFolder, Spare: &sync.Pool{}}
