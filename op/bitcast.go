package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// BitCast returns a with the bits of each element taken for an element of another type of
// as many bits. It panics when their numbers differ, and for bool, of which not all bits
// are one. ONNX BitCast.
func BitCast[To, From num.Elem](a tensor.Tensor[From], opts ...Option) (r tensor.Tensor[To]) {
	bitsOf(a.Any(), dtype.Of[To]()).into(exec.Ref(&r), opts)
	return r
}

func bitsOf(a tensor.Any, d dtype.DType) *transfer {
	present("BitCast", &a)
	if d == dtype.Bool && a.DType() != d || d.Bits() != a.DType().Bits() {
		of, unit := 8, "bytes"
		if d.Bits() < 8 || a.DType().Bits() < 8 {
			of, unit = 1, "bits"
		}
		panic(fail("BitCast", tensor.ErrDType, "the bits of %v, of %d %s, are no %v, of %d", a.DType(), a.DType().Bits()/of, unit, d, d.Bits()/of))
	}
	return &transfer{name: "BitCast", d: d, shape: a.Shape(), in: operandsOf(a), fill: func(_ context.Context, dst words, in []words) {
		if copy(dst.mem, in[0].mem); d.Bits() < 8 {
			d.Mend(dst.mem) // a byte in memory is more than the bits
		}
	}}
}

var bitCast = opN{about: about{name: "BitCast", flops: flops{free: true}, onnx: []int{26}, attrs: []string{"to"}}, least: 1,
	move: func(c *Call) *transfer { return bitsOf(c.in(0), typeOf("BitCast", c.Attrs.Int("to", 0))) }}
