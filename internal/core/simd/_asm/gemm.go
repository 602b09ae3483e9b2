package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A target is an instruction set and an element type of kernels of the matrix product.
type target struct {
	suffix string // ends the names of the functions
	size   int    // bytes of an element
	width  int    // bytes of a vector
	rows   []int  // most rows of a tile of one vector, of two and so on
	wide   int    // of one vector more, without a mask
}

var targets = []target{
	{"32AVX2", 4, 32, []int{6, 6}, 4}, {"64AVX2", 8, 32, []int{6, 6}, 4},
	{"32AVX512", 4, 64, []int{14, 14, 9}, 0}, {"64AVX512", 8, 64, []int{14, 14, 9}, 0},
}

// writeGEMM writes the tiles of the matrix product. Each target has a function for each number of rows and of vectors in a
// row.
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
			g.tile(most, v+1)
		}
		if t.wide > 0 {
			g.tile(t.wide, len(t.rows)+1)
		}
		g.streamed(8)
		g.streamed(1)
		g.windows()
		g.gather()
		g.dots()
		g.panel()
		g.chains()
		g.deep()
		g.pairs()
		g.peak()
	}
	fence(c)
}

// product writes kernels for one target. The last vector of a row has a mask.
type product struct {
	*build.Context
	target
	mask  op.Mem   // for AVX2: all ones in the first half, zeros in the second
	order op.Mem   // of the bytes of quads
	later []func() // write the jumps that lower tiles take
}

// vec returns vector register i.
func (g *product) vec(i int) reg.VecPhysical {
	if g.width == 64 {
		return []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
			reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}[i]
	}
	return []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}[i]
}

// ps returns the form of an instruction for the element type.
func ps[F any](g *product, single, double F) F {
	if g.size == 4 {
		return single
	}
	return double
}

