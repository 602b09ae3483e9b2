package simd

import (
	mathbits "math/bits"
	"unsafe"
)

// A Product holds the kernels of a matrix product of one element type at one level. They compute sums of at most one block of k, in the order
// that float.FMABlock32 and FMABlock64 define, and store NaNs as the canonical one.
type Product[T float32 | float64] struct {
	lanes   int                                                                        // of a vector
	tiles   []tiles[T]                                                                 // by vectors in a row less one
	wide    *tiles[T]                                                                  // of one vector more; whole vectors for TilesOfTaps. May be nil
	stream  [2]rowFunc[T]                                                              // of 8 rows and of 1
	windows func(dst *T, ldd int, src *T, lds int, a *T, offs *int, taps, rows, n int) // may be nil
	dots    func(c, a *T, lda int, x *T, k int)
	panel   func(c, a *T, aStep int, b *T, n, k, add int)
	chains  func(c, a *T, lda int, b *T, ldb, n, k int)
	deep    func(c *T, ldc int, a *T, aRow int, offs *int, taps int, b *T, ldb, m, n, mode int, more *T)
	pairs   func(c, a *T, lda int, b *T, ldb, k int) // may be nil
	gather  func(dst *T, ldd int, src *T, offs *int, rows, n int)
	masks   bool // gather takes any n, else the n of the largest tile
	probe   func(n int)
}

type (
	tileFunc[T any] func(c *T, ldc int, a *T, aRow, aCol int, b *T, ldb, n, k, times, rows, mode int, more *T, offs *int)
	rowFunc[T any]  func(c *T, a *T, aStep int, b *T, offs *int, n int)
)

// tiles are tiles of at most some rows.
type tiles[T any] struct {
	most int
	by   tileFunc[T]
}

// Mode is the use that Tiles makes of its sums.
type Mode int

const (
	StoreSums  Mode = iota // c = sum
	AddSums                // c = c + sum
	StreamSums             // c = sum by non-temporal stores: the rows of a tile are whole vectors aligned to 64 bytes; call Fence after
)

// Steps that TilesOfTaps does after the sums.
const (
	PlusBias Mode = 4 << iota // c = c + bias
	Rectify                   // c = c > 0 ? c : +0; NaN stays
)

// Columns returns the number of columns of the widest tile, and of a vector.
func (p *Product[T]) Columns() (most, lanes int) { return len(p.tiles) * p.lanes, p.lanes }

// Rows returns the most rows of a tile of n columns.
func (p *Product[T]) Rows(n int) int { return p.tiles[(n-1)/p.lanes].most }

// Tiles computes m by n sums over k products of a[i*aRow+l*aCol] and b[l*ldb+j], into c[i*ldc+j]. n is within the widest tile. It panics when an
// index is out of range, and reads and writes nothing else. Strides must not be negative. Nothing interrupts it, not even the collector, so m·k
// must be small.
func (p *Product[T]) Tiles(c []T, ldc int, a []T, aRow, aCol int, b []T, ldb, m, n, k int, mode Mode) {
	if n <= 0 || n > len(p.tiles)*p.lanes || m <= 0 || min(ldc, aRow, aCol, ldb, k) < 0 || exceeds(len(c), m, ldc, 1, 0, n) ||
		k > 0 && (exceeds(len(a), m, aRow, k, aCol, 1) || exceeds(len(b), k, ldb, 1, 0, n)) {
		panic("simd.Product.Tiles: extents out of range")
	}
	var ap, bp *T
	if k > 0 {
		ap, bp = &a[0], &b[0]
	}
	t := &p.tiles[(n-1)/p.lanes]
	rows, times, fewer := inTiles(m, t.most)
	t.by(&c[0], ldc, ap, aRow, aCol, bp, ldb, n, k, times, rows, int(mode), nil, nil)
	if done := times * rows; fewer > 0 {
		if k > 0 {
			ap = &a[done*aRow]
		}
		t.by(&c[done*ldc], ldc, ap, aRow, aCol, bp, ldb, n, k, fewer, rows-1, int(mode), nil, nil)
	}
}

