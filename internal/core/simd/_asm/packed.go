package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writePacked writes kernels for the block types Q4_0, Q8_0 and Q4_K of GGUF files with AVX2. They serve AVX-512 as well. One function
// unpacks blocks, and one multiplies 16 rows of blocks by a vector.
func writePacked(c *build.Context) {
	word := func(name string, v uint32) op.Mem {
		m := c.StaticGlobal(name)
		c.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 8 {
			c.AddDatum(4*i, op.U32(v))
		}
		return m
	}
	p := &packed{product: &product{Context: c, target: target{size: 4, width: 32}}, flip: word("packedFlip", 0x88888888), fours: word("packedFours", 15),
		sixes: word("packedSixes", 63), upper: word("packedUpper", 0x30), halves: word("packedHalves", 0xffff), nan: word("packedNaN", 0x7fc00000)}
	for _, f := range []packedFormat{
		{"Q4_0", 32, 18, 2, p.stepsQ4_0, p.unpackQ4_0},
		{"Q8_0", 32, 34, 2, p.stepsQ8_0, p.unpackQ8_0},
		{"Q4_K", 256, 144, 16, p.stepsQ4_K, p.unpackQ4_K},
	} {
		p.dot(f)
		p.unpack(f)
	}
}

// A packedFormat is a format of blocks: the elements and bytes of a block, the first byte of its codes, and the bodies of the loops over
// them.
type packedFormat struct {
	name             string
	len, bytes, from int
	steps, unpack    func()
}

// packed writes kernels of blocks. In a product, a lane has a row, so that the sum of a row is one chain. Eight rows are a half. Two
// halves take turns, as the fused steps of a chain wait for each other.
//
// The scale of a block has 11 bits, and codes have at most 10 together, so their products are exact in a float32. So a fused step for d·q
// − m rounds like the definition.
type packed struct {
	*product
	flip, fours, sixes, upper, halves, nan op.Mem
}

// The registers of a product: rows are at at[i/4] + i%4·stride.
var (
	packedAt      = []reg.GPPhysical{reg.RSI, reg.R8, reg.R9, reg.R10}
	packedX       = reg.RDI
	packedSums    = reg.RAX // and behind its 16 sums room for 256 numbers
	packedStride  = reg.RBX
	packedStride3 = reg.RDX
)

// packedRow returns the address of byte disp of the block of row i.
func packedRow(i, disp int) op.Mem {
	m := op.Mem{Base: packedAt[i/4], Disp: disp}
	switch i % 4 {
	case 1, 2:
		m.Index, m.Scale = packedStride, uint8(i%4)
	case 3:
		m.Index, m.Scale = packedStride3, 1
	}
	return m
}

// dot writes sums[i] = fma(x[l], w, sums[i]) for each l of some blocks in order. Here w is element l of row i, of 16 rows whose blocks
// begin at b, stride bytes apart. As many cache lines as it reads are prefetched, from next on.
func (p *packed) dot(f packedFormat) {
	p.Function("dot" + f.name + "AVX2")
	p.Attributes(attr.NOSPLIT)
	p.Pragma("noescape")
	p.SignatureExpr("func(sums *[272]float32, x *float32, b *byte, stride, blocks int, next uintptr)")
	blocks, next := reg.RCX, reg.R11
	p.Load(p.Param("sums"), packedSums)
	p.Load(p.Param("x"), packedX)
	p.Load(p.Param("b"), packedAt[0])
	p.Load(p.Param("stride"), packedStride)
	p.Load(p.Param("blocks"), blocks)
	p.Load(p.Param("next"), next)
	p.LEAQ(op.Mem{Base: packedStride, Index: packedStride, Scale: 2}, packedStride3)
	for i := range 3 {
		p.LEAQ(op.Mem{Base: packedAt[i], Index: packedStride, Scale: 4}, packedAt[i+1])
	}
	for h := range 2 {
		p.VMOVUPS(op.Mem{Base: packedSums, Disp: 32 * h}, p.sum(h))
	}
	p.Label("block")
	for x := 0; x < 16*f.bytes; x += 64 {
		p.PREFETCHT1(op.Mem{Base: next, Disp: x})
	}
	p.ADDQ(op.I32(int32(16*f.bytes)), next)
	f.steps()
	p.ADDQ(op.I32(int32(4*f.len)), packedX)
	for _, at := range packedAt {
		p.ADDQ(op.I32(int32(f.bytes)), at)
	}
	p.DECQ(blocks)
	p.JNZ(op.LabelRef("block"))
	for h := range 2 {
		p.VMOVUPS(p.sum(h), op.Mem{Base: packedSums, Disp: 32 * h})
	}
	p.VZEROUPPER()
	p.RET()
}

