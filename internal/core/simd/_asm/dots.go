package main

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dots writes the function for a matrix and a vector. Each row of a has one accumulator, and there are as many rows as a
// vector has elements:
//
//	c[i] = fma(a[i*lda+l], x[l], c[i]) for each l < k in order
//
// k is a multiple of the rows too. A square of a is loaded, transposed in registers, and then added column by column. The
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
	next, left, skip := reg.R8, reg.R9, reg.R10 // to prefetch: the line, the number of squares that share a row, the distance to the next row
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

// panel writes the function for one row and a panel of packed columns, of eight vectors, four, two or one:
//
//	c[j] = [c[j] +] acc, acc = +0, then acc = fma(a[l*aStep], b[l*n+j], acc) for each l < k in order
//
// for j < n. Eight sums that wait for themselves fill the pipes of the multipliers. Later rows of b are prefetched.
func (g *product) panel() {
	const ahead = 2048
	elem := map[int]string{4: "float32", 8: "float64"}[g.size]
	g.Function("panel_" + g.suffix)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(c, a *%s, aStep int, b *%[1]s, n, k, add int)", elem))
	c, a, step, b, n, k, add := reg.RAX, reg.RBX, reg.RCX, reg.RDX, reg.RSI, reg.RDI, reg.R8
	for i, name := range []string{"c", "a", "aStep", "b", "n", "k", "add"} {
		g.Load(g.Param(name), []reg.GPPhysical{c, a, step, b, n, k, add}[i])
	}
	g.SHLQ(op.U8(map[int]uint64{4: 2, 8: 3}[g.size]), step)
	move, fused, plus := ps(g, g.VMOVUPS, g.VMOVUPD), ps(g, g.VFMADD231PS, g.VFMADD231PD), ps(g, g.VADDPS, g.VADDPD)
	x := g.vec(8)
	for _, vectors := range []int{8, 4, 2, 1} {
		name := func(what string) op.LabelRef { return op.LabelRef(fmt.Sprintf("%s%d", what, vectors)) }
		if vectors > 1 {
			g.CMPQ(n, op.I32(int32(vectors*g.width/g.size)))
			g.JNE(name("not"))
		}
		for v := range vectors {
			g.VXORPS(g.vec(v).AsX(), g.vec(v).AsX(), g.vec(v).AsX())
		}
		g.Label(string(name("step")))
		ps(g, g.VBROADCASTSS, g.VBROADCASTSD)(op.Mem{Base: a}, x)
		for v := range vectors {
			if at := v * g.width; vectors == 8 && at%64 == 0 {
				g.PREFETCHT0(op.Mem{Base: b, Disp: ahead + at})
			}
			fused(op.Mem{Base: b, Disp: v * g.width}, x, g.vec(v))
		}
		g.ADDQ(step, a)
		g.ADDQ(op.I32(int32(vectors*g.width)), b)
		g.DECQ(k)
		g.JNZ(name("step"))
		g.TESTQ(add, add)
		g.JZ(name("store"))
		for v := range vectors {
			plus(op.Mem{Base: c, Disp: v * g.width}, g.vec(v), g.vec(v))
		}
		g.Label(string(name("store")))
		for v := range vectors {
			move(g.vec(v), op.Mem{Base: c, Disp: v * g.width})
		}
		g.VZEROUPPER()
		g.RET()
		if vectors > 1 {
			g.Label(string(name("not")))
		}
	}
}

