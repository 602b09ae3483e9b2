package main

import "fmt"

// The kernels of products of bytes for NEON, of which bytes.go says what they compute. A vector of sums has two columns: the products of the first of each
// pair in one lane, and of the second in the next one. In the end neighbouring lanes are added.

// neonByteRows are how many rows the tiles have: of three there are 24 vectors of sums, besides four of b and one of a.
var neonByteRows = []int{1, 3}

func (f *armFile) bytesNEON() {
	f.function("widenBytes", I16, "dst:p src:b n:i flip:i zero:i", (*armProduct).widened)
	f.function("pairBytes", I16, "dst:p src:b offs:o pairs:i panels:i flip:i zero:p step:i", (*armProduct).paired)
	for _, rows := range neonByteRows {
		f.function(fmt.Sprintf("tileBytes%d", rows), I16, "c:w ldc:i a:p lda:i b:p pairs:i times:i add:i cStep:i aStep:i bStep:i", func(g *armProduct) { g.byteTile(rows) })
	}
}

// spread loads an int, of which each element of a vector becomes the low bits.
func (g *armProduct) spread(name, of string) virtual {
	r, v := g.integer(), g.pin(g.vector())
	g.read(name, r)
	g.op("dup general", of, 0, v, r)
	return v
}

// made returns what an instruction makes.
func (g *armProduct) made(name, of string, imm int, regs ...virtual) virtual {
	v := g.vector()
	g.op(name, of, imm, append([]virtual{v}, regs...)...)
	return v
}

// wider returns the elements of two halves of a vector of bytes.
func (g *armProduct) wider(v virtual) [2]virtual {
	return [2]virtual{g.made("ushll", "8b", 0, v), g.made("ushll", "16b", 0, v)}
}

func (g *armProduct) widened() {
	flip, zero := g.spread("flip", "16b"), g.spread("zero", "8h")
	dst, src, n := g.arg("dst"), g.arg("src"), g.arg("n")
	g.change("SUBS", 16, n)
	g.line("BLT rest")
	g.line("next:")
	for i, half := range g.wider(g.made("eor", "16b", 0, g.made("ldr", "q", 0, src), flip)) {
		g.op("str", "q", 16*i, g.made("sub", "8h", 0, half, zero), dst)
	}
	g.change("ADD", 16, src)
	g.change("ADD", 32, dst)
	g.change("SUBS", 16, n)
	g.line("BGE next")
	g.line("rest:")
	g.change("ADDS", 16, n)
	g.line("BEQ done")
	g.line("element:")
	half := g.wider(g.made("eor", "16b", 0, g.made("ldr", "b", 0, src), flip))[0]
	g.op("str", "h", 0, g.made("sub", "8h", 0, half, zero), dst)
	g.change("ADD", 1, src)
	g.change("ADD", 2, dst)
	g.change("SUBS", 1, n)
	g.line("BNE element")
	g.line("done:")
}

func (g *armProduct) paired() {
	flip := g.spread("flip", "16b")
	dst, src, panels, from, step := g.arg("dst"), g.arg("src"), g.arg("panels"), g.arg("zero"), g.arg("step")
	offs, n := g.pin(g.integer()), g.pin(g.integer())
	g.plus(step, step)
	zero := make([]virtual, 4)
	for i := range zero {
		zero[i] = g.pin(g.vector())
	}
	g.line("panel:")
	for i, z := range zero {
		g.op("ldr", "q", 16*i, z, from)
	}
	g.read("offs", offs)
	g.read("pairs", n)
	g.line("next:")
	var rows [2]virtual
	for h := range rows {
		at := g.integer()
		g.line(fmt.Sprintf("MOVD %d(R%%d), R%%d", 8*h), offs, at)
		rows[h] = g.made("eor", "16b", 0, g.made("ldr indexed", "q", 0, src, at), flip)
	}
	for i, how := range []string{"zip1", "zip2"} {
		for h, half := range g.wider(g.made(how, "16b", 0, rows[0], rows[1])) {
			g.op("str", "q", 16*(2*i+h), g.made("sub", "8h", 0, half, zero[2*i+h]), dst)
		}
	}
	g.change("ADD", 16, offs)
	g.change("ADD", 64, dst)
	g.change("SUBS", 1, n)
	g.line("BNE next")
	g.change("ADD", byteColumns, src)
	g.plus(from, step)
	g.change("SUBS", 1, panels)
	g.line("BNE panel")
}

func (g *armProduct) byteTile(rows int) {
	const vectors = byteColumns / 4 // of b
	sums, from := make([][2 * vectors]virtual, rows), make([]virtual, rows)
	for i := range sums {
		from[i] = g.pin(g.integer())
		for v := range sums[i] {
			sums[i][v] = g.pin(g.vector())
		}
	}
	scaled := func(name string, log int) virtual {
		r := g.arg(name)
		g.modify(fmt.Sprintf("LSL $%d, R%%[1]d, R%%[1]d", log), r)
		return r
	}
	c, ldc, a, lda, b := g.arg("c"), scaled("ldc", 2), g.arg("a"), scaled("lda", 1), g.arg("b")
	times, cStep, aStep, bStep := g.arg("times"), scaled("cStep", 2), scaled("aStep", 1), scaled("bStep", 1)
	n, at, row := g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer())
	g.line("tile:")
	g.line("MOVD R%d, R%d", a, from[0])
	for i := range rows - 1 {
		g.line("ADD R%d, R%d, R%d", from[i], lda, from[i+1])
	}
	for _, row := range sums {
		for _, s := range row {
			g.zero(s)
		}
	}
	g.line("MOVD R%d, R%d", b, row)
	g.line("MOVD $0, R%d", at)
	g.read("pairs", n)
	g.line("next:")
	var bv [vectors]virtual
	for v := range bv {
		bv[v] = g.made("ldr", "q", 16*v, row)
	}
	for i := range rows {
		x := g.made("dup", "4s", 0, g.made("ldr indexed", "s", 0, from[i], at))
		for v, r := range bv {
			g.op("smlal", "4h", 0, sums[i][2*v], r, x)
			g.op("smlal", "8h", 0, sums[i][2*v+1], r, x)
		}
	}
	g.change("ADD", 4, at)
	g.change("ADD", 64, row)
	g.change("SUBS", 1, n)
	g.line("BNE next")
	for i := range rows {
		for v := range vectors {
			g.op("addp", "4s", 0, sums[i][v], sums[i][2*v], sums[i][2*v+1])
		}
	}
	add := g.integer()
	g.read("add", add)
	g.line("CMP $0, R%d", add)
	g.line("BEQ store")
	g.line("MOVD R%d, R%d", c, row)
	for i := range rows {
		for v := range vectors {
			g.op("add", "4s", 0, sums[i][v], sums[i][v], g.made("ldr", "q", 16*v, row))
		}
		g.plus(row, ldc)
	}
	g.line("store:")
	g.line("MOVD R%d, R%d", c, row)
	for i := range rows {
		for v := range vectors {
			g.op("str", "q", 16*v, sums[i][v], row)
		}
		g.plus(row, ldc)
	}
	g.plus(c, cStep)
	g.plus(a, aStep)
	g.plus(b, bStep)
	g.change("SUBS", 1, times)
	g.line("BNE tile")
}
