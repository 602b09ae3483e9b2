package contract

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
)

// After has the steps after a product: a number is added, if there is an operand for it, and Relu
// applied if Rectify is set, and then the Tail. Element (i, j) of batch entry b takes the number at At.At(b)+i·Row+j·Col,
// where Col is 0 or 1.
type After struct {
	At       Entries
	Row, Col int
	Rectify  bool
	Rows     *LastRows
	Tail     plan.Tail
}

// LastRows are the rows of the steps after a product: of a sum, and of Relu.
type LastRows struct{ Sum, Cut func(d dtype.DType) exec.Row }

// after reports whether anything comes after the product.
func (e *Gemm[T]) after(g *Contraction) bool {
	return e.Plus != nil || g.Then.Rectify || g.Then.Tail != nil
}

// finish applies the steps after the product to c[r:r+m, x:x+n] of a batch entry, once its last block has been added.
func (e *Gemm[T]) finish(g *Contraction, batch, r, m, x, n int) {
	a := &g.Then
	d := dtype.Of[T]()
	sum, cut := exec.As[func(dst, a, b []T)](a.Rows.Sum(d)), exec.As[func(dst, a []T)](a.Rows.Cut(d))
	at, rows := g.CAt.At(batch)+r*g.CRow+x, 1 // that lie one after the other
	if n == g.CRow || m == 1 {
		rows = m
	}
	for i := 0; i < m; i += rows {
		lines := e.C[at+i*g.CRow:][:rows*n]
		for k := 0; e.Plus != nil && k < rows; k++ {
			line := lines[k*n : (k+1)*n]
			if p := e.Plus[a.At.At(batch)+(r+i+k)*a.Row+x*a.Col:]; a.Col == 1 {
				sum(line, line, p[:n])
			} else {
				addNumber(line, p[0])
			}
		}
		if a.Rectify {
			cut(lines, lines)
		}
		if a.Tail != nil {
			a.Tail(exec.RunOf(lines), at+i*g.CRow-g.CAt.Origin, false)
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
	if canon := cast.CanonFor[T](); canon != nil {
		canon(row)
	}
}
