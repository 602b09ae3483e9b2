// Package conv moves and converts rows of elements. It packs a strided block into dense memory, spreads
// such memory over a strided block, copies one strided block to another, widens narrow floats and narrows
// them again. It knows slices and strides, no tensors.
package conv

import (
	"sync"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
)

// Block is rows × cols elements of a slice: element (i, j) is at Off + i·Row + j·Col.
type Block struct {
	Off, Rows, Row, Cols, Col int
}

// Dense reports whether the block is one contiguous run of elements.
func (b Block) Dense() bool {
	return (b.Col == 1 || b.Cols == 1) && (b.Rows == 1 || b.Row == b.Cols)
}

// empty says that Off and the strides mean nothing.
func (b Block) empty() bool { return b.Rows == 0 || b.Cols == 0 }

// Pack copies a block of src into dst, row by row. dst has Rows·Cols elements.
func Pack[T any](dst, src []T, b Block) {
	switch {
	case b.empty():
	case b.Col == 1:
		for i, off := 0, b.Off; i < b.Rows; i, off = i+1, off+b.Row {
			copy(dst[i*b.Cols:(i+1)*b.Cols], src[off:off+b.Cols])
		}
	case b.Col == 0:
		for i, off := 0, b.Off; i < b.Rows; i, off = i+1, off+b.Row {
			Fill(dst[i*b.Cols:(i+1)*b.Cols], src[off])
		}
	default:
		Copy2(dst, src, Block{0, b.Rows, b.Cols, b.Cols, 1}, b, false)
	}
}

// Spread is the inverse of Pack: it copies src, row by row, to a block of dst.
func Spread[T any](dst, src []T, b Block) {
	if b.Col == 1 && !b.empty() {
		for i, off := 0, b.Off; i < b.Rows; i, off = i+1, off+b.Row {
			copy(dst[off:off+b.Cols], src[i*b.Cols:(i+1)*b.Cols])
		}
		return
	}
	Copy2(dst, src, b, Block{0, b.Rows, b.Cols, b.Cols, 1}, false)
}

// Fill sets every element of dst to v.
func Fill[T any](dst []T, v T) {
	if len(dst) < 32 {
		for i := range dst {
			dst[i] = v
		}
		return
	}
	for i := range 16 {
		dst[i] = v
	}
	for n := 16; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// Copy2 copies a block of src to a block of dst with as many rows and columns. A transposing copy goes in
// squares, so that the cache lines of both sides are used up while they are in the cache.
func Copy2[T any](dst, src []T, d, s Block, stream bool) {
	if d.empty() {
		return
	}
	if d.Col == 1 && s.Col == 1 {
		copySpans(dst, src, d, s, stream)
		return
	}
	switch {
	case d.Col == 1 && turn(dst, d.Off, d.Row, src, s.Off, s.Col, s.Row, d.Cols, d.Rows),
		d.Row == 1 && turn(dst, d.Off, d.Col, src, s.Off, s.Row, s.Col, d.Rows, d.Cols):
		return
	}
	const side = 16
	if d.Rows < 4 || d.Col == 1 && s.Col == -1 {
		for i := range d.Rows {
			copyRow(dst, src, d.Off+i*d.Row, s.Off+i*s.Row, d.Cols, d.Col, s.Col)
		}
		return
	}
	for i0 := 0; i0 < d.Rows; i0 += side {
		rows := min(side, d.Rows-i0)
		for j0 := 0; j0 < d.Cols; j0 += side {
			cols := min(side, d.Cols-j0)
			for i := i0; i < i0+rows; i++ {
				copyRow(dst, src, d.Off+i*d.Row+j0*d.Col, s.Off+i*s.Row+j0*s.Col, cols, d.Col, s.Col)
			}
		}
	}
}

// turn copies src[from+i·lds+j·step] to dst[to+j·ldd+i] for i < m and j < n, if there is a kernel for it.
func turn[T any](dst []T, to, ldd int, src []T, from, lds, step, m, n int) bool {
	var t T
	if m < 4 || n < 4 || step != 1 && step != -1 {
		return false
	}
	if step == -1 { // from the last j on
		to, ldd, from = to+(n-1)*ldd, -ldd, from-(n-1)
	}
	switch unsafe.Sizeof(t) {
	case 1:
		return turnSquares(simd.Transpose8.Best(), words[uint8](dst), to, ldd, words[uint8](src), from, lds, m, n)
	case 2:
		return turnSquares(simd.Transpose16.Best(), words[uint16](dst), to, ldd, words[uint16](src), from, lds, m, n)
	case 4:
		return turnBy(simd.Transpose32.Best(), words[uint32](dst), to, ldd, words[uint32](src), from, lds, m, n)
	case 8:
		return turnBy(simd.Transpose64.Best(), words[uint64](dst), to, ldd, words[uint64](src), from, lds, m, n)
	}
	return false
}

// Memory returns the bytes of s, whose type must hold no pointers.
func Memory[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size[T]())
}

func words[W, T any](s []T) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// Copies that don't stay in the second-level cache write a strip of dst in order, a few cache lines wide.
// The stores are non-temporal if they cover whole lines.
const (
	turnLarge = 1 << 20 // bytes
	turnStrip = 64      // rows of dst
)

