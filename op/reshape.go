package op

import (
	"math/bits"

	"github.com/ashlar-go/ashlar/tensor"
)

// Reshape is ONNX's: an extent of 0 keeps the input's, unless allowzero, and one
// of -1 is computed. Typed programs call Tensor.Reshape or Tensor.View.
var reshape = opN{about: about{name: "Reshape", flops: flops{free: true}, onnx: []int{5, 13, 14, 19, 21, 23, 24, 25}, attrs: []string{"allowzero"}}, least: 2,
	planned: func(c *Call, p *Plan) {
		shape := reshapeTo(c)
		p.gives(c.in(0).DType(), shape...)
		p.view(func() tensor.Any { return viewed(tensor.Reshape(c.in(0), shape...)) })
	}}

// reshapeTo returns the shape that a Reshape node asks for.
func reshapeTo(c *Call) []int {
	shape, _ := ints("Reshape", c, 1)
	n := c.in(0).Len()
	free, rest := -1, uint(1)
	for i, e := range shape {
		if e == 0 && c.Attrs.Int("allowzero", 0) == 0 {
			if i >= c.in(0).Rank() {
				panic(fail("Reshape", tensor.ErrShape, "extent 0 of axis %d keeps the input's, but that is %s", i, tensor.Describe(c.in(0))))
			}
			shape[i] = c.in(0).Dim(i)
		}
		if e == -1 && free < 0 {
			free = i
			continue
		}
		if shape[i] < 0 {
			panic(fail("Reshape", tensor.ErrShape, "extent %d of axis %d; only one may be -1, the others are at least 0", e, i))
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
		panic(fail("Reshape", tensor.ErrShape, "%s has %d elements, which don't fill shape %s", tensor.Describe(c.in(0)), n, listText(shape)))
	}
	return shape
}

// viewed unwraps a view of a run-time tensor.
func viewed(a tensor.Any, err error) tensor.Any {
	if err != nil {
		panic(fail("View", tensor.ErrShape, "%v", err))
	}
	return a
}
