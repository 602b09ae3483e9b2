package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The kernels of products of bytes for AVX-512 VNNI. One of its instructions adds four products of an unsigned and a signed byte to each
// int32, and wraps. Four bytes of neighbouring k are a quad.

// quadRows are the numbers of rows of the tiles of sums.
var quadRows = []int{1, 2, 3, 4, 5, 6, 7, 8, 12}

// quadPanels is the most panels of byteColumns columns in a tile.
const quadPanels = 2

func writeQuads(c *build.Context) {
	g := &product{Context: c, target: target{width: 64}}
	g.order = c.StaticGlobal("quadOrder")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 { // lane i/4 takes dword i/4 of each of the four rows
		c.AddDatum(4*i, op.I32(i%4*4+i/4))
	}
	for i := range 64 { // and within it byte j of row h becomes byte 4·j + h
		c.AddDatum(64+i, op.U8(i%4*4+i/4%4))
	}
	g.quads()
	g.mended()
	g.summed()
	for _, rows := range quadRows {
		for panels := 1; panels <= quadPanels; panels++ {
			g.quadTile(rows, panels)
		}
	}
}

func (g *product) beginQuads(name, signature string) {
	g.Function(name + "AVX512")
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr("func(" + signature + ")")
}

// quads writes panels of b, one after the other. Byte 4·(l·16 + j) + h of a panel is src[offs[4·l + h] + j] xor flip. The next panel begins 16
// elements later in src and in sums. quads also adds the bytes of column j to sums[j]. Another xor with back makes these bytes unsigned. beyond
// has a one for each byte of the last quad that doesn't count.
func (g *product) quads() {
	g.beginQuads("quadBytes", "dst *uint8, src *uint8, offs *int, quads, panels, flip, back, beyond int, sums *int32")
	dst, src, offs, n, panels, sums := reg.RDI, reg.RSI, reg.RBX, reg.RCX, reg.RDX, reg.RAX
	p := []reg.GPPhysical{reg.R8, reg.R9, reg.R10, reg.R11}
	flip, back, beyond, ones, dwords, bytes, v, w, acc, less := g.vec(0), g.vec(1), g.vec(2), g.vec(3), g.vec(4), g.vec(5), g.vec(6), g.vec(7), g.vec(8), g.vec(9)
	g.spread("flip", p[0], flip, g.VPBROADCASTB)
	g.spread("back", p[0], back, g.VPBROADCASTB)
	g.spread("beyond", p[0], beyond, g.VPBROADCASTD)
	g.MOVQ(op.I32(1), p[0])
	g.VMOVQ(p[0], ones.AsX())
	g.VPBROADCASTB(ones.AsX(), ones)
	g.VMOVDQU64(g.order, dwords)
	g.VMOVDQU64(g.order.Offset(64), bytes)
	g.Load(g.Param("dst"), dst)
	g.Load(g.Param("src"), src)
	g.Load(g.Param("panels"), panels)
	g.Load(g.Param("sums"), sums)
	g.Label("panel")
	g.Load(g.Param("offs"), offs)
	g.Load(g.Param("quads"), n)
	g.VMOVDQU64(op.Mem{Base: sums}, acc)
	g.Label("next")
	for h, r := range p {
		g.MOVQ(op.Mem{Base: offs, Disp: 8 * h}, r)
	}
	g.VMOVDQU(op.Mem{Base: src, Index: p[0], Scale: 1}, v.AsX())
	for h, r := range p[1:] {
		g.VINSERTI32X4(op.U8(h+1), op.Mem{Base: src, Index: r, Scale: 1}, v, v)
	}
	g.VPERMD(v, dwords, v)
	g.VPSHUFB(bytes, v, v)
	g.VPXORD(flip, v, v)
	g.VMOVDQU64(v, op.Mem{Base: dst})
	g.VPXORD(back, v, w)
	g.VPDPBUSD(ones, w, acc)
	g.ADDQ(op.I8(32), offs)
	g.ADDQ(op.I8(64), dst)
	g.DECQ(n)
	g.JNE(op.LabelRef("next"))
	g.VPXORD(less, less, less)
	g.VPDPBUSD(beyond, w, less)
	g.VPSUBD(less, acc, acc)
	g.VMOVDQU64(acc, op.Mem{Base: sums})
	g.ADDQ(op.I8(byteColumns), src)
	g.ADDQ(op.I8(64), sums)
	g.DECQ(panels)
	g.JNE(op.LabelRef("panel"))
	g.VZEROUPPER()
	g.RET()
}

