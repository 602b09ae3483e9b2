package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// BitCast returns a with the bits of each element taken for an element of another type of
// as many bits. It panics when their numbers differ, and for bool, of which not all bits
// are one. ONNX BitCast.
func BitCast[To, From num.Elem](a tensor.Tensor[From], opts ...Option) (r tensor.Tensor[To]) {
	bitsOf(a.Any(), dtype.Of[To]()).Into(exec.Ref(&r), opts)
	return r
}

func bitsOf(a tensor.Any, d dtype.DType) *move.Transfer {
	plan.Present("BitCast", &a)
	if d == dtype.Bool && a.DType() != d || d.Bits() != a.DType().Bits() {
		of, unit := 8, "bytes"
		if d.Bits() < 8 || a.DType().Bits() < 8 {
			of, unit = 1, "bits"
		}
		panic(plan.Fail("BitCast", tensor.ErrDType, "the bits of %v, of %d %s, are no %v, of %d", a.DType(), a.DType().Bits()/of, unit, d, d.Bits()/of))
	}
	return &move.Transfer{Name: "BitCast", D: d, Shape: a.Shape(), In: move.OperandsOf(a), Fill: func(_ context.Context, dst move.Words, in []move.Words) {
		if copy(dst.Mem, in[0].Mem); d.Bits() < 8 {
			d.Mend(dst.Mem) // a byte in memory is more than the bits
		}
	}}
}

var bitCast = plan.Operator{About: plan.About{Name: "BitCast", FLOPs: plan.FLOPs{Free: true}, Versions: []int{26}, Attrs: []string{"to"}}, Least: 1,
	Move: func(c *plan.Use) plan.Mover {
		return bitsOf(c.In(0), pointwise.TypeOf("BitCast", c.Attrs.Int("to", 0)))
	}}