// TapColumns returns the number of columns of the widest tile of TilesOfTaps.
func (p *Product[T]) TapColumns() int {
	if p.wide == nil {
		return len(p.tiles) * p.lanes
	}
	return (len(p.tiles) + 1) * p.lanes
}

// TilesOfTaps is Tiles for elements of a that a list says: step l takes a[i*aRow+offs[l]]. The offsets are from 0 to most. bias has n elements if
// mode has PlusBias. Besides, it prefetches elements from next on, but not for NEON, and returns those that are left.
func (p *Product[T]) TilesOfTaps(c []T, ldc int, a []T, aRow int, offs []int, most int, b []T, ldb int, bias, next []T, m, n int, mode Mode) (left []T) {
	k := len(offs)
	if n <= 0 || n > p.TapColumns() || m <= 0 || k == 0 || min(ldc, aRow, ldb, most) < 0 || exceeds(len(c), m, ldc, 1, 0, n) ||
		exceeds(len(a), m, aRow, 2, most, 1) || exceeds(len(b), k, ldb, 1, 0, n) {
		panic("simd.Product.TilesOfTaps: extents out of range")
	}
	var more *T
	if mode&PlusBias != 0 {
		_ = bias[n-1]
		more = &bias[0]
	}
	vectors, t := (n+p.lanes-1)/p.lanes, p.wide
	if vectors <= len(p.tiles) {
		t = &p.tiles[vectors-1]
	} else if w := len(p.tiles) * p.lanes; n < w+p.lanes { // the last vector isn't whole
		next = p.TilesOfTaps(c, ldc, a, aRow, offs, most, b, ldb, bias, next, m, w, mode)
		return p.TilesOfTaps(c[w:], ldc, a, aRow, offs, most, b[w:], ldb, bias[min(w, len(bias)):], next, m, n-w, mode)
	}
	rows, times, fewer := inTiles(m, t.most)
	each := 2 * vectors * p.lanes * ((k - 1) / 16) // of a tile
	ahead := func(tiles int) (at int) {
		if len(next) > 0 {
			at = int(uintptr(unsafe.Pointer(&next[0])))
		}
		next = next[min(tiles*each, len(next)):]
		return at
	}
	t.by(&c[0], ldc, &a[0], aRow, ahead(times), &b[0], ldb, n, k, times, rows, int(mode), more, &offs[0])
	if done := times * rows; fewer > 0 {
		t.by(&c[done*ldc], ldc, &a[done*aRow], aRow, ahead(fewer), &b[0], ldb, n, k, fewer, rows-1, int(mode), more, &offs[0])
	}
	return next
}

// exceeds reports whether an index i·row + l·col + j with i < rows, l < cols and j < n is beyond the length of a slice. No argument may be
// negative, and rows, cols and n not 0.
func exceeds(length, rows, row, cols, col, n int) bool {
	more, i := mathbits.Mul64(uint64(rows-1), uint64(row))
	most, l := mathbits.Mul64(uint64(cols-1), uint64(col))
	last, carry := mathbits.Add64(i, l, 0)
	return more|most|carry != 0 || last >= uint64(length) || uint64(length)-last < uint64(n)
}

// inTiles divides m rows among tiles of at most most rows: times tiles of rows rows, and fewer tiles of one row less.
func inTiles(m, most int) (rows, times, fewer int) {
	if m <= most {
		return m, 1, 0
	}
	tiles := (m + most - 1) / most
	rows = (m + tiles - 1) / tiles
	times = m - tiles*(rows-1)
	return rows, times, tiles - times
}

