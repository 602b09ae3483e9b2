package op

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// MatMulIntegerToFloat of the domain com.microsoft is the matrix product of quantized a and b as
// floats: inputs 0 and 1 are a and b, 2 and 3 their scales, 4 and 5 their zero points, which may be
// absent, and 6 a bias, one number for each column of b, which may be, too. The sums of products of
// a − zero and b − zero are exact; then, in float64,
//
//	y = sum·(scale of a · scale of b) + bias
//
// with every step rounded, and the result rounded once to the scales' type. The scale and the zero
// point of b are one number, or have one for each column; those of a are one. DynamicQuantizeMatMul
// quantizes a as DynamicQuantizeLinear does: its inputs are a, of float32, b, the scale and the
// zero point of b, and the bias. Typed programs call QLinearMatMul's relatives: MatMulInteger, Cast,
// Mul and Add. Source: docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var matMulIntegerToFloat = opN{about: about{name: "MatMulIntegerToFloat", takesUp: inBlocks | inWhole, domain: "com.microsoft", onnx: []int{1}, why: "of integers of 8 bits alone"}, least: 4, most: 7, takes: bytes8,
	move: func(c *Call) *transfer {
		const name = "MatMulIntegerToFloat"
		checkQuantum(name, 2, c.in(2), tensor.Any{}, c.in(0).DType())
		checkZero(name, 4, c.in(4), c.in(0), -1)
		return scaledProduct(name, c.in(0), c.in(1), c.in(3), c.in(5), c.in(6), []tensor.Any{c.in(2), c.in(4)}, [3]int{3, 5, 6}, func(_ context.Context, in []words) (a, scale, zero words) {
			return in[0], in[5], in[6]
		})
	}}

var dynamicQuantizeMatMul = opN{about: about{name: "DynamicQuantizeMatMul", takesUp: inBlocks | inWhole, domain: "com.microsoft", onnx: []int{1}, why: "of float32 alone: Cast first"}, least: 3, most: 5, takes: 1 << dtype.Float32,
	move: func(c *Call) *transfer {
		return scaledProduct("DynamicQuantizeMatMul", c.in(0), c.in(1), c.in(2), c.in(3), c.in(4), nil, [3]int{2, 3, 4}, func(ctx context.Context, in []words) (a, scale, zero words) {
			var y, s, z tensor.Any
			quantizedDynamically(&y, &s, &z, in[0].of, nil)
			return wordsOf(y), wordsOf(s), wordsOf(z)
		})
	}}

// scaledProduct is a product of a and b, whose scale, zero point and bias are the inputs at. left
// makes a, its scale and zero point of the operands: a, b, three for b, and more.
func scaledProduct(name string, a, b, scale, zero, bias tensor.Any, more []tensor.Any, at [3]int, left func(ctx context.Context, in []words) (a, scale, zero words)) *transfer {
	must(name, bytes8.has(b.DType()), b.DType())
	d := scale.DType()
	must(name, floats.has(d), d)
	x := productOf(name, nil, a.LayoutRef(), b.LayoutRef())
	columns := b.Rank() - 1
	if b.Rank() < 2 {
		columns = -1
	}
	checkScales(name, at[0], scale, tensor.Any{}, b, columns)
	checkZero(name, at[1], zero, b, columns)
	if !bias.IsZero() && (bias.DType() != d || bias.Rank() != 1 || bias.Dim(0) != x.n) {
		panic(fail(name, tensor.ErrShape, "the bias, input %d, is %s; want %d numbers of %v", at[2], tensor.Describe(bias), x.n, d))
	}
	return &transfer{name: name, d: d, shape: x.shape, in: operandsOf(append([]tensor.Any{a, b, scale, zero, bias}, more...)...), fill: func(ctx context.Context, dst words, in []words) {
		a, scale, zero := left(ctx, in)
		sums := x.wholeSums(exec.Job{Name: name, Ctx: ctx}, aboveZero(a, zero, -1), aboveZero(in[1], in[3], columns))
		defer sums.Close()
		by, of, plus, to := numericOf(scale).real(0), scales{numericOf(in[2]), 1}, numericOf(in[4]), numericOf(dst)
		for i, v := range elemsOf[int64](&sums) {
			y := float64(float64(v) * float64(by*of.at(i)))
			if !plus.absent() {
				y += plus.real(i % x.n)
			}
			to.setFloat(i, y)
		}
		runtime.KeepAlive(&sums)
		runtime.KeepAlive(in)
	}}
}
