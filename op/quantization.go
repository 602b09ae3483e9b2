package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Quantized is the element types that stand for real numbers by a scale and a zero
// point.
type Quantized interface {
	int8 | uint8 | int16 | uint16 | int32 | num.F8E4M3 | num.F8E5M2 |
		num.Int2 | num.Int4 | num.Uint2 | num.Uint4 | num.F4E2M1 | num.F8E4M3FNUZ | num.F8E5M2FNUZ
}

// Quantization says which real number an element q stands for: (q − Zero)·Scale. Zero
// has Scale's shape, or is the zero Tensor for 0. Scale is
//
//   - one number, for all elements;
//   - a vector, with one for each index along Axis;
//   - if Block isn't 0, of the rank of the tensor and its shape but along Axis, where
//     one stands for Block elements, the last for what is left.
type Quantization[S num.Native | num.Narrow, Q Quantized] struct {
	Scale tensor.Tensor[S]
	Zero  tensor.Tensor[Q]
	Axis  int
	Block int
}

// inFloat has f compute a transfer in float64 for float64, and else in float32, rounded once.
// Operands are contiguous for f, and nil where they are absent.
func inFloat(name string, dst move.Words, in []move.Words, f func(dst *tensor.Any, in []*tensor.Any)) {
	ins := make([]*tensor.Any, len(in))
	for i, w := range in {
		if w.Absent() {
			continue
		}
		if ins[i] = w.Of; w.Of.DType().IsNarrow() {
			wide := inSingle(name, w.Of)
			ins[i] = &wide
			defer wide.Close()
		}
	}
	if !dst.Of.DType().IsNarrow() {
		f(dst.Of, ins)
		return
	}
	wide := tensor.EmptyOf(dtype.Float32, dst.Of.Shape()...)
	f(&wide, ins)
	narrowInto(name, dst.Of, &wide)
}

// aboveZero returns the elements of an integer tensor as int64s, less their zero point: none,
// one number, or one for each index along axis.
func aboveZero(a, zero move.Words, axis int) tensor.Any {
	out := tensor.EmptyOf(dtype.Int64, a.Of.Shape()...)
	dst, src := move.ElemsOf[int64](&out), move.NumericOf(a)
	for i := range dst {
		dst[i] = src.Whole(i)
	}
	if !zero.Absent() {
		z := move.NumericOf(zero)
		n, per := z.Len(), 1
		if n > 1 {
			_, _, per = move.Around(a.Of.Shape(), axis)
		}
		for i := range dst {
			dst[i] -= z.Whole(i / per % n)
		}
	}
	runtime.KeepAlive(&out)
	return out
}

// A grain finds the scale of an element.
type grain struct{ n, after, block, blocks int }

// grainOf checks the scale and the zero point of a.
func grainOf(name string, a, scale, zero tensor.Any, axis, block int) grain {
	if !zero.IsZero() && !(scale.Len() == 1 && zero.Len() == 1) { // one number is one number, of any rank
		if ls, lz := scale.Layout(), zero.Layout(); !ls.Same(&lz) && !plan.SameShape(&ls, lz.Shape()) {
			panic(plan.Fail(name, tensor.ErrShape, "the scale has shape %s, the zero point %s", ls.ShapeString(), lz.ShapeString()))
		}
	}
	if d := scale.DType(); !plan.Reals.Has(d) && d != dtype.Float8E8M0 {
		panic(plan.Fail(name, tensor.ErrDType, "the scale holds %v; want numbers", scale.DType()))
	}
	if block < 0 {
		panic(plan.Fail(name, tensor.ErrValue, "a block of %d elements; want 1 or more, or 0 for none", block))
	}
	if block == 0 && scale.Len() == 1 {
		return grain{1, 1, 1, 0}
	}
	axis = plan.AxisOf(name, axis, a.Rank())
	shape := a.Shape()
	_, n, after := move.Around(shape, axis)
	if block == 0 {
		if scale.Rank() != 1 || scale.Dim(0) != n {
			panic(plan.Fail(name, tensor.ErrShape, "the scale is %s; want one number, or %d, one for each index along axis %d of %s", tensor.Describe(scale), n, axis, tensor.Describe(a)))
		}
		return grain{n, after, 1, 0}
	}
	want := append([]int{}, shape...)
	want[axis] = (n-1)/block + 1
	if n == 0 {
		want[axis] = 0
	}
	if lay := scale.Layout(); !plan.SameShape(&lay, want) {
		panic(plan.Fail(name, tensor.ErrShape, "the scale has shape %s; blocks of %d along axis %d of %s want %s", lay.ShapeString(), block, axis, tensor.Describe(a), plan.ShapeText(want)))
	}
	return grain{n, after, block, want[axis]}
}

// at returns the index of the scale of element i.
func (g *grain) at(i int) int {
	j := i / g.after % g.n
	if g.blocks == 0 {
		return j
	}
	return (i/g.after/g.n*g.blocks+j/g.block)*g.after + i%g.after
}

// roundedTo returns what rounds a float64 to a type, and leaves it a float64.
func roundedTo(d dtype.DType) func(v float64) float64 {
	switch d {
	case dtype.Float32:
		return func(v float64) float64 { return float64(float32(v)) }
	}
	if f := d.Format(); f != 0 {
		return func(v float64) float64 { return f.Value(f.Round(v)) }
	}
	return func(v float64) float64 { return v }
}

// A quantum is the one scale and zero point of a whole operand.
type quantum struct{ scale, zero float64 }

func quantumOf(scale, zero move.Words) quantum {
	q := quantum{scale: move.NumericOf(scale).Real(0)}
	if !zero.Absent() {
		q.zero = move.NumericOf(zero).Real(0)
	}
	return q
}

// checkQuantum panics unless input i is one scale and the next, which may be absent, one
// zero point of type d.
func checkQuantum(name string, i int, scale, zero tensor.Any, d dtype.DType) {
	plan.PresentAt(name, i, &scale)
	switch {
	case scale.Len() != 1 || !plan.Reals.Has(scale.DType()):
		panic(plan.Fail(name, tensor.ErrShape, "the scale, input %d, is %s; want one number", i, tensor.Describe(scale)))
	case !zero.IsZero() && (zero.Len() != 1 || zero.DType() != d):
		panic(plan.Fail(name, tensor.ErrShape, "the zero point, input %d, is %s; want one number of %v", i+1, tensor.Describe(zero), d))
	}
}

// real returns the number that element i of w stands for: the difference is exact, the
// product rounded to float64.
func (q *quantum) real(w move.Numeric, i int) float64 { return float64((w.Real(i) - q.zero) * q.scale) }