// chains writes the function for sums side by side, each of its own products:
//
//	c[j] = fma(a[l*lda+j], b[l*ldb+j], c[j]) for each l < k in order
//
// for j < n. The sums of four vectors stay in registers, then the sums of one.
func (g *product) chains() {
	elem := map[int]string{4: "float32", 8: "float64"}[g.size]
	g.Function("chains_" + g.suffix)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(c, a *%s, lda int, b *%[1]s, ldb, n, k int)", elem))
	shift := op.U8(map[int]uint64{4: 2, 8: 3}[g.size])
	lanes := g.width / g.size
	c, a, lda, b, ldb, n, k, x, y, left := reg.RAX, reg.RBX, reg.RDX, reg.RSI, reg.RDI, reg.RCX, reg.R8, reg.R9, reg.R10, reg.R11
	for i, name := range []string{"c", "a", "lda", "b", "ldb", "n", "k"} {
		g.Load(g.Param(name), []reg.GPPhysical{c, a, lda, b, ldb, n, k}[i])
	}
	g.SHLQ(shift, lda)
	g.SHLQ(shift, ldb)
	load, fused := ps(g, g.VMOVUPS, g.VMOVUPD), ps(g, g.VFMADD231PS, g.VFMADD231PD)
	// chain writes the loop over k; step writes a step of it.
	chain := func(label string, step func()) {
		g.MOVQ(a, x)
		g.MOVQ(b, y)
		g.MOVQ(k, left)
		g.Label(label)
		step()
		g.ADDQ(lda, x)
		g.ADDQ(ldb, y)
		g.DECQ(left)
		g.JNZ(op.LabelRef(label))
	}
	for _, vectors := range []int{4, 1} {
		next, end := fmt.Sprintf("next%d", vectors), fmt.Sprintf("end%d", vectors)
		g.Label(next)
		g.SUBQ(op.I8(int8(vectors*lanes)), n)
		g.JL(op.LabelRef(end))
		for v := range vectors {
			load(op.Mem{Base: c, Disp: v * g.width}, g.vec(v))
		}
		chain(fmt.Sprintf("step%d", vectors), func() {
			for v := range vectors {
				load(op.Mem{Base: x, Disp: v * g.width}, g.vec(4+v))
			}
			for v := range vectors {
				fused(op.Mem{Base: y, Disp: v * g.width}, g.vec(4+v), g.vec(v))
			}
		})
		for v := range vectors {
			load(g.vec(v), op.Mem{Base: c, Disp: v * g.width})
		}
		for _, p := range []reg.GPPhysical{a, b, c} {
			g.ADDQ(op.I32(int32(vectors*g.width)), p)
		}
		g.JMP(op.LabelRef(next))
		g.Label(end)
		g.ADDQ(op.I8(int8(vectors*lanes)), n)
	}
	g.JZ(op.LabelRef("done"))
	var some, store func(from op.Mem, to reg.VecPhysical)
	if g.width == 64 {
		g.MOVQ(op.I32(-1), x)
		g.SHLQ(reg.CL, x) // n is CX
		g.NOTQ(x)
		g.KMOVW(x.As32(), reg.K1)
		some = func(from op.Mem, to reg.VecPhysical) { ps(g, g.VMOVUPS_Z, g.VMOVUPD_Z)(from, reg.K1, to) }
		store = func(to op.Mem, v reg.VecPhysical) { load(v, reg.K1, to) }
	} else {
		g.LEAQ(g.mask.Offset(g.width), x)
		g.SHLQ(shift, n)
		g.SUBQ(n, x)
		m := g.vec(3)
		g.VMOVUPS(op.Mem{Base: x}, m)
		masked := ps(g, g.VMASKMOVPS, g.VMASKMOVPD)
		some = func(from op.Mem, to reg.VecPhysical) { masked(from, m, to) }
		store = func(to op.Mem, v reg.VecPhysical) { masked(v, m, to) }
	}
	some(op.Mem{Base: c}, g.vec(0))
	chain("rest", func() {
		some(op.Mem{Base: x}, g.vec(1))
		some(op.Mem{Base: y}, g.vec(2))
		fused(g.vec(2), g.vec(1), g.vec(0))
	})
	store(op.Mem{Base: c}, g.vec(0))
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}

