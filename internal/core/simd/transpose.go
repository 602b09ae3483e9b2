package simd

import "unsafe"

// A Transposition copies elements of 4 or 8 bytes from rows to columns.
type Transposition[T uint32 | uint64] struct {
	side          int // most rows of a call
	plain, stream func(dst *T, ldd int, src *T, lds, m, n, ahead int)
}

// Side returns the most rows that Rows takes.
func (t *Transposition[T]) Side() int { return t.side }

// Rows copies src[i*lds+j] to dst[j*ldd+i] for i < m ≤ Side and j < n. Each load prefetches the memory ahead elements after it; that memory need not
// exist. With stream its stores are non-temporal, and the caller calls Fence after it. Then m is Side, and every dst[j*ldd] is aligned to 64 bytes.
// NEON has neither, and ignores both. It panics when an index is out of range. Strides must not be negative.
func (t *Transposition[T]) Rows(dst []T, ldd int, src []T, lds, m, n, ahead int, stream bool) {
	if m <= 0 || n <= 0 {
		return
	}
	if m > t.side || min(ldd, lds) < 0 {
		panic("simd.Transposition.Rows: extents out of range")
	}
	_, _ = dst[(n-1)*ldd+m-1], src[(m-1)*lds+n-1]
	f := t.plain
	if stream && m == t.side {
		f = t.stream
	}
	f(&dst[0], ldd, &src[0], lds, m, n, ahead*int(unsafe.Sizeof(dst[0])))
}

// A NarrowTransposition copies squares of elements of 1 or 2 bytes from rows to columns.
type NarrowTransposition[T uint8 | uint16] struct {
	side int
	rows func(dst *T, ldd int, src *T, lds, n int)
}

// Side returns the number of rows that Rows takes.
func (t *NarrowTransposition[T]) Side() int { return t.side }

// Rows copies src[i*lds+j] to dst[j*ldd+i] for i < Side and j < n, a multiple of Side. It panics when an index is out of range. Strides must not
// be negative.
func (t *NarrowTransposition[T]) Rows(dst []T, ldd int, src []T, lds, n int) {
	if n <= 0 {
		return
	}
	if n%t.side != 0 || min(ldd, lds) < 0 {
		panic("simd.NarrowTransposition.Rows: extents out of range")
	}
	_, _ = dst[(n-1)*ldd+t.side-1], src[(t.side-1)*lds+n-1]
	t.rows(&dst[0], ldd, &src[0], lds, n)
}
