package op

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// Operands that lie in the target are where they go, or are read before they are written over.
func TestConcatInPlace(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 1, 0}, {0, 2, 2}} {
		x := random[float32](rand.New(rand.NewPCG(3, 1)), 6, 5)
		all := []tensor.Tensor[float32]{x.Slice(tensor.R(0, 2)), x.Slice(tensor.R(2, 4)), x.Slice(tensor.R(4, 6))}
		var parts, copies []tensor.Tensor[float32]
		for _, i := range order {
			parts, copies = append(parts, all[i]), append(copies, all[i].Clone())
		}
		want := Concat(copies, 0)
		same(t, fmt.Sprint(order), Concat(parts, 0, Into(x)), want)
	}
}
