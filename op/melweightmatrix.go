package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// MelWeightMatrix returns the matrix that takes a spectrum of length/2 + 1 bins, of a signal of
// rate samples a second, to bands of the mel scale: the product of the spectrum and it has one
// number for each band. There are bands + 2 edges of bands. The first is low, and they are a
// (bands + 2)-th of the way to high apart, on the scale
//
//	mel = 2595·log10(1 + f/700)
//
// An edge is the bin ⌊(length + 1)·f/rate⌋. A band rises from 0 at its first edge to 1 at the
// second, evenly by bin, and falls to 0 at the third. Where the first two are one bin, it is 1.
// Each step is rounded to float64, and the weights once to T. It panics unless bands and length
// aren't negative, rate is 1 or more, 0 ≤ low ≤ high, and every edge is a bin.
// ONNX MelWeightMatrix.
func MelWeightMatrix[T num.Native | num.Narrow](bands, length, rate int, low, high float64, opts ...Option) (r tensor.Tensor[T]) {
	melWeights(dtype.Of[T](), bands, length, rate, low, high).Into(exec.Ref(&r), opts)
	return r
}

func melWeights(d dtype.DType, bands, length, rate int, low, high float64) *move.Transfer {
	const name = "MelWeightMatrix"
	plan.Must(name, plan.Reals.Has(d), d)
	if bands < 0 || length < 0 || rate < 1 || bands > math.MaxInt-2 {
		panic(plan.Fail(name, tensor.ErrValue, "%d bands, a transform of %d elements, %d samples a second; want none of them negative, and a sample at least", bands, length, rate))
	}
	if !(0 <= low && low <= high && high <= math.MaxFloat64) {
		panic(plan.Fail(name, tensor.ErrValue, "the edges are %v and %v Hz; want finite ones, not negative, the lower one first", low, high))
	}
	bins := length/2 + 1
	mel := func(f float64) float64 { return float64(2595 * float.Log10x64(1+f/700)) }
	first := mel(low)
	apart := (mel(high) - first) / float64(bands+2)
	edge := func(i int) int {
		f := float64(700 * (float.Pow64(10, (float64(float64(i)*apart)+first)/2595) - 1))
		return int(min(math.Floor(float64((float64(length)+1)*f)/float64(rate)), float64(bins)))
	}
	if last := edge(bands + 1); bands > 0 && last >= bins {
		panic(plan.Fail(name, tensor.ErrValue, "the last band ends past the %d bins of %d samples a second; want an upper edge below %v Hz", bins, rate, float64(rate)/2))
	}
	return &move.Transfer{Name: name, D: d, Shape: []int{bins, bands}, Fill: func(ctx context.Context, dst move.Words, _ []move.Words) {
		clear(dst.Mem)
		to := move.NumericOf(dst)
		for b := range bands {
			from, top, end := edge(b), edge(b+1), edge(b+2)
			if from == top {
				to.SetReal(top*bands+b, 1)
			}
			for i := from; i <= top && from < top; i++ {
				to.SetReal(i*bands+b, float64(i-from)/float64(top-from))
			}
			for i := top; i < end; i++ {
				to.SetReal(i*bands+b, float64(end-i)/float64(end-top))
			}
		}
	}}
}

var melWeightMatrix = plan.Operator{About: plan.About{Name: "MelWeightMatrix", Versions: []int{17}, Attrs: []string{"output_datatype"}, Why: "the operand is a number, int32 or int64"}, Least: 5, Takes: plan.Indices,
	Move: func(c *plan.Use) plan.Mover {
		const name = "MelWeightMatrix"
		var n [3]int
		var f [2]float64
		for i := range n {
			n[i] = numberOr(name, c, i, 0)
		}
		for i := range f {
			a := c.Values(name, 3+i)
			if a.Len() != 1 || !a.DType().IsFloat() {
				panic(plan.Fail(name, tensor.ErrShape, "input %d is %s; want one float", 3+i, tensor.Describe(*a)))
			}
			f[i] = move.NumericOf(move.WordsOf(*a)).Float(0)
		}
		return melWeights(pointwise.TypeOf(name, c.Attrs.Int("output_datatype", 1)), n[0], n[1], n[2], f[0], f[1])
	}}
