package op

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearMatMul is the matrix product of quantized a and b, quantized as qy says. The
// sum of products of a − Zero and b − Zero is exact; then, in float64,
//
//	y = saturate(round(sum·(scale of a · scale of b) / scale of y) + zero point of y)
//
// with every step rounded, and round to nearest, even on a tie. The scale and the zero
// point of a may be one for each row, and those of b one for each column; y has one.
// It panics when the shapes don't fit. ONNX QLinearMatMul, of integers.
func QLinearMatMul[S num.Float | num.Narrow, A, B, Y int8 | uint8](a tensor.Tensor[A], qa Quantization[S, A], b tensor.Tensor[B], qb Quantization[S, B], qy Quantization[S, Y], opts ...Option) (r tensor.Tensor[Y]) {
	quantizedProduct([]tensor.Any{a.Any(), qa.Scale.Any(), qa.Zero.Any(), b.Any(), qb.Scale.Any(), qb.Zero.Any(), qy.Scale.Any(), qy.Zero.Any()}, dtype.Of[Y]()).into(exec.Ref(&r), opts)
	return r
}

func quantizedProduct(in []tensor.Any, d dtype.DType) *transfer {
	const name = "QLinearMatMul"
	a, b := in[0], in[3]
	present(name, &a, nil, nil, &b)
	must(name, bytes8.has(b.DType()), b.DType())
	must(name, bytes8.has(d), d)
	x := productOf(name, nil, a.LayoutRef(), b.LayoutRef())
	rows, columns := a.Rank()-2, b.Rank()-1
	if b.Rank() < 2 {
		columns = -1
	}
	checkScales(name, 1, in[1], in[2], a, rows)
	checkScales(name, 4, in[4], in[5], b, columns)
	checkQuantum(name, 6, in[6], in[7], d)
	return &transfer{name: name, d: d, shape: x.shape, in: operandsOf(in...), fill: func(ctx context.Context, dst words, in []words) {
		sums := x.wholeSums(exec.Job{Name: name, Ctx: ctx}, aboveZero(in[0], in[2], rows), aboveZero(in[3], in[5], columns))
		defer sums.Close()
		requantize(dst, sums, scales{numericOf(in[1]), x.n}, scales{numericOf(in[4]), 1}, quantumOf(in[6], in[7]))
	}}
}

// checkScales panics unless a scale, input i, is one number or has one for each index
// along axis of a, and the zero point after it too.
func checkScales(name string, i int, scale, zero, a tensor.Any, axis int) {
	presentAt(name, i, &scale)
	if !floats.has(scale.DType()) {
		panic(fail(name, tensor.ErrDType, "the scale, input %d, holds %v; want floats", i, scale.DType()))
	}
	if scale.Len() != 1 && (axis < 0 || scale.Rank() != 1 || scale.Dim(0) != a.Dim(axis)) {
		panic(fail(name, tensor.ErrShape, "the scale, input %d, is %s; want one number%s", i, tensor.Describe(scale), perIndex(a, axis)))
	}
	checkZero(name, i+1, zero, a, axis)
}

// scales are those of an operand, of which one stands for per results next to each
// other before the next one does.
type scales struct {
	numeric
	per int
}

func (s *scales) at(i int) float64 { return s.real(i / s.per % s.len()) }

// requantize writes exact sums of products, by the scales of their factors.
func requantize(dst words, sums tensor.Any, a, b scales, y quantum) {
	to := numericOf(dst)
	for i, v := range elemsOf[int64](&sums) {
		to.setQuantized(i, float64(float64(v)*float64(a.at(i)*b.at(i)))/y.scale, y.zero, true)
	}
	runtime.KeepAlive(&sums)
}

var qLinearMatMul = opN{about: about{name: "QLinearMatMul", takesUp: inBlocks | inWhole, flops: flops{rule: productFLOPs}, onnx: []int{10, 21}, why: "of integers of 8 bits alone"}, least: 8, takes: bytes8,
	move: func(c *Call) *transfer {
		return quantizedProduct(append([]tensor.Any{}, c.Inputs[:8]...), c.in(7).DType())
	}}

func qLinearConvFLOPs(c *Call, out []tensor.Any) int64 {
	return withBias(productOfAll(2, lengthOf(nth(out, 0)), filterOf(c.in(3))), c, 8, out)
}