// sum is the register of the sums of a half. Each half has four registers of codes, the first ones. Then come the sums of both halves, the scales
// of both, and two free registers.
func (p *packed) sum(h int) reg.VecPhysical   { return p.vec(8 + h) }
func (p *packed) scale(h int) reg.VecPhysical { return p.vec(10 + h) }
func (p *packed) free(h int) reg.VecPhysical  { return p.vec(12 + h) }

// turned loads 16 bytes of each block, from byte disp on. Register 4h+j has the j-th four bytes of the rows of half h.
func (p *packed) turned(disp int) {
	for h := range 2 {
		for i := range 4 {
			p.VMOVDQU(packedRow(8*h+i, disp), p.vec(4*h+i).AsX())
			p.VINSERTI128(op.U8(1), packedRow(8*h+4+i, disp), p.vec(4*h+i), p.vec(4*h+i))
		}
	}
	for h := range 2 {
		a, b, c, d := p.vec(4*h), p.vec(4*h+1), p.vec(4*h+2), p.vec(4*h+3)
		s, t := p.vec(14), p.vec(15)
		p.VUNPCKLPS(b, a, s)
		p.VUNPCKHPS(b, a, t)
		p.VUNPCKLPS(d, c, a)
		p.VUNPCKHPS(d, c, d)
		p.VUNPCKHPD(a, s, b)
		p.VUNPCKLPD(a, s, a)
		p.VUNPCKLPD(d, t, c)
		p.VUNPCKHPD(d, t, d)
	}
}

// halfScales sets the scales to the float16 at the beginning of each block.
func (p *packed) halfScales() {
	for h := range 2 {
		x := p.free(h).AsX()
		p.VPXOR(x, x, x)
		for i := range 8 {
			p.VPINSRW(op.U8(uint8(i)), packedRow(8*h+i, 0), x, x)
		}
		p.VCVTPH2PS(x, p.scale(h))
	}
}

// signedSteps takes signed codes of bits bits, from bit first of register j of each half on. The first code is element l of the block.
func (p *packed) signedSteps(j, first, bits, l int) {
	x := p.vec(14)
	p.VBROADCASTSS(op.Mem{Base: packedX, Disp: 4 * l}, x)
	for h := range 2 {
		from, t := p.vec(4*h+j), p.free(h)
		if up := 32 - bits - first; up > 0 {
			p.VPSLLD(op.U8(uint8(up)), from, t)
			from = t
		}
		p.VPSRAD(op.U8(uint8(32-bits)), from, t)
		p.VCVTDQ2PS(t, t)
		p.VMULPS(p.scale(h), t, t)
		p.VFMADD231PS(t, x, p.sum(h))
	}
}

func (p *packed) stepsQ4_0() {
	p.halfScales()
	p.turned(2)
	for i := range 8 {
		p.VPXOR(p.flip, p.vec(i), p.vec(i)) // q − 8 of four bits, signed
	}
	for high := range 2 {
		for l := range 16 {
			p.signedSteps(l/4, l%4*8+4*high, 4, 16*high+l)
		}
	}
}

func (p *packed) stepsQ8_0() {
	p.halfScales()
	for part := range 2 {
		p.turned(2 + 16*part)
		for l := range 16 {
			p.signedSteps(l/4, l%4*8, 8, 16*part+l)
		}
	}
}

// least and most return the addresses of the minima and scales of 32 elements, behind the sums.
func (p *packed) least(sub, h int) op.Mem {
	return op.Mem{Base: packedSums, Disp: 64 + 512 + 64*sub + 32*h}
}
func (p *packed) most(sub, h int) op.Mem { return op.Mem{Base: packedSums, Disp: 64 + 64*sub + 32*h} }

