package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dots writes the function for a matrix and a vector: as many rows of a as a vector has elements go into one
// accumulator each,
//
//	c[i] = fma(a[i*lda+l], x[l], c[i]) for each l < k in order
//
// k being a multiple of the rows, too. A square of a is loaded, turned in registers, and then taken column by column. The
// next block of 256 columns is prefetched row by row.
func (g *product) dots() {
	const ahead = 256
	elem := map[int]string{4: "float32", 8: "float64"}[g.size]
	g.Function("dots_" + g.suffix)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(c *%s, a *%[1]s, lda int, x *%[1]s, k int)", elem))
	side := g.width / g.size
	c, a, lda, x, k, at := reg.RAX, reg.RBX, reg.RCX, reg.RDX, reg.RSI, reg.RDI
	next, left, skip := reg.R8, reg.R9, reg.R10 // to prefetch: the line, how many squares share a row, the way to the next
	g.Load(g.Param("c"), c)
	g.Load(g.Param("a"), a)
	g.Load(g.Param("lda"), lda)
	g.SHLQ(op.U8(map[int]uint64{4: 2, 8: 3}[g.size]), lda)
	g.Load(g.Param("x"), x)
	g.Load(g.Param("k"), k)
	acc := g.vec(side + 1)
	load := ps(g, g.VMOVUPS, g.VMOVUPD)
	load(op.Mem{Base: c}, acc)
	block := 256 * g.size
	squares := int32(block / (side * g.width))
	g.LEAQ(op.Mem{Base: a, Disp: block}, next)
	g.LEAQ(op.Mem{Base: lda, Disp: -block}, skip)
	g.MOVL(op.U32(squares), left.As32())
	g.Label("next")
	g.SUBQ(op.I8(int8(side)), k)
	g.JLT(op.LabelRef("done"))
	g.MOVQ(a, at)
	rows := make([]reg.VecPhysical, side)
	for i := range rows {
		rows[i] = g.vec(i)
		load(op.Mem{Base: at}, rows[i])
		g.PREFETCHT0(op.Mem{Base: at, Disp: ahead})
		if i < side-1 {
			g.ADDQ(lda, at)
		}
	}
	for i := range side * g.width / 64 {
		g.PREFETCHT0(op.Mem{Base: next, Disp: 64 * i})
	}
	g.ADDQ(op.I32(int32(side*g.width)), next)
	g.DECQ(left)
	g.JNE(op.LabelRef("same"))
	g.ADDQ(skip, next)
	g.MOVL(op.U32(squares), left.As32())
	g.Label("same")
	for l, column := range g.columns(rows, g.vec(side)) {
		from := op.Mem{Base: x, Disp: l * g.size}
		if g.width == 64 {
			ps(g, g.VFMADD231PS_BCST, g.VFMADD231PD_BCST)(from, column, acc)
			continue
		}
		b := g.vec(side + 2 + l%2)
		ps(g, g.VBROADCASTSS, g.VBROADCASTSD)(from, b)
		ps(g, g.VFMADD231PS, g.VFMADD231PD)(b, column, acc)
	}
	g.ADDQ(op.I8(int8(g.width)), a)
	g.ADDQ(op.I8(int8(g.width)), x)
	g.JMP(op.LabelRef("next"))
	g.Label("done")
	load(acc, op.Mem{Base: c})
	g.VZEROUPPER()
	g.RET()
}

// columns transposes a square, a row a register, with one register to spare, and returns where the columns are: first
// within 128 bits, then those are put in order.
func (g *product) columns(rows []reg.VecPhysical, spare reg.VecPhysical) []reg.VecPhysical {
	// both puts what two instructions make of x and y in their place.
	both := func(i, j int, lo, hi func(x, y, to reg.VecPhysical)) {
		x, y := rows[i], rows[j]
		lo(x, y, spare)
		hi(x, y, y)
		rows[i], rows[j], spare = spare, y, x
	}
	plain := func(f func(...op.Op)) func(x, y, to reg.VecPhysical) {
		return func(x, y, to reg.VecPhysical) { f(y, x, to) }
	}
	side, group := len(rows), 16/g.size
	if g.size == 4 {
		for i := 0; i < side; i += 2 {
			both(i, i+1, plain(g.VUNPCKLPS), plain(g.VUNPCKHPS))
		}
		for i := 0; i < side; i += 4 {
			both(i, i+2, plain(g.VUNPCKLPD), plain(g.VUNPCKHPD)) // columns 0 and 1
			both(i+1, i+3, plain(g.VUNPCKLPD), plain(g.VUNPCKHPD))
			rows[i+1], rows[i+2] = rows[i+2], rows[i+1]
		}
	} else {
		for i := 0; i < side; i += 2 {
			both(i, i+1, plain(g.VUNPCKLPD), plain(g.VUNPCKHPD))
		}
	}
	// Now register r·group + c has, in its 128 bits number l, column c + l·group of rows r·group and on.
	quarters := func(imm op.U8) func(x, y, to reg.VecPhysical) {
		return func(x, y, to reg.VecPhysical) {
			if g.width == 64 {
				g.VSHUFF32X4(imm, y, x, to)
			} else {
				g.VPERM2F128(map[op.U8]op.U8{0x88: 0x20, 0xdd: 0x31}[imm], y, x, to)
			}
		}
	}
	for apart := group; apart < side; apart *= 2 {
		for i := range side {
			if i&apart == 0 {
				both(i, i+apart, quarters(0x88), quarters(0xdd))
			}
		}
	}
	return rows
}
