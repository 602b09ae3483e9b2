package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A target is an instruction set and an element type that the kernels of the matrix product are written for.
type target struct {
	suffix string // of the functions' names
	size   int    // bytes of an element
	width  int    // bytes of a vector
	rows   []int  // most rows of a tile of one vector, of two and so on
}

var targets = []target{
	{"32AVX2", 4, 32, []int{6, 6}}, {"64AVX2", 8, 32, []int{6, 6}},
	{"32AVX512", 4, 64, []int{14, 14, 9}}, {"64AVX512", 8, 64, []int{14, 14, 9}},
}

// writeGEMM writes the tiles of the matrix product: for each target one function per number of rows and of vectors in a row.
func writeGEMM(c *build.Context) {
	for _, t := range targets {
		g := &product{Context: c, target: t}
		if t.width == 32 {
			g.mask = c.StaticGlobal("gemmMask" + t.suffix)
			c.DataAttributes(attr.RODATA | attr.NOPTR)
			for i := range t.width / t.size * 2 {
				v := int64(-1)
				if i >= t.width/t.size {
					v = 0
				}
				if t.size == 4 {
					c.AddDatum(i*4, op.I32(v))
				} else {
					c.AddDatum(i*8, op.I64(v))
				}
			}
		}
		for v, most := range t.rows {
			for rows := 1; rows <= most; rows++ {
				g.tile(rows, v+1)
			}
		}
		g.streamed(8)
		g.streamed(1)
		g.gather()
		g.dots()
		g.peak()
	}
	fence(c)
}

// product writes kernels for one target. Each has the last vector of a row under a mask.
type product struct {
	*build.Context
	target
	mask op.Mem // as many ones as zeros, for AVX2
}

// vec is vector register i.
func (g *product) vec(i int) reg.VecPhysical {
	if g.width == 64 {
		return []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
			reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}[i]
	}
	return []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}[i]
}

// ps picks the form of an instruction for the element type.
func ps[F any](g *product, single, double F) F {
	if g.size == 4 {
		return single
	}
	return double
}

// offset returns the address of row i, from 0 to 13, of a matrix at base or, from 9 on, base9, whose rows are s apart; s3,
// s5 and s7 hold 3, 5 and 7 times that.
func offset(i int, base, base9, s, s3, s5, s7 reg.GPPhysical) op.Mem {
	if i >= 9 {
		base, i = base9, i-9
	}
	switch i {
	case 0:
		return op.Mem{Base: base}
	case 1, 2, 4, 8:
		return op.Mem{Base: base, Index: s, Scale: uint8(i)}
	case 3, 6:
		return op.Mem{Base: base, Index: s3, Scale: uint8(i / 3)}
	case 5:
		return op.Mem{Base: base, Index: s5, Scale: 1}
	case 7:
		return op.Mem{Base: base, Index: s7, Scale: 1}
	}
	panic("no such row")
}

