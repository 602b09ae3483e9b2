package main

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writeTranspose writes the transposition of blocks of rows. For elements of 4 and 8 bytes a block has as many rows as a vector has
// elements. For elements of 1 and 2 bytes it has as many as 128 bits have.
func writeTranspose(c *build.Context) {
	for _, size := range []int{1, 2} {
		(&product{Context: c, target: target{size: size, width: 16}}).narrow()
		(&product{Context: c, target: target{size: size, width: 16}}).narrowAVX2()
	}
	mask := c.StaticGlobal("transposeMask")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		c.AddDatum(4*i, op.I32(i/8-1))
	}
	for _, size := range []int{4, 8} {
		for _, stream := range []bool{false, true} {
			(&product{Context: c, target: target{size: size, width: 64}}).transpose(stream)
			(&product{Context: c, target: target{size: size, width: 32}, mask: mask}).transposeAVX2(stream)
		}
	}
}

// transpose writes dst[j*ldd+i] = src[i*lds+j] for i < m and j < n. m is at most the number of elements of a vector. Blocks of that many
// columns are loaded, transposed in registers and stored. Loads and stores stop at m and n. Each load prefetches the line ahead bytes
// later. The streaming form needs m to be a whole vector and the stores aligned.
func (g *product) transpose(stream bool) {
	side := 64 / g.size
	name := fmt.Sprintf("transpose%d_AVX512", 8*g.size)
	if stream {
		name = fmt.Sprintf("transposeStream%d_AVX512", 8*g.size)
	}
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(dst *uint%d, ldd int, src *uint%[1]d, lds, m, n, ahead int)", 8*g.size))
	shift := op.U8(map[int]uint64{4: 2, 8: 3}[g.size])
	dst, ldd, src, lds, m, n, from, ahead, at := reg.RDI, reg.RAX, reg.RSI, reg.RBX, reg.R8, reg.R9, reg.R10, reg.R11, reg.RDX
	g.Load(g.Param("dst"), dst)
	g.Load(g.Param("ldd"), ldd)
	g.SHLQ(shift, ldd)
	g.Load(g.Param("src"), src)
	g.Load(g.Param("lds"), lds)
	g.SHLQ(shift, lds)
	g.Load(g.Param("n"), n)
	g.Load(g.Param("ahead"), ahead)
	g.Load(g.Param("m"), m)
	mask := func(count reg.GPPhysical, k reg.OpmaskPhysical) {
		g.MOVQ(count, reg.RCX)
		g.MOVQ(op.I32(-1), at)
		g.SHLQ(reg.CL, at)
		g.NOTQ(at)
		g.KMOVW(at.As32(), k)
	}
	mask(m, reg.K1) // for stores
	g.KXNORW(reg.K2, reg.K2, reg.K2)
	g.TESTQ(n, n)
	g.JLE(op.LabelRef("done"))
	g.Label("next")
	g.CMPQ(n, op.I8(int8(side)))
	g.JGE(op.LabelRef("whole"))
	mask(n, reg.K2) // for loads
	g.Label("whole")
	g.MOVQ(src, from)
	for i := range side {
		ps(g, g.VMOVUPS_Z, g.VMOVUPD_Z)(op.Mem{Base: from}, reg.K2, g.vec(i))
		g.PREFETCHT1(op.Mem{Base: from, Index: ahead, Scale: 1})
		if i < side-1 {
			if !stream {
				g.CMPQ(m, op.I8(int8(i+1)))
				g.JLE(op.LabelRef("loaded"))
			}
			g.ADDQ(lds, from)
		}
	}
	g.Label("loaded")
	g.ADDQ(op.I8(64), src)
	out := g.turn(side)
	for j := range side {
		switch {
		case stream:
			ps(g, g.VMOVNTPS, g.VMOVNTPD)(out[j], op.Mem{Base: dst})
		default:
			ps(g, g.VMOVUPS, g.VMOVUPD)(out[j], reg.K1, op.Mem{Base: dst})
		}
		g.ADDQ(ldd, dst)
		g.DECQ(n)
		g.JZ(op.LabelRef("done"))
	}
	g.JMP(op.LabelRef("next"))
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}

