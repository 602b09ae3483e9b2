package op

import (
	"context"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Roll returns a with the elements moved by shift along axis, those pushed over an
// end coming in again at the other: entry i goes to i+shift. Elements keep their
// bits. numpy.roll, which without an axis rolls the flattened tensor:
// Roll(a.Reshape(-1), shift, 0).Reshape(a.Shape()...) does.
func Roll[T num.Elem](a tensor.Tensor[T], shift, axis int, opts ...Option) tensor.Tensor[T] {
	axis = axisOf("Roll", axis, a.Rank())
	shape := a.Shape()
	return moved[T](&transfer{name: "Roll", d: a.DType(), shape: shape, in: []tensor.Any{a.Any()}, fill: func(ctx context.Context, dst words, in []words) {
		n := shape[axis]
		maps := make([][]int, len(shape))
		maps[axis] = make([]int, n)
		for i := range n {
			maps[axis][(i+(shift%n+n)%n)%n] = i
		}
		remap("Roll", ctx, dst, in[0], shape, maps, nil)
	}}, opts)
}
