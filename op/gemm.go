package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Gemm returns alpha·a·b + beta·c for matrices a [M, K] and b [K, N], each
// transposed first as o says, and c that stretches to [M, N]. c may be the zero
// Tensor; when beta is 0 its elements aren't looked at. The product contracts in the fixed order of MatMul; then alpha, then
// beta·c, then the sum: each rounded for itself. alpha and beta are rounded to the element type,
// except that narrow floats are computed in float32 and rounded once. In fixed point alpha and
// beta count exactly, and the value of it all is rounded once. It panics when the shapes don't fit. ONNX Gemm.
func Gemm[T num.Fractional](a, b, c tensor.Tensor[T], alpha, beta float64, o GemmOptions, opts ...Option) (r tensor.Tensor[T]) {
	generalProduct(exec.Ref(&r), exec.Ref(&a), exec.Ref(&b), exec.Ref(&c), alpha, beta, o, nil, nil, opts)
	return r
}

// GemmOptions says which matrices Gemm transposes first: ONNX's attributes transA and transB.
type GemmOptions struct{ TransA, TransB bool }

// generalProduct is Gemm for operands of one run-time element type. f is the packed weights that b is, or nil.
func generalProduct(r, a, b, c *tensor.Any, alpha, beta float64, o GemmOptions, f *contract.Filter, then plan.Tail, opts []Option) {
	const name = "Gemm"
	plan.Present(name, a, b)
	d, s := a.DType(), plan.Read(name, opts)
	var few [2]int
	var lc *layout.Layout
	if !c.IsZero() {
		lc = c.LayoutRef()
	}
	shape := gemmShape(few[:0], a.LayoutRef(), b.LayoutRef(), lc, o)
	left, right := *a, *b
	if o.TransA {
		left = a.Permute(1, 0)
	}
	if o.TransB {
		right = b.Permute(1, 0)
	}
	plan.AimShape(r, name, &s, d, shape)
	if r.Len() == 0 {
		return
	}
	if c.IsZero() || beta == 0 {
		c, beta = nil, 1
	}
	j := exec.Job{Name: name, Ctx: s.Ctx()}
	if d.IsNarrow() {
		w := singlesFor(j, &left, &right, c, r)
		wide := w.empty(shape...)
		if c != nil {
			wc := w.widened(c)
			c = &wc
		}
		gemmInto(j, &left, &right, c, alpha, beta, s.Rectify, &wide, nil, nil, nil, w)
		w.done(r, &wide)
		return
	}
	e := contract.Exactly(&s, d, alpha, beta)
	out := plan.Beside(r, e != nil && s.Into != nil || !r.IsContiguous(), &left, &right, c)
	gemmInto(j, &left, &right, c, alpha, beta, s.Rectify, out, f, then, e, nil)
	e.Check(name, shape)
	plan.Put(r, out)
	if e != nil {
		rectified(&s, r)
	}
}

// gemmInto computes a Gemm whose shapes fit. plus may be nil. With w a and b are narrow floats, and plus and dst float32.
func gemmInto(j exec.Job, a, b, plus *tensor.Any, alpha, beta float64, rectify bool, dst *tensor.Any, f *contract.Filter, then plan.Tail, e *contract.Exactness, w *singles) {
	multiply := func(x *product, plus *tensor.Any, row, col int, rectify bool, then plan.Tail) {
		if w != nil {
			x.multiplyNarrow(w, j, a, b, dst, plus, row, col, rectify)
		} else {
			x.multiply(j, a, b, dst, plus, row, col, rectify, f, then, e)
		}
	}
	var few [2]int
	x := productOf("Gemm", few[:0], a.LayoutRef(), b.LayoutRef())
	d := dst.DType()
	if plus != nil && beta != 1 && e == nil {
		by := scalarIn(d, beta)
		var scaled tensor.Any
		mul.Call(&scaled, nil, plus, &by)
		plus = &scaled
	}
	if e != nil || alpha == 1 && (x.n > contract.FewRows || x.n >= x.m) { // else the product is better made as its transpose
		row, col := 0, 0
		if plus != nil {
			var c tensor.Any
			c, row, col = addend(plus, x.m, x.n)
			plus = &c
		}
		multiply(&x, plus, row, col, rectify && e == nil, then)
		return
	}
	multiply(&x, nil, 0, 0, false, nil)
	at := []Option{plan.WriteTo(dst)}
	if alpha != 1 {
		by := scalarIn(d, alpha)
		mul.Call(dst, at, dst, &by)
	}
	if plus != nil {
		add.Call(dst, at, dst, plus)
	}
	if rectify {
		relu.Call(dst, at, dst)
	}
	if then != nil {
		then(exec.RunIn(dst), 0, false)
	}
}

