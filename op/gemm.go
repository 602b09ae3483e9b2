package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Gemm returns alpha·a·b + beta·c for matrices a [M, K] and b [K, N], each
// transposed first when asked, and c that stretches to [M, N]. c may be the zero
// Tensor; when beta is 0 its elements aren't looked at. The product contracts in the fixed order of MatMul; then alpha, then
// beta·c, then the sum: each rounded for itself. Narrow floats are computed in
// float32 and rounded once. In fixed point the exact value of it all is rounded once, alpha
// and beta being what they are as float32. It panics when the shapes don't fit. ONNX Gemm.
func Gemm[T num.Float | num.Narrow | num.Fixed](a, b, c tensor.Tensor[T], alpha, beta float32, transA, transB bool, opts ...Option) tensor.Tensor[T] {
	s := read(opts)
	var few [2]int
	lc := exec.Ref(&c).LayoutRef()
	if c.IsZero() {
		lc = nil
	}
	shape := gemmShape(few[:0], exec.Ref(&a).LayoutRef(), exec.Ref(&b).LayoutRef(), lc, transA, transB)
	if transA {
		a = a.Transpose()
	}
	if transB {
		b = b.Transpose()
	}
	if dtype.Of[T]().IsFixed() {
		if c.IsZero() || beta == 0 {
			c, beta = tensor.Tensor[T]{}, 1
		}
		return rectified(&s, asFixed(a,
			func(a tensor.Tensor[num.FP8x23]) tensor.Tensor[num.FP8x23] {
				return fixedProduct("Gemm", a, as1[num.FP8x23](b), as1[num.FP8x23](c), alpha, beta, opts)
			},
			func(a tensor.Tensor[num.FP16x16]) tensor.Tensor[num.FP16x16] {
				return fixedProduct("Gemm", a, as1[num.FP16x16](b), as1[num.FP16x16](c), alpha, beta, opts)
			},
			func(a tensor.Tensor[num.FP32x32]) tensor.Tensor[num.FP32x32] {
				return fixedProduct("Gemm", a, as1[num.FP32x32](b), as1[num.FP32x32](c), alpha, beta, opts)
			},
			func(a tensor.Tensor[num.FP64x64]) tensor.Tensor[num.FP64x64] {
				return fixedProduct("Gemm", a, as1[num.FP64x64](b), as1[num.FP64x64](c), alpha, beta, opts)
			}))
	}
	dst := target[T]("Gemm", &s, shape)
	if dst.Len() == 0 {
		return dst
	}
	j := exec.Job{Name: "Gemm", Ctx: s.ctx()}
	switch d := any(&dst).(type) {
	case *tensor.Tensor[float32]:
		gemmInto(j, any(&a).(*tensor.Tensor[float32]), any(&b).(*tensor.Tensor[float32]), any(&c).(*tensor.Tensor[float32]), alpha, beta, s.rectify, d)
	case *tensor.Tensor[float64]:
		gemmInto(j, any(&a).(*tensor.Tensor[float64]), any(&b).(*tensor.Tensor[float64]), any(&c).(*tensor.Tensor[float64]), alpha, beta, s.rectify, d)
	default:
		wide := tensor.Empty[float32](shape...)
		wa, wb := widened(a), widened(b)
		var wc tensor.Tensor[float32]
		if !c.IsZero() {
			wc = widened(c)
		}
		gemmInto(j, &wa, &wb, &wc, alpha, beta, s.rectify, &wide)
		convertTo(dst, wide, narrowFor[T]())
	}
	return dst
}

