package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// MatMul returns the matrix product of the last two axes, [m,k]·[k,n] = [m,n];
// the axes before them broadcast. An operand of rank 1 is a row on the left and
// a column on the right, and that axis is not in the result. Integers wrap.
// Floats contract in the fixed order of this package: fused steps over k in
// blocks of 256, in float32 for float32 and narrower, which round once at the
// end. A complex product is four products of parts, and their difference and sum;
// of fixed point each sum of products is exact and rounded once; of bools it is whether any pair of a sum is true. It panics when k differs or the other axes don't broadcast. ONNX MatMul.
func MatMul[T bool | num.Number](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	matrixProduct(exec.Ref(&r), exec.Ref(&a), exec.Ref(&b), opts)
	return r
}

// matrixProduct is MatMul for a run-time element type, which both operands have.
func matrixProduct(r, a, b *tensor.Any, opts []Option) {
	d := a.DType()
	switch {
	case d == dtype.Bool:
		anyPair(r, a, b, opts)
		return
	case d.IsComplex():
		complexMatMul(r, a, b, opts)
		return
	case d.IsFixed():
		fixedMatMul(r, a, b, opts)
		return
	}
	must("MatMul", d != dtype.Invalid && b.DType() == d, b.DType())
	s := read(opts)
	var few [layout.Inline]int
	x := productOf("MatMul", few[:0], a.LayoutRef(), b.LayoutRef())
	if s.orion && a.Rank() == 1 && b.Rank() == 1 {
		x.shape = append(x.shape, 1)
	}
	aimShape(r, "MatMul", &s, d, x.shape)
	if r.Len() == 0 {
		return
	}
	j := exec.Job{Name: "MatMul", Ctx: s.ctx()}
	if d.IsNarrow() {
		// Computed in float32 beside the operands and rounded once.
		wide := tensor.EmptyOf(dtype.Float32, x.shape...)
		wa, wb := inSingle(a), inSingle(b)
		matmul(j, x, exec.Typed[float32](&wa), exec.Typed[float32](&wb), exec.Typed[float32](&wide), nil)
		exec.Elementwise(&exec.Job{Name: "MatMul", Cost: 1}, r, &[3]*tensor.Any{&wide}, 1, &exec.Kernel{One: narrowOf(d)})
		return
	}
	out := *r
	if conv.Overlap(exec.Reach(a), exec.Reach(r)) || conv.Overlap(exec.Reach(b), exec.Reach(r)) {
		out = tensor.EmptyOf(d, x.shape...)
	}
	matmulNative(j, x, a, b, &out)
	if !out.SameData(*r) {
		r.CopyFrom(out)
	}
}

// inSingle returns a row-major float32 copy of narrow floats.
func inSingle(a *tensor.Any) tensor.Any {
	wide := tensor.EmptyOf(dtype.Float32, a.Shape()...)
	exec.Elementwise(&exec.Job{Name: "MatMul", Cost: 1}, &wide, &[3]*tensor.Any{a}, 1, &exec.Kernel{One: widenOf(a.DType())})
	return wide
}

// anyPair is matrixProduct of bools: whether any pair of a sum is true.
func anyPair(r, a, b *tensor.Any, opts []Option) {
	s := read(opts)
	var x, y, terms tensor.Any
	convert(&x, "MatMul", dtype.Int64, a, nil)
	convert(&y, "MatMul", dtype.Int64, b, nil)
	matrixProduct(&terms, &x, &y, withoutInto(opts))
	aimShape(r, "MatMul", &s, dtype.Bool, terms.Shape())
	convert(new(tensor.Any), "MatMul", dtype.Bool, &terms, []Option{{into: r}})
}

func complexMatMul(r, a, b *tensor.Any, opts []Option) {
	if a.DType() == dtype.Complex64 {
		*r = complexProduct[complex64, float32](*exec.Typed[complex64](a), *exec.Typed[complex64](b), opts).Any()
	} else {
		*r = complexProduct[complex128, float64](*exec.Typed[complex128](a), *exec.Typed[complex128](b), opts).Any()
	}
}