func (p *packed) stepsQ4_K() {
	p.turned(0) // the scales: for each half d and m, and three words of six bits each
	for h := range 2 {
		both, s, m, rest := p.vec(4*h), p.vec(4*h+1), p.vec(4*h+2), p.vec(4*h+3)
		d, t, u := p.scale(h), p.free(0), p.free(1)
		floats := func(to reg.VecPhysical) { // the float16 in each lane as float32
			p.VPACKUSDW(t, t, t)
			p.VPERMQ(op.U8(0x08), t, t)
			p.VCVTPH2PS(t.AsX(), to)
		}
		p.VPAND(p.halves, both, t)
		floats(d)
		p.VPSRLD(op.U8(16), both, t)
		floats(both)
		for i := range 8 {
			for k, six := range []reg.VecPhysical{s, m} {
				if i < 4 {
					p.VPSRLD(op.U8(uint8(8*i)), six, t)
					p.VPAND(p.sixes, t, t)
				} else {
					p.VPSRLD(op.U8(uint8(8*(i-4)+4*k)), rest, t)
					p.VPAND(p.fours, t, t)
					p.VPSRLD(op.U8(uint8(8*(i-4)+2)), six, u)
					p.VPAND(p.upper, u, u)
					p.VPOR(u, t, t)
				}
				p.VCVTDQ2PS(t, t)
				if k == 0 {
					p.VMULPS(d, t, t)
					p.VMOVUPS(t, p.most(i, h))
				} else {
					p.VMULPS(both, t, t)
					p.VMOVUPS(t, p.least(i, h))
				}
			}
		}
	}
	x, fours := p.vec(14), p.vec(15)
	for sub := range 8 {
		for h := range 2 {
			p.VMOVUPS(p.most(sub, h), p.scale(h))
		}
		for part := range 2 {
			p.turned(16 + sub/2*32 + 16*part)
			p.VMOVUPS(p.fours, fours)
			for l := range 16 {
				p.VBROADCASTSS(op.Mem{Base: packedX, Disp: 4 * (32*sub + 16*part + l)}, x)
				for h := range 2 {
					from, t := p.vec(4*h+l/4), p.free(h)
					first := l%4*8 + sub%2*4
					if first > 0 {
						p.VPSRLD(op.U8(uint8(first)), from, t)
						from = t
					}
					if first < 28 {
						p.VPAND(fours, from, t)
					}
					p.VCVTDQ2PS(t, t)
					p.VFMSUB213PS(p.least(sub, h), p.scale(h), t)
					p.VFMADD231PS(t, x, p.sum(h))
				}
			}
		}
	}
}

// unpack writes dst[l] = element l of some blocks, with NaNs as the canonical one.
func (p *packed) unpack(f packedFormat) {
	p.Function("unpack" + f.name + "AVX2")
	p.Attributes(attr.NOSPLIT)
	p.Pragma("noescape")
	p.SignatureExpr("func(dst *float32, b *byte, blocks int)")
	blocks := reg.RCX
	p.Load(p.Param("dst"), packedX)
	p.Load(p.Param("b"), packedAt[0])
	p.Load(p.Param("blocks"), blocks)
	p.VMOVUPS(p.nan, p.vec(15))
	p.Label("block")
	f.unpack()
	p.ADDQ(op.I32(int32(4*f.len)), packedX)
	p.ADDQ(op.I32(int32(f.bytes)), packedAt[0])
	p.DECQ(blocks)
	p.JNZ(op.LabelRef("block"))
	p.VZEROUPPER()
	p.RET()
}

// stored stores eight elements from element l of the block on.
func (p *packed) stored(v, spare reg.VecPhysical, l int) {
	p.VCMPPS(op.U8(3), v, v, spare)
	p.VBLENDVPS(spare, p.vec(15), v, v)
	p.VMOVUPS(v, op.Mem{Base: packedX, Disp: 4 * l})
}

