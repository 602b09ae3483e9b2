package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writePackedWide writes products with blocks for AVX-512, of 64 rows and 256 elements at a time. One function transposes the bytes of the
// rows in any format. One function for each format multiplies the result. So several vectors share the transposition.
func writePackedWide(c *build.Context) {
	number := func(name string, of func(i int) float32) op.Mem {
		m := c.StaticGlobal(name)
		c.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 16 {
			c.AddDatum(4*i, op.F32(of(i)))
		}
		return m
	}
	p := &packedWide{product: &product{Context: c, target: target{size: 4, width: 64}}}
	eight, zero := number("packedLess8", func(i int) float32 { return float32(i - 8) }), number("packedCodes", func(i int) float32 { return float32(i) })
	p.turn()
	p.dots("Q4_0", 36, 4*36, eight, p.pairQ4_0)
	p.dots("Q8_0", 68, 4*68, op.Mem{}, p.pairQ8_0)
	p.dots("Q4_K", 32, 16+4*32, zero, p.pairQ4_K)
	p.dots("Nibbles", 32, 4*32, zero, p.pairNibbles)
}

// packedWide writes products with 64 sums in four registers. The registers take turns, as a step of a sum waits for the one before. Dword
// d of the rows' bytes fills four registers, from byte 256·d of the memory on.
type packedWide struct {
	*product
}

// The registers of a product.
var (
	wideX      = reg.RDI
	wideCodes  = reg.RSI
	wideNext   = reg.R11
	wideStride = reg.RBX
	wideCount  = reg.RCX
	wideRoom   = reg.RAX // behind the transposed bytes
)

func (p *packedWide) sum(g int) reg.VecPhysical   { return p.vec(g) }
func (p *packedWide) scale(g int) reg.VecPhysical { return p.vec(4 + g) }
func (p *packedWide) least(g int) reg.VecPhysical { return p.vec(8 + g) }
func (p *packedWide) free(g int) reg.VecPhysical  { return p.vec(16 + g) }

var wideTable = reg.Z12

// wideDword returns the address of dword d of the rows of group g, from wideCodes on.
func wideDword(d, g int) op.Mem { return op.Mem{Base: wideCodes, Disp: 256*d + 64*g} }

