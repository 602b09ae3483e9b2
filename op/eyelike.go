package op

import (
	"context"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// EyeLike is ONNX's: a matrix of the input's shape with ones on diagonal k, which is
// the main one for 0 and lies above it for 1, and zeros elsewhere. Its type is the one
// that the attribute dtype names or else the input's. Typed programs call tensor.Eye.
var eyeLike = plan.Operator{About: plan.About{Name: "EyeLike", FLOPs: plan.FLOPs{Free: true}, Versions: []int{9, 22}, Attrs: []string{"dtype", "k"}}, Least: 1, Takes: plan.Every | plan.Stored&^(1<<dtype.Float8E8M0),
	Move: func(c *plan.Use) plan.Mover {
		shape := c.In(0).Shape()
		if len(shape) != 2 {
			panic(plan.Fail("EyeLike", tensor.ErrShape, "%s is no matrix", tensor.Describe(c.In(0))))
		}
		d := c.In(0).DType()
		if c.Attrs.Has("dtype") {
			d = pointwise.TypeOf("EyeLike", c.Attrs.Int("dtype", 0))
		}
		plan.Must("EyeLike", d != dtype.Float8E8M0, d) // it has no 0
		k := c.Attrs.Int("k", 0)
		return &move.Transfer{Name: "EyeLike", D: d, Shape: shape, In: []tensor.Any{c.In(0)}, Fill: func(_ context.Context, dst move.Words, _ []move.Words) {
			clear(dst.Mem)
			v := unit(d)
			for i := range shape[0] {
				if j := int64(i) + k; j >= 0 && j < int64(shape[1]) {
					copy(dst.Mem[(i*shape[1]+int(j))*dst.Size:], v)
				}
			}
		}}
	}}

// unit returns the bytes of 1, or of true.
func unit(d dtype.DType) []byte {
	one := pointwise.InType(tensor.Scalar(int8(1)).Any(), d)
	v := slices.Clone(move.WordsOf(one).Mem)
	runtime.KeepAlive(&one)
	return v
}
