package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The kernels of products of bytes. A byte less its zero point is an int16. The int16 of two neighbouring k are a pair. One
// instruction multiplies pairs and adds the two products of each. An int32 has room for that sum: 2·255².

const (
	byteColumns = 16 // of a panel of b: pair l of column j is at 2·(l·byteColumns + j)
	byteVectors = 2  // vectors of int32 that hold the columns in AVX2
)

// byteRows are the numbers of rows of the tiles of sums.
var byteRows = []int{1, 2, 4, 6}

// writeBytes writes these kernels for AVX2. They serve processors with AVX-512 too.
func writeBytes(c *build.Context) {
	g := &product{Context: c, target: target{width: 32}}
	g.widened()
	g.paired()
	for _, rows := range byteRows {
		g.byteTile(rows)
	}
	g.deepBytes()
}

func (g *product) begin(name, signature string) {
	g.Function(name + "AVX2")
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr("func(" + signature + ")")
}

// spread loads an int. Each element of the vector becomes its low bits.
func (g *product) spread(name string, r reg.GPPhysical, v reg.VecPhysical, broadcast func(...op.Op)) {
	g.Load(g.Param(name), r)
	g.VMOVQ(r, v.AsX())
	broadcast(v.AsX(), v)
}

// widened writes dst[i] = (src[i] xor flip) − zero for i < n, a byte being unsigned.
func (g *product) widened() {
	g.begin("widenBytes", "dst *int16, src *uint8, n, flip, zero int")
	dst, src, n, x := reg.RDI, reg.RSI, reg.RCX, reg.RAX
	flip, zero, v := g.vec(0), g.vec(1), g.vec(2)
	g.spread("flip", x, flip, g.VPBROADCASTB)
	g.spread("zero", x, zero, g.VPBROADCASTW)
	g.Load(g.Param("dst"), dst)
	g.Load(g.Param("src"), src)
	g.Load(g.Param("n"), n)
	g.SUBQ(op.I8(16), n)
	g.JL(op.LabelRef("rest"))
	g.Label("next")
	g.VPXOR(op.Mem{Base: src}, flip.AsX(), v.AsX())
	g.VPMOVZXBW(v.AsX(), v)
	g.VPSUBW(zero, v, v)
	g.VMOVDQU(v, op.Mem{Base: dst})
	g.ADDQ(op.I8(16), src)
	g.ADDQ(op.I8(32), dst)
	g.SUBQ(op.I8(16), n)
	g.JGE(op.LabelRef("next"))
	g.Label("rest")
	g.ADDQ(op.I8(16), n)
	g.JEQ(op.LabelRef("done"))
	g.Label("element")
	g.MOVBLZX(op.Mem{Base: src}, x.As32())
	g.VMOVD(x.As32(), v.AsX())
	g.VPXOR(flip.AsX(), v.AsX(), v.AsX())
	g.VPMOVZXBW(v.AsX(), v.AsX())
	g.VPSUBW(zero.AsX(), v.AsX(), v.AsX())
	g.VPEXTRW(op.U8(0), v.AsX(), op.Mem{Base: dst})
	g.INCQ(src)
	g.ADDQ(op.I8(2), dst)
	g.DECQ(n)
	g.JNE(op.LabelRef("element"))
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}

