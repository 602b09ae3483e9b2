package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/modes"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/walk"
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
func matrixProduct(r, a, b *tensor.Any, opts []Option) { productThen(r, a, b, nil, nil, opts) }

// productThen is matrixProduct with the Tail that follows it, and the packed weights that b is, or nil. Its loop is that of a contraction, in internal/core/contract/contraction.go.
func productThen(r, a, b *tensor.Any, f *contract.Filter, then plan.Tail, opts []Option) {
	const name = "MatMul"
	plan.Present(name, a, b)
	d := a.DType()
	plan.Must(name, d != dtype.Invalid && b.DType() == d, b.DType())
	s := plan.Read(name, opts)
	var few [modes.Inline]int
	x := productOf(name, few[:0], a.LayoutRef(), b.LayoutRef())
	if s.Orion && a.Rank() == 1 && b.Rank() == 1 {
		x.shape = append(x.shape, 1)
	}
	switch empty := slices.Contains(x.shape, 0); {
	case d == dtype.Bool && !empty:
		anyPair(r, a, b, opts)
		return
	case d.IsComplex() && !empty:
		complexProduct(r, a, b, opts)
		return
	}
	plan.AimShape(r, name, &s, d, x.shape)
	if r.Len() == 0 {
		return
	}
	j := exec.Job{Name: name, Ctx: s.Ctx()}
	if d.IsNarrow() {
		// Computed in float32 beside the operands and rounded once.
		w := singlesFor(j, a, b, r)
		wide := w.empty(x.shape...)
		x.multiplyNarrow(w, j, a, b, &wide, nil, 0, 0, false)
		w.done(r, &wide)
		return
	}
	e := contract.Exactly(&s, d, 1, 1)
	out := plan.Beside(r, e != nil && s.Into != nil, a, b)
	x.multiply(j, a, b, out, nil, 0, 0, false, f, then, e)
	e.Check(name, x.shape)
	plan.Put(r, out)
}

// inSingle returns a row-major float32 copy of narrow floats.
func inSingle(name string, a *tensor.Any) tensor.Any {
	wide := tensor.EmptyOf(dtype.Float32, a.Shape()...)
	exec.Elementwise(&exec.Job{Name: name, Cost: 1}, &wide, []*tensor.Any{a}, &exec.Kernel{Row: exec.RowOf(cast.WidenOf(a.DType()))})
	return wide
}

// narrowInto writes float32s to r, of narrow floats, and gives their memory back.
func narrowInto(name string, r, wide *tensor.Any) {
	exec.Elementwise(&exec.Job{Name: name, Cost: 1}, r, []*tensor.Any{wide}, &exec.Kernel{Row: exec.RowOf(cast.NarrowOf(r.DType()))})
	wide.Close()
}

// anyPair is matrixProduct of bools: whether any pair of a sum is true.
func anyPair(r, a, b *tensor.Any, opts []Option) {
	var x, y, terms tensor.Any
	pointwise.Convert(&x, "MatMul", dtype.Int64, a, nil)
	pointwise.Convert(&y, "MatMul", dtype.Int64, b, nil)
	matrixProduct(&terms, &x, &y, plan.WithoutInto(opts))
	pointwise.Convert(r, "MatMul", dtype.Bool, &terms, opts)
}

// product is the geometry of a matrix product.
type product struct {
	shape   []int // of the result
	lead    int   // axes before the last two, which broadcast
	m, n, k int
}

// price says the price of a product of elements of d.
func (x product) price(p *plan.Price, d dtype.DType) {
	m, n, k := float64(x.m), float64(x.n), float64(x.k)
	p.Packs(float64(max(4, d.Size()))*(float64(m*k)+float64(k*n)), float64(plan.BytesIn(1, x.shape)*k))
	throughOthers(p, d)
	p.Costs(plan.ProductOfAll(2, plan.Count(x.shape), int64(x.k)))
}

// bytesPrice is the price of a product of bytes.
func (x product) bytesPrice() (p plan.Price) {
	p.Copies(8, 1, 1)
	x.price(&p, dtype.Int8)
	return p
}

// blocksOf says the memory of a product of parts of the operands, which packs them whole on each thread.
func blocksOf(p *plan.Price, ins []tensor.Any) {
	d := ins[0].DType()
	p.Packs(float64(float64(max(4, d.Size()))*plan.Room(1, ins)), exec.SplitCost)
	throughOthers(p, d)
}

// throughOthers says the copies of a product of elements of d that is made of products of another type.
func throughOthers(p *plan.Price, d dtype.DType) {
	switch {
	case d == dtype.Bool: // a product of int64
		p.Copies(8, 1, 1)
	case d.IsComplex(): // products of parts, and a sum of two
		p.Copies(0, 1, 2)
	}
}

// batch returns the extents of the axes before the last two.
func (x product) batch() []int { return x.shape[:x.lead] }

// productOf checks the shapes of a product. It appends the result's extents to shape, which is empty.
func productOf(name string, shape []int, la, lb *layout.Layout) product {
	ra, rb := walk.Ref(la).Rank(), walk.Ref(lb).Rank()
	if ra == 0 || rb == 0 {
		panic(plan.Fail(name, tensor.ErrShape, "operands of shapes %s and %s; a matrix product needs at least one axis each", la.ShapeString(), lb.ShapeString()))
	}
	x := product{m: 1, n: 1, k: walk.Ref(la).Dim(ra - 1)}
	bk := walk.Ref(lb).Dim(max(rb-2, 0))
	if x.k != bk {
		panic(plan.Fail(name, tensor.ErrShape, "shapes %s and %s: the left has %d columns, the right %d rows", la.ShapeString(), lb.ShapeString(), x.k, bk))
	}
	shape = plan.BroadcastLeading(name, shape, 2, la, lb)
	x.lead = len(shape)
	if ra > 1 {
		x.m = walk.Ref(la).Dim(ra - 2)
		shape = append(shape, x.m)
	}
	if rb > 1 {
		x.n = walk.Ref(lb).Dim(rb - 1)
		shape = append(shape, x.n)
	}
	x.shape = shape
	return x
}