// addend returns c stretched to a matrix, and the strides of its rows and columns.
func addend(c *tensor.Any, m, n int) (matrix tensor.Any, row, col int) {
	matrix = c.BroadcastTo(m, n)
	row, ok := walk.Ref(matrix.LayoutRef()).Stride(0)
	col, ok2 := walk.Ref(matrix.LayoutRef()).Stride(1)
	if !ok || !ok2 || row < 0 || uint(col) > 1 {
		return matrix.Contiguous(), n, 1
	}
	return matrix, row, col
}

// scalarIn returns a number as a scalar of float32 or float64.
func scalarIn(d dtype.DType, v float64) tensor.Any {
	if d == dtype.Float64 {
		return tensor.Scalar(v).Any()
	}
	return tensor.Scalar(float32(v)).Any()
}

// gemmShape checks the operands of a Gemm, of which c may be nil, and appends the result's extents to shape.
func gemmShape(shape []int, a, b, c *layout.Layout, o GemmOptions) []int {
	if walk.Ref(a).Rank() != 2 || walk.Ref(b).Rank() != 2 {
		panic(plan.Fail("Gemm", tensor.ErrShape, "operands of shapes %s and %s; both must be matrices", a.ShapeString(), b.ShapeString()))
	}
	m, k, kb, n := walk.Ref(a).Dim(0), walk.Ref(a).Dim(1), walk.Ref(b).Dim(0), walk.Ref(b).Dim(1)
	if o.TransA {
		m, k = k, m
	}
	if o.TransB {
		kb, n = n, kb
	}
	if k != kb {
		panic(plan.Fail("Gemm", tensor.ErrShape, "operands of shapes %s and %s (transposed: %t and %t): the left has %d columns, the right %d rows",
			a.ShapeString(), b.ShapeString(), o.TransA, o.TransB, k, kb))
	}
	if c != nil {
		if _, err := c.BroadcastTo(m, n); err != nil {
			panic(plan.Fail("Gemm", tensor.ErrShape, "the third operand has shape %s, which doesn't stretch to (%d,%d)", c.ShapeString(), m, n))
		}
	}
	return append(shape, m, n)
}

var gemmOp = plan.Operator{About: plan.About{Kept: keepInput, Weights: 1, Name: "Gemm", Rectifies: true, Leads: true, Versions: []int{6, 7, 9, 11, 13}, Attrs: []string{"alpha", "beta", "broadcast", "transA", "transB"}}, Least: 2, Most: 3,
	Takes: plan.Floats | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) {
		plan.OneType("Gemm", c.Inputs...)
		a, b, plus := c.Like("Gemm", 0, 0), c.Like("Gemm", 1, 0), c.Like("Gemm", 2, 0)
		alpha, beta := float64(c.Attrs.Float("alpha", 1)), float64(c.Attrs.Float("beta", 1))
		o := GemmOptions{TransA: c.Attrs.Int("transA", 0) != 0, TransB: c.Attrs.Int("transB", 0) != 0}
		if !p.Brief {
			var third *layout.Layout
			if !plus.IsZero() {
				third = plus.LayoutRef()
			}
			p.Gives(a.DType(), gemmShape(nil, a.LayoutRef(), b.LayoutRef(), third, o)...)
		}
		f := keptInput(c, 1)
		if f != nil || !p.Brief {
			x := product{n: b.Dim(1), k: b.Dim(0)}
			if o.TransB {
				x.n, x.k = x.k, x.n
			}
			if x.m = a.Dim(0); o.TransA {
				x.m = a.Dim(1)
			}
			f, p.Keeps = x.keeps(f, b, o.TransB)
			x.shape = []int{x.m, x.n}
			x.price(&p.Price, a.DType())
			if size := plan.Count(x.shape); !plus.IsZero() {
				p.Costs(plan.SumOfAll(plan.ProductOfAll(2, size, int64(x.k)), size))
			}
		}
		p.By(c, 0, func(r *tensor.Any, opts []Option) {
			generalProduct(r, a, b, plus, alpha, beta, o, f, c.Tail, opts)
		})
	}}
