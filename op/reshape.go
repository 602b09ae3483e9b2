package op

import (
	"math/bits"

	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// Reshape is ONNX's: an extent of 0 keeps the input's, unless allowzero, and one
// of -1 is computed. Typed programs call Tensor.Reshape or Tensor.View: tensor/reshape.go.
var reshape = plan.Operator{About: plan.About{Name: "Reshape", Shapes: true, PerAxis: 0b10, Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{5, 13, 14, 19, 21, 23, 24, 25}, Attrs: []string{"allowzero"}}, Least: 2,
	Planned: func(c *plan.Use, p *plan.Draft) {
		shape := reshapeTo(c)
		p.Gives(c.In(0).DType(), shape...)
		p.View(func() tensor.Any { return pointwise.Viewed(tensor.Reshape(c.In(0), shape...)) })
		p.Lay = plan.Reshaped(shape)
	}}

// reshapeTo returns the shape that a Reshape node asks for.
func reshapeTo(c *plan.Use) []int {
	shape, _ := move.Ints("Reshape", c, 1)
	n := c.In(0).Len()
	free, rest := -1, uint(1)
	for i, e := range shape {
		if e == 0 && c.Attrs.Int("allowzero", 0) == 0 {
			if i >= c.In(0).Rank() {
				panic(plan.Fail("Reshape", tensor.ErrShape, "extent 0 of axis %d keeps the input's, but that is %s", i, tensor.Describe(c.In(0))))
			}
			shape[i] = c.In(0).Dim(i)
		}
		if e == -1 && free < 0 {
			free = i
			continue
		}
		if shape[i] < 0 {
			panic(plan.Fail("Reshape", tensor.ErrShape, "extent %d of axis %d; only one may be -1, the others are at least 0", e, i))
		}
		over, product := bits.Mul(rest, uint(shape[i]))
		if rest = product; over != 0 {
			rest = 1<<bits.UintSize - 1 // more elements than any tensor has; an extent of 0 still makes it 0
		}
	}
	if free >= 0 && rest > 0 && uint(n)%rest == 0 {
		shape[free], rest = n/int(rest), uint(n)
	}
	if rest != uint(n) || free >= 0 && shape[free] < 0 {
		panic(plan.Fail("Reshape", tensor.ErrShape, "%s has %d elements, which don't fill shape %s", tensor.Describe(c.In(0)), n, plan.ListText(shape)))
	}
	return shape
}
