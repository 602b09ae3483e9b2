package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// Byte is the element types of ConvInteger and MatMulInteger.
type Byte interface{ int8 | uint8 }

// ConvInteger returns the convolution of x less xZero with w less wZero, as Conv
// computes it, in int32, which wraps: x [N, C, D1, …], w [M, C/group, k1, …], the
// result [N, M, out1, …]. xZero is one number, wZero one or one for each of M; the
// zero Tensor is 0. Padding is xZero. It panics when extents don't fit. ONNX
// ConvInteger.
func ConvInteger[X, W Byte](x tensor.Tensor[X], w tensor.Tensor[W], xZero tensor.Tensor[X], wZero tensor.Tensor[W], win Window, group int, opts ...Option) (r tensor.Tensor[int32]) {
	integerConv(x.Any(), w.Any(), xZero.Any(), wZero.Any(), contract.Window(win), group, nil).Into(exec.Ref(&r), opts)
	return r
}

func integerConv(x, w, xZero, wZero tensor.Any, win contract.Window, group int, f *contract.Filter) *move.Transfer {
	const name = "ConvInteger"
	plan.Present(name, &x, &w)
	plan.Must(name, plan.Bytes8.Has(w.DType()), w.DType())
	g := contract.ConvOf(name, &x, &w, nil, win, group)
	move.CheckZero(name, 2, xZero, x, -1)
	move.CheckZero(name, 3, wZero, w, 0)
	image, weights := sideOf(xZero, nil), sideOf(wZero, f)
	return &move.Transfer{Name: name, D: dtype.Int32, Shape: g.Shape, Keeps: g.BytesKept(f), Lies: lastBytes(g), In: move.OperandsOf(x, w, xZero, wZero), Price: bytesPrice(g, &x, &w, nil), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		to := contract.ByteResult[int32]{Dst: move.ElemsOf[int32](dst.Of), Last: dst.Last}
		sum := exec.As[func(dst, a, b []int32)](afterProduct.Sum(dtype.Int32))
		to.Row = func(dst, sums, plus []int32, _ int) { sum(dst, sums, plus) }
		to.Emit = func(image, channel, at int, sums []int32, last bool) {
			copy(to.Dst[(image*g.M+channel)*g.Patch+at:], sums)
		}
		contract.ConvolveBytes(g, exec.Job{Name: name, Ctx: ctx}, image(in[0], in[2]), in[0].Last, weights(in[1], in[3]), false, to)
	}}
}

// bytesPrice is the price of a convolution of bytes.
func bytesPrice(g *contract.Convolution, x, w, bias *tensor.Any) plan.Price {
	p := g.Price(x, w, bias)
	p.Copies(8, 1, 1)
	return p
}

// lastBytes says how a convolution of bytes lies channels last.
func lastBytes(g *contract.Convolution) move.Lies {
	if g.BytesDirect() {
		return move.EachLast
	}
	return move.RowMajor
}

var convInteger = plan.Operator{About: plan.About{Kept: keepInput, Weights: 1, Name: "ConvInteger", Convolves: true, Versions: []int{10}, Why: "of integers of 8 bits alone",
	Attrs: []string{"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}}, Least: 2, Most: 4, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		return integerConv(c.In(0), c.In(1), c.In(2), c.In(3), contract.WindowOf(c), plan.AttrInt(c, "group", 1), keptInput(c, 1))
	}}