// AddRows sets c[j] = fma(a[l*aStep], b[offs[l]+j], c[j]) for each l in order, and j < len(c). NaNs aren't made canonical. The offsets are from
// 0 to most, and aStep must not be negative. It panics when an index is out of range.
func (p *Product[T]) AddRows(c, a []T, aStep int, b []T, offs []int, most int) {
	k := len(offs)
	if k == 0 || len(c) == 0 {
		return
	}
	if min(aStep, most) < 0 {
		panic("simd.Product.AddRows: negative stride")
	}
	_, _ = a[(k-1)*aStep], b[most+len(c)-1]
	l := 0
	for ; l+8 <= k; l += 8 {
		p.stream[0](&c[0], &a[l*aStep], aStep, &b[0], &offs[l], len(c))
	}
	for ; l < k; l++ {
		p.stream[1](&c[0], &a[l*aStep], aStep, &b[0], &offs[l], len(c))
	}
}

// Windows computes rows of n sums, each of the elements in its window: dst[i*ldd+j] is a chain acc = fma(a[l], src[i*lds+offs[l]+j], acc) over l
// in order, from +0. NaNs aren't made canonical. It reports false where there is no kernel. The offsets are from 0 to most, and strides must not
// be negative. It panics when an index is out of range. Nothing interrupts it: rows·n·len(offs) must be small.
func (p *Product[T]) Windows(dst []T, ldd int, src []T, lds int, a []T, offs []int, most, rows, n int) bool {
	if p.windows == nil {
		return false
	}
	if rows <= 0 || n <= 0 || len(offs) == 0 || min(ldd, lds, most) < 0 || most >= len(src) ||
		exceeds(len(dst), rows, ldd, 1, 0, n) || exceeds(len(src)-most, rows, lds, 1, 0, n) {
		panic("simd.Product.Windows: extents out of range")
	}
	_ = a[len(offs)-1]
	p.windows(&dst[0], ldd, &src[0], lds, &a[0], &offs[0], len(offs), rows, n)
	return true
}

// Dots sets c[i] = fma(a[i*lda+l], x[l], c[i]) for each l < len(x) in order and each i of a vector. The length of x is a multiple of the lanes of
// a vector. NaNs aren't made canonical. It panics when an index is out of range. lda must not be negative.
func (p *Product[T]) Dots(c, a []T, lda int, x []T) {
	if len(c) != p.lanes || len(x)%p.lanes != 0 || lda < 0 {
		panic("simd.Product.Dots: extents out of range")
	}
	if len(x) == 0 {
		return
	}
	_ = a[(len(c)-1)*lda+len(x)-1]
	p.dots(&c[0], &a[0], lda, &x[0], len(x))
}

// PanelColumns returns how many columns a panel of Panel has where n are left: those of eight vectors, four, two or one. It is 0 if n is less
// than a vector.
func (p *Product[T]) PanelColumns(n int) int {
	cols := 8 * p.lanes
	for cols > n && cols > p.lanes {
		cols /= 2
	}
	if cols > n {
		return 0
	}
	return cols
}

// Panel computes one row of len(c) sums over k products of a[l*aStep] and b[l*len(c)+j], and stores them as mode says: StoreSums or AddSums.
// The length of c is one of PanelColumns. NaNs aren't made canonical. It panics when an index is out of range. aStep must not be negative.
// Nothing interrupts it: k must be small.
func (p *Product[T]) Panel(c, a []T, aStep int, b []T, k int, mode Mode) {
	if n := len(c); n == 0 || n != p.PanelColumns(n) || k <= 0 || aStep < 0 || exceeds(len(a), k, aStep, 1, 0, 1) || exceeds(len(b), k, n, 1, 0, n) || mode > AddSums {
		panic("simd.Product.Panel: extents out of range")
	}
	p.panel(&c[0], &a[0], aStep, &b[0], len(c), k, int(mode))
}

// Chains sets c[j] = fma(a[l*lda+j], b[l*ldb+j], c[j]) for each l < k in order, and j < len(c). NaNs aren't made canonical. It panics when an
// index is out of range. lda and ldb must not be negative. Nothing interrupts it: len(c)·k must be small.
func (p *Product[T]) Chains(c, a []T, lda int, b []T, ldb, k int) {
	n := len(c)
	if n == 0 || k == 0 {
		return
	}
	if min(lda, ldb, k) < 0 || exceeds(len(a), k, lda, 1, 0, n) || exceeds(len(b), k, ldb, 1, 0, n) {
		panic("simd.Product.Chains: extents out of range")
	}
	p.chains(&c[0], &a[0], lda, &b[0], ldb, n, k)
}