func fixedMatMul(r, a, b *tensor.Any, opts []Option) {
	switch a.DType() {
	case dtype.FP8x23:
		*r = fixedProductOf[num.FP8x23](a, b, opts)
	case dtype.FP16x16:
		*r = fixedProductOf[num.FP16x16](a, b, opts)
	case dtype.FP32x32:
		*r = fixedProductOf[num.FP32x32](a, b, opts)
	default:
		*r = fixedProductOf[num.FP64x64](a, b, opts)
	}
}

func fixedProductOf[T num.Fixed](a, b *tensor.Any, opts []Option) tensor.Any {
	return fixedProduct("MatMul", *exec.Typed[T](a), *exec.Typed[T](b), tensor.Tensor[T]{}, 1, 1, opts).Any()
}

// product is the geometry of a matrix product.
type product struct {
	shape   []int // of the result
	lead    int   // axes before the last two, which broadcast
	m, n, k int
}

// batch returns the extents of the axes before the last two.
func (x product) batch() []int { return x.shape[:x.lead] }

// productOf checks the shapes of a product. It appends the result's extents to shape, which is empty.
func productOf(name string, shape []int, la, lb *layout.Layout) product {
	ra, rb := la.Rank(), lb.Rank()
	if ra == 0 || rb == 0 {
		panic(fail(name, tensor.ErrShape, "operands of shapes %s and %s; a matrix product needs at least one axis each", la.ShapeString(), lb.ShapeString()))
	}
	x := product{m: 1, n: 1, k: la.Dim(ra - 1)}
	bk := lb.Dim(max(rb-2, 0))
	if x.k != bk {
		panic(fail(name, tensor.ErrShape, "shapes %s and %s: the left has %d columns, the right %d rows", la.ShapeString(), lb.ShapeString(), x.k, bk))
	}
	shape = broadcastLeading(name, shape, 2, la, lb)
	x.lead = len(shape)
	if ra > 1 {
		x.m = la.Dim(ra - 2)
		shape = append(shape, x.m)
	}
	if rb > 1 {
		x.n = lb.Dim(rb - 1)
		shape = append(shape, x.n)
	}
	x.shape = shape
	return x
}

// widened returns a row-major float32 copy of narrow floats.
func widened[T num.Elem](a tensor.Tensor[T]) tensor.Tensor[float32] {
	w := tensor.Empty[float32](a.Shape()...)
	convertTo(w, a, widenFor[T]())
	return w
}

// convertTo writes every element of src, converted, to dst of the same shape.
func convertTo[T, R num.Elem](dst tensor.Tensor[R], src tensor.Tensor[T], row func([]R, []T)) {
	c := src.Contiguous()
	if dst.IsContiguous() {
		row(runOf(&dst, exec.Ref(&dst).LayoutRef()), runOf(&c, exec.Ref(&c).LayoutRef()))
	} else {
		d := tensor.Empty[R](dst.Shape()...)
		row(runOf(&d, exec.Ref(&d).LayoutRef()), runOf(&c, exec.Ref(&c).LayoutRef()))
		dst.CopyFrom(d)
	}
	runtime.KeepAlive(c)
}

