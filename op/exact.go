package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Products and convolutions of fixed point: exact sums of products, rounded once with
// whatever is added.

// exactness says how the sums of a contraction of fixed point are rounded, once: alpha times the
// products and beta times what is added. bad is the first result that there isn't.
type exactness struct {
	alpha, beta float32
	modes       []fixed.Mode
	bad         exec.Failure
}

// exactly returns the exactness of a product of type d, nil unless d is fixed point.
func (s *settings) exactly(d dtype.DType, alpha, beta float32) *exactness {
	if !d.IsFixed() {
		return nil
	}
	return &exactness{alpha: alpha, beta: beta, modes: stateOf(s, d).modes}
}

// check panics if a result of a shape isn't there.
func (e *exactness) check(name string, shape []int) {
	if e != nil {
		refuse(name, &e.bad, shape)
	}
}

// contractFixed computes a contraction whose result is row-major.
func contractFixed[T num.Fixed](x contraction, a, b, c, plus *tensor.Any, g *convolution) {
	const rows, cols = 64, 16 // of a piece
	p := exactPieces[T]{x: &x, a: dataOf[T](a, &x.aAt), b: dataOf[T](b, &x.bAt)}
	if plus != nil {
		p.plus = dataOf[T](plus, &x.then.at)
	}
	if g != nil {
		p.from = &anyPatches[T]{g, p.b[x.bAt.origin:], g.plane()}
	}
	data, origin := tensor.MutableOf[T](c)
	p.c = data[origin:]
	down, across := (x.m+rows-1)/rows, (x.n+cols-1)/cols
	exec.Split(x.Name, x.Ctx, x.batch*down*across, 2*min(x.m, rows)*min(x.n, cols)*max(x.k, 1), func(from, till int) {
		row, columns := roomFor[T](x.Name, x.k), roomFor[T](x.Name, min(x.n, cols), x.k)
		for u := from; u < till; u++ {
			batch, i, j := u/(across*down), u/across%down*rows, u%across*cols
			nn := min(cols, x.n-j)
			p.lines(columns, batch, j, nn)
			for end := min(i+rows, x.m); i < end; i++ {
				if x.k > 0 {
					conv.Pack(row, p.a, conv.Block{Off: x.aAt.at(batch) + i*x.aRow, Rows: 1, Cols: x.k, Col: x.aCol})
				}
				for l := range nn {
					p.sum(batch, i, j+l, row, columns[l*x.k:(l+1)*x.k])
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
	x             *contraction
	a, b, c, plus []T
	from          source[T]
}

// lines sets the columns of b from j on, n of them, one after the other.
func (p *exactPieces[T]) lines(dst []T, batch, j, n int) {
	x := p.x
	if x.k == 0 {
		return
	}
	if p.from == nil {
		conv.Pack(dst, p.b, conv.Block{Off: x.bAt.at(batch) + j*x.bCol, Rows: n, Row: x.bCol, Cols: x.k, Col: x.bRow})
		return
	}
	var offs [gemmK]int
	b := blockOfB[T]{batch: batch, n0: j, nn: n, offs: offs[:], scratch: make([]T, p.from.room(j, n))}
	for b.k0 = 0; b.k0 < x.k; b.k0 += gemmK {
		b.kn = min(gemmK, x.k-b.k0)
		p.from.ready(&b)
		for l := range n {
			conv.Pack(dst[l*x.k+b.k0:], b.scratch, conv.Block{Off: l, Rows: 1, Cols: b.kn, Col: n})
		}
	}
}

// sum computes element (i, j) of a batch entry, from a row of a and a column of b.
func (p *exactPieces[T]) sum(batch, i, j int, row, column []T) {
	x, e := p.x, p.x.exact
	var s fixed.Sum[T]
	s.AddProducts(row, column)
	var more, v T
	var err error
	if p.plus != nil {
		more = p.plus[x.then.at.at(batch)+i*x.then.row+j*x.then.col]
	}
	if e.alpha == 1 && e.beta == 1 {
		s.Add(more)
		v, err = s.Sum(e.modes...)
	} else {
		v, err = s.Scaled(float64(e.alpha), more, float64(e.beta), e.modes...)
	}
	at := x.cAt.at(batch) + i*x.cRow + j*x.cCol
	e.bad.Note(at, err)
	p.c[at] = v
}
