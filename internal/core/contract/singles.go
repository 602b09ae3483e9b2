package contract

import (
	"runtime"

	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
)

// A chainer is a tiler that also computes sums side by side, each of its own products:
// c[j] = fma(a[l·lda+j], b[l·ldb+j], c[j]) for each l < k in order. A chain of fused steps
// waits for itself, so that one alone takes many times as long as some in turns.
type chainer[T num.Native] interface {
	Chains(c, a []T, lda int, b []T, ldb, k int)
	// Pairs does so for products side by side, some sums and steps of them: c[i] = fma(a[i·lda+l], b[i·ldb+l], c[i]).
	Pairs(c, a []T, lda int, b []T, ldb, k int) (rows, steps int)
}

// singleRows is how many sums that don't lie side by side are computed together, and singleSteps how many of their products
// are laid out side by side at a time: both operands stay in a first-level cache.
const (
	singleRows  = 64
	singleSteps = 32
)

// The factors are one operand of sums side by side. Product l of sum i is at first + i·lane + l·step.
type factors[T num.Native] struct {
	data              []T
	first, lane, step int
}

// singles computes a contraction of which each entry of the batch is a single sum, and reports whether it did. Where
// there are few entries, the blocks of a long sum take the place of the entries.
func (e *Gemm[T]) singles(g *Contraction) bool {
	s, ok := e.Tiles.(chainer[T])
	if !ok || g.M != 1 || g.N != 1 || g.K == 0 || e.after(g) {
		return false
	}
	blocks := g.K / GemmK
	switch {
	case g.Batch < singleRows/4 && blocks >= longBlocks:
		for i := range g.Batch {
			e.long(g, s, i, blocks)
		}
		return true
	case g.Batch < 4 || !g.AAt.Single() || !g.BAt.Single():
		return false
	}
	a, b := factors[T]{e.A, g.AAt.Origin, g.AAt.Offset(1), g.ACol}, factors[T]{e.B, g.BAt.Origin, g.BAt.Offset(1), g.BRow}
	h, d := *g, *e
	exec.Split(g.Name, g.Ctx, (g.Batch+singleRows-1)/singleRows, singleRows*(1+g.K/8), func(from, to int) {
		var sums, c [singleRows]T
		for i := from * singleRows; i < min(to*singleRows, h.Batch); i += singleRows {
			n := min(singleRows, h.Batch-i)
			for k0 := 0; k0 < h.K; k0 += GemmK {
				exec.Look(h.Name, h.Ctx)
				clear(sums[:n])
				chains(s, sums[:n], a.at(i, k0), b.at(i, k0), min(GemmK, h.K-k0))
				for j, v := range sums[:n] {
					if k0 == 0 {
						c[j] = v
					} else {
						c[j] += v
					}
				}
			}
			cast.CanonFor[T]()(c[:n])
			for j, v := range c[:n] {
				d.C[h.CAt.At(i+j)] = v
			}
		}
	})
	return true
}

// long computes one sum, whose whole blocks of products are side by side, and the rest of it.
func (e *Gemm[T]) long(g *Contraction, s chainer[T], entry, blocks int) {
	a := factors[T]{e.A, g.AAt.At(entry), GemmK * g.ACol, g.ACol}
	b := factors[T]{e.B, g.BAt.At(entry), GemmK * g.BRow, g.BRow}
	var sums [singleRows]T
	c := e.C[g.CAt.At(entry):][:1]
	for i := 0; i <= blocks; i += singleRows {
		exec.Look(g.Name, g.Ctx)
		n := min(singleRows, blocks-i)
		clear(sums[:])
		chains(s, sums[:n], a.at(i, 0), b.at(i, 0), GemmK)
		if rest := g.K - blocks*GemmK; n < singleRows && rest > 0 {
			chains(s, sums[n:n+1], a.at(i+n, 0), b.at(i+n, 0), rest)
			n++
		}
		for j, v := range sums[:n] {
			if i+j == 0 {
				c[0] = v
			} else {
				c[0] += v
			}
		}
	}
	cast.CanonFor[T]()(c)
}

// at moves an operand on by a number of sums and of products.
func (x factors[T]) at(sum, product int) factors[T] {
	x.first += sum*x.lane + product*x.step
	return x
}

// chains adds k products to each of at most singleRows sums.
func chains[T num.Native](s chainer[T], sums []T, a, b factors[T], k int) {
	n := len(sums)
	if n == 0 {
		return
	}
	if (a.lane == 1 || n == 1) && (b.lane == 1 || n == 1) && min(a.step, b.step) >= 0 {
		s.Chains(sums, a.data[a.first:], a.step, b.data[b.first:], b.step, k)
		return
	}
	if a.step == 1 && b.step == 1 && min(a.lane, b.lane) >= 0 {
		if rows, steps := s.Pairs(sums, a.data[a.first:], a.lane, b.data[b.first:], b.lane, k); rows > 0 {
			laid(s, sums[:rows], a.at(0, steps), b.at(0, steps), k-steps)
			laid(s, sums[rows:], a.at(rows, 0), b.at(rows, 0), k)
			return
		}
	}
	laid(s, sums, a, b, k)
}

// laid is chains where the products of neighbouring sums are copied, to lie side by side.
func laid[T num.Native](s chainer[T], sums []T, a, b factors[T], k int) {
	n := len(sums)
	if n == 0 || k == 0 {
		return
	}
	p := PanelsOf(2*n*singleSteps*8 + 256)
	defer PanelPool.Put(p)
	room := p.Bytes()
	as, bs := conv.Carve[T](&room, n*singleSteps), conv.Carve[T](&room, n*singleSteps)
	same := &a.data[0] == &b.data[0] && a.first == b.first && a.lane == b.lane && a.step == b.step // sums of squares
	for l := 0; l < k; l += singleSteps {
		m := min(singleSteps, k-l)
		x, lda := a.side(as, l, m, n)
		y, ldb := x, lda
		if !same {
			y, ldb = b.side(bs, l, m, n)
		}
		s.Chains(sums, x, lda, y, ldb, m)
	}
	runtime.KeepAlive(p)
}

// side returns m products from l on of n sums where sums lie side by side, if need be a copy, and how far apart products are.
func (x factors[T]) side(room []T, l, m, n int) (data []T, step int) {
	first := x.first + l*x.step
	if x.lane == 1 && x.step >= 0 {
		return x.data[first:], x.step
	}
	conv.Pack(room[:m*n], x.data, conv.Block{Off: first, Rows: m, Row: x.step, Cols: n, Col: x.lane})
	return room, n
}
