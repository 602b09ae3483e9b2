package simd

// Bytes holds the kernels of products of bytes at one level. As int16, elements are bytes less their zero points, and neighbouring k are pairs.
// One instruction adds the products of pairs. The sums are exact in int32 as long as the whole sum fits; beyond that they wrap. As int8, there
// are groups of four k or of eight. Elements are bytes less 128, or bytes that wrap, so the zero points have to be taken from the sums.
//
// Places of b come in panels of ByteColumns columns: element h of group l of column j is at Group·(l·ByteColumns + j) + h.
type Bytes[T int8 | int16] struct {
	group int
	widen func(dst *T, src *uint8, n, flip, zero int)
	join  func(dst *T, src *uint8, offs *int, groups, panels, flip int, zero *T, step int)
	tiles []byteTile[T] // the taller ones first
	deep  func(c *int32, a *T, row int, offs *int, pairs int, w *T, n, blocks int)
}

type byteTile[T int8 | int16] struct {
	rows int
	f    func(c *int32, ldc int, a *T, lda int, offs *int, runs int, b *T, groups, times, add, cStep, aStep, bStep int)
}

// ByteColumns is the number of columns of a panel.
const ByteColumns = 16

// Group returns the number of neighbouring k in a group.
func (p *Bytes[T]) Group() int { return p.group }

// Widen sets dst[i] to src[i] xor flip, an unsigned byte, less zero. For signed bytes flip is 128, and 128 is added to their zero point.
func (p *Bytes[T]) Widen(dst []T, src []byte, flip byte, zero T) {
	if len(dst) == 0 {
		return
	}
	_ = src[len(dst)-1]
	p.widen(&dst[0], &src[0], len(dst), int(flip), int(zero))
}

// Join writes panels, one after the other: element h of group l of column j is (src[offs[Group·l + h] + j] xor flip) − zero[Group·j + h]. The
// offsets are whole groups and from 0 to most. The next panel begins ByteColumns elements later in src and step elements later in zero. Join
// panics when an index is out of range.
func (p *Bytes[T]) Join(dst []T, src []byte, offs []int, most int, flip byte, zero []T, step, panels int) {
	if len(offs) == 0 || panels == 0 {
		return
	}
	if len(offs)%p.group != 0 || min(most, step, panels) < 0 || exceeds(len(dst), panels, len(offs)*ByteColumns, 1, 0, len(offs)*ByteColumns) ||
		most > len(src) || exceeds(len(src)-most, panels, ByteColumns, 1, 0, ByteColumns) || exceeds(len(zero), panels, step, 1, 0, p.group*ByteColumns) {
		panic("simd.Bytes.Join: extents out of range")
	}
	p.join(&dst[0], &src[0], &offs[0], len(offs)/p.group, panels, int(flip), &zero[0], step)
}

// Tiles sets c[i·ldc + j], or adds to it, the sum of the products of the elements of row i of a and of column j of the panels b. A row has
// runs of k elements: run r begins at i·lda + offs[r], from 0 to most. k is a multiple of Group and not 0. It panics when an index is out of range.
// Nothing interrupts it: the product of m, panels, runs and k must be small.
func (p *Bytes[T]) Tiles(c []int32, ldc int, a []T, lda int, offs []int, most int, b []T, m, panels, k int, add bool) {
	if m <= 0 || panels <= 0 {
		return
	}
	all := len(offs) * k
	checkTiles(len(c), ldc, len(a), lda, len(offs), most, len(b), m, panels, k, p.group)
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
				t.f(&c[r*ldc], ldc, &a[r*lda], lda, &offs[0], len(offs), &b[0], k/p.group, panels, mode, ByteColumns, 0, all*ByteColumns)
				r += t.rows
			}
			continue
		}
		for j := range panels { // down the rows
			t.f(&c[r*ldc+j*ByteColumns], ldc, &a[r*lda], lda, &offs[0], len(offs), &b[j*all*ByteColumns], k/p.group, times, mode, t.rows*ldc, t.rows*lda, 0)
		}
		r += times * t.rows
	}
}

// checkTiles panics unless the operands of tiles are in range.
func checkTiles(c, ldc, a, lda, runs, most, b, m, panels, k, group int) {
	if runs == 0 || k <= 0 || k%group != 0 || min(ldc, lda, most) < 0 || most > a || exceeds(c, m, ldc, panels, ByteColumns, ByteColumns) ||
		exceeds(a-most, m, lda, 1, 0, k) || b/runs/ByteColumns < k || exceeds(b, panels, runs*k*ByteColumns, 1, 0, runs*k*ByteColumns) {
		panic("simd: tiles of bytes out of range")
	}
}

// DeepOrder has the place of each of ByteColumns channels in a block of weights of Deep.
var DeepOrder = [ByteColumns]int{0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15}

// Deep makes sums of blocks of channels, for n outputs:
//
//	c[(i·blocks + b)·ByteColumns + j] = Σ a[i·row + offs[l] + b·ByteColumns + j]·w[(b·len(offs) + l/2·2)·ByteColumns + 2·DeepOrder[j] + l%2]
//
// There is an even number of offsets, from 0 to most. It reports false where the level has no kernel. It panics when an index is out of range. Nothing interrupts it.
func (p *Bytes[T]) Deep(c []int32, a []T, row int, offs []int, most int, w []T, n, blocks int) bool {
	switch all := blocks * ByteColumns; {
	case p == nil || p.deep == nil:
		return false
	case n <= 0 || blocks <= 0:
	case len(offs)%2 != 0 || len(offs) == 0 || min(row, most) < 0 || most > len(a) || exceeds(len(c), n, all, 1, 0, all) ||
		exceeds(len(a)-most, n, row, 1, 0, all) || exceeds(len(w), blocks, len(offs)*ByteColumns, 1, 0, len(offs)*ByteColumns):
		panic("simd.Bytes.Deep: extents out of range")
	default:
		p.deep(&c[0], &a[0], row, &offs[0], len(offs)/2, &w[0], n, blocks)
	}
	return true
}
