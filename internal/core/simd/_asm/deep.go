package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// deep writes the function for a depthwise convolution, whose sums lie side by side, each of its own products:
//
//	c[i*ldc+j] = acc, acc = +0, then acc = fma(a[i*aRow+offs[l]+j], b[l*ldb+j], acc) for each l < taps in order
//
// for i < m and j < n. NaNs are stored as the canonical one. mode has the steps after the sums, as in tile.
//
// A block of sums stays in registers: some vectors of columns, the last of them with a mask, and some rows. Rows that are left begin earlier
// and compute some again, unless there are fewer than a block has.
func (g *product) deep() {
	elem := map[int]string{4: "float32", 8: "float64"}[g.size]
	g.Function("deep_" + g.suffix)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(c *%s, ldc int, a *%[1]s, aRow int, offs *int, taps int, b *%[1]s, ldb, m, n, mode int, more *%[1]s)", elem))
	shift, lanes := op.U8(map[int]uint64{4: 2, 8: 3}[g.size]), g.width/g.size
	c, ldc, a, aRow, a3, a5, a7 := reg.RAX, reg.RBX, reg.RSI, reg.RDI, reg.R11, reg.R12, reg.R10
	list, b, ldb, k, left, from := reg.R8, reg.RDX, reg.R9, reg.RCX, reg.R13, reg.R14
	fma, move, masked := ps(g, g.VFMADD231PS, g.VFMADD231PD), ps(g, g.VMOVUPS, g.VMOVUPD), ps(g, g.VMASKMOVPS, g.VMASKMOVPD)
	full := g.width == 64 // masks cost nothing
	blocks, heights := []int{2, 1}, []int{8, 4, 1}
	if !full {
		blocks, heights = []int{2, 1, 0}, []int{4, 1} // 0 is one vector with a mask
	}
	for i, name := range []string{"ldc", "aRow", "ldb"} {
		r := []reg.GPPhysical{ldc, aRow, ldb}[i]
		g.Load(g.Param(name), r)
		g.SHLQ(shift, r)
	}
	g.LEAQ(op.Mem{Base: aRow, Index: aRow, Scale: 2}, a3)
	if full {
		g.LEAQ(op.Mem{Base: aRow, Index: aRow, Scale: 4}, a5)
		g.LEAQ(op.Mem{Base: aRow, Index: a3, Scale: 2}, a7)
	}
	g.Label("columns")
	for i, block := range blocks {
		vectors, part := max(block, 1), full || block == 0
		name := func(what string, height int) string { return fmt.Sprintf("%s%dx%d", what, height, block) }
		if i > 0 {
			g.Label(fmt.Sprint("block", block))
		}
		g.Load(g.Param("n"), k)
		if i < len(blocks)-1 {
			next := op.LabelRef(fmt.Sprint("block", blocks[i+1]))
			if full {
				g.CMPQ(k, op.I8(int8((vectors-1)*lanes)))
				g.JLE(next)
			} else {
				g.CMPQ(k, op.I8(int8(vectors*lanes)))
				g.JL(next)
			}
		}
		ymask, x := g.vec(15), g.vec(14)
		switch {
		case full:
			g.SUBQ(op.I8(int8((vectors-1)*lanes)), k)
			g.MOVQ(op.I32(int32(lanes)), from)
			g.CMPQ(k, from)
			g.CMOVQGT(from, k)
			g.MOVQ(op.I32(-1), from)
			g.SHLQ(reg.CL, from) // k is CX
			g.NOTQ(from)
			g.KMOVW(from.As32(), reg.K1)
		case part:
			g.LEAQ(g.mask.Offset(g.width), from)
			g.SHLQ(shift, k)
			g.SUBQ(k, from)
			g.VMOVUPS(op.Mem{Base: from}, ymask)
		}
		last := func(v int) bool { return part && v == vectors-1 }
		load := func(v int, mem op.Mem, to reg.VecPhysical) {
			mem.Disp += v * g.width
			switch {
			case !last(v):
				move(mem, to)
			case full:
				ps(g, g.VMOVUPS_Z, g.VMOVUPD_Z)(mem, reg.K1, to)
			default:
				masked(mem, ymask, to)
			}
		}
		g.Load(g.Param("a"), a)
		g.Load(g.Param("c"), c)
		g.Load(g.Param("m"), left)
		for _, height := range heights {
			rows, end, tap := name("rows", height), name("end", height), name("tap", height)
			used := height * vectors
			g.Label(rows)
			g.SUBQ(op.I8(int8(height)), left)
			g.JL(op.LabelRef(end))
			for r := range used {
				g.VXORPS(g.vec(r).AsX(), g.vec(r).AsX(), g.vec(r).AsX())
			}
			g.Load(g.Param("offs"), list)
			g.Load(g.Param("b"), b)
			g.Load(g.Param("taps"), k)
			g.Label(tap)
			g.MOVQ(op.Mem{Base: list}, from)
			g.LEAQ(op.Mem{Base: a, Index: from, Scale: uint8(g.size)}, from)
			for v := range vectors {
				load(v, op.Mem{Base: b}, g.vec(used+v))
			}
			for r := range used {
				mem, v := offset(r/vectors, from, nil, aRow, a3, a5, a7), r%vectors
				mem.Disp += v * g.width
				switch {
				case !last(v):
					fma(mem, g.vec(used+v), g.vec(r))
				case full:
					fma(mem, g.vec(used+v), reg.K1, g.vec(r))
				default:
					masked(mem, ymask, x)
					fma(x, g.vec(used+v), g.vec(r))
				}
			}
			g.ADDQ(op.I8(8), list)
			g.ADDQ(ldb, b)
			g.DECQ(k)
			g.JNZ(op.LabelRef(tap))
			g.TESTQ(op.U32(4), g.arg("mode"))
			g.JZ(op.LabelRef(name("alone", height)))
			g.Load(g.Param("more"), from)
			for v := range vectors {
				load(v, op.Mem{Base: from}, g.vec(used))
				for r := v; r < used; r += vectors {
					ps(g, g.VADDPS, g.VADDPD)(g.vec(used), g.vec(r), g.vec(r))
				}
			}
			g.Label(name("alone", height))
			g.settle(name("", height), used, from, g.arg("mode"))
			for r := range used {
				v := r % vectors
				mem := op.Mem{Base: c, Disp: v * g.width}
				switch {
				case !last(v):
					move(g.vec(r), mem)
				case full:
					move(g.vec(r), reg.K1, mem)
				default:
					masked(g.vec(r), ymask, mem)
				}
				if v == vectors-1 {
					g.ADDQ(ldc, c)
				}
			}
			g.LEAQ(op.Mem{Base: a, Index: aRow, Scale: uint8(height)}, a)
			g.JMP(op.LabelRef(rows))
			g.Label(end)
			g.ADDQ(op.I8(int8(height)), left)
			g.JZ(op.LabelRef(name("below", 0)))
			if height == 4 {
				g.CMPQ(g.arg("m"), op.I8(4))
				g.JL(op.LabelRef(name("rows", 1)))
				g.SUBQ(op.I8(4), left)
				for _, p := range [...][2]reg.GPPhysical{{a, aRow}, {c, ldc}} {
					g.MOVQ(left, from)
					g.IMULQ(p[1], from)
					g.ADDQ(from, p[0])
				}
				g.MOVQ(op.I32(4), left)
				g.JMP(op.LabelRef(rows))
			}
		}
		g.Label(name("below", 0))
		g.SUBQ(op.I8(int8(vectors*lanes)), g.arg("n"))
		g.JLE(op.LabelRef("done"))
		for _, p := range []string{"a", "b", "c", "more"} {
			g.ADDQ(op.I32(int32(vectors*g.width)), g.arg(p))
		}
		if i < len(blocks)-1 {
			g.JMP(op.LabelRef("columns"))
		}
	}
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}