// gemmInto computes a Gemm whose shapes fit.
func gemmInto[T num.Float](j exec.Job, a, b, plus *tensor.Tensor[T], alpha, beta float32, rectify bool, dst *tensor.Tensor[T]) {
	var few [2]int
	x := productOf("Gemm", few[:0], exec.Ref(a).LayoutRef(), exec.Ref(b).LayoutRef())
	var c tensor.Tensor[T]
	switch {
	case plus.IsZero() || beta == 0:
	case beta == 1:
		c = *plus
	default:
		c = apply2(&mul, plus, scalarOf(T(beta)), nil)
	}
	out := *dst
	if !dst.IsContiguous() || dst.Any().Overlaps(a.Any()) || dst.Any().Overlaps(b.Any()) || !c.IsZero() && dst.Any().Overlaps(c.Any()) {
		out = tensor.Empty[T](x.shape...)
	}
	if alpha == 1 && (x.n > fewRows || x.n >= x.m) { // else the product is better made as its transpose
		then := after[T]{rectify: rectify}
		if !c.IsZero() {
			c = c.BroadcastTo(x.m, x.n)
			row, ok := exec.Ref(&c).LayoutRef().Stride(0)
			col, ok2 := exec.Ref(&c).LayoutRef().Stride(1)
			if !ok || !ok2 || row < 0 || uint(col) > 1 {
				c, row, col = c.Contiguous(), x.n, 1
			}
			data, at := c.Data()
			then.plus, then.row, then.col = data[at:], row, col
		}
		matmul(j, x, a, b, &out, &then)
	} else {
		matmul(j, x, a, b, &out, nil)
		if alpha != 1 {
			apply2(&mul, &out, scalarOf(T(alpha)), []Option{Into(out)})
		}
		if !c.IsZero() {
			apply2(&add, &out, &c, []Option{Into(out)})
		}
		if rectify {
			apply1(&relu, &out, []Option{Into(out)})
		}
	}
	if !out.Any().SameData(dst.Any()) {
		dst.CopyFrom(out)
	}
	runtime.KeepAlive(c)
}

func scalarOf[T num.Elem](v T) *tensor.Tensor[T] {
	t := tensor.Scalar(v)
	return &t
}

// gemmShape checks the operands of a Gemm, of which c may be nil, and appends the result's extents to shape.
func gemmShape(shape []int, a, b, c *layout.Layout, transA, transB bool) []int {
	if a.Rank() != 2 || b.Rank() != 2 {
		panic(fail("Gemm", tensor.ErrShape, "operands of shapes %s and %s; both must be matrices", a.ShapeString(), b.ShapeString()))
	}
	m, k, kb, n := a.Dim(0), a.Dim(1), b.Dim(0), b.Dim(1)
	if transA {
		m, k = k, m
	}
	if transB {
		kb, n = n, kb
	}
	if k != kb {
		panic(fail("Gemm", tensor.ErrShape, "operands of shapes %s and %s (transposed: %t and %t): the left has %d columns, the right %d rows",
			a.ShapeString(), b.ShapeString(), transA, transB, k, kb))
	}
	if c != nil {
		if _, err := c.BroadcastTo(m, n); err != nil {
			panic(fail("Gemm", tensor.ErrShape, "the third operand has shape %s, which doesn't stretch to (%d,%d)", c.ShapeString(), m, n))
		}
	}
	return append(shape, m, n)
}

var gemmOp = opN{about: about{name: "Gemm", onnx: []int{6, 7, 9, 11, 13}, attrs: []string{"alpha", "beta", "broadcast", "transA", "transB"}}, least: 2, most: 3, fast: productFast,
	infer: func(c *Call) []tensor.Any {
		oneType("Gemm", c.Inputs...)
		la, lb := c.in(0).Layout(), c.in(1).Layout()
		var plus *layout.Layout
		if !c.in(2).IsZero() {
			lc := c.in(2).Layout()
			plus = &lc
		}
		return one(spec("Gemm", c.in(0).DType(), gemmShape(nil, &la, &lb, plus, c.Attrs.Int("transA", 0) != 0, c.Attrs.Int("transB", 0) != 0)...))
	},
	typed: perType{dtype.Float8E4M3: runGemm[num.F8E4M3], dtype.Float8E5M2: runGemm[num.F8E5M2], dtype.Float16: runGemm[num.F16],
		dtype.BFloat16: runGemm[num.BF16], dtype.Float32: runGemm[float32], dtype.Float64: runGemm[float64],
		dtype.FP8x23: runGemm[num.FP8x23], dtype.FP16x16: runGemm[num.FP16x16], dtype.FP32x32: runGemm[num.FP32x32], dtype.FP64x64: runGemm[num.FP64x64]}}

func runGemm[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	return one(Gemm(as[T]("Gemm", c, 0), as[T]("Gemm", c, 1), as[T]("Gemm", c, 2), c.Attrs.Float("alpha", 1), c.Attrs.Float("beta", 1),
		c.Attrs.Int("transA", 0) != 0, c.Attrs.Int("transB", 0) != 0, options(c)...).Any())
}