// tile writes the function of tiles one below the other. It keeps all sums of one in registers:
//
//	c[i*ldc+j] = [c[i*ldc+j] +] acc, acc = +0, then acc = fma(a[i*aRow+l*aCol], b[l*ldb+j], acc) for each l < k in order
//
// for i < rows and j < n, where n ends in the last vector. NaNs are stored as the canonical one. mode is 0 to store, 1 to
// add to c, 2 to store whole vectors past the caches.
//
// If offs isn't nil, it has the offsets of the rows of b, which are in two parts: split elements from b[offs[l]] on, and the
// rest from more[offs[l]] on. There is but one part in the narrower tiles, and with AVX2, where it is whole vectors.
func (g *product) tile(rows, vectors int) {
	elem := map[int]string{4: "float32", 8: "float64"}[g.size]
	g.Function(fmt.Sprintf("gemm%dx%d_%s", rows, vectors, g.suffix))
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(c *%s, ldc int, a *%[1]s, aRow, aCol int, b *%[1]s, ldb, n, k, times, mode int, more *%[1]s, split int, offs *int)", elem))
	shift := op.U8(map[int]uint64{4: 2, 8: 3}[g.size])
	cPtr, ldc, a, a9, aRow, a3, a5, a7, aCol, b, ldb, k, at := reg.RAX, reg.RBX, reg.RSI, reg.R15, reg.RDI, reg.R11, reg.R12, reg.R10, reg.R8, reg.RDX, reg.R9, reg.RCX, reg.R13
	more, offs, off, ahead := cPtr, ldb, reg.R14, reg.R14
	acc := func(i, v int) reg.VecPhysical { return g.vec(i*vectors + v) }
	used := rows * vectors
	bv := func(v int) reg.VecPhysical { return g.vec(used + v) }
	full := g.width == 64 // masks cost nothing

	// The mask first: n - (vectors-1)·lanes elements.
	lanes := g.width / g.size
	g.Load(g.Param("n"), k)
	g.SUBQ(op.I8(int8((vectors-1)*lanes)), k)
	var ymask reg.VecPhysical
	if full {
		g.MOVQ(op.I32(-1), at)
		g.SHLQ(reg.CL, at) // k is CX
		g.NOTQ(at)
		g.KMOVW(at.As32(), reg.K1)
	} else {
		ymask = g.vec(15)
		g.LEAQ(g.mask.Offset(g.width), at)
		g.SHLQ(shift, k)
		g.SUBQ(k, at)
		g.VMOVUPS(op.Mem{Base: at}, ymask)
	}
	load := func(v int, from op.Mem, to reg.VecPhysical) {
		from.Disp += v * g.width
		switch {
		case v < vectors-1:
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
	if rows > 3 {
		g.LEAQ(op.Mem{Base: aRow, Index: aRow, Scale: 2}, a3)
	}
	if rows > 5 {
		g.LEAQ(op.Mem{Base: aRow, Index: aRow, Scale: 4}, a5)
	}
	if rows > 7 {
		g.LEAQ(op.Mem{Base: aRow, Index: a3, Scale: 2}, a7)
	}
	if rows > 9 {
		g.LEAQ(op.Mem{Base: a, Index: aRow, Scale: 8}, a9)
		g.ADDQ(aRow, a9)
	}
	// The rows of c go to the caches while the sums are made, one every so many steps if there are steps enough: all at once they would hold up
	// the loads of a and b. Those that are stored past the caches don't.
	const apart = 16
	how, _ := g.Param("mode").Resolve()
	fetch := func() {
		for x := 0; x < vectors*g.width; x += 64 {
			g.PREFETCHT0(op.Mem{Base: at, Disp: x})
		}
		g.ADDQ(ldc, at)
	}
	g.MOVQ(cPtr, at)
	g.CMPQ(how.Addr, op.I8(2))
	g.JEQ(op.LabelRef("start"))
	g.CMPQ(k, op.U32(uint32(apart*(rows+1))))
	g.JGE(op.LabelRef("start"))
	for range rows {
		fetch()
	}
	g.Label("start")
	for i := range used {
		g.VXORPS(g.vec(i).AsX(), g.vec(i).AsX(), g.vec(i).AsX())
	}
	g.TESTQ(k, k)
	g.JZ(op.LabelRef("done"))
	// A row of b fills lines that the first-level cache doesn't keep until the next tile: those that come are fetched.
	const lead = 8
	spare := 2
	loop := func(next, done string, load func(v int, from op.Mem, to reg.VecPhysical), listed bool) {
		cold := full && !listed
		if cold {
			g.LEAQ(op.Mem{Base: b, Index: ldb, Scale: lead}, ahead)
		}
		g.Label(next)
		from := op.Mem{Base: b}
		if listed {
			g.MOVQ(op.Mem{Base: offs}, off)
			from.Index, from.Scale = off, uint8(g.size)
		}
		for v := range vectors {
			load(v, from, bv(v))
		}
		for i := range rows {
			x := g.vec(used + vectors + i%spare)
			ps(g, g.VBROADCASTSS, g.VBROADCASTSD)(offset(i, a, a9, aRow, a3, a5, a7), x)
			for v := range vectors {
				ps(g, g.VFMADD231PS, g.VFMADD231PD)(bv(v), x, acc(i, v))
			}
			if cold && i < vectors {
				g.PREFETCHT0(op.Mem{Base: ahead, Disp: i * g.width})
			}
		}
		g.ADDQ(aCol, a)
		if rows > 9 {
			g.ADDQ(aCol, a9)
		}
		if listed {
			g.ADDQ(op.I8(8), offs)
		} else {
			g.ADDQ(ldb, b)
			if cold {
				g.ADDQ(ldb, ahead)
			}
		}
		g.DECQ(k)
		g.JZ(op.LabelRef(done))
		g.TESTB(op.U8(apart-1), k.As8())
		g.JNZ(op.LabelRef(next))
		g.CMPQ(how.Addr, op.I8(2))
		g.JEQ(op.LabelRef(next))
		fetch()
		g.JMP(op.LabelRef(next))
	}
	whole := func(v int, from op.Mem, to reg.VecPhysical) {
		from.Disp += v * g.width
		ps(g, g.VMOVUPS, g.VMOVUPD)(from, to)
	}
	list, _ := g.Param("offs").Resolve()
	g.CMPQ(list.Addr, op.I8(0))
	g.JE(op.LabelRef("rows"))
	g.Load(g.Param("offs"), offs)
	if full && vectors == len(g.rows) {
		// The parts meet in one vector, which is loaded from both, under masks.
		split, _ := g.Param("split").Resolve()
		g.Load(g.Param("n"), off)
		g.CMPQ(split.Addr, off)
		g.JEQ(op.LabelRef("listed"))
		g.Load(g.Param("split"), reg.RCX)
		g.Load(g.Param("more"), more)
		g.MOVQ(reg.RCX, off)
		g.SHLQ(shift, off)
		g.SUBQ(off, more)
		for v := range vectors {
			if v < vectors-1 {
				g.CMPQ(reg.RCX, op.I8(int8((v+1)*lanes)))
				g.JGT(op.LabelRef(fmt.Sprintf("beyond%d", v)))
			}
			if v > 0 {
				g.SUBQ(op.I8(int8(v*lanes)), reg.RCX)
			}
			g.MOVQ(op.I32(-1), off)
			g.SHLQ(reg.CL, off)
			g.KMOVW(off.As32(), reg.K3)
			g.KNOTW(reg.K3, reg.K2)
			if v == vectors-1 {
				g.KANDW(reg.K1, reg.K3, reg.K3)
			}
			g.Load(g.Param("k"), k)
			loop(fmt.Sprintf("parts%d", v), "done", func(u int, from op.Mem, to reg.VecPhysical) {
				if u > v {
					from.Base = more
				}
				if u != v {
					load(u, from, to)
					return
				}
				from.Disp += v * g.width
				ps(g, g.VMOVUPS_Z, g.VMOVUPD_Z)(from, reg.K2, to)
				from.Base = more
				ps(g, g.VMOVUPS, g.VMOVUPD)(from, reg.K3, to)
			}, true)
			if v < vectors-1 {
				g.Label(fmt.Sprintf("beyond%d", v))
			}
		}
	}
	if full {
		loop("listed", "done", load, true)
	} else {
		loop("listed", "wholeDone", whole, true)
	}
	g.Label("rows")
	if !full { // a load under a mask costs a little here, and a register
		n, _ := g.Param("n").Resolve()
		g.CMPQ(n.Addr, op.I8(int8(vectors*lanes)))
		g.JE(op.LabelRef("whole"))
		spare = 1
	}
	loop("next", "done", load, false)
	if !full {
		g.Label("whole")
		spare = 2
		loop("nextWhole", "wholeDone", whole, false)
		g.Label("wholeDone") // and the mask again, of a whole vector
		g.VPCMPEQD(ymask, ymask, ymask)
	}
	g.Label("done")
	g.Load(g.Param("c"), cPtr)

	mode := k
	g.Load(g.Param("mode"), mode)
	t1, t2 := g.vec(used), g.vec(used+1) // free by now
	g.CMPQ(mode, op.I8(1))
	g.JNE(op.LabelRef("canon"))
	g.MOVQ(cPtr, at)
	for i := range rows {
		for v := range vectors {
			load(v, op.Mem{Base: at}, t1)
			ps(g, g.VADDPS, g.VADDPD)(acc(i, v), t1, acc(i, v))
		}
		if i < rows-1 {
			g.ADDQ(ldc, at)
		}
	}
	g.Label("canon")
	// Two sums at a time: NaNs are rare, and looked for one by one only where there are some.
	for i := 0; i < used; i += 2 {
		x, y := g.vec(i), g.vec(min(i+1, used-1))
		switch {
		case full && i == 0:
			ps(g, g.VCMPPS, g.VCMPPD)(op.U8(3), y, x, reg.K2)
		case full:
			ps(g, g.VCMPPS, g.VCMPPD)(op.U8(3), y, x, reg.K3)
			g.KORW(reg.K3, reg.K2, reg.K2)
		case i == 0:
			ps(g, g.VCMPPS, g.VCMPPD)(op.U8(3), y, x, t2)
		default:
			ps(g, g.VCMPPS, g.VCMPPD)(op.U8(3), y, x, t1)
			g.VORPS(t1, t2, t2)
		}
	}
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
	store := func(kind string) {
		for i := range rows {
			for v := range vectors {
				to := op.Mem{Base: cPtr, Disp: v * g.width}
				switch {
				case kind == "stream":
					ps(g, g.VMOVNTPS, g.VMOVNTPD)(acc(i, v), to)
				case v < vectors-1 || kind == "full":
					ps(g, g.VMOVUPS, g.VMOVUPD)(acc(i, v), to)
				case full:
					ps(g, g.VMOVUPS, g.VMOVUPD)(acc(i, v), reg.K1, to)
				default:
					ps(g, g.VMASKMOVPS, g.VMASKMOVPD)(acc(i, v), ymask, to)
				}
			}
			g.ADDQ(ldc, cPtr)
		}
	}
	g.CMPQ(mode, op.I8(2))
	g.JEQ(op.LabelRef("stream"))
	if !full { // a store under a mask is slow here
		g.Load(g.Param("n"), mode)
		g.CMPQ(mode, op.I8(int8(vectors*lanes)))
		g.JNE(op.LabelRef("part"))
		store("full")
		g.JMP(op.LabelRef("below"))
		g.Label("part")
	}
	store("part")
	g.JMP(op.LabelRef("below"))
	g.Label("stream")
	store("stream")
	g.Label("below") // the next tile's c and a go where those of this one were
	times, _ := g.Param("times").Resolve()
	g.DECQ(times.Addr)
	g.JZ(op.LabelRef("last"))
	nextC, _ := g.Param("c").Resolve()
	nextA, _ := g.Param("a").Resolve()
	g.MOVQ(cPtr, nextC.Addr)
	g.IMUL3Q(op.U8(uint64(rows)), aRow, aRow)
	g.ADDQ(aRow, nextA.Addr)
	g.JMP(op.LabelRef("tile"))
	g.Label("last")
	g.VZEROUPPER()
	g.RET()
}

// streamed writes the function that takes rows of b, one after the other, into sums that are in memory:
//
//	c[j] = fma(a[i*aStep], b[offs[i]+j], c[j]) for each i < rows in order
//
// for j < n: for products with so few rows that b is read once.
func (g *product) streamed(rows int) {
	elem := map[int]string{4: "float32", 8: "float64"}[g.size]
	g.Function(fmt.Sprintf("gemv%d_%s", rows, g.suffix))
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(c *%s, a *%[1]s, aStep int, b *%[1]s, offs *int, n int)", elem))
	shift := op.U8(map[int]uint64{4: 2, 8: 3}[g.size])
	lanes := g.width / g.size
	c, n := reg.RAX, reg.RCX
	row := []reg.GPPhysical{reg.RDX, reg.RSI, reg.RDI, reg.R8, reg.R9, reg.R10, reg.R11, reg.R12}
	step, b, offs := reg.RBX, reg.R13, reg.RCX
	acc := func(i int) reg.VecPhysical { return g.vec(rows + i) }
	g.Load(g.Param("a"), c)
	g.Load(g.Param("aStep"), step)
	g.SHLQ(shift, step)
	for i := range rows {
		ps(g, g.VBROADCASTSS, g.VBROADCASTSD)(op.Mem{Base: c}, g.vec(i))
		if i < rows-1 {
			g.ADDQ(step, c)
		}
	}
	g.Load(g.Param("c"), c)
	g.Load(g.Param("b"), b)
	g.Load(g.Param("offs"), offs)
	for i := range rows {
		g.MOVQ(op.Mem{Base: offs, Disp: 8 * i}, row[i])
		g.LEAQ(op.Mem{Base: b, Index: row[i], Scale: uint8(g.size)}, row[i])
	}
	g.Load(g.Param("n"), n)
	at := step
	g.XORQ(at, at)
	const unroll = 4
	for _, vectors := range []int{unroll, 1} {
		loop, end := fmt.Sprintf("loop%d", vectors), fmt.Sprintf("end%d", vectors)
		g.Label(loop)
		g.SUBQ(op.I8(int8(vectors*lanes)), n)
		g.JL(op.LabelRef(end))
		for v := range vectors {
			ps(g, g.VMOVUPS, g.VMOVUPD)(op.Mem{Base: c, Index: at, Scale: 1, Disp: v * g.width}, acc(v))
		}
		for i := range rows {
			for v := range vectors {
				ps(g, g.VFMADD231PS, g.VFMADD231PD)(op.Mem{Base: row[i], Index: at, Scale: 1, Disp: v * g.width}, g.vec(i), acc(v))
			}
		}
		for v := range vectors {
			ps(g, g.VMOVUPS, g.VMOVUPD)(acc(v), op.Mem{Base: c, Index: at, Scale: 1, Disp: v * g.width})
		}
		g.ADDQ(op.I32(int32(vectors*g.width)), at)
		g.JMP(op.LabelRef(loop))
		g.Label(end)
		g.ADDQ(op.I8(int8(vectors*lanes)), n)
	}
	g.JZ(op.LabelRef("done"))
	if g.width == 64 {
		g.MOVQ(op.I32(-1), b)
		g.SHLQ(reg.CL, b) // n is CX
		g.NOTQ(b)
		g.KMOVW(b.As32(), reg.K1)
		ps(g, g.VMOVUPS_Z, g.VMOVUPD_Z)(op.Mem{Base: c, Index: at, Scale: 1}, reg.K1, acc(0))
		for i := range rows {
			ps(g, g.VFMADD231PS, g.VFMADD231PD)(op.Mem{Base: row[i], Index: at, Scale: 1}, g.vec(i), reg.K1, acc(0))
		}
		ps(g, g.VMOVUPS, g.VMOVUPD)(acc(0), reg.K1, op.Mem{Base: c, Index: at, Scale: 1})
	} else {
		g.LEAQ(g.mask.Offset(g.width), b)
		g.SHLQ(shift, n)
		g.SUBQ(n, b)
		m, x := acc(1), acc(2)
		g.VMOVUPS(op.Mem{Base: b}, m)
		masked := ps(g, g.VMASKMOVPS, g.VMASKMOVPD)
		masked(op.Mem{Base: c, Index: at, Scale: 1}, m, acc(0))
		for i := range rows {
			masked(op.Mem{Base: row[i], Index: at, Scale: 1}, m, x)
			ps(g, g.VFMADD231PS, g.VFMADD231PD)(x, g.vec(i), acc(0))
		}
		masked(acc(0), m, op.Mem{Base: c, Index: at, Scale: 1})
	}
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}

// fence writes the instruction after which streamed stores are seen.
func fence(c *build.Context) {
	c.Function("storeFence")
	c.Attributes(attr.NOSPLIT)
	c.SignatureExpr("func()")
	c.SFENCE()
	c.RET()
}

// peak writes the probe that tests compare speeds with: n times 48 vectors of fused steps, all in registers.
func (g *product) peak() {
	const chains = 12
	g.Function("fmaPeak_" + g.suffix)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(n int)")
	n := reg.RCX
	g.Load(g.Param("n"), n)
	for i := range chains + 2 {
		g.VXORPS(g.vec(i).AsX(), g.vec(i).AsX(), g.vec(i).AsX())
	}
	g.Label("next")
	for range 4 {
		for i := range chains {
			ps(g, g.VFMADD231PS, g.VFMADD231PD)(g.vec(chains), g.vec(chains+1), g.vec(i))
		}
	}
	g.DECQ(n)
	g.JNZ(op.LabelRef("next"))
	g.VZEROUPPER()
	g.RET()
}

// gather writes the function that packs a panel: dst[i*ldd+j] = src[offs[i]+j] for i < rows and j < n, at most as
// many as the largest tile has, with AVX2 all of them.
func (g *product) gather() {
	elem := map[int]string{4: "float32", 8: "float64"}[g.size]
	g.Function("gather_" + g.suffix)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(dst *%s, ldd int, src *%[1]s, offs *int, rows, n int)", elem))
	dst, ldd, src, offs, rows, at, mask := reg.RDI, reg.RAX, reg.RSI, reg.RBX, reg.R8, reg.R9, reg.RDX
	masks := []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3}
	g.Load(g.Param("dst"), dst)
	g.Load(g.Param("ldd"), ldd)
	g.SHLQ(op.U8(map[int]uint64{4: 2, 8: 3}[g.size]), ldd)
	g.Load(g.Param("src"), src)
	g.Load(g.Param("offs"), offs)
	g.Load(g.Param("rows"), rows)
	if g.width == 64 {
		g.Load(g.Param("n"), reg.RCX)
		g.MOVQ(op.I32(-1), mask)
		g.SHLQ(reg.CL, mask)
		g.NOTQ(mask)
		for v := range g.rows {
			g.KMOVW(mask.As32(), masks[v])
			g.SHRQ(op.U8(uint8(64/g.size)), mask)
		}
	}
	mov := ps(g, g.VMOVUPS, g.VMOVUPD)
	g.Label("next")
	g.MOVQ(op.Mem{Base: offs}, at)
	for v, k := range masks[:len(g.rows)] {
		from := op.Mem{Base: src, Index: at, Scale: uint8(g.size), Disp: v * g.width}
		if g.width == 64 {
			ps(g, g.VMOVUPS_Z, g.VMOVUPD_Z)(from, k, g.vec(v))
		} else {
			mov(from, g.vec(v))
		}
	}
	for v, k := range masks[:len(g.rows)] {
		to := op.Mem{Base: dst, Disp: v * g.width}
		if g.width == 64 {
			mov(g.vec(v), k, to)
		} else {
			mov(g.vec(v), to)
		}
	}
	g.ADDQ(op.I8(8), offs)
	g.ADDQ(ldd, dst)
	g.DECQ(rows)
	g.JNZ(op.LabelRef("next"))
	g.VZEROUPPER()
	g.RET()
}
