package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
)

// The contraction behind MatMul, Gemm and Conv. For every shape, each batch
// entry alone: k in blocks of 256 counted from k = 0; in a block one chain
// acc = fma(a, b, acc) over k in order from +0; c is the first block's acc, then
// c = c + acc for each later block in order. K = 0 gives +0.

const (
	gemmK    = 256 // k of a block: the rule, not a tuning
	gemmCols = 512 // columns of a packed panel
	gemmRows = 64  // rows that share a packed panel
)

// blockFunc computes a block of at most 256 k, m by n: c[i,j] = acc, where acc = +0
// and then acc = fma(a[i,l], b[l,j], acc) for each l < k in order. Columns of b
// and c are contiguous.
type blockFunc[T num.Native] func(c []T, ldc int, a []T, aRow, aCol int, b []T, ldb int, m, n, k int)

// gemm is one contraction c[m,n] = Σₖ a[m,k]·b[k,n] per batch entry.
type gemm[T num.Native] struct {
	job
	batch, m, n, k int
	mac            blockFunc[T]

	a          []T
	aAt        func(batch int) int // where a[0,0] of a batch entry is
	aRow, aCol int
	// pack writes b[k0:k0+kn, n0:n0+nn] of a batch entry to dst, row by row.
	pack func(dst []T, batch, k0, kn, n0, nn int)

	c          []T
	cAt        func(batch int) int
	cRow, cCol int
}

// panels holds the packed part of b and the accumulators of one worker.
type panels struct{ bytes []byte }

var panelPool = sync.Pool{New: func() any { return new(panels) }}

// run computes c, split over threads by panels of columns and blocks of rows.
func (g *gemm[T]) run() {
	across := (g.n + gemmCols - 1) / gemmCols
	down := (g.m + gemmRows - 1) / gemmRows
	cost := min(g.m, gemmRows) * min(g.n, gemmCols) * max(g.k, 1)
	split(g.name, g.ctx, g.batch*across*down, cost, func(from, to int) {
		p := panelPool.Get().(*panels)
		defer panelPool.Put(p)
		kmax, nmax, mmax := min(g.k, gemmK), min(g.n, gemmCols), min(g.m, gemmRows)
		if need := (kmax*nmax+mmax*nmax)*dtype.Of[T]().Size() + 256; len(p.bytes) < need {
			p.bytes = mem.Make(need)
		}
		rest := p.bytes
		panel, acc := conv.Carve[T](&rest, kmax*nmax), conv.Carve[T](&rest, mmax*nmax)
		for u := from; u < to; u++ {
			b, x, r := u/(across*down), u/down%across*gemmCols, u%down*gemmRows
			g.block(panel, acc, b, r, min(gemmRows, g.m-r), x, min(gemmCols, g.n-x))
		}
	})
}

// block computes rows [r, r+m) and columns [x, x+n) of batch entry b.
func (g *gemm[T]) block(panel, acc []T, b, r, m, x, n int) {
	a0, c0 := g.aAt(b), g.cAt(b)
	for k0 := 0; k0 == 0 || k0 < g.k; k0 += gemmK {
		kn := min(gemmK, g.k-k0)
		if kn > 0 {
			g.pack(panel[:kn*n], b, k0, kn, x, n)
			g.mac(acc, n, g.a[a0+r*g.aRow+k0*g.aCol:], g.aRow, g.aCol, panel, n, m, n, kn)
		} else {
			clear(acc[:m*n])
		}
		for i := range m {
			row, at := acc[i*n:(i+1)*n], c0+(r+i)*g.cRow+x*g.cCol
			if g.cCol == 1 && k0 == 0 {
				copy(g.c[at:at+n], row)
				continue
			}
			for _, v := range row {
				if k0 > 0 {
					v += g.c[at]
				}
				g.c[at] = v
				at += g.cCol
			}
		}
	}
}

// blockOf returns the blockFunc of T; integers wrap.
func blockOf[T num.Native]() blockFunc[T] {
	var p any
	switch any((*T)(nil)).(type) {
	case *int8:
		p = blockFunc[int8](intBlock[int8])
	case *int16:
		p = blockFunc[int16](intBlock[int16])
	case *int32:
		p = blockFunc[int32](intBlock[int32])
	case *int64:
		p = blockFunc[int64](intBlock[int64])
	case *uint8:
		p = blockFunc[uint8](intBlock[uint8])
	case *uint16:
		p = blockFunc[uint16](intBlock[uint16])
	case *uint32:
		p = blockFunc[uint32](intBlock[uint32])
	case *uint64:
		p = blockFunc[uint64](intBlock[uint64])
	case *float32:
		p = blockFunc[float32](num.FMABlock32)
	case *float64:
		p = blockFunc[float64](num.FMABlock64)
	}
	f, _ := p.(blockFunc[T])
	return f
}

func intBlock[T num.Integer](c []T, ldc int, a []T, aRow, aCol int, b []T, ldb int, m, n, k int) {
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		clear(row)
		for l := range k {
			x, bs := a[i*aRow+l*aCol], b[l*ldb:l*ldb+n]
			for j := range row {
				row[j] += x * bs[j]
			}
		}
	}
}
