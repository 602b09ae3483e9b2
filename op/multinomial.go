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

// Multinomial draws samples from distributions over classes: of x [batch, classes], the
// logarithms of weights, the result is [batch, samples] of classes. The weights of a row are the
// exponentials of its elements less its maximum. A sample is the first class whose cumulative
// weight, added from the left in float64, exceeds u times the sum of all; u is the element of tensor.RandomUniform of float64 from 0
// to 1 with that seed. So the same seed gives the same result always. It panics when x is no
// matrix, samples is negative, or the maximum of a row isn't finite or an element is NaN.
// ONNX Multinomial.
func Multinomial[I int32 | int64, T num.Floating](x tensor.Tensor[T], samples int, seed uint64, opts ...Option) (r tensor.Tensor[I]) {
	sampledFrom(x.Any(), dtype.Of[I](), samples, seed).Into(exec.Ref(&r), opts)
	return r
}

func sampledFrom(x tensor.Any, d dtype.DType, samples int, seed uint64) *move.Transfer {
	const name = "Multinomial"
	plan.Present(name, &x)
	if !plan.Indices.Has(d) {
		panic(plan.Fail(name, tensor.ErrDType, "a result of %v; want int32 or int64", d))
	}
	if x.Rank() != 2 || samples < 0 {
		panic(plan.Fail(name, tensor.ErrShape, "%d samples of %s; want none or more, of [batch, classes]", samples, tensor.Describe(x)))
	}
	batch, classes := x.Dim(0), x.Dim(1)
	scratch := plan.BytesIn(8, []int{batch, classes}) + plan.BytesIn(8, []int{batch, samples})
	return &move.Transfer{Name: name, D: d, Shape: []int{batch, samples}, In: move.OperandsOf(x), Picky: true, Price: plan.Taking(scratch, 0), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		w := plan.RoomFor[float64](name, batch, classes)
		move.NumericOf(in[0]).Floats(w, 0)
		for b := range batch {
			weigh(name, b, w[b*classes:(b+1)*classes])
		}
		u := tensor.RandomUniform[float64](seed, 0, 1, dst.Len())
		exec.Split(name, ctx, dst.Len(), 10+classes, func(from, till int) {
			for i, v := range u.Elems()[from:till] {
				b := (from + i) / samples
				row := w[b*classes : (b+1)*classes]
				at, most := 0, min(float64(v*row[classes-1]), math.Nextafter(row[classes-1], 0))
				for at < classes-1 && row[at] <= most {
					at++
				}
				dst.SetBits(from+i, uint64(at))
			}
		})
	}}
}

// weigh makes a row of logarithms sums of weights, the largest of which is 1.
func weigh(name string, b int, row []float64) {
	most := math.Inf(-1)
	for i, v := range row {
		if v != v {
			panic(plan.Fail(name, tensor.ErrValue, "element %d of row %d is NaN", i, b))
		}
		most = max(most, v)
	}
	if most-most != 0 {
		panic(plan.Fail(name, tensor.ErrValue, "the largest of the %d elements of row %d is %v; want a finite one", len(row), b, most))
	}
	sum := 0.0
	for i, v := range row {
		sum += float.Exp64(v - most)
		row[i] = sum
	}
}

// multinomial has the seed of RandomUniform.
var multinomial = plan.Operator{About: plan.About{Name: "Multinomial", Unsteady: true, Versions: []int{7, 22}, Attrs: []string{"dtype", "sample_size", "seed"}}, Least: 1, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		return sampledFrom(c.In(0), pointwise.TypeOf("Multinomial", c.Attrs.Int("dtype", 6)), plan.AttrInt(c, "sample_size", 1), seedOf(c))
	}}
