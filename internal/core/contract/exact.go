package contract

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Products and convolutions of fixed point: exact sums of products, rounded once with
// whatever is added.

// Exactness says how the sums of a contraction of fixed point are rounded, once: alpha times the
// products and beta times the addend. bad is the first result that there isn't.
type Exactness struct {
	alpha, beta float64
	modes       []fixed.Mode
	bad         exec.Failure
}

// Exactly returns the exactness of a product of type d, nil unless d is fixed point.
func Exactly(s *plan.Settings, d dtype.DType, alpha, beta float64) *Exactness {
	if !d.IsFixed() {
		return nil
	}
	return &Exactness{alpha: alpha, beta: beta, modes: cast.StateOf(s, d).Modes}
}

// Check panics if a result of a shape isn't there.
func (e *Exactness) Check(name string, shape []int) {
	if e != nil {
		cast.Refuse(name, &e.bad, shape)
	}
}

// exactly is Run for fixed point. With g the patches of b, the input of that convolution, stand for b.
func (x *Contraction) exactly(a, b, c, plus *tensor.Any, g *Convolution) {
	switch c.DType() {
	case dtype.FP8x23:
		contractFixed[fixed.FP8x23](*x, a, b, c, plus, g)
	case dtype.FP16x16:
		contractFixed[fixed.FP16x16](*x, a, b, c, plus, g)
	case dtype.FP32x32:
		contractFixed[fixed.FP32x32](*x, a, b, c, plus, g)
	default:
		contractFixed[fixed.FP64x64](*x, a, b, c, plus, g)
	}
}

// contractFixed computes a contraction whose result is row-major.
func contractFixed[T num.Fixed](x Contraction, a, b, c, plus *tensor.Any, g *Convolution) {
	const rows, cols = 64, 16 // of a piece
	p := exactPieces[T]{x: &x, a: dataOf[T](a, &x.AAt), b: dataOf[T](b, &x.BAt)}
	if plus != nil {
		p.plus = dataOf[T](plus, &x.Then.At)
	}
	p.conv = g
	data, origin := reach.MutableOf[T](c)
	p.c = data[origin:]
	down, across := (x.M+rows-1)/rows, (x.N+cols-1)/cols
	exec.Split(x.Name, x.Ctx, x.Batch*down*across, 2*min(x.M, rows)*min(x.N, cols)*max(x.K, 1), func(from, till int) {
		row, columns := plan.RoomFor[T](x.Name, x.K), plan.RoomFor[T](x.Name, min(x.N, cols), x.K)
		for u := from; u < till; u++ {
			batch, i, j := u/(across*down), u/across%down*rows, u%across*cols
			nn := min(cols, x.N-j)
			p.lines(columns, batch, j, nn)
			for end := min(i+rows, x.M); i < end; i++ {
				if x.K > 0 {
					conv.Pack(row, p.a, conv.Block{Off: x.AAt.At(batch) + i*x.ARow, Rows: 1, Cols: x.K, Col: x.ACol})
				}
				for l := range nn {
					p.sum(batch, i, j+l, row, columns[l*x.K:(l+1)*x.K])
				}
			}
		}
	})
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	runtime.KeepAlive(c)
	runtime.KeepAlive(plus)
}

// exactPieces is a contraction of fixed point, of elements.
type exactPieces[T num.Fixed] struct {
	x             *Contraction
	a, b, c, plus []T
	conv          *Convolution // whose patches stand for b, if it isn't nil
}

// lines sets the columns of b from j on, n of them, one after the other.
func (p *exactPieces[T]) lines(dst []T, batch, j, n int) {
	x := p.x
	if x.K == 0 {
		return
	}
	if p.conv == nil {
		conv.Pack(dst, p.b, conv.Block{Off: x.BAt.At(batch) + j*x.BCol, Rows: n, Row: x.BCol, Cols: x.K, Col: x.BRow})
		return
	}
	from := p.b[x.BAt.Origin+batch*p.conv.C/p.conv.Group*p.conv.Plane():]
	for l := range n {
		patch(p.conv, dst[l*x.K:(l+1)*x.K], from, j+l)
	}
}

// patch sets dst to the elements that output n of a channel meets, in the order of the weights. x begins with the channels of the group.
func patch[T num.Elem](g *Convolution, dst, x []T, n int) {
	cg, plane := g.C/g.Group, g.Plane()
	taps := g.K / cg
	for k := range taps {
		at, step, inside := 0, 1, true
		for i, o, r := len(g.S)-1, n, k; i >= 0; i-- {
			s := &g.S[i]
			y := s.At(o%s.Out, r%s.Kernel)
			inside = inside && uint(y) < uint(s.In)
			at += y * step
			step *= s.In
			o /= s.Out
			r /= s.Kernel
		}
		for c := range cg {
			if dst[c*taps+k] = *new(T); inside {
				dst[c*taps+k] = x[c*plane+at]
			}
		}
	}
}

// sum computes element (i, j) of a batch entry, from a row of a and a column of b.
func (p *exactPieces[T]) sum(batch, i, j int, row, column []T) {
	x, e := p.x, p.x.Exact
	var s fixed.Sum[T]
	s.AddProducts(row, column)
	var more, v T
	var err error
	if p.plus != nil {
		more = p.plus[x.Then.At.At(batch)+i*x.Then.Row+j*x.Then.Col]
	}
	if e.alpha == 1 && e.beta == 1 {
		s.Add(more)
		v, err = s.Sum(e.modes...)
	} else {
		v, err = s.Scaled(e.alpha, more, e.beta, e.modes...)
	}
	at := x.CAt.At(batch) + i*x.CRow + j*x.CCol
	e.bad.Note(at, err)
	p.c[at] = v
}