// settle makes NaNs in the first registers canonical, and does Relu if bit 8 of mode is set. It takes two registers more, and spare.
func (g *product) settle(label string, used int, spare reg.GPPhysical, mode op.Mem) {
	full := g.width == 64
	t1, t2 := g.vec(used), g.vec(used+1)
	compare := ps(g, g.VCMPPS, g.VCMPPD)
	// Sums are compared two at a time. NaNs are rare, so they are looked for one by one only where there are some.
	for i := 0; i < used; i += 2 {
		x, y := g.vec(i), g.vec(min(i+1, used-1))
		switch {
		case full && i == 0:
			compare(op.U8(3), y, x, reg.K2)
		case full:
			compare(op.U8(3), y, x, reg.K3)
			g.KORW(reg.K3, reg.K2, reg.K2)
		case i == 0:
			compare(op.U8(3), y, x, t2)
		default:
			compare(op.U8(3), y, x, t1)
			g.VORPS(t1, t2, t2)
		}
	}
	if full {
		g.KORTESTW(reg.K2, reg.K2)
	} else {
		g.VPTEST(t2, t2)
	}
	g.JZ(op.LabelRef("numbers" + label))
	if g.size == 4 {
		g.MOVL(op.U32(0x7fc00000), spare.As32())
		g.VMOVD(spare.As32(), t2.AsX())
	} else {
		g.MOVQ(op.U64(0x7ff8000000000000), spare)
		g.VMOVQ(spare, t2.AsX())
	}
	ps(g, g.VBROADCASTSS, g.VBROADCASTSD)(t2.AsX(), t2)
	for i := range used {
		if full {
			compare(op.U8(3), g.vec(i), g.vec(i), reg.K2)
			ps(g, g.VMOVAPS, g.VMOVAPD)(t2, reg.K2, g.vec(i))
		} else {
			compare(op.U8(3), g.vec(i), g.vec(i), t1)
			ps(g, g.VBLENDVPS, g.VBLENDVPD)(t1, t2, g.vec(i), g.vec(i))
		}
	}
	g.Label("numbers" + label)
	g.TESTQ(op.U32(8), mode)
	g.JZ(op.LabelRef("signed" + label))
	g.VXORPS(t1.AsX(), t1.AsX(), t1.AsX())
	for i := range used { // NaNs stay; of two zeros the second is taken, so −0 + 0 follows
		ps(g, g.VMAXPS, g.VMAXPD)(g.vec(i), t1, g.vec(i))
		ps(g, g.VADDPS, g.VADDPD)(t1, g.vec(i), g.vec(i))
	}
	g.Label("signed" + label)
}