// turn writes dst[64·d+i] = dword d of row i, for 64 rows from b on, stride bytes apart, and 4·columns dwords.
func (p *packedWide) turn() {
	p.Function("turnPackedAVX512")
	p.Attributes(attr.NOSPLIT)
	p.Pragma("noescape")
	p.SignatureExpr("func(dst *float32, b *byte, stride, columns int)")
	dst, stride, stride3, columns, group, left, to, back := reg.RDI, packedStride, packedStride3, reg.RCX, reg.R11, reg.R12, reg.R13, reg.RAX
	p.Load(p.Param("dst"), dst)
	p.Load(p.Param("b"), packedAt[0])
	p.Load(p.Param("stride"), stride)
	p.Load(p.Param("columns"), columns)
	p.LEAQ(op.Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	p.MOVQ(columns, back) // from the end of a row to 16 rows after its beginning
	p.SHLQ(op.U8(4), back)
	p.NEGQ(back)
	p.MOVQ(stride, group)
	p.SHLQ(op.U8(4), group)
	p.ADDQ(group, back)
	p.MOVQ(op.U32(4), group)
	for i := range 3 {
		p.LEAQ(op.Mem{Base: packedAt[i], Index: stride, Scale: 4}, packedAt[i+1])
	}
	p.Label("group")
	p.MOVQ(columns, left)
	p.MOVQ(dst, to)
	p.Label("column")
	for i := range 4 {
		v := p.vec(i)
		p.VMOVDQU(packedRow(i, 0), v.AsX())
		for lane := 1; lane < 4; lane++ {
			p.VINSERTI32X4(op.U8(uint8(lane)), packedRow(4*lane+i, 0), v, v)
		}
	}
	a, b, c, d, s, t, u, v := p.vec(0), p.vec(1), p.vec(2), p.vec(3), p.vec(4), p.vec(5), p.vec(6), p.vec(7)
	p.VUNPCKLPS(b, a, s)
	p.VUNPCKHPS(b, a, t)
	p.VUNPCKLPS(d, c, u)
	p.VUNPCKHPS(d, c, v)
	p.VUNPCKLPD(u, s, a)
	p.VUNPCKHPD(u, s, b)
	p.VUNPCKLPD(v, t, c)
	p.VUNPCKHPD(v, t, d)
	for i := range 4 {
		p.VMOVDQU64(p.vec(i), op.Mem{Base: to, Disp: 256 * i})
	}
	for _, at := range packedAt {
		p.ADDQ(op.I32(16), at)
	}
	p.ADDQ(op.I32(1024), to)
	p.DECQ(left)
	p.JNZ(op.LabelRef("column"))
	for _, at := range packedAt {
		p.ADDQ(back, at)
	}
	p.ADDQ(op.I32(64), dst)
	p.DECQ(group)
	p.JNZ(op.LabelRef("group"))
	p.VZEROUPPER()
	p.RET()
}

// dots writes sums[i] = fma(x[l], w, sums[i]) for each l < 256 in order, where w is element l of row i. As many bytes of 64 rows are
// prefetched, from next on. The body takes 64 elements at a time. bytes is the number of their bytes in a row, and all the number of bytes
// of all 256.
func (p *packedWide) dots(name string, bytes, all int, table op.Mem, pair func(prefetch func())) {
	p.Function("dots" + name + "AVX512")
	p.Attributes(attr.NOSPLIT)
	p.Pragma("noescape")
	p.SignatureExpr("func(sums, x, room *float32, next uintptr, stride int)")
	sums := reg.RDX
	p.Load(p.Param("sums"), sums)
	p.Load(p.Param("x"), wideX)
	p.Load(p.Param("room"), wideCodes)
	p.Load(p.Param("next"), wideNext)
	p.Load(p.Param("stride"), wideStride)
	if table != (op.Mem{}) {
		p.VMOVDQU64(table, wideTable)
	}
	for g := range 4 {
		p.VMOVUPS(op.Mem{Base: sums, Disp: 64 * g}, p.sum(g))
	}
	switch name {
	case "Q4_K":
		p.scalesQ4_K()
	case "Nibbles":
		p.LEAQ(op.Mem{Base: wideCodes, Disp: nibbleScales}, wideRoom)
		for g := range 4 {
			p.VMOVUPS(op.Mem{Base: wideCodes, Disp: nibbleZeros + 64*g}, p.zeros(g))
		}
	}
	p.MOVQ(op.U32(4), wideCount)
	p.Label("pair")
	lines, step, line := (all+63)/64+1, 0, 0
	pair(func() { // in four steps the cache lines of a row
		step++
		for ; 4*line < step*lines; line++ {
			p.PREFETCHT0(op.Mem{Base: wideNext, Disp: min(64*line, all-1)})
		}
		if step == 4 {
			step, line = 0, 0
			p.ADDQ(wideStride, wideNext)
		}
	})
	p.ADDQ(op.I32(int32(64*bytes)), wideCodes)
	p.ADDQ(op.I32(256), wideX)
	p.DECQ(wideCount)
	p.JNZ(op.LabelRef("pair"))
	for g := range 4 {
		p.VMOVUPS(p.sum(g), op.Mem{Base: sums, Disp: 64 * g})
	}
	p.VZEROUPPER()
	p.RET()
}

// step takes element l of 64 with all sums. weight sets a register to the weights of a group.
func (p *packedWide) step(l int, weight func(g int, to reg.VecPhysical)) {
	x := p.vec(13)
	p.VBROADCASTSS(op.Mem{Base: wideX, Disp: 4 * l}, x)
	for g := range 4 {
		t := p.free(g)
		weight(g, t)
		p.VFMADD231PS(t, x, p.sum(g))
	}
}

// halfScales sets the scales to the float16 in byte at.
func (p *packedWide) halfScales(at int) {
	for g := range 4 {
		t := p.free(g)
		if at%4 == 0 {
			p.VPMOVDW(p.loaded(at/4, g, t), t.AsY())
		} else {
			p.VPSRLD(op.U8(16), wideDword(at/4, g), t)
			p.VPMOVDW(t, t.AsY())
		}
		p.VCVTPH2PS(t.AsY(), p.scale(g))
	}
}

func (p *packedWide) loaded(d, g int, to reg.VecPhysical) reg.VecPhysical {
	p.VMOVDQU64(wideDword(d, g), to)
	return to
}

// picked sets a register to the number of the table for the four bits from bit first of dword d on.
func (p *packedWide) picked(d, first, g int, to reg.VecPhysical) {
	if first == 0 {
		p.loaded(d, g, to)
	} else {
		p.VPSRLD(op.U8(uint8(first)), wideDword(d, g), to)
	}
	p.VPERMPS(wideTable, to, to)
}

func (p *packedWide) pairQ4_0(prefetch func()) {
	for block := range 2 {
		p.halfScales(18 * block)
		for l := range 32 {
			at := 18*block + 2 + l%16
			p.step(32*block+l, func(g int, to reg.VecPhysical) {
				p.picked(at/4, at%4*8+l/16*4, g, to)
				p.VMULPS(p.scale(g), to, to)
			})
			prefetch()
		}
	}
}

func (p *packedWide) pairQ8_0(prefetch func()) {
	for block := range 2 {
		p.halfScales(34 * block)
		for l := range 32 {
			at := 34*block + 2 + l
			p.step(32*block+l, func(g int, to reg.VecPhysical) {
				if up := 24 - at%4*8; up > 0 {
					p.VPSLLD(op.U8(uint8(up)), wideDword(at/4, g), to)
					p.VPSRAD(op.U8(24), to, to)
				} else {
					p.VPSRAD(op.U8(24), wideDword(at/4, g), to)
				}
				p.VCVTDQ2PS(to, to)
				p.VMULPS(p.scale(g), to, to)
			})
			prefetch()
		}
	}
}

// In Q4_K the scales and minima of 64 elements are behind the transposed bytes, in the order of their use.
const wideScales = 9 * 1024

// scalesQ4_K makes them. A row has d and m as float16s, and behind these three words of six bits each.
func (p *packedWide) scalesQ4_K() {
	sixes, fours, upper, t, u := p.vec(13), p.vec(14), p.vec(15), p.vec(16), p.vec(17)
	word := func(v uint32, to reg.VecPhysical) {
		p.MOVL(op.U32(v), reg.EAX)
		p.VPBROADCASTD(reg.EAX, to)
	}
	word(63, sixes)
	word(15, fours)
	word(0x30, upper)
	p.MOVQ(op.U32(4), wideCount)
	p.Label("scales")
	d, least, six, rest := p.vec(18), p.vec(19), []reg.VecPhysical{p.vec(20), p.vec(21)}, p.vec(22)
	p.VMOVDQU64(wideDword(0, 0), t)
	p.VPMOVDW(t, u.AsY())
	p.VCVTPH2PS(u.AsY(), d)
	p.VPSRLD(op.U8(16), t, t)
	p.VPMOVDW(t, u.AsY())
	p.VCVTPH2PS(u.AsY(), least)
	p.VMOVDQU64(wideDword(1, 0), six[0])
	p.VMOVDQU64(wideDword(2, 0), six[1])
	p.VMOVDQU64(wideDword(3, 0), rest)
	for i := range 8 {
		for k := range 2 {
			if i < 4 {
				p.VPSRLD(op.U8(uint8(8*i)), six[k], t)
				p.VPANDD(sixes, t, t)
			} else {
				p.VPSRLD(op.U8(uint8(8*(i-4)+4*k)), rest, t)
				p.VPANDD(fours, t, t)
				p.VPSRLD(op.U8(uint8(8*(i-4)+2)), six[k], u)
				p.VPANDD(upper, u, u)
				p.VPORD(u, t, t)
			}
			p.VCVTDQ2PS(t, t)
			p.VMULPS([]reg.VecPhysical{d, least}[k], t, t)
			p.VMOVUPS(t, op.Mem{Base: wideCodes, Disp: wideScales + 512*i + 256*k})
		}
	}
	p.ADDQ(op.I32(64), wideCodes)
	p.DECQ(wideCount)
	p.JNZ(op.LabelRef("scales"))
	p.SUBQ(op.I32(256), wideCodes)
	p.LEAQ(op.Mem{Base: wideCodes, Disp: wideScales}, wideRoom)
	p.ADDQ(op.I32(1024), wideCodes)
}

func (p *packedWide) pairQ4_K(prefetch func()) {
	for high := range 2 {
		for g := range 4 {
			p.VMOVUPS(op.Mem{Base: wideRoom, Disp: 512*high + 64*g}, p.scale(g))
			p.VMOVUPS(op.Mem{Base: wideRoom, Disp: 512*high + 256 + 64*g}, p.least(g))
		}
		for l := range 32 {
			p.step(32*high+l, func(g int, to reg.VecPhysical) {
				p.picked(l/4, l%4*8+high*4, g, to)
				p.VFMSUB213PS(p.least(g), p.scale(g), to)
			})
			prefetch()
		}
	}
	p.ADDQ(op.I32(1024), wideRoom)
}

// In nibbles the scales of 32 elements each, eight times, are behind the transposed bytes. Behind these are the zero points: a dword of
// eight for each row.
const nibbleScales, nibbleZeros = 8 * 1024, 10 * 1024

func (p *packedWide) zeros(g int) reg.VecPhysical { return p.vec(20 + g) }

// pairNibbles has elements (q − zero)·scale. Two neighbours share a byte.
func (p *packedWide) pairNibbles(prefetch func()) {
	for half := range 2 {
		for g := range 4 {
			p.VMOVUPS(op.Mem{Base: wideRoom, Disp: 256*half + 64*g}, p.scale(g))
			p.VPERMPS(wideTable, p.zeros(g), p.least(g))
			p.VPSRLD(op.U8(4), p.zeros(g), p.zeros(g))
		}
		for l := range 32 {
			p.step(32*half+l, func(g int, to reg.VecPhysical) {
				p.picked(4*half+l/8, l%8*4, g, to)
				p.VSUBPS(p.least(g), to, to)
				p.VMULPS(p.scale(g), to, to)
			})
			prefetch()
		}
	}
	p.ADDQ(op.I32(512), wideRoom)
}
