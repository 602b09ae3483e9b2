package simd

// PackedRows is how many rows a product of blocks takes at a time.
const PackedRows = 16

// Packed holds the kernels of a block type of GGUF files at one level. The bits are those of the definitions in package pack.
type Packed struct {
	len, size int // elements and bytes of a block
	unpack    func(dst *float32, b *byte, blocks int)
	dot       func(sums *PackedSums, x *float32, b *byte, stride, blocks int, next uintptr)
}

// PackedSums are the sums of a product, and behind them room for the kernel.
type PackedSums = [PackedRows + 256]float32

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