// matmulNative is matmul for a run-time element type, one of Go's own.
func matmulNative(j exec.Job, x product, a, b, dst *tensor.Any) {
	switch dst.DType() {
	case dtype.Int8:
		matmul(j, x, exec.Typed[int8](a), exec.Typed[int8](b), exec.Typed[int8](dst), nil)
	case dtype.Int16:
		matmul(j, x, exec.Typed[int16](a), exec.Typed[int16](b), exec.Typed[int16](dst), nil)
	case dtype.Int32:
		matmul(j, x, exec.Typed[int32](a), exec.Typed[int32](b), exec.Typed[int32](dst), nil)
	case dtype.Int64:
		matmul(j, x, exec.Typed[int64](a), exec.Typed[int64](b), exec.Typed[int64](dst), nil)
	case dtype.Uint8:
		matmul(j, x, exec.Typed[uint8](a), exec.Typed[uint8](b), exec.Typed[uint8](dst), nil)
	case dtype.Uint16:
		matmul(j, x, exec.Typed[uint16](a), exec.Typed[uint16](b), exec.Typed[uint16](dst), nil)
	case dtype.Uint32:
		matmul(j, x, exec.Typed[uint32](a), exec.Typed[uint32](b), exec.Typed[uint32](dst), nil)
	case dtype.Uint64:
		matmul(j, x, exec.Typed[uint64](a), exec.Typed[uint64](b), exec.Typed[uint64](dst), nil)
	case dtype.Float32:
		matmul(j, x, exec.Typed[float32](a), exec.Typed[float32](b), exec.Typed[float32](dst), nil)
	case dtype.Float64:
		matmul(j, x, exec.Typed[float64](a), exec.Typed[float64](b), exec.Typed[float64](dst), nil)
	}
}

// matmul computes the product into dst, which overlaps neither operand.
func matmul[T num.Native](j exec.Job, x product, a, b, dst *tensor.Tensor[T], then *after[T]) {
	a, b = straight(a), straight(b)
	out := *dst
	if !unitRows(exec.Ref(dst).LayoutRef(), x) {
		out = tensor.Empty[T](x.shape...)
	}
	g := gemm[T]{Job: j, batch: elements(x.batch()), m: x.m, n: x.n, k: x.k}
	rows, cols := a.Rank() > 1, b.Rank() > 1
	g.a, g.aAt.origin = a.Data()
	g.aRow, g.aCol = g.aAt.matrices(exec.Ref(a).LayoutRef(), rows, true, x.batch())
	g.b, g.bAt.origin = b.Data()
	g.bRow, g.bCol = g.bAt.matrices(exec.Ref(b).LayoutRef(), true, cols, x.batch())
	g.c, g.cAt.origin = out.Mutable()
	g.cRow, g.cCol = g.cAt.matrices(exec.Ref(&out).LayoutRef(), rows, cols, x.batch())
	if then != nil {
		g.then = *then
	}
	g.run()
	if !out.Any().SameData(dst.Any()) {
		dst.CopyFrom(out)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
}

// straight returns a, or a copy of it where an axis has more than one stride or a matrix runs backwards, for which
// there is no blockFunc.
func straight[T num.Elem](a *tensor.Tensor[T]) *tensor.Tensor[T] {
	if forward(exec.Ref(a).LayoutRef()) {
		return a
	}
	c := tensor.Empty[T](a.Shape()...)
	c.CopyFrom(*a)
	return &c
}

// unitRows reports whether the matrices of a result have rows or columns of
// adjacent elements, and none that run backwards.
func unitRows(lay *layout.Layout, x product) bool {
	if !forward(lay) || x.m == 1 || x.n == 1 {
		return forward(lay)
	}
	row, _ := lay.Stride(lay.Rank() - 2)
	col, _ := lay.Stride(lay.Rank() - 1)
	return row == 1 || col == 1
}

// forward reports whether every axis has one stride, and no matrix a negative one.
func forward(lay *layout.Layout) bool {
	if !lay.Flat() {
		return false
	}
	for i := max(0, lay.Rank()-2); i < lay.Rank(); i++ {
		if s, _ := lay.Stride(i); s < 0 {
			return false
		}
	}
	return true
}

var matMul = opN{about: about{name: "MatMul", onnx: []int{1, 9, 13}}, least: 2, fast: productFast,
	infer: func(c *Call) []tensor.Any {
		oneType("MatMul", c.Inputs...)
		la, lb := c.in(0).Layout(), c.in(1).Layout()
		return one(spec("MatMul", c.in(0).DType(), productOf("MatMul", nil, &la, &lb).shape...))
	},
	run: func(c *Call) []tensor.Any {
		oneType("MatMul", c.Inputs...)
		var r tensor.Any
		matrixProduct(&r, c.with("MatMul", 0), c.with("MatMul", 1), options(c))
		return one(r)
	}}