// spread sets a register to the float16 at byte disp of the block.
func (p *packed) spread(disp int, to reg.VecPhysical) {
	p.VPBROADCASTW(op.Mem{Base: packedAt[0], Disp: disp}, to.AsX())
	p.VCVTPH2PS(to.AsX(), to)
}

func (p *packed) unpackQ4_0() {
	d := p.vec(14)
	p.spread(0, d)
	for part := range 2 {
		codes := p.vec(part)
		p.VPMOVZXBD(op.Mem{Base: packedAt[0], Disp: 2 + 8*part}, codes)
		p.VPXOR(p.flip, codes, codes)
		for high := range 2 {
			t := p.vec(2 + 2*part + high)
			p.VPSLLD(op.U8(uint8(28-4*high)), codes, t)
			p.VPSRAD(op.U8(28), t, t)
			p.VCVTDQ2PS(t, t)
			p.VMULPS(d, t, t)
			p.stored(t, p.vec(6+2*part+high), 16*high+8*part)
		}
	}
}

func (p *packed) unpackQ8_0() {
	d := p.vec(14)
	p.spread(0, d)
	for i := range 4 {
		t := p.vec(i)
		p.VPMOVSXBD(op.Mem{Base: packedAt[0], Disp: 2 + 8*i}, t)
		p.VCVTDQ2PS(t, t)
		p.VMULPS(d, t, t)
		p.stored(t, p.vec(4+i), 8*i)
	}
}

func (p *packed) unpackQ4_K() {
	// The scales and minima of eight bits, two words of each, taken apart by the masks of ggml.
	s, m, rest, t, u := reg.RAX.As32(), reg.RBX.As32(), reg.RDX.As32(), reg.R8L, reg.R9L
	at := packedAt[0]
	p.MOVL(op.Mem{Base: at, Disp: 4}, s)
	p.MOVL(op.Mem{Base: at, Disp: 8}, m)
	p.MOVL(op.Mem{Base: at, Disp: 12}, rest)
	for k, six := range []reg.Register{s, m} {
		x, y := p.vec(k).AsX(), p.vec(2).AsX()
		p.MOVL(rest, t)
		if k == 1 {
			p.SHRL(op.U8(4), t)
		}
		p.ANDL(op.U32(0x0f0f0f0f), t)
		p.MOVL(six, u)
		p.SHRL(op.U8(2), u)
		p.ANDL(op.U32(0x30303030), u)
		p.ORL(u, t)
		p.ANDL(op.U32(0x3f3f3f3f), six)
		p.VMOVD(six, x)
		p.VMOVD(t, y)
		p.VPUNPCKLDQ(y, x, x)
		p.VPMOVZXBD(x, p.vec(k))
		p.VCVTDQ2PS(p.vec(k), p.vec(k))
		p.spread(2*k, p.vec(14))
		p.VMULPS(p.vec(14), p.vec(k), p.vec(k))
	}
	fours := p.vec(14)
	p.VMOVUPS(p.fours, fours)
	for pair := range 4 {
		for part := range 2 { // lanes 2·pair and 2·pair+1 of both
			for k := range 2 {
				to := p.vec(2 + 2*part + k)
				sub := 2*pair + part
				if sub < 4 {
					p.VPERMQ(op.U8(0x44), p.vec(k), to)
				} else {
					p.VPERMQ(op.U8(0xee), p.vec(k), to)
				}
				p.VPERMILPS(op.U8(uint8(0x55*(sub%4))), to, to)
			}
		}
		for i := range 4 {
			codes := p.vec(6 + i%2)
			p.VPMOVZXBD(op.Mem{Base: at, Disp: 16 + 32*pair + 8*i}, codes)
			for high := range 2 {
				t := p.vec(8 + 2*(i%2) + high)
				if high == 0 {
					p.VPAND(fours, codes, t)
				} else {
					p.VPSRLD(op.U8(4), codes, t)
				}
				p.VCVTDQ2PS(t, t)
				p.VFMSUB213PS(p.vec(3+2*high), p.vec(2+2*high), t)
				p.stored(t, p.vec(12+high), 64*pair+32*high+8*i)
			}
		}
	}
}