// mended writes c[j] −= zero[j]·a + col[j]·b for j < n, a multiple of 16.
func (g *product) mended() {
	g.beginQuads("mendQuads", "c, zero, col *int32, n, a, b int")
	c, zero, col, n := reg.RDI, reg.RSI, reg.RDX, reg.RCX
	a, b, x, y, v := g.vec(0), g.vec(1), g.vec(2), g.vec(3), g.vec(4)
	g.spread("a", n, a, g.VPBROADCASTD)
	g.spread("b", n, b, g.VPBROADCASTD)
	g.Load(g.Param("c"), c)
	g.Load(g.Param("zero"), zero)
	g.Load(g.Param("col"), col)
	g.Load(g.Param("n"), n)
	g.Label("next")
	g.VPMULLD(op.Mem{Base: zero}, a, x)
	g.VPMULLD(op.Mem{Base: col}, b, y)
	g.VMOVDQU64(op.Mem{Base: c}, v)
	g.VPSUBD(x, v, v)
	g.VPSUBD(y, v, v)
	g.VMOVDQU64(v, op.Mem{Base: c})
	g.ADDQ(op.I8(64), c)
	g.ADDQ(op.I8(64), zero)
	g.ADDQ(op.I8(64), col)
	g.SUBQ(op.I8(16), n)
	g.JNE(op.LabelRef("next"))
	g.VZEROUPPER()
	g.RET()
}

// summed writes sums[i], the sum of the bytes of row i < rows, in blocks of 64. An xor with back makes the bytes unsigned.
func (g *product) summed() {
	g.beginQuads("sumQuads", "sums *int32, src *uint8, lda, rows, blocks, back int")
	sums, src, lda, rows, blocks, at, n := reg.RDI, reg.RSI, reg.RBX, reg.RCX, reg.RDX, reg.R8, reg.R9
	back, ones, v, acc := g.vec(0), g.vec(1), g.vec(2), g.vec(3)
	g.spread("back", n, back, g.VPBROADCASTB)
	g.MOVQ(op.I32(1), n)
	g.VMOVQ(n, ones.AsX())
	g.VPBROADCASTB(ones.AsX(), ones)
	g.Load(g.Param("sums"), sums)
	g.Load(g.Param("src"), src)
	g.Load(g.Param("lda"), lda)
	g.Load(g.Param("rows"), rows)
	g.Load(g.Param("blocks"), blocks)
	g.Label("row")
	g.MOVQ(src, at)
	g.MOVQ(blocks, n)
	g.VPXORD(acc, acc, acc)
	g.Label("next")
	g.VPXORD(op.Mem{Base: at}, back, v)
	g.VPDPBUSD(ones, v, acc)
	g.ADDQ(op.I8(64), at)
	g.DECQ(n)
	g.JNE(op.LabelRef("next"))
	g.VEXTRACTI64X4(op.U8(1), acc, v.AsY())
	g.VPADDD(v.AsY(), acc.AsY(), acc.AsY())
	g.VEXTRACTI128(op.U8(1), acc.AsY(), v.AsX())
	g.VPADDD(v.AsX(), acc.AsX(), acc.AsX())
	g.VPHADDD(acc.AsX(), acc.AsX(), acc.AsX())
	g.VPHADDD(acc.AsX(), acc.AsX(), acc.AsX())
	g.VMOVD(acc.AsX(), op.Mem{Base: sums})
	g.ADDQ(op.I8(4), sums)
	g.ADDQ(lda, src)
	g.DECQ(rows)
	g.JNE(op.LabelRef("row"))
	g.VZEROUPPER()
	g.RET()
}

