package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
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
	x := productOf("MatMul", a.LayoutRef(), b.LayoutRef())
	if s.orion && a.Rank() == 1 && b.Rank() == 1 {
		x.shape = []int{1}
	}
	dst := target[T]("MatMul", &s, x.shape)
	if dst.Len() == 0 {
		return dst
	}
	j := job{name: "MatMul", ctx: s.ctx()}
	if dtype.Of[T]().IsNarrow() {
		// Computed in float32 beside the operands and rounded once.
		wide := tensor.Empty[float32](x.shape...)
		wa, wb := widened(a), widened(b)
		matmul(j, x, &wa, &wb, &wide, nil)
		convertTo(dst, wide, narrowOf[T]())
		return dst
	}
	out := dst
	if conv.Overlap(reach(&a), reach(&dst)) || conv.Overlap(reach(&b), reach(&dst)) {
		out = tensor.Empty[T](x.shape...)
	}
	matmulNative(j, x, a, b, out)
	if !out.SameData(dst) {
		dst.CopyFrom(out)
	}
	return dst
}

// product is the geometry of a matrix product.
type product struct {
	shape   []int // of the result
	batch   []int // the broadcast axes before the last two
	m, n, k int
}

// productOf checks the shapes of a product.
func productOf(name string, la, lb *layout.Layout) product {
	if la.Rank() == 0 || lb.Rank() == 0 {
		panic(fail(name, tensor.ErrShape, "operands of shapes %s and %s; a matrix product needs at least one axis each", la.ShapeString(), lb.ShapeString()))
	}
	x := product{m: 1, n: 1, k: la.Dim(la.Rank() - 1)}
	bk := lb.Dim(max(lb.Rank()-2, 0))
	if x.k != bk {
		panic(fail(name, tensor.ErrShape, "shapes %s and %s: the left has %d columns, the right %d rows", la.ShapeString(), lb.ShapeString(), x.k, bk))
	}
	if la.Rank() == 2 && lb.Rank() == 2 {
		x.m, x.n = la.Dim(0), lb.Dim(1)
		x.shape = []int{x.m, x.n}
		return x
	}
	sa, sb := la.Shape(), lb.Shape()
	pa, pb := spec(name, dtype.Bool, sa[:max(len(sa)-2, 0)]...).Layout(), spec(name, dtype.Bool, sb[:max(len(sb)-2, 0)]...).Layout()
	x.batch = broadcastShape(name, nil, &pa, &pb)
	x.shape = append(x.shape, x.batch...)
	if len(sa) > 1 {
		x.m = sa[len(sa)-2]
		x.shape = append(x.shape, x.m)
	}
	if len(sb) > 1 {
		x.n = sb[len(sb)-1]
		x.shape = append(x.shape, x.n)
	}
	return x
}

// widened returns a row-major float32 copy of narrow floats.
func widened[T num.Elem](a tensor.Tensor[T]) tensor.Tensor[float32] {
	w := tensor.Empty[float32](a.Shape()...)
	convertTo(w, a, widenOf[T]())
	return w
}

// convertTo writes every element of src, converted, to dst of the same shape.
func convertTo[T, R num.Elem](dst tensor.Tensor[R], src tensor.Tensor[T], row func([]R, []T)) {
	c := src.Contiguous()
	if dst.IsContiguous() {
		row(dst.Run(dst.LayoutRef()), c.Run(c.LayoutRef()))
	} else {
		d := tensor.Empty[R](dst.Shape()...)
		row(d.Run(d.LayoutRef()), c.Run(c.LayoutRef()))
		dst.CopyFrom(d)
	}
	runtime.KeepAlive(c)
}

// matmulNative unboxes T for matmul, which only native types reach.
func matmulNative[T num.Elem](j job, x product, a, b, dst tensor.Tensor[T]) {
	switch d := any(&dst).(type) { // by pointers, which aren't copied to the heap
	case *tensor.Tensor[int8]:
		matmul(j, x, any(&a).(*tensor.Tensor[int8]), any(&b).(*tensor.Tensor[int8]), d, nil)
	case *tensor.Tensor[int16]:
		matmul(j, x, any(&a).(*tensor.Tensor[int16]), any(&b).(*tensor.Tensor[int16]), d, nil)
	case *tensor.Tensor[int32]:
		matmul(j, x, any(&a).(*tensor.Tensor[int32]), any(&b).(*tensor.Tensor[int32]), d, nil)
	case *tensor.Tensor[int64]:
		matmul(j, x, any(&a).(*tensor.Tensor[int64]), any(&b).(*tensor.Tensor[int64]), d, nil)
	case *tensor.Tensor[uint8]:
		matmul(j, x, any(&a).(*tensor.Tensor[uint8]), any(&b).(*tensor.Tensor[uint8]), d, nil)
	case *tensor.Tensor[uint16]:
		matmul(j, x, any(&a).(*tensor.Tensor[uint16]), any(&b).(*tensor.Tensor[uint16]), d, nil)
	case *tensor.Tensor[uint32]:
		matmul(j, x, any(&a).(*tensor.Tensor[uint32]), any(&b).(*tensor.Tensor[uint32]), d, nil)
	case *tensor.Tensor[uint64]:
		matmul(j, x, any(&a).(*tensor.Tensor[uint64]), any(&b).(*tensor.Tensor[uint64]), d, nil)
	case *tensor.Tensor[float32]:
		matmul(j, x, any(&a).(*tensor.Tensor[float32]), any(&b).(*tensor.Tensor[float32]), d, nil)
	case *tensor.Tensor[float64]:
		matmul(j, x, any(&a).(*tensor.Tensor[float64]), any(&b).(*tensor.Tensor[float64]), d, nil)
	}
}

