package simd

// Bytes holds the kernels of products of bytes at one level. An element less its zero point is an int16. Elements of neighbouring k are pairs, so
// sums of products of pairs are made by one instruction, and exact in int32 as long as the whole sum fits; beyond that they wrap.
//
// Places of b come in panels of ByteColumns columns: the pair l of column j is at 2·(l·ByteColumns + j).
//
// Not there: sums of four products of bytes in one instruction (AVX-512 VNNI, NEON's dot products). They would have a Bytes of their own, whose
// panels hold bytes, and whose sums are less the zero points times the sums of rows and columns.
type Bytes struct {
	widen func(dst *int16, src *uint8, n, flip, zero int)
	pair  func(dst *int16, src *uint8, offs *int, pairs, panels, flip int, zero *int16, step int)
	tiles []byteTile // the taller ones first
}

type byteTile struct {
	rows int
	f    func(c *int32, ldc int, a *int16, lda int, b *int16, pairs, times, add, cStep, aStep, bStep int)
}

// ByteColumns is how many columns a panel has.
const ByteColumns = 16

// Widen sets dst[i] to src[i] xor flip, an unsigned byte, less zero. Signed bytes have the flip 128, and 128 is added to their zero point.
func (p *Bytes) Widen(dst []int16, src []byte, flip byte, zero int16) {
	if len(dst) == 0 {
		return
	}
	_ = src[len(dst)-1]
	p.widen(&dst[0], &src[0], len(dst), int(flip), int(zero))
}

// Pair writes panels, one after the other: pair l of column j is (src[offs[2·l + h] + j] xor flip) − zero[2·j + h] for h of 0 and 1. The offsets are
// even in number and from 0 to most. For the next panel src begins ByteColumns elements further on, and zero step elements.
// It panics when an index is out of range.
func (p *Bytes) Pair(dst []int16, src []byte, offs []int, most int, flip byte, zero []int16, step, panels int) {
	if len(offs) == 0 || panels == 0 {
		return
	}
	if len(offs)%2 != 0 || min(most, step, panels) < 0 || exceeds(len(dst), panels, len(offs)*ByteColumns, 1, 0, len(offs)*ByteColumns) ||
		most > len(src) || exceeds(len(src)-most, panels, ByteColumns, 1, 0, ByteColumns) || exceeds(len(zero), panels, step, 1, 0, 2*ByteColumns) {
		panic("simd.Bytes.Pair: extents out of range")
	}
	p.pair(&dst[0], &src[0], &offs[0], len(offs)/2, panels, int(flip), &zero[0], step)
}

// Tiles sets c[i·ldc + j], or adds to it, the sum of the products of k elements of row i of a, at i·lda, and of column j of the panels b. k is even
// and not 0. It panics when an index is out of range. Nothing interrupts it: m·panels·k is to be small.
func (p *Bytes) Tiles(c []int32, ldc int, a []int16, lda int, b []int16, m, panels, k int, add bool) {
	if m <= 0 || panels <= 0 {
		return
	}
	if k <= 0 || k%2 != 0 || min(ldc, lda) < 0 || exceeds(len(c), m, ldc, panels, ByteColumns, ByteColumns) ||
		exceeds(len(a), m, lda, 1, 0, k) || exceeds(len(b), panels, k*ByteColumns, 1, 0, k*ByteColumns) {
		panic("simd.Bytes.Tiles: extents out of range")
	}
	mode, r := 0, 0
	if add {
		mode = 1
	}
	for _, t := range p.tiles {
		times := (m - r) / t.rows
		switch {
		case times == 0:
			continue
		case times < panels: // along the panels
			for range times {
				t.f(&c[r*ldc], ldc, &a[r*lda], lda, &b[0], k/2, panels, mode, ByteColumns, 0, k*ByteColumns)
				r += t.rows
			}
			continue
		}
		for j := range panels { // down the rows
			t.f(&c[r*ldc+j*ByteColumns], ldc, &a[r*lda], lda, &b[j*k*ByteColumns], k/2, times, mode, t.rows*ldc, t.rows*lda, 0)
		}
		r += times * t.rows
	}
}
