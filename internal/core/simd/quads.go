package simd

// Quads holds the kernels of products of bytes that add four products, of an unsigned byte and a signed one, by one instruction. The sums are
// int32 and wrap.
//
// Elements of b come in panels of ByteColumns columns: the four elements from row 4·l on of column j are at 4·(l·ByteColumns + j).
type Quads struct {
	pack  func(dst, src *uint8, offs *int, quads, panels, flip, back, beyond int, sums *int32)
	mend  func(c, zero, col *int32, n, a, b int)
	sum   func(sums *int32, src *uint8, lda, rows, blocks, back int)
	tiles []quadTile // the taller ones first
}

type quadFunc = func(c *int32, ldc int, a *uint8, lda int, b *uint8, next, quads, add int)

type quadTile struct {
	rows int
	f    [2][2]quadFunc // indexed by whether a is signed, and by panels
}

// QuadBlock divides the number of bytes of the rows of a.
const QuadBlock = 64

// Pack writes panels of b, one after the other: element l of column j is src[offs[l] + j] xor flip. The number of offsets is a multiple of 4. They
// are from 0 to most. The last beyond offsets, fewer than 4, are beyond the rows of b. Pack adds the sums of columns to sums, without the rows
// beyond. In the sums bytes count as unsigned after another xor with back. Pack panics when an index is out of range.
func (p *Quads) Pack(dst, src []byte, offs []int, most int, flip, back byte, beyond, panels int, sums []int32) {
	if len(offs) == 0 || panels == 0 {
		return
	}
	if len(offs)%4 != 0 || min(most, panels, beyond, 3-beyond) < 0 || exceeds(len(dst), panels, len(offs)*ByteColumns, 1, 0, len(offs)*ByteColumns) ||
		most > len(src) || exceeds(len(src)-most, panels, ByteColumns, 1, 0, ByteColumns) || exceeds(len(sums), panels, ByteColumns, 1, 0, ByteColumns) {
		panic("simd.Quads.Pack: extents out of range")
	}
	p.pack(&dst[0], &src[0], &offs[0], len(offs)/4, panels, int(flip), int(back), int(uint32(0x01010101)<<(8*(4-beyond))), &sums[0])
}

// Sums sets sums[i] to the sum of the bytes of row i of a. A row has a number of blocks of QuadBlock bytes. Bytes count as unsigned after an xor
// with back. It panics when an index is out of range.
func (p *Quads) Sums(sums []int32, a []byte, lda, blocks int, back byte) {
	if len(sums) == 0 || blocks == 0 {
		clear(sums)
		return
	}
	if min(lda, blocks) < 0 || exceeds(len(a), len(sums), lda, blocks, QuadBlock, QuadBlock) {
		panic("simd.Quads.Sums: extents out of range")
	}
	p.sum(&sums[0], &a[0], lda, len(sums), blocks, int(back))
}

// Mend subtracts zero[j]·a + col[j]·b from c[j]. The lengths are a multiple of ByteColumns. It panics when an index is out of range.
func (p *Quads) Mend(c, zero, col []int32, a, b int32) {
	if len(c) == 0 {
		return
	}
	if len(c)%ByteColumns != 0 || min(len(zero), len(col)) < len(c) {
		panic("simd.Quads.Mend: extents out of range")
	}
	p.mend(&c[0], &zero[0], &col[0], len(c), int(a), int(b))
}

// Tiles sets c[i·ldc + j], or adds to it, the sum of the products of k elements of row i of a, at i·lda, and of column j of the panels b. With
// signed, a has signed bytes and b unsigned ones, else the other way around. k is a multiple of 4 and not 0. It panics when an index is out of
// range. Nothing interrupts it: m·panels·k must be small.
func (p *Quads) Tiles(c []int32, ldc int, a []byte, lda int, signed bool, b []byte, m, panels, k int, add bool) {
	if m <= 0 || panels <= 0 {
		return
	}
	if k <= 0 || k%4 != 0 || min(ldc, lda) < 0 || exceeds(len(c), m, ldc, panels, ByteColumns, ByteColumns) ||
		exceeds(len(a), m, lda, 1, 0, k) || exceeds(len(b), panels, k*ByteColumns, 1, 0, k*ByteColumns) {
		panic("simd.Quads.Tiles: extents out of range")
	}
	mode, s := 0, 0
	if add {
		mode = 1
	}
	if signed {
		s = 1
	}
	for j := 0; j < panels; j += 2 {
		wide := min(2, panels-j)
		r := 0
		for _, t := range p.tiles {
			for ; m-r >= t.rows; r += t.rows {
				t.f[s][wide-1](&c[r*ldc+j*ByteColumns], ldc, &a[r*lda], lda, &b[j*k*ByteColumns], k*ByteColumns, k/4, mode)
			}
		}
	}
}
