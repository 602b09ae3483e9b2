package contract

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Convolution is the geometry of a Conv.
type Convolution struct {
	Shape    []int // of the result
	S        []Span
	Group    int
	N, C, M  int
	Patch, K int // outputs per channel and image; elements that go into each
	kept     any // the places that the last call planned, for the next one
	Rows     *LastRows
	Tail     plan.Tail
	Filter   *Filter // of the weights, if the convolution Packs them
}

// PriceOf returns the price of the blocks of a window's patches and its weights: for x, w and y elements of operands and
// result of type d, of which each takes part in so many products.
func PriceOf(d dtype.DType, window []Span, x, w, each, y float64) (p plan.Price) {
	volume := 1.0
	for _, s := range window {
		volume *= float64(s.Kernel)
	}
	// Work is thrice the products, as a convolution counts at least two additions more for an output.
	p.Packs(float64(max(4, d.Size()))*(float64(volume*x)+w), 3*max(x, y)*each)
	return p
}

// Price returns the price of a convolution of x.
func (g *Convolution) Price(x, w, bias *tensor.Any) plan.Price {
	p := PriceOf(x.DType(), g.S, float64(x.Len()), float64(w.Len()), float64(g.K), plan.BytesIn(1, g.Shape))
	size := plan.Count(g.Shape)
	p.Costs(plan.WithBias(plan.ProductOfAll(2, size, int64(g.K)), bias, size))
	return p
}

// ConvOf checks the operands of a convolution; bias may be nil or the zero Any.
func ConvOf(name string, x, w, bias *tensor.Any, win Window, group int) *Convolution {
	lx, lw := x.LayoutRef(), w.LayoutRef()
	in := plan.Spatial(name, lx)
	if walk.Ref(lw).Rank() != walk.Ref(lx).Rank() {
		panic(plan.Fail(name, tensor.ErrShape, "the input has shape %s, the weights %s; want the same rank", lx.ShapeString(), lw.ShapeString()))
	}
	kernel := lw.Shape()[2:]
	if win.Kernel == nil {
		win.Kernel = kernel
	}
	for i, k := range win.Kernel {
		if i < len(kernel) && k != kernel[i] {
			panic(plan.Fail(name, tensor.ErrShape, "kernel_shape is %v, the weights have %v", win.Kernel, kernel))
		}
	}
	g := &Convolution{Group: group, N: walk.Ref(lx).Dim(0), C: walk.Ref(lx).Dim(1), M: walk.Ref(lw).Dim(0)}
	if group < 1 || g.M%group != 0 || g.C%group != 0 {
		panic(plan.Fail(name, tensor.ErrShape, "%d groups don't divide %d input and %d output channels", group, g.C, g.M))
	}
	if want := g.C / group; walk.Ref(lw).Dim(1) != want {
		if group == 1 {
			panic(plan.Fail(name, tensor.ErrShape, "input has %d channels, kernel wants %d", g.C, walk.Ref(lw).Dim(1)))
		}
		panic(plan.Fail(name, tensor.ErrShape, "input has %d channels in %d groups, kernel wants %d in each", g.C, group, walk.Ref(lw).Dim(1)))
	}
	if bias != nil && !bias.IsZero() && (bias.Rank() != 1 || bias.Dim(0) != g.M) {
		panic(plan.Fail(name, tensor.ErrShape, "the bias is %s; want one number for each of %d output channels", tensor.Describe(*bias), g.M))
	}
	g.S = SpansOf(&win, name, in)
	g.Shape = OutShape(g.N, g.M, g.S)
	g.Patch, g.K = 1, walk.Ref(lw).Dim(1)
	for i := range g.S {
		g.Patch *= g.S[i].Out
		g.K *= g.S[i].Kernel
	}
	return g
}

// Plane returns the number of elements of a channel of the input.
func (g *Convolution) Plane() int {
	n := 1
	for i := range g.S {
		n *= g.S[i].In
	}
	return n
}

