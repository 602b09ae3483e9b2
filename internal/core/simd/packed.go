package simd

import "unsafe"

// PackedRows is the number of rows of a product of blocks, and PackedMany the number of rows of a product of PackedStep elements.
const (
	PackedRows = 16
	PackedMany = 64
	PackedStep = 256
)

// Packed holds the kernels of a block type of GGUF files, or of codes of 4 bits, at one level. They give the same bits as the definitions in
// package pack and of op.MatMulNBits.
type Packed struct {
	len, size int // elements and bytes of a block
	unpack    func(dst *float32, b *byte, blocks int)
	dot       func(sums *PackedSums, x *float32, b *byte, stride, blocks int, next uintptr)
	turn      func(dst *float32, b *byte, stride, columns int) // nil where there are no kernels of PackedMany rows
	dots      func(sums, x, room *float32, next uintptr, stride int)
}

// PackedSums are the sums of a product. Behind the first PackedRows there is room for the kernel of that number of rows.
type PackedSums = [PackedRows + 256]float32

// PackedRoom has room for the result of Turn on the longest blocks, and for the scales behind it.
type PackedRoom = [PackedMany * PackedStep * 34 / 32 / 4]float32

// Unpack sets dst to the elements of whole blocks. NaNs are the canonical one.
func (p *Packed) Unpack(dst []float32, b []byte) {
	blocks := len(dst) / p.len
	if blocks == 0 {
		return
	}
	_ = b[blocks*p.size-1]
	p.unpack(&dst[0], &b[0], blocks)
}

// Dot sets sums[i] = fma(x[l], w, sums[i]) for each l < len(x) in order. w is element l of row i, of PackedRows rows in blocks, stride bytes
// apart. len(x) is a multiple of the elements of a block. NaNs aren't made canonical. It prefetches as many cache lines as it reads, from
// next on; that memory need not exist. Nothing interrupts it: len(x) must be small.
func (p *Packed) Dot(sums *PackedSums, x []float32, b []byte, stride int, next uintptr) {
	blocks := len(x) / p.len
	if len(x)%p.len != 0 || stride < 0 {
		panic("simd.Packed.Dot: extents out of range")
	}
	if blocks == 0 {
		return
	}
	_ = b[(PackedRows-1)*stride+blocks*p.size-1]
	p.dot(sums, &x[0], &b[0], stride, blocks, next)
}

// Few reports whether there is a kernel for Dot, Many whether there are kernels for Turn and Dots.
func (p *Packed) Few() bool  { return p.dot != nil }
func (p *Packed) Many() bool { return p.turn != nil }

// Columns returns the number of columns of 16 bytes that Turn must turn for Dots.
func (p *Packed) Columns() int { return PackedStep / p.len * p.size / 16 }

// Turn sets dst[PackedMany·d+i] to the dword d of row i, of PackedMany rows, stride bytes apart. It takes a number of columns of 16 bytes.
func (p *Packed) Turn(dst []float32, b []byte, stride, columns int) {
	if stride < 0 || columns < 1 {
		panic("simd.Packed.Turn: extents out of range")
	}
	_, _ = dst[PackedMany*4*columns-1], b[(PackedMany-1)*stride+16*columns-1]
	p.turn(&dst[0], &b[0], stride, columns)
}

// TurnFloats is Turn for float32. stride counts float32.
func (p *Packed) TurnFloats(dst, a []float32, stride, columns int) {
	p.Turn(dst, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), 4*len(a)), 4*stride, columns)
}

// Dots is Dot for PackedMany rows and PackedStep elements. The turned bytes begin room. For PackedNibbles the scales of eight times 32
// elements are behind these, and then a dword of eight zero points for each row. Dots prefetches as many bytes of rows that begin at next,
// stride bytes apart.
func (p *Packed) Dots(sums *PackedSums, x []float32, room *PackedRoom, next uintptr, stride int) {
	_ = x[PackedStep-1]
	p.dots(&sums[0], &x[0], &room[0], next, stride)
}
