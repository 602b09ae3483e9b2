package contract

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// Convolution is the geometry of a Conv.
type Convolution struct {
	Shape    []int // of the result
	S        []Span
	Group    int
	N, C, M  int
	Patch, K int  // outputs per channel and image; elements that go into each
	Keeps    bool // the next call is of the same tensors
	kept     any  // the patches or lines that the last call made of them, if Keeps is set
	Rows     *LastRows
	Tail     plan.Tail
	Filter   *Filter // of the weights, if the convolution Directs
}

// ConvOf checks the operands of a convolution; bias may be nil or the zero Any.
func ConvOf(name string, x, w, bias *tensor.Any, win Window, group int) *Convolution {
	lx, lw := x.LayoutRef(), w.LayoutRef()
	in := plan.Spatial(name, lx)
	if lw.Ref().Rank() != lx.Ref().Rank() {
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
	g := &Convolution{Group: group, N: lx.Ref().Dim(0), C: lx.Ref().Dim(1), M: lw.Ref().Dim(0)}
	if group < 1 || g.M%group != 0 || g.C%group != 0 {
		panic(plan.Fail(name, tensor.ErrShape, "%d groups don't divide %d input and %d output channels", group, g.C, g.M))
	}
	if want := g.C / group; lw.Ref().Dim(1) != want {
		if group == 1 {
			panic(plan.Fail(name, tensor.ErrShape, "input has %d channels, kernel wants %d", g.C, lw.Ref().Dim(1)))
		}
		panic(plan.Fail(name, tensor.ErrShape, "input has %d channels in %d groups, kernel wants %d in each", g.C, group, lw.Ref().Dim(1)))
	}
	if bias != nil && !bias.IsZero() && (bias.Rank() != 1 || bias.Dim(0) != g.M) {
		panic(plan.Fail(name, tensor.ErrShape, "the bias is %s; want one number for each of %d output channels", tensor.Describe(*bias), g.M))
	}
	g.S = SpansOf(&win, name, in)
	g.Shape = OutShape(g.N, g.M, g.S)
	g.Patch, g.K = 1, lw.Ref().Dim(1)
	for i := range g.S {
		g.Patch *= g.S[i].Out
		g.K *= g.S[i].Kernel
	}
	return g
}

// joined makes one axis of the last two where the kernel doesn't reach along the last: steps along the axis before are then as many
// elements longer, and lines are long.
func joined(s []Span) []Span {
	s = slices.Clone(s)
	for n := len(s); n > 1; n-- {
		a, b := s[n-2], s[n-1]
		if b.Kernel != 1 || b.Out != b.In || b.Begin != 0 || b.Stride != 1 && b.In > 1 || a.Stride != 1 && b.In > 1 ||
			b.In == 0 || max(a.In+a.Begin+a.End, a.Dilation*a.Kernel) > math.MaxInt32/b.In {
			return s[:n]
		}
		s[n-2] = Span{a.In * b.In, a.Out * b.In, a.Kernel, a.Stride, a.Dilation * b.In, a.Begin * b.In, a.End * b.In}
		if a.Kernel == 1 {
			s[n-2].Dilation = 1
		}
	}
	return s[:1]
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

// Convolve computes a convolution as a contraction whose right side, the patches
// of x, is packed panel by panel and never exists whole. dst is row-major and overlaps no
// operand; bias may be nil.
func (g *Convolution) Convolve(j exec.Job, x, w, bias, dst *tensor.Any, rectify bool, e *Exactness) {
	if bias != nil {
		b := bias.Contiguous()
		bias = &b
	}
	if g.Direct(x, dst) {
		if xc := *x; !plan.LiesLast(x) {
			xc = x.Contiguous()
			defer plan.Drop(&xc, x)
			x = &xc
		}
		if x.DType() == dtype.Float32 {
			directly[float32](g, j, x, bias, dst, rectify)
		} else {
			directly[float64](g, j, x, bias, dst, rectify)
		}
		return
	}
	xc, wc := x.Contiguous(), w.Contiguous()
	c := g.Contraction(j, g.N, rectify, e)
	from := g
	if g.pointwise() {
		c.BRow, c.BCol, c.BAt, from = g.Patch, 1, EntriesOf(0, Loop{g.N, g.C * g.Patch}, Loop{g.Group, g.C / g.Group * g.Patch}), nil
	}
	c.Run(&wc, &xc, dst, bias, from)
	plan.Drop(&xc, x)
	plan.Drop(&wc, w)
}

// Wide reports whether each patch is one element, and planes are so large that a product of planes takes less time than to turn them.
func (g *Convolution) Wide() bool {
	const most = 64 // outputs of a plane that is turned
	return g.Patch > most && g.pointwise()
}

// pointwise reports whether every patch is one element.
func (g *Convolution) pointwise() bool {
	for i := range g.S {
		if s := &g.S[i]; s.Kernel != 1 || s.Stride != 1 || s.Begin != 0 || s.End != 0 {
			return false
		}
	}
	return true
}