// pairs writes the function for as many sums as a vector has elements, each of the products of a row of a with a row of b:
//
//	c[i] = fma(a[i*lda+l], b[i*ldb+l], c[i]) for each l < k in order
//
// k is a multiple of the rows. Half a square of each operand is loaded at a time, two rows in a register, and transposed
// there. Where a is b, one is transposed. Later columns are prefetched.
func (g *product) pairs() {
	const ahead = 1024
	elem := map[int]string{4: "float32", 8: "float64"}[g.size]
	g.Function("pairs_" + g.suffix)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(c *%s, a *%[1]s, lda int, b *%[1]s, ldb, k int)", elem))
	side, group := g.width/g.size, 16/g.size
	half := side / 2
	c, k, at := reg.RAX, reg.RSI, reg.RDI
	first, step, thrice := [2]reg.GPPhysical{reg.RBX, reg.RCX}, [2]reg.GPPhysical{reg.RDX, reg.R8}, [2]reg.GPPhysical{reg.R9, reg.R10}
	for i, name := range []string{"a", "b"} {
		g.Load(g.Param(name), first[i])
		g.Load(g.Param("ld"+name), step[i])
		g.SHLQ(op.U8(map[int]uint64{4: 2, 8: 3}[g.size]), step[i])
		g.LEAQ(op.Mem{Base: step[i], Index: step[i], Scale: 2}, thrice[i])
	}
	g.Load(g.Param("c"), c)
	g.Load(g.Param("k"), k)
	acc := g.vec(2*half + 1)
	load := ps(g, g.VMOVUPS, g.VMOVUPD)
	load(op.Mem{Base: c}, acc)
	// turned loads columns of an operand into registers and transposes them. The last of the registers is spare.
	turned := func(operand int, free []reg.VecPhysical, disp int) []reg.VecPhysical {
		rows := make([]reg.VecPhysical, half)
		g.MOVQ(first[operand], at)
		for i := range side {
			m := op.Mem{Base: at, Disp: disp}
			switch i % 4 {
			case 1:
				m.Index, m.Scale = step[operand], 1
			case 2:
				m.Index, m.Scale = step[operand], 2
			case 3:
				m.Index, m.Scale = thrice[operand], 1
			}
			r := i/(2*group)*group + i%group
			switch {
			case i/group%2 == 0:
				rows[r] = free[r]
				if g.width == 64 {
					load(m, rows[r].AsY())
				} else {
					load(m, rows[r].AsX())
				}
			case g.width == 64:
				g.VINSERTF64X4(op.U8(1), m, rows[r], rows[r])
			default:
				g.VINSERTF128(op.U8(1), m, rows[r], rows[r])
			}
			if disp == 0 {
				m.Disp = ahead
				g.PREFETCHT0(m)
			}
			if i%4 == 3 && i < side-1 {
				g.LEAQ(op.Mem{Base: at, Index: step[operand], Scale: 4}, at)
			}
		}
		return g.columns(rows, free[half])
	}
	registers := make([]reg.VecPhysical, 2*half+1)
	for i := range registers {
		registers[i] = g.vec(i)
	}
	fused := ps(g, g.VFMADD231PS, g.VFMADD231PD)
	loop := func(label string, columns func(disp int)) {
		g.Label(label)
		g.SUBQ(op.I8(int8(side)), k)
		g.JLT(op.LabelRef("done"))
		columns(0)
		columns(g.width / 2)
		for _, p := range first {
			g.ADDQ(op.I8(int8(g.width)), p)
		}
		g.JMP(op.LabelRef(label))
	}
	g.CMPQ(first[0], first[1])
	g.JNE(op.LabelRef("two"))
	g.CMPQ(step[0], step[1])
	g.JNE(op.LabelRef("two"))
	loop("one", func(disp int) {
		for _, x := range turned(0, registers, disp) {
			fused(x, x, acc)
		}
	})
	loop("two", func(disp int) {
		x := turned(0, registers, disp)
		y := turned(1, slices.DeleteFunc(slices.Clone(registers), func(r reg.VecPhysical) bool { return slices.Contains(x, r) }), disp)
		for l := range x {
			fused(x[l], y[l], acc)
		}
	})
	g.Label("done")
	load(acc, op.Mem{Base: c})
	g.VZEROUPPER()
	g.RET()
}

// columns transposes a square, with one row in each register and one register to spare, and returns the registers of the
// columns. It transposes within 128 bits first, then puts the 128 bits in order.
func (g *product) columns(rows []reg.VecPhysical, spare reg.VecPhysical) []reg.VecPhysical {
	// both replaces x and y by the results of two instructions on them.
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
	// Now the 128 bits number l of register r·group + c have column c + l·group of rows r·group and on.
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
