package simd

// Bytes holds the kernels of products of bytes at one level. As int16, elements are bytes less their zero points, and neighbouring k are pairs.
// One instruction adds the products of pairs. The sums are exact in int32 as long as the whole sum fits; beyond that they wrap. As int8, there
// are groups of four k or of eight. Elements are bytes less 128, or bytes that wrap, so the zero points have to be taken from the sums.
//
// Elements of b come in panels of ByteColumns columns: element h of group l of column j is at Group·(l·ByteColumns + j) + h.
// Places of b come in panels of ByteColumns columns: element h of group l of column j is at Group·(l·ByteColumns + j) + h.
type Bytes[T int8 | int16] struct {
	group int
	widen func(dst *T, src *uint8, n, flip, zero int)
	join  func(dst *T, src *uint8, offs *int, groups, panels, flip int, zero *T, step int)
	tiles []byteTile[T] // the taller ones first
}

type byteTile[T int8 | int16] struct {
	rows int
	f    func(c *int32, ldc int, a *T, lda int, b *T, groups, times, add, cStep, aStep, bStep int)
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

// Tiles sets c[i·ldc + j], or adds to it, the sum of the products of k elements of row i of a, at i·lda, and of column j of the panels b. k is a
// multiple of Group and not 0. It panics when an index is out of range. Nothing interrupts it: m·panels·k must be small.
func (p *Bytes[T]) Tiles(c []int32, ldc int, a []T, lda int, b []T, m, panels, k int, add bool) {
	if m <= 0 || panels <= 0 {
		return
	}
	if k <= 0 || k%p.group != 0 || min(ldc, lda) < 0 || exceeds(len(c), m, ldc, panels, ByteColumns, ByteColumns) ||
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
				t.f(&c[r*ldc], ldc, &a[r*lda], lda, &b[0], k/p.group, panels, mode, ByteColumns, 0, k*ByteColumns)
				r += t.rows
			}
			continue
		}
		for j := range panels { // down the rows
			t.f(&c[r*ldc+j*ByteColumns], ldc, &a[r*lda], lda, &b[j*k*ByteColumns], k/p.group, times, mode, t.rows*ldc, t.rows*lda, 0)
		}
		r += times * t.rows
	}
}