// quadTile writes a tile of rows by panels of 16 sums, over runs of quads of products.
//
//	c[i·ldc + 16·p + j] = [that +] Σ a[i·lda + offs[r] + 4·l + h]·b[p·next + 4·(g·16 + j) + h]
//
// where g is r·quads + l. add is 0 to store, 1 to add to c. The bytes of a are unsigned, those of b signed.
func (g *product) quadTile(rows, panels int) {
	g.beginQuads(fmt.Sprintf("tileQuads%dx%d", rows, panels), "c *int32, ldc int, a *uint8, lda int, offs *int, runs int, b *uint8, next, quads, add int")
	c, c9, a, a9, b, next, n := reg.RAX, reg.RBX, reg.RSI, reg.RDI, reg.RDX, reg.R8, reg.RCX
	s, s3, s5, s7 := reg.R9, reg.R10, reg.R11, reg.R12
	from, offs, runs := reg.RAX, reg.R13, reg.RBX // in the registers of c until the sums are stored
	acc := func(i, p int) reg.VecPhysical { return g.vec(i*panels + p) }
	bs, x := []reg.VecPhysical{g.vec(28), g.vec(29)}, []reg.VecPhysical{g.vec(30), g.vec(31)}
	strides := func() {
		if rows > 3 {
			g.LEAQ(op.Mem{Base: s, Index: s, Scale: 2}, s3)
		}
		if rows > 5 {
			g.LEAQ(op.Mem{Base: s, Index: s, Scale: 4}, s5)
			g.LEAQ(op.Mem{Base: s3, Index: s, Scale: 4}, s7)
		}
	}
	ninth := func(base, base9 reg.GPPhysical) {
		if rows > 9 {
			g.LEAQ(op.Mem{Base: base, Index: s, Scale: 8}, base9)
			g.ADDQ(s, base9)
		}
	}
	row := func(i int, base, base9 reg.GPPhysical) op.Mem { return offset(i, base, base9, s, s3, s5, s7) }
	g.Load(g.Param("a"), from)
	g.Load(g.Param("lda"), s)
	strides()
	g.Load(g.Param("b"), b)
	g.Load(g.Param("next"), next)
	g.Load(g.Param("offs"), offs)
	g.Load(g.Param("runs"), runs)
	for i := range rows {
		for p := range panels {
			g.VPXORD(acc(i, p), acc(i, p), acc(i, p))
		}
	}
	g.Label("run")
	g.MOVQ(op.Mem{Base: offs}, a)
	g.ADDQ(from, a)
	ninth(a, a9)
	g.Load(g.Param("quads"), n)
	g.Label("next")
	g.VMOVDQU64(op.Mem{Base: b}, bs[0])
	if panels > 1 {
		g.VMOVDQU64(op.Mem{Base: b, Index: next, Scale: 1}, bs[1])
	}
	for i := range rows {
		v := x[i%2]
		g.VPBROADCASTD(row(i, a, a9), v)
		for p := range panels {
			g.VPDPBUSD(bs[p], v, acc(i, p))
		}
	}
	g.ADDQ(op.I8(4), a)
	if rows > 9 {
		g.ADDQ(op.I8(4), a9)
	}
	g.ADDQ(op.I8(64), b)
	g.DECQ(n)
	g.JNE(op.LabelRef("next"))
	g.ADDQ(op.I8(8), offs)
	g.DECQ(runs)
	g.JNE(op.LabelRef("run"))
	g.Load(g.Param("c"), c)
	g.Load(g.Param("ldc"), s)
	g.SHLQ(op.U8(2), s)
	strides()
	ninth(c, c9)
	g.CMPQ(g.arg("add"), op.I8(0))
	g.JEQ(op.LabelRef("store"))
	for i := range rows {
		for p := range panels {
			from := row(i, c, c9)
			from.Disp = 64 * p
			g.VPADDD(from, acc(i, p), acc(i, p))
		}
	}
	g.Label("store")
	for i := range rows {
		for p := range panels {
			to := row(i, c, c9)
			to.Disp = 64 * p
			g.VMOVDQU64(acc(i, p), to)
		}
	}
	g.VZEROUPPER()
	g.RET()
}
