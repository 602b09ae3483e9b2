package simd

import "unsafe"

// PackedRows is how many rows a product of blocks takes at a time, PackedMany how many one of PackedStep elements takes.
const (
	PackedRows = 16
	PackedMany = 64
	PackedStep = 256
)

// Packed holds the kernels of a block type of GGUF files, or of codes of 4 bits, at one level. The bits are those of the definitions in
// package pack and of op.MatMulNBits.
type Packed struct {
	len, size int // elements and bytes of a block
	unpack    func(dst *float32, b *byte, blocks int)
	dot       func(sums *PackedSums, x *float32, b *byte, stride, blocks int, next uintptr)
	turn      func(dst *float32, b *byte, stride, columns int) // nil: there are no kernels of PackedMany rows
	dots      func(sums, x, room *float32, next uintptr, stride int)
}

// PackedSums are the sums of a product, and behind the first PackedRows room for the kernel of so many.
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

// Dot sets sums[i] = fma(x[l], w, sums[i]) for each l < len(x) in order, where w is element l of row i: of PackedRows rows in blocks,
// stride bytes apart. len(x) is a multiple of a block's elements. NaNs stay as they come. It prefetches lines from next on, as many as it
// reads; that memory may be nobody's. Nothing interrupts it: len(x) is to be small.
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

// Few reports whether there is Dot, Many whether there are Turn and Dots.
func (p *Packed) Few() bool  { return p.dot != nil }
func (p *Packed) Many() bool { return p.turn != nil }

// Columns is how many columns of 16 bytes Turn is to turn for Dots.
func (p *Packed) Columns() int { return PackedStep / p.len * p.size / 16 }

// Turn sets dst[PackedMany·d+i] to the dword d of row i, of PackedMany rows that are stride bytes apart, and of so many columns of 16 bytes.
func (p *Packed) Turn(dst []float32, b []byte, stride, columns int) {
	if stride < 0 || columns < 1 {
		panic("simd.Packed.Turn: extents out of range")
	}
	_, _ = dst[PackedMany*4*columns-1], b[(PackedMany-1)*stride+16*columns-1]
	p.turn(&dst[0], &b[0], stride, columns)
}

// TurnFloats is Turn of float32s, stride of them apart.
func (p *Packed) TurnFloats(dst, a []float32, stride, columns int) {
	p.Turn(dst, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), 4*len(a)), 4*stride, columns)
}

// Dots is Dot of PackedMany rows and PackedStep elements, whose turned bytes begin room. Behind those of PackedNibbles are the scales of
// eight times 32 elements, and behind these a dword of eight zero points for each row. It prefetches as many bytes of rows that begin at
// next, stride bytes apart.
func (p *Packed) Dots(sums *PackedSums, x []float32, room *PackedRoom, next uintptr, stride int) {
	_ = x[PackedStep-1]
	p.dots(&sums[0], &x[0], &room[0], next, stride)
}