// arg returns the address of an argument.
func (g *product) arg(name string) op.Mem {
	b, err := g.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// offset returns the address of row i, from 0 to 13, of a matrix at base. base9 is the address of row 9. Rows are s apart,
// and s3, s5 and s7 hold multiples of s by the digit of their name.
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

// streamed writes the function that adds the products of rows of b, one after the other, to sums in memory:
//
//	c[j] = fma(a[i*aStep], b[offs[i]+j], c[j]) for each i < rows in order
//
// for j < n. It is for products with so few rows that b is read once.
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

// windows writes the function that makes rows of sums, each of the elements in its window:
//
//	dst[i*ldd+j] = acc, where acc = +0 and then acc = fma(a[l], src[i*lds+offs[l]+j], acc) for each l < taps in order
//
// for i < rows and j < n. It is for depthwise convolutions.
func (g *product) windows() {
	elem := map[int]string{4: "float32", 8: "float64"}[g.size]
	g.Function("windows_" + g.suffix)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(fmt.Sprintf("func(dst *%s, ldd int, src *%[1]s, lds int, a *%[1]s, offs *int, taps, rows, n int)", elem))
	shift, lanes := op.U8(map[int]uint64{4: 2, 8: 3}[g.size]), g.width/g.size
	const most = 4 // vectors, in each of two rows at a time: a sum waits for the one before
	at, left, tap := reg.RAX, reg.RBX, reg.RCX
	dst, ldd, src, lds := reg.R12, reg.R10, reg.R13, reg.R11
	a, offs, taps, rows := reg.RSI, reg.RDI, reg.R8, reg.R9
	from := []reg.GPPhysical{reg.RDX, reg.R15}
	weight, mask, part := g.vec(2*most), g.vec(2*most+1), g.vec(2*most+2)
	fma, move := ps(g, g.VFMADD231PS, g.VFMADD231PD), ps(g, g.VMOVUPS, g.VMOVUPD)
	masked := ps(g, g.VMASKMOVPS, g.VMASKMOVPD)
	g.Load(g.Param("ldd"), ldd)
	g.SHLQ(shift, ldd)
	g.Load(g.Param("lds"), lds)
	g.SHLQ(shift, lds)
	g.Load(g.Param("taps"), taps) // counted from -taps to 0
	g.Load(g.Param("a"), a)
	g.LEAQ(op.Mem{Base: a, Index: taps, Scale: uint8(g.size)}, a)
	g.Load(g.Param("offs"), offs)
	g.LEAQ(op.Mem{Base: offs, Index: taps, Scale: 8}, offs)
	g.NEGQ(taps)
	g.Load(g.Param("n"), left)
	g.XORQ(at, at)
	g.Label("columns")
	for v := most; v > 1; v-- {
		g.CMPQ(left, op.I8(int8((v-1)*lanes)))
		g.JG(op.LabelRef(fmt.Sprintf("vectors%d", v)))
	}
	for v := 1; v <= most; v++ {
		g.Label(fmt.Sprintf("vectors%d", v))
		g.MOVQ(left, tap)
		g.SUBQ(op.I8(int8((v-1)*lanes)), tap) // columns of the last vector
		if v == most {
			g.MOVQ(op.I32(int32(lanes)), rows)
			g.CMPQ(tap, rows)
			g.CMOVQGT(rows, tap)
		}
		if g.width == 64 {
			g.MOVQ(op.I32(-1), rows)
			g.SHLQ(reg.CL, rows) // tap is CX
			g.NOTQ(rows)
			g.KMOVW(rows.As32(), reg.K1)
		} else {
			g.LEAQ(g.mask.Offset(g.width), rows)
			g.SHLQ(shift, tap)
			g.SUBQ(tap, rows)
			g.VMOVUPS(op.Mem{Base: rows}, mask)
		}
		g.Load(g.Param("dst"), dst)
		g.ADDQ(at, dst)
		g.Load(g.Param("src"), src)
		g.ADDQ(at, src)
		g.Load(g.Param("rows"), rows)
		for _, high := range []int{2, 1} {
			name := func(what string) string { return fmt.Sprintf("%s%dx%d", what, high, v) }
			g.Label(name("rows"))
			g.SUBQ(op.I8(int8(high)), rows)
			g.JL(op.LabelRef(name("end")))
			for i := range high * v {
				g.VXORPS(g.vec(i).AsX(), g.vec(i).AsX(), g.vec(i).AsX())
			}
			g.MOVQ(taps, tap)
			g.Label(name("taps"))
			g.MOVQ(op.Mem{Base: offs, Index: tap, Scale: 8}, from[0])
			g.LEAQ(op.Mem{Base: src, Index: from[0], Scale: uint8(g.size)}, from[0])
			if high > 1 {
				g.LEAQ(op.Mem{Base: from[0], Index: lds, Scale: 1}, from[1])
			}
			ps(g, g.VBROADCASTSS, g.VBROADCASTSD)(op.Mem{Base: a, Index: tap, Scale: uint8(g.size)}, weight)
			for i := range high * v {
				mem := op.Mem{Base: from[i/v], Disp: i % v * g.width}
				switch {
				case i%v < v-1:
					fma(mem, weight, g.vec(i))
				case g.width == 64:
					fma(mem, weight, reg.K1, g.vec(i))
				default:
					masked(mem, mask, part)
					fma(part, weight, g.vec(i))
				}
			}
			g.INCQ(tap)
			g.JNZ(op.LabelRef(name("taps")))
			for i := range high * v {
				mem := op.Mem{Base: dst, Disp: i % v * g.width}
				switch {
				case i%v < v-1:
					move(g.vec(i), mem)
				case g.width == 64:
					move(g.vec(i), reg.K1, mem)
				default:
					masked(g.vec(i), mask, mem)
				}
				if i%v == v-1 {
					g.ADDQ(ldd, dst)
					g.ADDQ(lds, src)
				}
			}
			if high > 1 {
				g.JMP(op.LabelRef(name("rows")))
			}
			g.Label(name("end"))
			if high > 1 {
				g.ADDQ(op.I8(int8(high)), rows)
			}
		}
		if v < most {
			g.VZEROUPPER()
			g.RET()
			continue
		}
		g.ADDQ(op.I32(int32(most*g.width)), at)
		g.SUBQ(op.I32(int32(most*lanes)), left)
		g.JG(op.LabelRef("columns"))
		g.VZEROUPPER()
		g.RET()
	}
}

// fence writes the instruction that makes non-temporal stores visible.
func fence(c *build.Context) {
	c.Function("storeFence")
	c.Attributes(attr.NOSPLIT)
	c.SignatureExpr("func()")
	c.SFENCE()
	c.RET()
}

// peak writes the probe that the tests of speed compare with: n times 48 vectors of fused steps, all in registers.
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

// gather writes the function that packs a panel: dst[i*ldd+j] = src[offs[i]+j] for i < rows and j < n. n is at most the
// number of columns of the largest tile, and that number in AVX2.
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
	loop := func(label string, vectors int) {
		g.Label(label)
		g.MOVQ(op.Mem{Base: offs}, at)
		for v, k := range masks[:vectors] {
			from := op.Mem{Base: src, Index: at, Scale: uint8(g.size), Disp: v * g.width}
			if g.width == 64 {
				ps(g, g.VMOVUPS_Z, g.VMOVUPD_Z)(from, k, g.vec(v))
			} else {
				mov(from, g.vec(v))
			}
		}
		for v, k := range masks[:vectors] {
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
		g.JNZ(op.LabelRef(label))
	}
	if g.width == 64 {
		g.CMPQ(reg.RCX, op.I8(64/g.size))
		g.JG(op.LabelRef("next"))
		loop("one", 1) // vectors without elements would take three times as long
		g.JMP(op.LabelRef("done"))
	}
	loop("next", len(g.rows))
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}