func turnBy[T uint32 | uint64](k *simd.Transposition[T], dst []T, to, ldd int, src []T, from, lds, m, n int) bool {
	if k == nil || lds < 0 || ldd < 0 {
		return false
	}
	dst, src = dst[to:], src[from:]
	var t T
	side, size := k.Side(), int(unsafe.Sizeof(t))
	strip, ahead, stream := n, 0, false
	if m*n*size >= turnLarge {
		strip, ahead = turnStrip, 2*side*lds
		stream = LineAligned(dst) && ldd%side == 0
	}
	for j := 0; j < n; j += strip {
		w := min(strip, n-j)
		for i := 0; i < m; i += side {
			k.Rows(dst[j*ldd+i:], ldd, src[i*lds+j:], lds, min(side, m-i), w, ahead, stream)
		}
	}
	if stream {
		simd.Fence()
	}
	return true
}

// turnSquares is turnBy for narrow elements, in squares of their kernel. Whole cache lines are copied to
// and from a buffer, as pieces of lines a page apart would push each other out of the first-level cache.
// Either stride may be negative.
func turnSquares[T uint8 | uint16](k *simd.NarrowTransposition[T], dst []T, to, ldd int, src []T, from, lds, m, n int) bool {
	if k == nil || m < k.Side() || n < k.Side() {
		return false
	}
	side := k.Side()
	rows, cols := m-m%side, n-n%side
	buffers := turnBuffers.Get().(*[2][turnSide * turnSide]uint8)
	edge := turnSide * side / 16 // the elements of turnSide bytes
	in, out := words[T](buffers[0][:edge*edge]), words[T](buffers[1][:edge*edge])
	for i := 0; i < rows; i += edge {
		h := min(edge, rows-i)
		for j := 0; j < cols; j += edge {
			w := min(edge, cols-j)
			for r := range h {
				copy(in[r*edge:r*edge+w], src[from+(i+r)*lds+j:])
			}
			for r := 0; r < h; r += side {
				k.Rows(out[r:], edge, in[r*edge:], edge, w)
			}
			for c := range w {
				copy(dst[to+(j+c)*ldd+i:][:h], out[c*edge:])
			}
		}
	}
	turnBuffers.Put(buffers)
	for i := range m { // the elements beside the squares
		first := cols
		if i >= rows {
			first = 0
		}
		for j := first; j < n; j++ {
			dst[to+j*ldd+i] = src[from+i*lds+j]
		}
	}
	return true
}

const turnSide = 128 // rows of a buffer, of bytes, and bytes of a row

var turnBuffers = sync.Pool{New: func() any { return new([2][turnSide * turnSide]uint8) }}

func copyRow[T any](dst, src []T, d, s, n, dstep, sstep int) {
	if dstep == 1 {
		row := dst[d : d+n]
		if sstep == -1 && n > 0 {
			backward(row, src[s-n+1:s+1])
			return
		}
		if sstep == 2 && n >= 8 {
			Every(row, src[s:], 2)
			return
		}
		for j := range row {
			row[j] = src[s]
			s += sstep
		}
		return
	}
	for range n {
		dst[d] = src[s]
		d += dstep
		s += sstep
	}
}

// Every copies each step-th element of src, from the first on, to dst. step is positive.
func Every[T any](dst, src []T, step int) {
	if step == 1 {
		copy(dst, src[:len(dst)])
		return
	}
	i := 0
	if step == 2 && size[T]() == 4 { // an element is half a word of 8 bytes
		if n := min(len(dst), len(src)/2); n >= 8 && simd.TryHalvesU64(words[uint32](dst[:n]), unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(src))), n)) {
			i = n
		}
	}
	for at := i * step; i < len(dst); i++ {
		dst[i] = src[at]
		at += step
	}
}

// As returns s as a slice of another element type of the same size, with its capacity. It panics when the
// sizes differ. The types must hold no pointers, like all of num.Elem.
func As[To, From num.Elem](s []From) []To {
	var t To
	var f From
	if unsafe.Sizeof(t) != unsafe.Sizeof(f) {
		panic("conv.As: element sizes differ")
	}
	return *(*[]To)(unsafe.Pointer(&s))
}

// Parts returns complex numbers as a slice of their real and imaginary parts in turns. F is float32 for
// complex64 and float64 for complex128.
func Parts[F num.Float, C num.Complex](s []C) []F {
	var f F
	var c C
	if 2*unsafe.Sizeof(f) != unsafe.Sizeof(c) {
		panic("conv.Parts: no half of the element")
	}
	return unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(s))), 2*len(s))
}

// Carve cuts n elements of type T off the front of a byte scratch whose start is
// aligned for T, and moves the scratch on by a multiple of 64 bytes.
func Carve[T num.Elem](scratch *[]byte, n int) []T {
	var t T
	size := (n*int(unsafe.Sizeof(t)) + 63) &^ 63
	b := (*scratch)[:size]
	*scratch = (*scratch)[size:]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// Overlap reports whether the memory of two slices has a byte in common.
func Overlap[A, B any](a []A, b []B) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	lo, hi := addresses(a)
	from, to := addresses(b)
	return lo < to && from < hi
}

func addresses[T any](s []T) (lo, hi uintptr) {
	var t T
	lo = uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	return lo, lo + uintptr(len(s))*unsafe.Sizeof(t)
}

// LineAligned reports whether a slice starts at a multiple of 64 bytes.
func LineAligned[T any](s []T) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(s)))%64 == 0
}

// Same reports whether two slices start at the same address.
func Same[A, B any](a []A, b []B) bool {
	return unsafe.Pointer(unsafe.SliceData(a)) == unsafe.Pointer(unsafe.SliceData(b))
}