// multiply computes the product into dst, which overlaps neither operand. plus, if not nil, is a
// matrix to be added, element (i, j) of which is i·row+j·col from the first. f is the packed weights that b is, or nil.
func (x *product) multiply(j exec.Job, a, b, dst, plus *tensor.Any, row, col int, rectify bool, f *contract.Filter, then plan.Tail, e *contract.Exactness) {
	left, right := a, b
	a, b = straight(a), straight(b)
	out := dst
	if !unitRows(dst.LayoutRef(), x) || then != nil && !dst.IsContiguous() {
		fresh := tensor.EmptyOf(dst.DType(), x.shape...)
		out = &fresh
	}
	g := contract.Contraction{Job: j, Batch: plan.Elements(x.batch()), M: x.m, N: x.n, K: x.k, Exact: e, Columns: f}
	rows, cols := a.Rank() > 1, b.Rank() > 1
	g.ARow, g.ACol = g.AAt.Matrices(a.LayoutRef(), rows, true, x.batch())
	g.BRow, g.BCol = g.BAt.Matrices(b.LayoutRef(), true, cols, x.batch())
	g.CRow, g.CCol = g.CAt.Matrices(out.LayoutRef(), rows, cols, x.batch())
	g.Then.Row, g.Then.Col, g.Then.Rectify, g.Then.Rows = row, col, rectify, &afterProduct
	few := x.n <= contract.FewRows && x.n <= x.m // columns: the product is better made as its transpose, or as sums side by side
	if !few {
		g.Then.Tail = then
	}
	if g.Run(a, b, out, plus); few && then != nil {
		then(exec.RunIn(out), 0, false)
	}
	plan.Drop(a, left)
	plan.Drop(b, right)
	plan.Put(dst, out)
}

// multiplyNarrow is multiply for narrow floats and a result in float32. An operand that a product reads but once is widened there, the others before.
func (x *product) multiplyNarrow(w *singles, j exec.Job, a, b, dst, plus *tensor.Any, row, col int, rectify bool) {
	switch {
	case x.n == 1 && plus == nil && !rectify && contract.Widens(x.m, x.n, a):
		wide := w.widened(b)
		b = &wide
	case contract.Widens(x.m, x.n, b):
		wide := w.widened(a)
		a = &wide
	default:
		wa, wb := w.widened(a), w.widened(b)
		a, b = &wa, &wb
	}
	x.multiply(j, a, b, dst, plus, row, col, rectify, nil, nil, nil)
}

// keeps returns f, the packed weights that b is, which may be turned, and their bytes; nil if the product is as fast without them.
func (x *product) keeps(f *contract.Filter, b *tensor.Any, turned bool) (*contract.Filter, int64) {
	if f == nil || b.Rank() != 2 {
		return nil, 0
	}
	bytes, ok := contract.Packs(b.DType(), x.m, x.n, x.k, turned)
	if !ok {
		return nil, 0
	}
	return f, bytes
}

// straight returns a, or a copy of it where an axis has more than one stride or a matrix runs backwards, for which
// there is no blockFunc.
func straight(a *tensor.Any) *tensor.Any {
	if forward(a.LayoutRef()) {
		return a
	}
	c := tensor.EmptyOf(a.DType(), a.Shape()...)
	c.CopyFrom(*a)
	return &c
}

// unitRows reports whether the matrices of a result have rows or columns of
// adjacent elements, and none that run backwards.
func unitRows(lay *layout.Layout, x *product) bool {
	if !forward(lay) || x.m == 1 || x.n == 1 {
		return forward(lay)
	}
	row, _ := walk.Ref(lay).Stride(walk.Ref(lay).Rank() - 2)
	col, _ := walk.Ref(lay).Stride(walk.Ref(lay).Rank() - 1)
	return row == 1 || col == 1
}

// forward reports whether every axis has one stride, and no matrix a negative one.
func forward(lay *layout.Layout) bool {
	if !walk.Ref(lay).Flat() {
		return false
	}
	for i := max(0, walk.Ref(lay).Rank()-2); i < walk.Ref(lay).Rank(); i++ {
		if s, _ := walk.Ref(lay).Stride(i); s < 0 {
			return false
		}
	}
	return true
}

var matMul = plan.Operator{About: plan.About{Kept: keepInput, Weights: 1, Name: "MatMul", Leads: true, Orion: &orionVector, Versions: []int{1, 9, 13}}, Least: 2, Takes: plan.Every,
	Planned: func(c *plan.Use, p *plan.Draft) {
		plan.OneType("MatMul", c.Inputs...)
		a, b := c.With("MatMul", 0), c.With("MatMul", 1)
		f := keptInput(c, 1)
		if f != nil || !p.Brief {
			x := productOf("MatMul", nil, a.LayoutRef(), b.LayoutRef())
			f, p.Keeps = x.keeps(f, b, false)
			p.Gives(a.DType(), x.shape...)
			x.price(&p.Price, a.DType())
		}
		p.By(c, 0, func(r *tensor.Any, opts []Option) { productThen(r, a, b, f, c.Tail, opts) })
	}}
