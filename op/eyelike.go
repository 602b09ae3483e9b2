package op

import (
	"context"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// EyeLike is ONNX's: a matrix of the input's shape with ones on diagonal k, which is
// the main one for 0 and lies above it for 1, and zeros elsewhere, in the type that
// the attribute dtype names or else the input's. Typed programs call tensor.Eye.
var eyeLike = opN{about: about{name: "EyeLike", flops: flops{free: true}, onnx: []int{9, 22}, attrs: []string{"dtype", "k"}}, least: 1, takes: every | stored&^(1<<dtype.Float8E8M0),
	move: func(c *Call) *transfer {
		shape := c.in(0).Shape()
		if len(shape) != 2 {
			panic(fail("EyeLike", tensor.ErrShape, "%s is no matrix", tensor.Describe(c.in(0))))
		}
		d := c.in(0).DType()
		if c.Attrs.Has("dtype") {
			d = typeOf("EyeLike", c.Attrs.Int("dtype", 0))
		}
		must("EyeLike", d != dtype.Float8E8M0, d) // it has no 0
		k := c.Attrs.Int("k", 0)
		return &transfer{name: "EyeLike", d: d, shape: shape, in: []tensor.Any{c.in(0)}, fill: func(_ context.Context, dst words, _ []words) {
			clear(dst.mem)
			v := unit(d)
			for i := range shape[0] {
				if j := int64(i) + k; j >= 0 && j < int64(shape[1]) {
					copy(dst.mem[(i*shape[1]+int(j))*dst.size:], v)
				}
			}
		}}
	}}

// unit returns the bytes of 1, or of true.
func unit(d dtype.DType) []byte {
	one := inType(tensor.Scalar(int8(1)).Any(), d)
	v := slices.Clone(wordsOf(one).mem)
	runtime.KeepAlive(&one)
	return v
}
