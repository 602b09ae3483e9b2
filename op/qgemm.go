package op

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// QGemm of the domain com.microsoft is Gemm of quantized matrices: inputs 0, 1 and 2 are a, its
// scale and zero point, 3, 4 and 5 those of b, and 6 is c, of int32, which stretches to the result
// and may be absent. The sum of c and the products of a − zero and b − zero is exact; then, in
// float64,
//
//	y = sum·(alpha · scale of a · scale of b)
//
// with every step from the left rounded. Without inputs 7 and 8, a scale and a zero point, the
// result is y in the type of the scales; with them it is
//
//	saturate(round(y / scale of y) + zero point of y)
//
// The scale and the zero point of b are one number, or have one for each column of the product;
// the others are one number. Typed programs call MatMulInteger or QLinearMatMul. Source:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var qGemm = opN{about: about{name: "QGemm", takesUp: inBlocks | inWhole, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"alpha", "transA", "transB"}, why: "of integers of 8 bits alone"}, least: 2, most: 9, takes: bytes8,
	move: func(c *Call) *transfer {
		const name = "QGemm"
		c.must(name, 0, 1, 3, 4)
		a, b, plus := c.in(0), c.in(3), c.in(6)
		if a.Rank() != 2 || b.Rank() != 2 {
			panic(fail(name, tensor.ErrShape, "operands %s and %s; want two matrices", tensor.Describe(a), tensor.Describe(b)))
		}
		a, b = turnedSide(c, 0, "A"), turnedSide(c, 3, "B")
		must(name, bytes8.has(b.DType()), b.DType())
		x := productOf(name, nil, a.LayoutRef(), b.LayoutRef())
		checkQuantum(name, 1, c.in(1), c.in(2), a.DType())
		checkScales(name, 4, c.in(4), c.in(5), b, 1)
		if !plus.IsZero() && (plus.DType() != dtype.Int32 || !stretches(plus.LayoutRef(), x.shape)) {
			panic(fail(name, tensor.ErrShape, "c, input 6, is %s; want int32 that stretches to %s", tensor.Describe(plus), shapeText(x.shape)))
		}
		d := c.in(1).DType()
		must(name, floats.has(d), d)
		if scale, zero := c.in(7), c.in(8); !scale.IsZero() {
			if zero.IsZero() {
				panic(fail(name, tensor.ErrShape, "the scale of the result is there, input 7, but not its zero point, input 8"))
			}
			d = zero.DType()
			must(name, bytes8.has(d), d)
			checkQuantum(name, 7, scale, zero, d)
		}
		alpha := float64(c.Attrs.Float("alpha", 1))
		return &transfer{name: name, d: d, shape: x.shape, in: operandsOf(a, c.in(1), c.in(2), b, c.in(4), c.in(5), plus, c.in(7), c.in(8)), fill: func(ctx context.Context, dst words, in []words) {
			sums := x.wholeSums(exec.Job{Name: name, Ctx: ctx}, aboveZero(in[0], in[2], -1), aboveZero(in[3], in[5], 1))
			defer sums.Close()
			by, of, to := float64(alpha*numericOf(in[1]).real(0)), scales{numericOf(in[4]), 1}, numericOf(dst)
			bias := numeric{}
			if !in[6].absent() {
				bias = numericOf(in[6].stretched(x.shape))
			}
			qy := quantum{}
			if !in[7].absent() {
				qy = quantumOf(in[7], in[8])
			}
			for i, v := range elemsOf[int64](&sums) {
				if bias.mem != nil {
					v += bias.whole(i)
				}
				if y := float64(float64(v) * float64(by*of.at(i))); d.IsFloat() {
					to.setFloat(i, y)
				} else {
					to.setQuantized(i, y/qy.scale, qy.zero, true)
				}
			}
			runtime.KeepAlive(&sums)
			runtime.KeepAlive(in)
		}}
	}}