// transposeAVX2 is transpose for AVX2. A block has as many rows as 64 bytes have elements, so that it is two squares. Masks are slow to store
// under, so squares that are whole have a body of their own. The streaming form takes four columns of all rows, and fills a cache line at a time.
func (g *product) transposeAVX2(stream bool) {
	side := g.width / g.size
	name := fmt.Sprintf("transpose%d_AVX2", 8*g.size)
	if stream {
		name = fmt.Sprintf("transposeStream%d_AVX2", 8*g.size)
	}
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(dst *uint%d, ldd int, src *uint%[1]d, lds, m, n, ahead int)", 8*g.size))
	shift := op.U8(map[int]uint64{4: 2, 8: 3}[g.size])
	dst, ldd, src, lds, n, ahead := reg.RDI, reg.RAX, reg.RSI, reg.RBX, reg.R9, reg.R11
	row, square, to, left, at, from, line := reg.R12, reg.R13, reg.R10, reg.R8, reg.RDX, reg.RCX, reg.R14
	g.Load(g.Param("dst"), dst)
	g.Load(g.Param("ldd"), ldd)
	g.SHLQ(shift, ldd)
	g.Load(g.Param("src"), src)
	g.Load(g.Param("lds"), lds)
	g.SHLQ(shift, lds)
	g.Load(g.Param("n"), n)
	g.Load(g.Param("ahead"), ahead)
	rows, spare := make([]reg.VecPhysical, side), g.vec(side)
	for i := range rows {
		rows[i] = g.vec(i)
	}
	g.TESTQ(n, n)
	g.JLE(op.LabelRef("done"))
	if stream {
		g.lines4(dst, ldd, src, lds, n, ahead, from)
	}
	g.Label("next")
	g.MOVQ(src, row)
	g.MOVQ(dst, square)
	g.Load(g.Param("m"), left)
	g.Label("square")
	g.MOVQ(row, from)
	g.MOVQ(square, to)
	if !stream {
		g.CMPQ(n, op.I8(int8(side)))
		g.JL(op.LabelRef("some"))
		g.CMPQ(left, op.I8(int8(side)))
		g.JL(op.LabelRef("some"))
		for i, r := range rows {
			g.VMOVUPS(op.Mem{Base: from}, r)
			g.PREFETCHT1(op.Mem{Base: from, Index: ahead, Scale: 1})
			if i < side-1 {
				g.ADDQ(lds, from)
			}
		}
		for j, r := range g.columns(slices.Clone(rows), spare) {
			g.VMOVUPS(r, op.Mem{Base: to})
			if j < side-1 {
				g.ADDQ(ldd, to)
			}
		}
		g.JMP(op.LabelRef("below"))
		g.Label("some")
	}
	columns, lines := g.vec(14), g.vec(15) // masks
	mask := func(count reg.GPPhysical, to reg.VecPhysical) {
		g.MOVQ(op.I32(int32(side)), line)
		g.CMPQ(count, line)
		g.CMOVQLT(count, line)
		g.SHLQ(shift, line)
		g.LEAQ(g.mask.Offset(g.width), at)
		g.SUBQ(line, at)
		g.VMOVUPS(op.Mem{Base: at}, to)
	}
	mask(n, columns)
	mask(left, lines)
	for i, r := range rows {
		g.VMASKMOVPS(op.Mem{Base: from}, columns, r)
		if i < side-1 {
			g.CMPQ(left, op.I8(int8(i+1)))
			g.JLE(op.LabelRef("loaded"))
			g.ADDQ(lds, from)
		}
	}
	g.Label("loaded")
	for j, r := range g.columns(slices.Clone(rows), spare) {
		g.VMASKMOVPS(r, lines, op.Mem{Base: to})
		if j < side-1 {
			g.CMPQ(n, op.I8(int8(j+1)))
			g.JLE(op.LabelRef("below"))
			g.ADDQ(ldd, to)
		}
	}
	g.Label("below")
	for range side {
		g.ADDQ(lds, row)
	}
	g.ADDQ(op.I8(int8(g.width)), square)
	g.SUBQ(op.I8(int8(side)), left)
	g.JG(op.LabelRef("square"))
	g.ADDQ(op.I8(int8(g.width)), src)
	for range side {
		g.ADDQ(ldd, dst)
	}
	g.SUBQ(op.I8(int8(side)), n)
	g.JG(op.LabelRef("next"))
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}