// matmul computes the product into dst, which overlaps neither operand.
func matmul[T num.Native](j job, x product, pa, pb, dst *tensor.Tensor[T], more *after[T]) {
	// Both operands as [batch…, rows, columns] with one stride per axis.
	a, b := matrix(*pa, x.batch, true), matrix(*pb, x.batch, false)
	out := *dst
	if !unitRows(dst.LayoutRef(), x) {
		out = tensor.Empty[T](x.shape...)
	}
	c := out
	if c.Rank() != len(x.batch)+2 {
		c = out.View(append(append([]int{}, x.batch...), x.m, x.n)...) // adds axes of extent 1 at most
	}
	ad, a0 := a.Data()
	bd, b0 := b.Data()
	cd, c0 := c.Mutable()
	la, lb, lc := a.LayoutRef(), b.LayoutRef(), c.LayoutRef()
	stride := func(lay *layout.Layout, axis int) int {
		s, _ := lay.Stride(axis)
		return s
	}
	rank := len(x.batch)
	begins := func(lay *layout.Layout, origin int) entries {
		e := entries{origin: origin, ext: x.batch}
		for k := range rank {
			e.str = append(e.str, stride(lay, k))
		}
		return e
	}
	g := gemm[T]{job: j, batch: 1, m: x.m, n: x.n, k: x.k,
		a: ad, aAt: begins(la, a0), aRow: stride(la, rank), aCol: stride(la, rank+1),
		b: bd, bAt: begins(lb, b0), bRow: stride(lb, rank), bCol: stride(lb, rank+1),
		c: cd, cAt: begins(lc, c0), cRow: stride(lc, rank), cCol: stride(lc, rank+1)}
	for _, e := range x.batch {
		g.batch *= e
	}
	if more != nil {
		g.afterwards(more)
	}
	g.run()
	if !out.SameData(*dst) {
		dst.CopyFrom(out)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
}

// matrix returns a with the batch axes stretched and two last axes: a tensor of
// rank 1 is a row on the left, a column on the right. Nested axes are copied, so
// that each axis has one stride, and so are those that run backwards, for which
// there is no blockFunc.
func matrix[T num.Elem](a tensor.Tensor[T], batch []int, left bool) tensor.Tensor[T] {
	if !forward(a.LayoutRef()) {
		c := tensor.Empty[T](a.Shape()...)
		c.CopyFrom(a)
		a = c
	}
	if a.Rank() == 2 && len(batch) == 0 {
		return a
	}
	if a.Rank() == 1 && left {
		a = a.Unsqueeze(0)
	} else if a.Rank() == 1 {
		a = a.Unsqueeze(1)
	}
	shape := append(append([]int{}, batch...), a.Dim(-2), a.Dim(-1))
	return a.BroadcastTo(shape...)
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
		return one(spec("MatMul", c.in(0).DType(), productOf("MatMul", &la, &lb).shape...))
	},
	run: perType{dtype.Bool: runMatMul[bool], dtype.Int8: runMatMul[int8], dtype.Int16: runMatMul[int16], dtype.Int32: runMatMul[int32], dtype.Int64: runMatMul[int64],
		dtype.Uint8: runMatMul[uint8], dtype.Uint16: runMatMul[uint16], dtype.Uint32: runMatMul[uint32], dtype.Uint64: runMatMul[uint64],
		dtype.Float8E4M3: runMatMul[num.F8E4M3], dtype.Float8E5M2: runMatMul[num.F8E5M2], dtype.Float16: runMatMul[num.F16],
		dtype.BFloat16: runMatMul[num.BF16], dtype.Float32: runMatMul[float32], dtype.Float64: runMatMul[float64],
		dtype.Complex64: runMatMul[complex64], dtype.Complex128: runMatMul[complex128],
		dtype.FP8x23: runMatMul[num.FP8x23], dtype.FP16x16: runMatMul[num.FP16x16], dtype.FP32x32: runMatMul[num.FP32x32], dtype.FP64x64: runMatMul[num.FP64x64]}}

func runMatMul[T bool | num.Number](c *Call) []tensor.Any {
	return one(MatMul(as[T]("MatMul", c, 0), as[T]("MatMul", c, 1), options(c)...))
}
