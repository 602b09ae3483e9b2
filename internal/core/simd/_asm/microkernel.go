package main

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile writes the function for a column of tiles of at most some rows. It keeps all sums of one tile in registers:
//
//	c[i*ldc+j] = [c[i*ldc+j] +] acc, acc = +0, then acc = fma(a[i*aRow+l*aCol], b[l*ldb+j], acc) for each l < k in order
//
// for i < rows and j < n, where n ends in the last vector. NaNs are stored as the canonical one. mode is 0 to store, 1 to add
// to c, 2 for non-temporal stores of whole vectors. Besides, 4 adds more[j] to the sum, and 8 makes it 0 unless it is greater, or NaN.
//
// Each number of rows has loops of its own. The steps after them are one for all, where lower tiles enter later.
//
// If offs isn't nil, step l takes a[i*aRow+offs[l]], and aCol is the address of what is prefetched besides, or 0. The widest
// tiles for AVX2 have no register for a mask. They take whole vectors, with offs, and no non-temporal stores.
func (g *product) tile(most, vectors int) {
	elem := map[int]string{4: "float32", 8: "float64"}[g.size]
	g.Function(fmt.Sprintf("gemm%d_%s", vectors, g.suffix))
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(c *%s, ldc int, a *%[1]s, aRow, aCol int, b *%[1]s, ldb, n, k, times, rows, mode int, more *%[1]s, offs *int)", elem))
	shift := op.U8(map[int]uint64{4: 2, 8: 3}[g.size])
	cPtr, ldc, a, a9, aRow, a3, a5, a7, aCol, b, ldb, k, at := reg.RAX, reg.RBX, reg.RSI, reg.R15, reg.RDI, reg.R11, reg.R12, reg.R10, reg.R8, reg.RDX, reg.R9, reg.RCX, reg.R13
	off := reg.R14
	used := most * vectors
	bv := func(v int) reg.VecPhysical { return g.vec(used + v) }
	full := g.width == 64 // masks cost nothing
	bare := vectors > len(g.rows)
	masked := !full && !bare

	// The mask comes first: n - (vectors-1)·lanes elements.
	lanes := g.width / g.size
	var ymask reg.VecPhysical
	if !bare {
		g.Load(g.Param("n"), k)
		g.SUBQ(op.I8(int8((vectors-1)*lanes)), k)
	}
	if full {
		g.MOVQ(op.I32(-1), at)
		g.SHLQ(reg.CL, at) // k is CX
		g.NOTQ(at)
		g.KMOVW(at.As32(), reg.K1)
	} else if masked {
		ymask = g.vec(15)
		g.LEAQ(g.mask.Offset(g.width), at)
		g.SHLQ(shift, k)
		g.SUBQ(k, at)
		g.VMOVUPS(op.Mem{Base: at}, ymask)
	}
	load := func(v int, from op.Mem, to reg.VecPhysical) {
		from.Disp += v * g.width
		switch {
		case v < vectors-1 || bare:
			ps(g, g.VMOVUPS, g.VMOVUPD)(from, to)
		case full:
			ps(g, g.VMOVUPS_Z, g.VMOVUPD_Z)(from, reg.K1, to)
		default:
			ps(g, g.VMASKMOVPS, g.VMASKMOVPD)(from, ymask, to)
		}
	}

	g.Label("tile")
	g.Load(g.Param("c"), cPtr)
	g.Load(g.Param("ldc"), ldc)
	g.SHLQ(shift, ldc)
	g.Load(g.Param("a"), a)
	g.Load(g.Param("aRow"), aRow)
	g.SHLQ(shift, aRow)
	g.Load(g.Param("aCol"), aCol)
	g.SHLQ(shift, aCol)
	g.Load(g.Param("b"), b)
	g.Load(g.Param("ldb"), ldb)
	g.SHLQ(shift, ldb)
	g.Load(g.Param("k"), k)
	if most > 3 {
		g.LEAQ(op.Mem{Base: aRow, Index: aRow, Scale: 2}, a3)
	}
	if most > 5 {
		g.LEAQ(op.Mem{Base: aRow, Index: aRow, Scale: 4}, a5)
	}
	if most > 7 {
		g.LEAQ(op.Mem{Base: aRow, Index: a3, Scale: 2}, a7)
	}
	if most > 9 {
		g.LEAQ(op.Mem{Base: a, Index: aRow, Scale: 8}, a9)
		g.ADDQ(aRow, a9)
	}
	// The rows of c are prefetched during the sums, one after each apart steps if there are enough steps. All at once they
	// would hold up the loads of a and b. Rows for non-temporal stores aren't prefetched.
	const apart = 16
	mode := g.arg("mode")
	fetch := func() {
		for x := 0; x < vectors*g.width; x += 64 {
			g.PREFETCHT0(op.Mem{Base: at, Disp: x})
		}
		g.ADDQ(ldc, at)
	}
	g.MOVQ(cPtr, at)
	g.CMPQ(mode, op.I8(2))
	g.JEQ(op.LabelRef("start"))
	g.Load(g.Param("rows"), off)
	g.INCQ(off)
	g.IMUL3Q(op.U8(apart), off, off)
	g.CMPQ(k, off)
	g.Load(g.Param("rows"), off)
	g.JGE(op.LabelRef("start"))
	g.Label("rows")
	fetch()
	g.DECQ(off)
	g.JNZ(op.LabelRef("rows"))
	g.Label("start")
	for i := range used {
		g.VXORPS(g.vec(i).AsX(), g.vec(i).AsX(), g.vec(i).AsX())
	}
	g.TESTQ(k, k)
	g.JZ(op.LabelRef("done"))
	// A row of b fills cache lines that the first-level cache doesn't keep until the next tile, so the next rows are
	// prefetched.
	const lead = 8
	spare := 2
	if bare {
		spare = min(2, 16-used-vectors)
	}
	loop := func(next, done string, load func(v int, from op.Mem, to reg.VecPhysical), taps bool, rows int) {
		cold := full && !taps
		from9, list, base := a9, aCol, a
		g.Label(next)
		if taps {
			g.MOVQ(op.Mem{Base: list}, off)
			if rows > 9 {
				from9 = cPtr
				g.LEAQ(op.Mem{Base: a9, Index: off, Scale: uint8(g.size)}, from9)
			}
			base = off
			g.LEAQ(op.Mem{Base: a, Index: off, Scale: uint8(g.size)}, base)
		}
		for v := range vectors {
			load(v, op.Mem{Base: b}, bv(v))
		}
		for i := range rows {
			x := g.vec(used + vectors + i%spare)
			ps(g, g.VBROADCASTSS, g.VBROADCASTSD)(offset(i, base, from9, aRow, a3, a5, a7), x)
			for v := range vectors {
				ps(g, g.VFMADD231PS, g.VFMADD231PD)(bv(v), x, g.vec((rows-1-i)*vectors+v))
			}
			if cold && i < vectors {
				g.PREFETCHT0(op.Mem{Base: b, Index: ldb, Scale: lead, Disp: i * g.width})
			}
			if taps && i < vectors && (full || i%2 == 0) { // rows to come
				g.PREFETCHT0(op.Mem{Base: b, Disp: 32*vectors*g.width + i*g.width})
			}
		}
		if taps {
			g.ADDQ(op.I8(8), list)
		} else {
			g.ADDQ(aCol, a)
			if rows > 9 {
				g.ADDQ(aCol, a9)
			}
		}
		g.ADDQ(ldb, b)
		g.DECQ(k)
		g.TESTB(op.U8(apart-1), k.As8())
		g.JNZ(op.LabelRef(next))
		g.TESTQ(k, k)
		g.JZ(op.LabelRef(done))
		if taps { // a part of later rows of b comes nearer
			g.MOVQ(g.arg("aCol"), off)
			g.TESTQ(off, off)
			g.JZ(op.LabelRef(next + "Warm"))
			for x := 0; x < vectors*g.width*2; x += 64 {
				g.PREFETCHT1(op.Mem{Base: off, Disp: x})
			}
			g.ADDQ(op.I32(int32(vectors*g.width*2)), off)
			g.MOVQ(off, g.arg("aCol"))
			g.Label(next + "Warm")
		}
		g.CMPQ(mode, op.I8(2))
		g.JEQ(op.LabelRef(next))
		fetch()
		g.JMP(op.LabelRef(next))
	}
	whole := func(v int, from op.Mem, to reg.VecPhysical) {
		from.Disp += v * g.width
		ps(g, g.VMOVUPS, g.VMOVUPD)(from, to)
	}
	all := make([]int, most) // numbers of rows
	for i := range all {
		all[i] = i + 1
	}
	heights := func(name, done string, load func(v int, from op.Mem, to reg.VecPhysical), taps bool) {
		g.Load(g.Param("rows"), off)
		g.enter(off, name, all)
		for _, rows := range slices.Backward(all) {
			loop(fmt.Sprint(name, rows), done, load, taps, rows)
		}
	}
	loops := func(name string, taps bool) {
		if masked { // a load under a mask costs a little here, and a register
			g.CMPQ(g.arg("n"), op.I8(int8(vectors*lanes)))
			g.JE(op.LabelRef("whole" + name))
			spare = 1
		}
		heights("next"+name, "done", load, taps)
		if masked {
			g.Label("whole" + name)
			spare = 2
			heights("nextWhole"+name, "wholeDone", whole, taps)
		}
	}
	if !bare {
		g.CMPQ(g.arg("offs"), op.I8(0))
		g.JE(op.LabelRef("strides"))
	}
	g.Load(g.Param("offs"), aCol)
	loops("Tap", true)
	if !bare {
		g.Label("strides")
		loops("", false)
	}
	if masked {
		g.Label("wholeDone") // and sets the mask again, of a whole vector
		g.VPCMPEQD(ymask, ymask, ymask)
	}
	g.Label("done")
	g.Load(g.Param("c"), cPtr)

	what := k
	g.Load(g.Param("mode"), what)
	height := off
	g.Load(g.Param("rows"), height)
	// slots writes a step for registers from the last one on, where row 0 is, some at a time. Tiles of some numbers of rows enter at their row 0.
	slots := func(name string, heights []int, each int, body func(i int)) {
		g.enter(height, name, heights)
		for i := (used - 1) / each * each; i >= 0; i -= each {
			for _, h := range slices.Backward(heights) {
				if (h*vectors-1)/each == i/each {
					g.Label(fmt.Sprint(name, h))
				}
			}
			body(i)
		}
	}
	some := slices.Compact([]int{(most + 3) / 4, (most + 1) / 2, most}) // of steps that may take registers without sums, which are 0
	t1, t2 := g.vec(used), g.vec(used+1)                                // free by now
	g.TESTB(op.U8(1), what.As8())
	g.JZ(op.LabelRef("alone"))
	g.MOVQ(cPtr, at)
	slots("add", all, vectors, func(i int) {
		for v := range vectors {
			load(v, op.Mem{Base: at}, t1)
			ps(g, g.VADDPS, g.VADDPD)(g.vec(i+v), t1, g.vec(i+v))
		}
		g.ADDQ(ldc, at)
	})
	g.Label("alone")
	g.TESTB(op.U8(4), what.As8())
	g.JZ(op.LabelRef("canon"))
	g.Load(g.Param("more"), at)
	for v := range vectors {
		load(v, op.Mem{Base: at}, bv(v))
	}
	slots("bias", some, 1, func(i int) { ps(g, g.VADDPS, g.VADDPD)(bv(i%vectors), g.vec(i), g.vec(i)) })
	g.Label("canon")
	// Sums are compared two at a time. NaNs are rare, so they are looked for one by one only where there are some.
	if full {
		g.KXORW(reg.K2, reg.K2, reg.K2)
	} else {
		g.VXORPS(t2.AsX(), t2.AsX(), t2.AsX())
	}
	slots("pair", some, 2, func(i int) {
		x, y := g.vec(i), g.vec(min(i+1, used-1))
		if full {
			ps(g, g.VCMPPS, g.VCMPPD)(op.U8(3), y, x, reg.K3)
			g.KORW(reg.K3, reg.K2, reg.K2)
		} else {
			ps(g, g.VCMPPS, g.VCMPPD)(op.U8(3), y, x, t1)
			g.VORPS(t1, t2, t2)
		}
	})
	if full {
		g.KORTESTW(reg.K2, reg.K2)
	} else {
		g.VPTEST(t2, t2)
	}
	g.JZ(op.LabelRef("numbers"))
	if g.size == 4 {
		g.MOVL(op.U32(0x7fc00000), at.As32())
		g.VMOVD(at.As32(), t2.AsX())
	} else {
		g.MOVQ(op.U64(0x7ff8000000000000), at)
		g.VMOVQ(at, t2.AsX())
	}
	ps(g, g.VBROADCASTSS, g.VBROADCASTSD)(t2.AsX(), t2)
	for i := range used {
		if full {
			ps(g, g.VCMPPS, g.VCMPPD)(op.U8(3), g.vec(i), g.vec(i), reg.K2)
			ps(g, g.VMOVAPS, g.VMOVAPD)(t2, reg.K2, g.vec(i))
		} else {
			ps(g, g.VCMPPS, g.VCMPPD)(op.U8(3), g.vec(i), g.vec(i), t1)
			ps(g, g.VBLENDVPS, g.VBLENDVPD)(t1, t2, g.vec(i), g.vec(i))
		}
	}
	g.Label("numbers")
	g.TESTB(op.U8(8), what.As8())
	g.JZ(op.LabelRef("signed"))
	g.VXORPS(t1.AsX(), t1.AsX(), t1.AsX())
	slots("max", some, 1, func(i int) { // NaNs stay; of two zeros the second is taken, so −0 + 0 follows
		ps(g, g.VMAXPS, g.VMAXPD)(g.vec(i), t1, g.vec(i))
		ps(g, g.VADDPS, g.VADDPD)(t1, g.vec(i), g.vec(i))
	})
	g.Label("signed")
	store := func(kind string) {
		slots(kind, all, vectors, func(i int) {
			for v := range vectors {
				sums, to := g.vec(i+v), op.Mem{Base: cPtr, Disp: v * g.width}
				switch {
				case kind == "stream":
					ps(g, g.VMOVNTPS, g.VMOVNTPD)(sums, to)
				case v < vectors-1 || kind == "full":
					ps(g, g.VMOVUPS, g.VMOVUPD)(sums, to)
				case full:
					ps(g, g.VMOVUPS, g.VMOVUPD)(sums, reg.K1, to)
				default:
					ps(g, g.VMASKMOVPS, g.VMASKMOVPD)(sums, ymask, to)
				}
			}
			g.ADDQ(ldc, cPtr)
		})
	}
	if !bare {
		g.CMPQ(what, op.I8(2))
		g.JEQ(op.LabelRef("stream"))
	}
	if masked { // a store under a mask is slow here
		g.Load(g.Param("n"), what)
		g.CMPQ(what, op.I8(int8(vectors*lanes)))
		g.JNE(op.LabelRef("part"))
		store("full")
		g.JMP(op.LabelRef("below"))
		g.Label("part")
	}
	if bare {
		store("full")
	} else {
		store("part")
		g.JMP(op.LabelRef("below"))
		g.Label("stream")
		store("stream")
	}
	g.Label("below") // with the addresses of the next tile in the places of c and a
	g.DECQ(g.arg("times"))
	g.JZ(op.LabelRef("last"))
	g.MOVQ(cPtr, g.arg("c"))
	g.IMULQ(height, aRow)
	g.ADDQ(aRow, g.arg("a"))
	g.JMP(op.LabelRef("tile"))
	g.Label("last")
	g.VZEROUPPER()
	g.RET()
	for len(g.later) > 0 {
		write := g.later[0]
		g.later = g.later[1:]
		write()
	}
}

// enter jumps to the label that begins with name and ends with the least of some numbers, in order, that isn't below h. The greatest one follows.
func (g *product) enter(h reg.GPPhysical, name string, numbers []int) {
	for len(numbers) > 1 {
		half := len(numbers) / 2
		some, below := numbers[:half], fmt.Sprintf("%sUpTo%d", name, numbers[half-1])
		g.CMPQ(h, op.I8(int8(numbers[half-1])))
		g.JLE(op.LabelRef(below))
		g.later = append(g.later, func() {
			g.Label(below)
			g.enter(h, name, some)
			g.JMP(op.LabelRef(fmt.Sprint(name, some[half-1])))
		})
		numbers = numbers[half:]
	}
}