// Contraction returns the product of the weights with images patches, for each image and group,
// which may have a bias for each output channel. b is still to be said.
func (g *Convolution) Contraction(j exec.Job, images int, rectify bool, e *Exactness) Contraction {
	mg := g.M / g.Group
	return Contraction{Job: j, Batch: images * g.Group, M: mg, N: g.Patch, K: g.K,
		ARow: g.K, ACol: 1, AAt: EntriesOf(0, Loop{images, 0}, Loop{g.Group, mg * g.K}),
		CRow: g.Patch, CCol: 1, CAt: EntriesOf(0, Loop{images, g.M * g.Patch}, Loop{g.Group, mg * g.Patch}),
		Then: After{EntriesOf(0, Loop{images, 0}, Loop{g.Group, mg}), 1, 0, rectify, g.Rows, g.Tail}, Exact: e}
}

// of returns the case of a call.
func (g *Convolution) of(x, r *tensor.Any) Case {
	return Case{Type: x.DType(), Rows: streams(x.DType()), Last: plan.LiesLast(x) || plan.LiesLast(r), Kept: g.Filter != nil}
}

// streams reports whether the level has kernels for rows of sums.
func streams(d dtype.DType) (ok bool) {
	if d == dtype.Float64 {
		_, ok = TilesOf[float64]().(streamer[float64])
	} else {
		_, ok = TilesOf[float32]().(streamer[float32])
	}
	return ok
}

// Packs returns how many bytes the packed weights take that a convolution of a type keeps, with operands channels last and in planes. last
// is 0 where operands may not lie so. That pays only where the input does, if byInput is set.
func (g *Convolution) Packs(d dtype.DType) (last, planes int64, byInput bool) {
	c := Case{Type: d, Rows: streams(d), Last: true, Kept: true}
	if to, _ := g.Route(c); !g.lays(to) || !d.IsFloat() || d.IsNarrow() {
		return 0, 0, false
	}
	last = int64(g.M) * int64(g.K) * int64(d.Size())
	c.Last = false
	to, _ := g.Route(c)
	if g.lays(to) {
		planes = last
	}
	return last, planes, to != Direct
}

// Stays returns why a convolution of a type doesn't write channels last.
func (g *Convolution) Stays(d dtype.DType) string {
	if len(g.S) > 2 {
		return "it has more than two spatial axes"
	}
	to, why := g.Route(Case{Type: d, Rows: streams(d), Last: true, Kept: true})
	return to.String() + ": " + why
}

// LaysLast reports whether the convolution of x writes r channels last, as it lies.
func (g *Convolution) LaysLast(x, r *tensor.Any) bool {
	to, _ := g.Route(g.of(x, r))
	return plan.LiesLast(r) && g.lays(to)
}

// lays reports whether operands of a route may lie channels last.
func (g *Convolution) lays(to Route) bool { return len(g.S) <= 2 && (to == Direct || to == Deep) }

// Convolve computes a convolution. dst overlaps no operand, and is row-major unless it LaysLast; bias may be nil.
func (g *Convolution) Convolve(j exec.Job, x, w, bias, dst *tensor.Any, rectify bool, e *Exactness) {
	if bias != nil {
		b := bias.Contiguous()
		bias = &b
	}
	to, _ := g.Route(g.of(x, dst))
	xc, wc := *x, w.Contiguous()
	if !plan.LiesLast(x) || !g.lays(to) {
		xc = x.Contiguous()
	}
	switch to {
	case Exact, Planes:
		c := g.Contraction(j, g.N, rectify, e)
		c.BRow, c.BCol, c.BAt = g.Patch, 1, EntriesOf(0, Loop{g.N, g.C * g.Patch}, Loop{g.Group, g.C / g.Group * g.Patch})
		if to == Exact {
			c.exactly(&wc, &xc, dst, bias, g)
		} else {
			c.Run(&wc, &xc, dst, bias)
		}
	default:
		switch x.DType() {
		case dtype.Float32:
			byLines[float32](g, to, j, &xc, &wc, bias, dst, rectify)
		default:
			byLines[float64](g, to, j, &xc, &wc, bias, dst, rectify)
		}
	}
	plan.Drop(&xc, x)
	plan.Drop(&wc, w)
}

// byLines computes a convolution from lines of the input.
func byLines[T num.Native](g *Convolution, to Route, j exec.Job, x, w, bias, dst *tensor.Any, rectify bool) {
	if to == Windows {
		windowed[T](g, j, x, w, bias, dst, rectify)
	} else {
		directly[T](g, to, j, x, w, bias, dst, rectify)
	}
}