// lines4 writes dst[j*ldd+i] = src[i*lds+j] for four columns at a time, by non-temporal stores, as long as there are so many.
func (g *product) lines4(dst, ldd, src, lds, n, ahead, from reg.GPPhysical) {
	g.Label("four")
	g.SUBQ(op.I8(4), n)
	g.JL(op.LabelRef("fewer"))
	g.MOVQ(src, from)
	halves := [2][]reg.VecPhysical{{g.vec(0), g.vec(1), g.vec(2), g.vec(3)}, {g.vec(4), g.vec(5), g.vec(6), g.vec(7)}}
	for h, half := range halves {
		for upper := range 8 / g.size { // of elements of 4 bytes a row fills half a register
			for _, r := range half {
				switch {
				case g.size == 8:
					g.VMOVUPS(op.Mem{Base: from}, r)
				case upper == 0:
					g.VMOVUPS(op.Mem{Base: from}, r.AsX())
				default:
					g.VINSERTF128(op.U8(1), op.Mem{Base: from}, r, r)
				}
				g.PREFETCHT1(op.Mem{Base: from, Index: ahead, Scale: 1})
				g.ADDQ(lds, from)
			}
		}
		halves[h] = g.columns(half, g.vec(8+h))
	}
	for j := range 4 {
		for h := range halves {
			g.VMOVNTPS(halves[h][j], op.Mem{Base: dst, Disp: h * g.width})
		}
		g.ADDQ(ldd, dst)
	}
	g.ADDQ(op.I8(int8(4*g.size)), src)
	g.JMP(op.LabelRef("four"))
	g.Label("fewer")
	g.ADDQ(op.I8(4), n)
	g.JZ(op.LabelRef("done"))
}

// turn writes the transposition of registers 0 to side-1, where side is 16 or 8, and returns the registers of the columns. It transposes
// groups of four or two rows within each 128 bits first, then puts the 128 bits in order.
func (g *product) turn(side int) []reg.VecPhysical {
	group := 16 / g.size // rows, and columns, of 128 bits
	a, b := 0, 16        // bases of the registers read and written
	if side == 8 {
		b = 8
	}
	if g.size == 4 {
		for i := 0; i < side; i += 2 {
			g.VUNPCKLPS(g.vec(a+i+1), g.vec(a+i), g.vec(b+i))
			g.VUNPCKHPS(g.vec(a+i+1), g.vec(a+i), g.vec(b+i+1))
		}
		a, b = b, a
		for i := 0; i < side; i += 4 {
			for h := range 2 {
				g.VUNPCKLPD(g.vec(a+i+h+2), g.vec(a+i+h), g.vec(b+i+2*h))
				g.VUNPCKHPD(g.vec(a+i+h+2), g.vec(a+i+h), g.vec(b+i+2*h+1))
			}
		}
	} else {
		for i := 0; i < side; i += 2 {
			g.VUNPCKLPD(g.vec(a+i+1), g.vec(a+i), g.vec(b+i))
			g.VUNPCKHPD(g.vec(a+i+1), g.vec(a+i), g.vec(b+i+1))
		}
	}
	a, b = b, a
	// Now the 128 bits number l of register a + r·group + c have column c + l·group of rows r·group and on.
	for c := range group {
		for r := range 2 {
			x, y := g.vec(a+2*r*group+c), g.vec(a+(2*r+1)*group+c)
			g.VSHUFF32X4(op.U8(0x88), y, x, g.vec(b+2*r*group+c))
			g.VSHUFF32X4(op.U8(0xdd), y, x, g.vec(b+(2*r+1)*group+c))
		}
	}
	a, b = b, a
	out := make([]reg.VecPhysical, side)
	for c := range group {
		for odd := range 2 {
			x, y := g.vec(a+odd*group+c), g.vec(a+(2+odd)*group+c)
			even, other := g.vec(b+odd*group+c), g.vec(b+(2+odd)*group+c)
			g.VSHUFF32X4(op.U8(0x88), y, x, even)
			g.VSHUFF32X4(op.U8(0xdd), y, x, other)
			out[c+odd*group], out[c+(2+odd)*group] = even, other
		}
	}
	return out
}

