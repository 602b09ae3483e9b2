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
func MatMul[T bool | num.Number](a, b tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	if dst, ok := mulMatrices(&a, &b, opts); ok {
		return dst
	}
	s := read(opts)
	var few [layout.Inline]int
	x := productOf("MatMul", few[:0], exec.Ref(&a).LayoutRef(), exec.Ref(&b).LayoutRef())
	if s.orion && a.Rank() == 1 && b.Rank() == 1 {
		x.shape = append(x.shape, 1)
	}
	dst := target[T]("MatMul", &s, x.shape)
	if dst.Len() == 0 {
		return dst
	}
	j := exec.Job{Name: "MatMul", Ctx: s.ctx()}
	if dtype.Of[T]().IsNarrow() {
		// Computed in float32 beside the operands and rounded once.
		wide := tensor.Empty[float32](x.shape...)
		wa, wb := widened(a), widened(b)
		matmul(j, x, &wa, &wb, &wide, nil)
		convertTo(dst, wide, narrowFor[T]())
		return dst
	}
	out := dst
	if conv.Overlap(exec.Reach(exec.Ref(&a)), exec.Reach(exec.Ref(&dst))) || conv.Overlap(exec.Reach(exec.Ref(&b)), exec.Reach(exec.Ref(&dst))) {
		out = tensor.Empty[T](x.shape...)
	}
	matmulNative(j, x, &a, &b, &out)
	if !out.Any().SameData(dst.Any()) {
		dst.CopyFrom(out)
	}
	return dst
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

// matmulNative unboxes T for matmul, which only native types reach.
func matmulNative[T num.Elem](j job, x product, a, b, dst *tensor.Tensor[T]) {
	switch d := any(dst).(type) {
	case *tensor.Tensor[int8]:
		matmul(j, x, any(a).(*tensor.Tensor[int8]), any(b).(*tensor.Tensor[int8]), d, nil)
	case *tensor.Tensor[int16]:
		matmul(j, x, any(a).(*tensor.Tensor[int16]), any(b).(*tensor.Tensor[int16]), d, nil)
	case *tensor.Tensor[int32]:
		matmul(j, x, any(a).(*tensor.Tensor[int32]), any(b).(*tensor.Tensor[int32]), d, nil)
	case *tensor.Tensor[int64]:
		matmul(j, x, any(a).(*tensor.Tensor[int64]), any(b).(*tensor.Tensor[int64]), d, nil)
	case *tensor.Tensor[uint8]:
		matmul(j, x, any(a).(*tensor.Tensor[uint8]), any(b).(*tensor.Tensor[uint8]), d, nil)
	case *tensor.Tensor[uint16]:
		matmul(j, x, any(a).(*tensor.Tensor[uint16]), any(b).(*tensor.Tensor[uint16]), d, nil)
	case *tensor.Tensor[uint32]:
		matmul(j, x, any(a).(*tensor.Tensor[uint32]), any(b).(*tensor.Tensor[uint32]), d, nil)
	case *tensor.Tensor[uint64]:
		matmul(j, x, any(a).(*tensor.Tensor[uint64]), any(b).(*tensor.Tensor[uint64]), d, nil)
	case *tensor.Tensor[float32]:
		matmul(j, x, any(a).(*tensor.Tensor[float32]), any(b).(*tensor.Tensor[float32]), d, nil)
	case *tensor.Tensor[float64]:
		matmul(j, x, any(a).(*tensor.Tensor[float64]), any(b).(*tensor.Tensor[float64]), d, nil)
	}
}

// matmul computes the product into dst, which overlaps neither operand.
func matmul[T num.Native](j job, x product, a, b, dst *tensor.Tensor[T], then *after[T]) {
	a, b = straight(a), straight(b)
	out := *dst
	if !unitRows(exec.Ref(dst).LayoutRef(), x) {
		out = tensor.Empty[T](x.shape...)
	}
	g := gemm[T]{job: j, batch: elements(x.batch()), m: x.m, n: x.n, k: x.k}
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
	run: perType{dtype.Bool: runMatMul[bool], dtype.Int8: runMatMul[int8], dtype.Int16: runMatMul[int16], dtype.Int32: runMatMul[int32], dtype.Int64: runMatMul[int64],
		dtype.Uint8: runMatMul[uint8], dtype.Uint16: runMatMul[uint16], dtype.Uint32: runMatMul[uint32], dtype.Uint64: runMatMul[uint64],
		dtype.Float8E4M3: runMatMul[num.F8E4M3], dtype.Float8E5M2: runMatMul[num.F8E5M2], dtype.Float16: runMatMul[num.F16],
		dtype.BFloat16: runMatMul[num.BF16], dtype.Float32: runMatMul[float32], dtype.Float64: runMatMul[float64],
		dtype.Complex64: runMatMul[complex64], dtype.Complex128: runMatMul[complex128],
		dtype.FP8x23: runMatMul[num.FP8x23], dtype.FP16x16: runMatMul[num.FP16x16], dtype.FP32x32: runMatMul[num.FP32x32], dtype.FP64x64: runMatMul[num.FP64x64]}}

func runMatMul[T bool | num.Number](c *Call) []tensor.Any {
	return one(MatMul(as[T]("MatMul", c, 0), as[T]("MatMul", c, 1), options(c)...).Any())
}
