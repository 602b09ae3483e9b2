package contract

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
)

// Packed is a matrix that is on the right of many products: K rows of N columns, by panels of columns. A panel for products of one row is
// wider than a tile, as each of its sums waits for itself.
type Packed[T num.Native] struct {
	N, K   int
	tiles  Tiler[T]
	row    paneller[T] // of panels for one row, else nil
	starts []int       // the columns where panels begin, and N
	data   []T         // the panels, one after the other
}

// A paneller is a tiler that also computes one row of sums for a panel of columns: see simd.Product.
type paneller[T num.Native] interface {
	PanelColumns(n int) int
	Panel(c, a []T, aStep int, b []T, k int, mode simd.Mode)
}

// PackedOf returns a matrix without elements, for products of m rows. Products of other rows are right, too.
func PackedOf[T num.Native](n, k, m int) Packed[T] { return packedBy(TilesOf[T](), n, k, m) }

func packedBy[T num.Native](tiles Tiler[T], n, k, m int) (p Packed[T]) {
	p = Packed[T]{N: n, K: k, tiles: tiles}
	if m == 1 && k > 0 {
		p.row, _ = tiles.(paneller[T])
	}
	most, lanes := tiles.Columns()
	for j, w := 0, 0; j < n; j += w {
		if w = 0; p.row != nil {
			w = p.row.PanelColumns(n - j)
		}
		if w == 0 {
			w = TileCols(n-j, most, lanes)
		}
		p.starts = append(p.starts, j)
	}
	p.starts = append(p.starts, n)
	return p
}

// Room returns how many elements Pack takes.
func (p *Packed[T]) Room() int { return p.N * p.K }

// Panels returns the number of panels.
func (p *Packed[T]) Panels() int { return len(p.starts) - 1 }

// Pack copies the matrix to room. Element (l, j) is b[l*row+j*col].
func (p *Packed[T]) Pack(room, b []T, row, col int) {
	p.data = room
	for i, j := range p.starts[:p.Panels()] {
		conv.Pack(room[j*p.K:], b, conv.Block{Off: j * col, Rows: p.K, Row: row, Cols: p.starts[i+1] - j, Col: col})
	}
}

// Times stores the products of m rows, of elements a[i*aRow+l*aCol], with the columns of panels [from, to) in dst[i*ldd+j].
func (p *Packed[T]) Times(dst []T, ldd int, a []T, aRow, aCol, m, from, to int) {
	canon := cast.CanonFor[T]()
	for i := from; i < to; i++ {
		j, n := p.starts[i], p.starts[i+1]-p.starts[i]
		panel, one := p.data[j*p.K:(j+n)*p.K], p.row != nil && p.row.PanelColumns(n) == n
		for k0, mode := 0, simd.StoreSums; k0 == 0 || k0 < p.K; k0, mode = k0+GemmK, simd.AddSums {
			left, b, kn := a[min(k0*aCol, len(a)):], panel[k0*n:], min(GemmK, p.K-k0)
			for r := 0; one && r < m; r++ {
				p.row.Panel(dst[r*ldd+j:][:n], left[r*aRow:], aCol, b, kn, mode)
			}
			if !one {
				p.tiles.Tiles(dst[j:], ldd, left, aRow, aCol, b, n, m, n, kn, mode)
			}
		}
		for r := 0; one && r < m; r++ {
			canon(dst[r*ldd+j:][:n])
		}
	}
}

// Packs reports whether a product of m rows is faster with a packed matrix of k by n, and the bytes of that. runs says whether columns of
// the matrix are runs: such a matrix is packed for each product otherwise.
func Packs(d dtype.DType, m, n, k int, runs bool) (bytes int64, ok bool) {
	most := rowsPacked
	if runs {
		most *= 4
	}
	if m < 1 || m > most || n <= FewRows || k < 1 || int64(n) > int64(mostPacked*min(m, 4))/int64(k)/int64(d.Size()) {
		return 0, false
	}
	lanes := 1
	switch d {
	case dtype.Float32:
		_, lanes = TilesOf[float32]().Columns()
	case dtype.Float64:
		_, lanes = TilesOf[float64]().Columns()
	}
	return int64(n) * int64(k) * int64(d.Size()), lanes > 1
}

// packedRows computes rows times the columns of a filter.
func (e *Gemm[T]) packedRows(g *Contraction) {
	f, h, d := g.Columns, *g, *e // as in split
	p := f.pack(func() any {
		p := PackedOf[T](h.N, h.K, h.M)
		p.Pack(keptRoom[T](f, p.Room()), d.B[h.BAt.At(0):], h.BRow, h.BCol)
		return &p
	}).(*Packed[T])
	panels := p.Panels()
	run := func(from, to int) {
		for u := from; u < to; u++ {
			b, i := u/panels, u%panels
			exec.Look(h.Name, h.Ctx)
			p.Times(d.C[h.CAt.At(b):], h.CRow, d.A[h.AAt.At(b):], h.ARow, h.ACol, h.M, i, i+1)
			if d.after(&h) {
				d.finish(&h, b, 0, h.M, p.starts[i], p.starts[i+1]-p.starts[i])
			}
		}
	}
	if count := g.Batch * panels; count == 1 && exec.Goes(g.Ctx) {
		run(0, 1)
	} else {
		exec.Split(g.Name, g.Ctx, count, min(g.M*g.N, 1<<24)*max(1, g.K/20)/panels, run)
	}
}