// narrow writes dst[j*ldd+i] = src[i*lds+j] for i < side and j < n. side is the number of elements of 128 bits, and n a multiple of it.
// It interleaves row i with row i+side/2, for all i, until all rows are interleaved; that transposes.
func (g *product) narrow() {
	side := 16 / g.size
	g.Function(fmt.Sprintf("transpose%d_AVX512", 8*g.size))
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(dst *uint%d, ldd int, src *uint%[1]d, lds, n int)", 8*g.size))
	dst, ldd, src, lds, n, from := reg.RDI, reg.RAX, reg.RSI, reg.RBX, reg.R9, reg.R10
	g.Load(g.Param("dst"), dst)
	g.Load(g.Param("ldd"), ldd)
	g.Load(g.Param("src"), src)
	g.Load(g.Param("lds"), lds)
	if g.size == 2 {
		g.SHLQ(op.U8(1), ldd)
		g.SHLQ(op.U8(1), lds)
	}
	g.Load(g.Param("n"), n)
	g.Label("next")
	g.SUBQ(op.I8(int8(side)), n)
	g.JLT(op.LabelRef("done"))
	g.MOVQ(src, from)
	rows, next := make([]op.Op, side), make([]op.Op, side)
	for i := range rows {
		rows[i], next[i] = g.XMM(), g.XMM()
		g.VMOVDQU8(op.Mem{Base: from}, rows[i])
		if i < side-1 {
			g.ADDQ(lds, from)
		}
	}
	lo, hi := g.VPUNPCKLBW, g.VPUNPCKHBW
	if g.size == 2 {
		lo, hi = g.VPUNPCKLWD, g.VPUNPCKHWD
	}
	for n := side; n > 1; n /= 2 {
		for i := range side / 2 {
			lo(rows[i+side/2], rows[i], next[2*i])
			hi(rows[i+side/2], rows[i], next[2*i+1])
		}
		rows, next = next, rows
	}
	for _, r := range rows {
		g.VMOVDQU8(r, op.Mem{Base: dst})
		g.ADDQ(ldd, dst)
	}
	g.ADDQ(op.I8(16), src)
	g.JMP(op.LabelRef("next"))
	g.Label("done")
	g.RET()
}

// narrowAVX2 is narrow for AVX2, whose registers hold eight columns of a block. Rows i and i+8 of bytes are interleaved as they are loaded.
func (g *product) narrowAVX2() {
	g.Function(fmt.Sprintf("transpose%d_AVX2", 8*g.size))
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(dst *uint%d, ldd int, src *uint%[1]d, lds, n int)", 8*g.size))
	dst, ldd, src, lds, n, from, half := reg.RDI, reg.RAX, reg.RSI, reg.RBX, reg.R9, reg.R10, reg.R11
	g.Load(g.Param("dst"), dst)
	g.Load(g.Param("ldd"), ldd)
	g.Load(g.Param("src"), src)
	g.Load(g.Param("lds"), lds)
	if g.size == 2 {
		g.SHLQ(op.U8(1), ldd)
		g.SHLQ(op.U8(1), lds)
	}
	g.Load(g.Param("n"), n)
	g.MOVQ(lds, half) // from row i to row i+8
	g.SHLQ(op.U8(3), half)
	g.Label("next")
	g.SUBQ(op.I8(8), n)
	g.JLT(op.LabelRef("done"))
	g.MOVQ(src, from)
	rows, next := make([]op.Op, 8), make([]op.Op, 8)
	for i := range rows {
		rows[i], next[i] = g.XMM(), g.XMM()
		if g.size == 2 {
			g.VMOVDQU(op.Mem{Base: from}, rows[i])
		} else {
			more := g.XMM()
			g.VMOVQ(op.Mem{Base: from}, rows[i])
			g.VMOVQ(op.Mem{Base: from, Index: half, Scale: 1}, more)
			g.VPUNPCKLBW(more, rows[i], rows[i])
		}
		if i < 7 {
			g.ADDQ(lds, from)
		}
	}
	lo, hi := g.VPUNPCKLBW, g.VPUNPCKHBW
	if g.size == 2 {
		lo, hi = g.VPUNPCKLWD, g.VPUNPCKHWD
	}
	for range 3 {
		for i := range 4 {
			lo(rows[i+4], rows[i], next[2*i])
			hi(rows[i+4], rows[i], next[2*i+1])
		}
		rows, next = next, rows
	}
	for _, r := range rows {
		g.VMOVDQU(r, op.Mem{Base: dst})
		g.ADDQ(ldd, dst)
	}
	g.ADDQ(op.I8(int8(8*g.size)), src)
	g.JMP(op.LabelRef("next"))
	g.Label("done")
	g.RET()
}