// paired writes panels of b, one after the other. A panel has
//
//	dst[2·(l·16 + j) + h] = (src[offs[2·l + h] + j] xor flip) − zero[2·j + h]
//
// for l < pairs and h of 0 and 1. The next panel begins 16 elements later in src and step elements later in zero.
func (g *product) paired() {
	g.begin("pairBytes", "dst *int16, src *uint8, offs *int, pairs, panels, flip int, zero *int16, step int")
	dst, src, offs, n, panels, p, q, from, step := reg.RDI, reg.RSI, reg.RBX, reg.RCX, reg.RDX, reg.R8, reg.R9, reg.R10, reg.R11
	flip, z0, z1, a, b, lo, hi := g.vec(0), g.vec(1), g.vec(2), g.vec(3), g.vec(4), g.vec(5), g.vec(6)
	g.spread("flip", p, flip, g.VPBROADCASTB)
	g.Load(g.Param("dst"), dst)
	g.Load(g.Param("src"), src)
	g.Load(g.Param("panels"), panels)
	g.Load(g.Param("zero"), from)
	g.Load(g.Param("step"), step)
	g.Label("panel")
	g.VMOVDQU(op.Mem{Base: from}, z0)
	g.VMOVDQU(op.Mem{Base: from, Disp: 32}, z1)
	g.Load(g.Param("offs"), offs)
	g.Load(g.Param("pairs"), n)
	g.Label("next")
	g.MOVQ(op.Mem{Base: offs}, p)
	g.MOVQ(op.Mem{Base: offs, Disp: 8}, q)
	g.VPXOR(op.Mem{Base: src, Index: p, Scale: 1}, flip.AsX(), a.AsX())
	g.VPXOR(op.Mem{Base: src, Index: q, Scale: 1}, flip.AsX(), b.AsX())
	g.VPUNPCKLBW(b.AsX(), a.AsX(), lo.AsX())
	g.VPUNPCKHBW(b.AsX(), a.AsX(), hi.AsX())
	g.VPMOVZXBW(lo.AsX(), lo)
	g.VPMOVZXBW(hi.AsX(), hi)
	g.VPSUBW(z0, lo, lo)
	g.VPSUBW(z1, hi, hi)
	g.VMOVDQU(lo, op.Mem{Base: dst})
	g.VMOVDQU(hi, op.Mem{Base: dst, Disp: 32})
	g.ADDQ(op.I8(16), offs)
	g.ADDQ(op.I8(64), dst)
	g.DECQ(n)
	g.JNE(op.LabelRef("next"))
	g.ADDQ(op.I8(byteColumns), src)
	g.LEAQ(op.Mem{Base: from, Index: step, Scale: 2}, from)
	g.DECQ(panels)
	g.JNE(op.LabelRef("panel"))
	g.VZEROUPPER()
	g.RET()
}

