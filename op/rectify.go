package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Rectify makes Conv and Gemm apply Relu to their result, while it is in the caches: the
// bits are those of Relu after them. Other operators don't look at it.
func Rectify() Option { return Option{flags: rectify} }

// Rectified returns the run-time form of Conv or Gemm under the option Rectify, and whether
// o is one of them.
func Rectified(o *Op) (rectified *Op, ok bool) {
	if o == nil || !o.rectifies {
		return o, false
	}
	e := *o
	e.plan = func(c *Call, p *Plan) {
		d := *c
		d.flags |= rectify
		o.plan(&d, p)
	}
	return &e, true
}

// rectified applies Relu to a result where that isn't part of making it.
func (s *settings) rectified(y *tensor.Any) {
	if s.rectify {
		relu.call(y, []Option{{into: y}}, y)
	}
}

// after is what comes after a product: a number is added, if there is an operand for it, and Relu
// applied if rectify is set. Element (i, j) of batch entry b takes that at at.at(b)+i·row+j·col,
// where col is 0 or 1.
type after struct {
	at       entries
	row, col int
	rectify  bool
}

// after reports whether anything comes after the product.
func (e *gemm[T]) after(g *contraction) bool { return e.plus != nil || g.then.rectify }

// finish does what comes after to c[r:r+m, x:x+n] of a batch entry, once its last block has been added.
func (e *gemm[T]) finish(g *contraction, batch, r, m, x, n int) {
	a := &g.then
	d := dtype.Of[T]()
	sum, cut := exec.As[func(dst, a, b []T)](add.row(d)), exec.As[func(dst, a []T)](relu.row(d))
	for i := r; i < r+m; i++ {
		line := e.c[g.cAt.at(batch)+i*g.cRow+x:][:n]
		if e.plus != nil {
			if p := e.plus[a.at.at(batch)+i*a.row+x*a.col:]; a.col == 1 {
				sum(line, line, p[:n])
			} else {
				addNumber(line, p[0])
			}
		}
		if a.rectify {
			cut(line, line)
		}
	}
}

// addNumber adds v to a row.
func addNumber[T num.Native](row []T, v T) {
	switch r := any(row).(type) {
	case []float32:
		if simd.TrySubNumber32(r, r, float32(-v), false) {
			return
		}
	case []float64:
		if simd.TrySubNumber64(r, r, float64(-v), false) {
			return
		}
	}
	for i := range row {
		row[i] += v
	}
	if canon := canonFor[T](); canon != nil {
		canon(row)
	}
}
