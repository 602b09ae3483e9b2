package contract

import (
	"runtime"

	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
)

// skinny is block for so few rows that packing b would cost more than the product: the rows of b go by once, in order.
func (e *Gemm[T]) skinny(g *Contraction, s streamer[T], batch, r, m, x, n int) {
	const few = 8 // rows of b that are added together
	width := min(n, skinnyStrip)
	if e.narrow != nil {
		width = min(n, max(1, skinnyStrip/few)) // their float32s stay there, too
	}
	p := PanelsOf((m+few)*width*e.Size + 256)
	defer PanelPool.Put(p)
	rest := p.Bytes()
	acc, wide := conv.Carve[T](&rest, m*width), conv.Carve[T](&rest, few*width)
	canon := cast.CanonFor[T]()
	for x0 := 0; x0 < n; x0 += width {
		w := min(width, n-x0)
		for k0 := 0; k0 == 0 || k0 < g.K; k0 += GemmK {
			if x0+k0 > 0 {
				exec.Look(g.Name, g.Ctx)
			}
			kn := min(GemmK, g.K-k0)
			clear(acc[:m*w])
			if kn > 0 {
				a, at := e.A[g.AAt.At(batch)+r*g.ARow+k0*g.ACol:], g.BAt.At(batch)+k0*g.BRow+x+x0
				b, ldb := wide, w
				if e.narrow == nil {
					b, ldb = e.B[at:], g.BRow
				}
				for l := range kn {
					p.offs[l] = l * ldb
				}
				for l := 0; l < kn; l += few {
					offs := p.offs[l:min(l+few, kn)]
					if e.narrow != nil {
						e.narrow.rows(exec.RunOf(b), w, at+l*g.BRow, g.BRow, len(offs), w)
						offs = p.offs[:len(offs)]
					}
					for i := range m {
						s.AddRows(acc[i*w:(i+1)*w], a[i*g.ARow+l*g.ACol:], g.ACol, b, offs, offs[len(offs)-1])
					}
				}
			}
			for i := range m {
				row, sums := e.C[g.CAt.At(batch)+(r+i)*g.CRow+x+x0:][:w], acc[i*w:(i+1)*w]
				if k0 == 0 {
					copy(row, sums)
				} else {
					for j, v := range sums {
						row[j] += v
					}
				}
				if k0+GemmK >= g.K {
					canon(row)
				}
			}
		}
		if e.after(g) {
			e.finish(g, batch, r, m, x+x0, w)
		}
	}
	runtime.KeepAlive(p)
}

// dots is skinny for one row and columns of b that are runs, a matrix times a vector: a few columns, of which n is a multiple, go by
// together, in order.
func (e *Gemm[T]) dots(g *Contraction, s streamer[T], batch, r, x, n int) {
	_, lanes := e.Tiles.Columns()
	pitch, room := g.BCol, 0
	if e.narrow != nil { // so that widened columns aren't apart by a power of two
		pitch = GemmK + lanes
		room = lanes * pitch
	}
	p := PanelsOf((g.K+lanes+lanes*lanes+room)*e.Size + 512)
	defer PanelPool.Put(p)
	rest := p.Bytes()
	acc, turned, wide := conv.Carve[T](&rest, lanes), conv.Carve[T](&rest, lanes*lanes), conv.Carve[T](&rest, room)
	a := e.A[g.AAt.At(batch)+r*g.ARow:]
	if g.ACol != 1 {
		run := conv.Carve[T](&rest, g.K)
		conv.Pack(run, a, conv.Block{Rows: 1, Cols: g.K, Col: g.ACol})
		a = run
	}
	for i := range lanes {
		p.offs[i] = i * lanes
	}
	canon := cast.CanonFor[T]()
	c := e.C[g.CAt.At(batch)+r*g.CRow+x:][:n]
	for j := 0; j < n; j += lanes {
		at, row := g.BAt.At(batch)+(x+j)*g.BCol, c[j:j+lanes]
		for k0 := 0; k0 < g.K; k0 += GemmK {
			kn := min(GemmK, g.K-k0)
			b := wide
			if e.narrow != nil {
				e.narrow.rows(exec.RunOf(wide), pitch, at+k0, g.BCol, lanes, kn)
			} else {
				b = e.B[at+k0:]
			}
			clear(acc)
			odd := kn % lanes
			whole := kn - odd
			s.Dots(acc, b, pitch, a[k0:k0+whole])
			if odd > 0 {
				conv.Pack(turned[:odd*lanes], b, conv.Block{Off: whole, Rows: odd, Row: 1, Cols: lanes, Col: pitch})
				s.AddRows(acc, a[k0+whole:], 1, turned, p.offs[:odd], (odd-1)*lanes)
			}
			if k0 == 0 {
				copy(row, acc)
				continue
			}
			for i, v := range acc {
				row[i] += v
			}
		}
	}
	canon(c)
	if e.after(g) {
		e.finish(g, batch, r, 1, x, n)
	}
	runtime.KeepAlive(p)
}