// byteTile writes a loop over tiles, as many as times says. A tile has rows by 16 sums, over runs of as many pairs of products.
//
//	c[i·ldc + j] = [c[i·ldc + j] +] Σ a[i·lda + offs[r] + 2·l]·b[2·(g·16 + j)] + a[i·lda + offs[r] + 2·l + 1]·b[2·(g·16 + j) + 1]
//
// where g is r·pairs + l. The next tile begins cStep, aStep and bStep elements later in c, a and b. add is 0 to store, 1 to add to c.
func (g *product) byteTile(rows int) {
	g.begin(fmt.Sprintf("tileBytes%d", rows), "c *int32, ldc int, a *int16, lda int, offs *int, runs int, b *int16, pairs, times, add, cStep, aStep, bStep int")
	c, ldc, a, lda, lda3, b, n, times, at, l, ldc3 := reg.RAX, reg.RBX, reg.RSI, reg.RDI, reg.R11, reg.RDX, reg.RCX, reg.R8, reg.R9, reg.R10, reg.R12
	offs, runs := reg.R12, reg.R13 // R12 is free until the sums are stored
	acc := func(i, v int) reg.VecPhysical { return g.vec(i*byteVectors + v) }
	b0, b1, x, y := g.vec(12), g.vec(13), g.vec(14), g.vec(15)
	row := func(i int, base, base3, s, s3 reg.GPPhysical) op.Mem {
		if i >= 3 {
			base, i = base3, i-3
		}
		if i == 0 {
			return op.Mem{Base: base}
		}
		return op.Mem{Base: base, Index: s, Scale: uint8(i)}
	}
	g.Load(g.Param("c"), c)
	g.Load(g.Param("ldc"), ldc)
	g.SHLQ(op.U8(2), ldc)
	g.Load(g.Param("a"), a)
	g.Load(g.Param("lda"), lda)
	g.SHLQ(op.U8(1), lda)
	g.Load(g.Param("b"), b)
	g.Load(g.Param("times"), times)
	g.Label("tile")
	for i := range rows * byteVectors {
		g.VPXOR(g.vec(i), g.vec(i), g.vec(i))
	}
	g.MOVQ(b, l)
	g.Load(g.Param("offs"), offs)
	g.Load(g.Param("runs"), runs)
	g.Label("run")
	g.MOVQ(op.Mem{Base: offs}, at)
	g.LEAQ(op.Mem{Base: a, Index: at, Scale: 2}, at)
	if rows > 3 {
		g.LEAQ(op.Mem{Base: lda, Index: lda, Scale: 2}, lda3)
		g.ADDQ(at, lda3)
	}
	g.Load(g.Param("pairs"), n)
	g.Label("next")
	g.VMOVDQU(op.Mem{Base: l}, b0)
	g.VMOVDQU(op.Mem{Base: l, Disp: 32}, b1)
	for i := range rows {
		g.VPBROADCASTD(row(i, at, lda3, lda, lda3), x)
		g.VPMADDWD(b0, x, y)
		g.VPADDD(y, acc(i, 0), acc(i, 0))
		g.VPMADDWD(b1, x, x)
		g.VPADDD(x, acc(i, 1), acc(i, 1))
	}
	g.ADDQ(op.I8(4), at)
	if rows > 3 {
		g.ADDQ(op.I8(4), lda3)
	}
	g.ADDQ(op.I8(64), l)
	g.DECQ(n)
	g.JNE(op.LabelRef("next"))
	g.ADDQ(op.I8(8), offs)
	g.DECQ(runs)
	g.JNE(op.LabelRef("run"))
	if rows > 3 {
		g.LEAQ(op.Mem{Base: ldc, Index: ldc, Scale: 2}, ldc3)
		g.ADDQ(c, ldc3)
	}
	g.CMPQ(g.arg("add"), op.I8(0))
	g.JEQ(op.LabelRef("store"))
	for i := range rows {
		for v := range byteVectors {
			from := row(i, c, ldc3, ldc, ldc3)
			from.Disp = 32 * v
			g.VPADDD(from, acc(i, v), acc(i, v))
		}
	}
	g.Label("store")
	for i := range rows {
		for v := range byteVectors {
			to := row(i, c, ldc3, ldc, ldc3)
			to.Disp = 32 * v
			g.VMOVDQU(acc(i, v), to)
		}
	}
	for _, s := range []struct {
		name  string
		to    reg.GPPhysical
		scale uint8
	}{{"cStep", c, 4}, {"aStep", a, 2}, {"bStep", b, 2}} {
		g.Load(g.Param(s.name), l)
		g.LEAQ(op.Mem{Base: s.to, Index: l, Scale: s.scale}, s.to)
	}
	g.DECQ(times)
	g.JNE(op.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// deepBytes writes n rows of blocks of 16 sums, each over as many pairs of products.
//
//	c[16·(i·blocks + b) + j] = Σ x[offs[2·l]]·y[0] + x[offs[2·l + 1]]·y[1]
//	x = a[i·row + 16·b + j:], y = w[32·(b·pairs + l) + 2·p:]
//
// where p is the place of j that interleaving gives it: DeepOrder of package simd.
func (g *product) deepBytes() {
	g.begin("deepBytes", "c *int32, a *int16, row int, offs *int, pairs int, w *int16, n, blocks int")
	c, a, row, offs, pairs, w, n, blocks := reg.RDI, reg.RSI, reg.RBX, reg.R8, reg.RCX, reg.RDX, reg.RAX, reg.R9
	at, p, q := reg.R10, reg.R11, reg.R12
	lo, hi, x, y, u, v := g.vec(0), g.vec(1), g.vec(2), g.vec(3), g.vec(4), g.vec(5)
	g.Load(g.Param("c"), c)
	g.Load(g.Param("a"), a)
	g.Load(g.Param("row"), row)
	g.Load(g.Param("n"), n)
	g.Label("output")
	g.MOVQ(a, at)
	g.Load(g.Param("w"), w)
	g.Load(g.Param("blocks"), blocks)
	g.Label("block")
	g.Load(g.Param("offs"), offs)
	g.Load(g.Param("pairs"), pairs)
	g.VPXOR(lo, lo, lo)
	g.VPXOR(hi, hi, hi)
	g.Label("next")
	g.MOVQ(op.Mem{Base: offs}, p)
	g.MOVQ(op.Mem{Base: offs, Disp: 8}, q)
	g.VMOVDQU(op.Mem{Base: at, Index: p, Scale: 2}, x)
	g.VMOVDQU(op.Mem{Base: at, Index: q, Scale: 2}, y)
	g.VPUNPCKLWD(y, x, u)
	g.VPUNPCKHWD(y, x, v)
	g.VPMADDWD(op.Mem{Base: w}, u, u)
	g.VPMADDWD(op.Mem{Base: w, Disp: 32}, v, v)
	g.VPADDD(u, lo, lo)
	g.VPADDD(v, hi, hi)
	g.ADDQ(op.I8(16), offs)
	g.ADDQ(op.I8(64), w)
	g.DECQ(pairs)
	g.JNE(op.LabelRef("next"))
	g.VPERM2I128(op.U8(0x20), hi, lo, x)
	g.VPERM2I128(op.U8(0x31), hi, lo, y)
	g.VMOVDQU(x, op.Mem{Base: c})
	g.VMOVDQU(y, op.Mem{Base: c, Disp: 32})
	g.ADDQ(op.I8(64), c)
	g.ADDQ(op.I8(32), at)
	g.DECQ(blocks)
	g.JNE(op.LabelRef("block"))
	g.LEAQ(op.Mem{Base: a, Index: row, Scale: 2}, a)
	g.DECQ(n)
	g.JNE(op.LabelRef("output"))
	g.VZEROUPPER()
	g.RET()
}
