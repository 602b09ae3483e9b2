package op

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearConvOptions says how the operands and the result of QLinearConv are quantized, and how the kernel moves.
type QLinearConvOptions[S num.Floating, X, W, Y int8 | uint8] struct {
	X      Quantization[S, X]
	W      Quantization[S, W] // of one scale and zero point, or one for each output channel
	Y      Quantization[S, Y] // of the result
	Window Window
	Group  int // the groups of channels; 0 means 1
}

// QLinearConv is the convolution of quantized x [N, C, D1, …] with quantized w [M,
// C/Group, k1, …], quantized as o.Y says. The sum of products of x − Zero and w − Zero, to
// which bias [M] is added unless it is the zero Tensor, is exact: the bias is in units
// of scale of x · scale of w. Then it is as in QLinearMatMul. Padding is the zero point
// of x. The scale and the zero point of w may be one for each of M; the others are one.
// It panics when extents don't fit. ONNX QLinearConv.
func QLinearConv[S num.Floating, X, W, Y int8 | uint8](x tensor.Tensor[X], w tensor.Tensor[W], bias tensor.Tensor[int32], o QLinearConvOptions[S, X, W, Y], opts ...Option) (r tensor.Tensor[Y]) {
	in := []tensor.Any{x.Any(), o.X.Scale.Any(), o.X.Zero.Any(), w.Any(), o.W.Scale.Any(), o.W.Zero.Any(), o.Y.Scale.Any(), o.Y.Zero.Any(), bias.Any()}
	quantizedConv(in, dtype.Of[Y](), contract.Window(o.Window), cmp.Or(o.Group, 1), nil).Into(exec.Ref(&r), opts)
	return r
}

func quantizedConv(in []tensor.Any, d dtype.DType, win contract.Window, group int, f *contract.Filter) *move.Transfer {
	const name = "QLinearConv"
	x, w, bias := in[0], in[3], in[8]
	plan.Present(name, &x, nil, nil, &w)
	plan.Must(name, plan.Bytes8.Has(w.DType()), w.DType())
	plan.Must(name, plan.Bytes8.Has(d), d)
	g := contract.ConvOf(name, &x, &w, &bias, win, group)
	if !bias.IsZero() && bias.DType() != dtype.Int32 {
		panic(plan.Fail(name, tensor.ErrDType, "the bias holds %v, want int32", bias.DType()))
	}
	checkScales(name, 1, in[1], in[2], x, -1)
	checkScales(name, 4, in[4], in[5], w, 0)
	checkQuantum(name, 6, in[6], in[7], d)
	image, weights := sideOf(in[2], nil), sideOf(in[5], f)
	scales := steady(func(in []move.Words) (s scaling) {
		s.rows, s.cols = scalesOf(in[0]), scalesOf(in[1])
		if !in[2].Absent() {
			s.bias = scalesOf(in[2])
		}
		return s
	}, in[4], in[1], bias)
	result := steady(quantumIn, in[6], in[7])
	channels := steady(func(in []move.Words) *channelCodes {
		return codesOfChannels(g, scales(in[0], in[1], in[2]), quantumOf(in[3], in[4]), in[2])
	}, in[4], in[1], bias, in[6], in[7])
	return &move.Transfer{Name: name, D: d, Shape: g.Shape, Keeps: g.BytesKept(f), Lies: lastBytes(g), In: move.OperandsOf(in...), Price: bytesPrice(g, &x, &w, &bias), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		then, y := scales(in[4], in[1], in[8]).begun(g.K, dst.Len()), result(in[6], in[7])
		all := channels(in[4], in[1], in[8], in[6], in[7])
		to := contract.ByteResult[byte]{Dst: dst.Mem, Last: dst.Last, Bias: all.bias, Emit: func(image, channel, at int, sums []int32, last bool) {
			then.requantize(dst, y, channel, at, (image*g.M+channel)*g.Patch+at, sums, last)
		}}
		to.Row = func(row []byte, sums, plus []int32, channel int) {
			switch {
			case dst.Orion:
				for i, v := range plus {
					sums[i] += v
				}
				one := dst
				one.Mem = row
				y.requantize(one, 0, sums, all.factor[channel:], all.plus[channel:])
			case d == dtype.Int8:
				cast.RequantizeChannels(all.by, exec.Of[int8](exec.RunOf(row)), sums, plus, channel)
			default:
				cast.RequantizeChannels(all.by, row, sums, plus, channel)
			}
		}
		contract.ConvolveBytes(g, exec.Job{Name: name, Ctx: ctx}, image(in[0], in[2]), in[0].Last, weights(in[3], in[5]), true, to)
	}}
}

// channelCodes is what becomes of exact sums of the channels of a convolution.
type channelCodes struct {
	bias         []int32 // if an int32 has room for the sums with it
	factor, plus []float64
	by           *cast.Requantizer
}

func codesOfChannels(g *contract.Convolution, s scaling, y quantum, bias move.Words) *channelCodes {
	n := g.M * g.BytesTogether()
	r := &channelCodes{factor: make([]float64, n), plus: make([]float64, n)}
	for i := range r.factor {
		r.factor[i] = float64(s.rows[i%g.M%len(s.rows)] * s.cols[0])
	}
	for i := 0; i < n && s.bias != nil; i += g.M {
		copy(r.plus[i:], s.bias)
	}
	most := float64(float64(g.K) * 255 * 255)
	if s.bias != nil && !slices.ContainsFunc(r.plus, func(v float64) bool { return math.Abs(v)+most > math.MaxInt32 }) {
		r.bias = slices.Clone(move.ElemsOf[int32](bias.Of))
		clear(r.plus)
	}
	r.by = cast.RequantizerOf(r.factor, r.plus, y.scale, y.zero)
	return r
}

var qLinearConv = plan.Operator{About: plan.About{Kept: keepInput, Weights: 3, Name: "QLinearConv", Shared: true, Versions: []int{10}, Why: "of integers of 8 bits alone",
	Attrs: []string{"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}}, Least: 8, Most: 9, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		return quantizedConv(append(append([]tensor.Any{}, c.Inputs[:8]...), c.In(8)), c.In(7).DType(), contract.WindowOf(c), plan.AttrInt(c, "group", 1), keptInput(c, 3))
	}}
