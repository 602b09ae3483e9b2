package contract

import (
	"runtime"

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
	last   int         // columns of the last panel, with zeros
	data   []T
}

// A paneller is a tiler that also computes one row of sums for a panel of columns: see simd.Product.
type paneller[T num.Native] interface {
	PanelColumns(n int) int
	Panel(c, a []T, aStep int, b []T, k int, mode simd.Mode)
}

// PackedOf returns a matrix without elements, for products of m rows. Those of others are right, too.
func PackedOf[T num.Native](n, k, m int) Packed[T] { return packedBy(TilesOf[T](), n, k, m) }

func packedBy[T num.Native](tiles Tiler[T], n, k, m int) (p Packed[T]) {
	p = Packed[T]{N: n, K: k, tiles: tiles}
	if m == 1 {
		p.row, _ = p.tiles.(paneller[T])
	}
	most, lanes := p.tiles.Columns()
	for j, w := 0, 0; j < n; j += w {
		if p.last = TileCols(n-j, most, lanes); p.row != nil {
			p.last = p.row.PanelColumns(n - j)
		}
		w = min(p.last, n-j)
		p.starts = append(p.starts, j)
	}
	p.starts = append(p.starts, n)
	return p
}

// Room returns how many elements Pack takes.
func (p *Packed[T]) Room() int {
	if p.N == 0 {
		return 0
	}
	return (p.starts[p.Panels()-1] + p.last) * p.K
}

// Panels returns the number of panels.
func (p *Packed[T]) Panels() int { return len(p.starts) - 1 }

// panel returns panel i: where it begins, its columns without and with zeros, and its elements.
func (p *Packed[T]) panel(i int) (j, n, width int, data []T) {
	j = p.starts[i]
	n = p.starts[i+1] - j
	if width = n; i == p.Panels()-1 {
		width = p.last
	}
	return j, n, width, p.data[j*p.K:][:width*p.K]
}

// Pack copies the matrix to room. Element (l, j) is b[l*row+j*col].
func (p *Packed[T]) Pack(room, b []T, row, col int) {
	p.data = room
	for i := range p.Panels() {
		j, n, width, data := p.panel(i)
		conv.Pack(data, b, conv.Block{Off: j * col, Rows: p.K, Row: row, Cols: n, Col: col})
		for l := p.K - 1; l >= 0 && width > n; l-- {
			copy(data[l*width:], data[l*n:(l+1)*n])
			clear(data[l*width+n : (l+1)*width])
		}
	}
}

// Times stores the products of m rows, of elements a[i*aRow+l*aCol], with the columns of panels [from, to) in dst[i*ldd+j].
func (p *Packed[T]) Times(dst []T, ldd int, a []T, aRow, aCol, m, from, to int) {
	for i := from; i < to; i++ {
		j, n, width, data := p.panel(i)
		if p.row != nil {
			for r := range m {
				p.oneRow(dst[r*ldd+j:][:n], a[min(r*aRow, len(a)):], aCol, data, width)
			}
			continue
		}
		for k0, mode := 0, simd.StoreSums; k0 == 0 || k0 < p.K; k0, mode = k0+GemmK, simd.AddSums {
			p.tiles.Tiles(dst[j:], ldd, a[min(k0*aCol, len(a)):], aRow, aCol, data[k0*n:], n, m, n, min(GemmK, p.K-k0), mode)
		}
	}
}

// oneRow stores the product of a row with a panel.
func (p *Packed[T]) oneRow(dst, a []T, aCol int, data []T, width int) {
	if p.K == 0 {
		clear(dst)
		return
	}
	sums := dst
	if width > len(dst) {
		s := PanelsOf(width*dtype.Of[T]().Size() + 256)
		defer PanelPool.Put(s)
		rest := s.Bytes()
		sums = conv.Carve[T](&rest, width)
		defer runtime.KeepAlive(s)
	}
	for k0, mode := 0, simd.StoreSums; k0 < p.K; k0, mode = k0+GemmK, simd.AddSums {
		p.row.Panel(sums, a[k0*aCol:], aCol, data[k0*width:], min(GemmK, p.K-k0), mode)
	}
	copy(dst, sums)
	cast.CanonFor[T]()(dst)
}

// A product of so many rows or fewer is faster with a packed matrix, and with one whose columns are runs up to four times as many rows: that is
// packed for each product otherwise. A matrix of more bytes comes from memory, which is slower than the sums of few rows.
const (
	rowsPacked = 32
	mostPacked = 16 << 20
)

// Packs reports whether a product of m rows is faster with a matrix of k by n that is packed, and the bytes that it takes then. runs says
// whether columns of the matrix are runs.
func Packs(d dtype.DType, m, n, k int, runs bool) (bytes int64, ok bool) {
	most := rowsPacked
	if runs {
		most *= 4
	}
	if m < 1 || m > most || n <= FewRows || k < 1 || int64(n) > mostPacked/int64(k)/int64(d.Size()) {
		return 0, false
	}
	switch d {
	case dtype.Float32:
		return packs(PackedOf[float32](n, k, m))
	case dtype.Float64:
		return packs(PackedOf[float64](n, k, m))
	}
	return 0, false
}

func packs[T num.Native](p Packed[T]) (bytes int64, ok bool) {
	_, lanes := p.tiles.Columns()
	return int64(p.Room()) * int64(dtype.Of[T]().Size()), lanes > 1
}

// packedRows computes rows times the columns of a filter.
func (e *Gemm[T]) packedRows(g *Contraction) {
	f := g.Columns
	f.once.Do(func() {
		p := PackedOf[T](g.N, g.K, g.M)
		p.Pack(make([]T, p.Room()), e.B[g.BAt.At(0):], g.BRow, g.BCol)
		f.packed = &p
	})
	p := f.packed.(*Packed[T])
	panels, h, d := p.Panels(), *g, *e // as in split
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