// Deep computes m by n sums that lie side by side, each of its own products.
//
//	c[i*ldc+j] = acc: acc = +0, then acc = fma(a[i*aRow+offs[l]+j], b[l*ldb+j], acc) for each l in order
//
// mode is StoreSums with the steps of TilesOfTaps. bias has n elements if mode has PlusBias. c may not share memory
// with others: some sums are stored twice. The offsets are from 0 to most. It panics when an index is out of range. Strides must not be
// negative. Nothing interrupts it: m·n·len(offs) must be small.
func (p *Product[T]) Deep(c []T, ldc int, a []T, aRow int, offs []int, most int, b []T, ldb int, bias []T, m, n int, mode Mode) {
	taps := len(offs)
	if n <= 0 || m <= 0 || taps == 0 || min(ldc, aRow, ldb, most) < 0 || mode&(AddSums|StreamSums) != 0 || exceeds(len(c), m, ldc, 1, 0, n) ||
		exceeds(len(a), m, aRow, 2, most, n) || exceeds(len(b), taps, ldb, 1, 0, n) {
		panic("simd.Product.Deep: extents out of range")
	}
	var more *T
	if mode&PlusBias != 0 {
		_ = bias[n-1]
		more = &bias[0]
	}
	p.deep(&c[0], ldc, &a[0], aRow, &offs[0], taps, &b[0], ldb, m, n, int(mode), more)
}

// Pairs sets c[i] = fma(a[i*lda+l], b[i*ldb+l], c[i]) for each l < steps in order, and i < rows. It takes whole vectors of sums and of columns, and
// returns their numbers, 0 where there is no kernel. NaNs aren't made canonical. It panics when an index is out of range. lda and ldb must not be
// negative. Nothing interrupts it: len(c)·k must be small.
func (p *Product[T]) Pairs(c, a []T, lda int, b []T, ldb, k int) (rows, steps int) {
	rows, steps = len(c)/p.lanes*p.lanes, k/p.lanes*p.lanes
	if rows == 0 || steps <= 0 {
		return 0, 0
	}
	if min(lda, ldb) < 0 || exceeds(len(a), rows, lda, 1, 0, steps) || exceeds(len(b), rows, ldb, 1, 0, steps) {
		panic("simd.Product.Pairs: extents out of range")
	}
	if p.pairs == nil {
		return 0, 0
	}
	for i := 0; i < rows; i += p.lanes {
		p.pairs(&c[i], &a[i*lda], lda, &b[i*ldb], ldb, steps)
	}
	return rows, steps
}

// Gather copies src[offs[i]+j] to dst[i*ldd+j] for j < n. n is at most the number of columns of the largest tile. The offsets are from 0 to most.
// It panics when an offset or an index of dst is out of range.
func (p *Product[T]) Gather(dst []T, ldd int, src []T, offs []int, most, n int) {
	if len(offs) == 0 || n <= 0 {
		return
	}
	if n > len(p.tiles)*p.lanes || min(ldd, most) < 0 {
		panic("simd.Product.Gather: extents out of range")
	}
	_, _ = dst[(len(offs)-1)*ldd+n-1], src[most+n-1]
	if !p.masks && n < len(p.tiles)*p.lanes {
		for i, at := range offs {
			copy(dst[i*ldd:i*ldd+n], src[at:at+n])
		}
		return
	}
	p.gather(&dst[0], ldd, &src[0], &offs[0], len(offs), n)
}

// Probe runs n times 48 vectors of fused steps that stay in registers, and returns the number of steps of one element.
// Their speed is the limit that benchmarks compare products with.
func (p *Product[T]) Probe(n int) (steps int) {
	p.probe(n)
	return n * 48 * p.lanes
}
