package simd

import "encoding/binary"

// Quads holds the kernels of products of bytes that add four products, of an unsigned byte and a signed one, by one instruction. The sums are
// int32 and wrap.
//
// Elements of b come in panels of ByteColumns columns: the four elements from row 4·l on of column j are at 4·(l·ByteColumns + j).
type Quads struct {
	pack  func(dst, src *uint8, offs *int, quads, panels, flip, back, beyond int, sums *int32)
	mend  func(c, zero, col *int32, n, a, b int)
	sum   func(sums *int32, src *uint8, lda, rows, blocks, back int)
	tiles [quadShort]quadTile // of 1 row and more
	tall  quadTile
}

type quadFunc = func(c *int32, ldc int, a *uint8, lda int, offs *int, runs int, b *uint8, next, quads, add int)

type quadTile [2]quadFunc // of one panel and of two

// quadTall is the number of rows of the tallest tile. Shorter ones have up to quadShort rows: from 5 on the sums keep the processor busy.
const quadTall, quadShort = 12, 8

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

// Group returns the number of neighbouring k in a quad.
func (p *Quads) Group() int { return 4 }

// Widen sets dst[i] to src[i] xor flip.
func (p *Quads) Widen(dst, src []byte, flip byte, _ uint8) {
	src = src[:len(dst)]
	if flip == 0 {
		copy(dst, src)
		return
	}
	mask := uint64(flip) * 0x0101010101010101
	for len(src) >= 8 {
		binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(src)^mask)
		dst, src = dst[8:], src[8:]
	}
	for i, v := range src {
		dst[i] = v ^ flip
	}
}

// Tiles is Bytes.Tiles of quads. The bytes of a are unsigned, those of b signed.
func (p *Quads) Tiles(c []int32, ldc int, a []byte, lda int, offs []int, most int, b []byte, m, panels, k int, add bool) {
	if m <= 0 || panels <= 0 {
		return
	}
	all := len(offs) * k
	checkTiles(len(c), ldc, len(a), lda, len(offs), most, len(b), m, panels, k, 4)
	mode := 0
	if add {
		mode = 1
	}
	for j := 0; j < panels; j += 2 {
		wide := min(2, panels-j)
		for r, n := 0, 0; r < m; r += n {
			var t quadTile
			switch n = m - r; {
			case n == quadTall || n > 2*quadShort:
				n, t = quadTall, p.tall
			case n > quadShort:
				n = (n + 1) / 2
				fallthrough
			default:
				t = p.tiles[n-1]
			}
			t[wide-1](&c[r*ldc+j*ByteColumns], ldc, &a[r*lda], lda, &offs[0], len(offs), &b[j*all*ByteColumns], all*ByteColumns, k/4, mode)
		}
	}
}
