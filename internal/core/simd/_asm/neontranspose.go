package main

import "fmt"

// transposeNEON writes for NEON the transposition that transpose.go defines, of eight rows of 4-byte elements, or four of 8-byte elements.
// A store has 32 bytes of a row of dst. Fewer rows go element by element, and so do the last columns. Elements of 1 and 2 bytes have
// squares alone.
func (f *armFile) transposeNEON() {
	for _, kind := range []kind{U8, U16} {
		f.function(fmt.Sprintf("transpose%d_", 8*kind.size()), kind, "dst:p ldd:i src:p lds:i n:i", (*armProduct).narrow)
	}
	for _, kind := range []kind{U32, U64} {
		f.function(fmt.Sprintf("transpose%d_", 8*kind.size()), kind, "dst:p ldd:i src:p lds:i m:i n:i ahead:i", (*armProduct).transpose)
	}
}

func (g *armProduct) transpose() {
	side := 2 * g.lanes
	dst, ldd, src, lds, m, n := g.arg("dst"), g.bytes("ldd"), g.arg("src"), g.bytes("lds"), g.arg("m"), g.arg("n")
	g.line(fmt.Sprintf("CMP $%d, R%%d", side), m)
	g.line("BLT few")
	g.line("many:")
	g.change("SUBS", g.lanes, n)
	g.line("BLT rest")
	at := g.integer()
	g.line("MOVD R%d, R%d", src, at)
	rows := make([]virtual, side)
	for i := range rows {
		rows[i] = g.vector()
		g.op("ldr", "q", 0, rows[i], at)
		g.plus(at, lds)
	}
	lo, hi := g.turned(rows[:g.lanes]), g.turned(rows[g.lanes:])
	for j := range g.lanes {
		g.op("str", "q", 0, lo[j], dst)
		g.op("str", "q", 16, hi[j], dst)
		g.plus(dst, ldd)
	}
	g.change("ADD", 16, src)
	g.line("JMP many")
	g.line("rest:")
	g.change("ADD", g.lanes, n)
	g.line("few:")
	g.line("CMP $0, R%d", n)
	g.line("BEQ done")
	to, left := g.pin(g.integer()), g.pin(g.integer())
	from := g.pin(g.integer())
	g.line("column:")
	g.line("MOVD R%d, R%d", src, from)
	g.line("MOVD R%d, R%d", dst, to)
	g.line("MOVD R%d, R%d", m, left)
	g.line("element:")
	e := g.vector()
	g.op("ldr", g.part(), 0, e, from)
	g.op("str", g.part(), 0, e, to)
	g.plus(from, lds)
	g.change("ADD", g.size, to)
	g.change("SUBS", 1, left)
	g.line("BNE element")
	g.change("ADD", g.size, src)
	g.plus(dst, ldd)
	g.change("SUBS", 1, n)
	g.line("BNE column")
	g.line("done:")
}

// narrow interleaves rows as narrow in transpose.go does.
func (g *armProduct) narrow() {
	dst, ldd, src, lds, n := g.arg("dst"), g.arg("ldd"), g.arg("src"), g.arg("lds"), g.arg("n")
	if g.size == 2 {
		g.plus(ldd, ldd)
		g.plus(lds, lds)
	}
	of := g.all()
	g.line("next:")
	g.change("SUBS", g.lanes, n)
	g.line("BLT done")
	at := g.integer()
	g.line("MOVD R%d, R%d", src, at)
	rows := make([]virtual, g.lanes)
	for i := range rows {
		rows[i] = g.made("ldr", "q", 0, at)
		g.plus(at, lds)
	}
	for k := g.lanes; k > 1; k /= 2 {
		var next []virtual
		for i := range g.lanes / 2 {
			next = append(next, g.made("zip1", of, 0, rows[i], rows[i+g.lanes/2]), g.made("zip2", of, 0, rows[i], rows[i+g.lanes/2]))
		}
		rows = next
	}
	for _, r := range rows {
		g.op("str", "q", 0, r, dst)
		g.plus(dst, ldd)
	}
	g.change("ADD", 16, src)
	g.line("JMP next")
	g.line("done:")
}

// turned returns the columns of a square.
func (g *armProduct) turned(rows []virtual) []virtual {
	both := func(name, of string, p, q virtual) virtual {
		r := g.vector()
		g.op(name, of, 0, r, p, q)
		return r
	}
	if g.lanes == 2 {
		return []virtual{both("trn1", "2d", rows[0], rows[1]), both("trn2", "2d", rows[0], rows[1])}
	}
	lo0, hi0 := both("trn1", "4s", rows[0], rows[1]), both("trn2", "4s", rows[0], rows[1])
	lo1, hi1 := both("trn1", "4s", rows[2], rows[3]), both("trn2", "4s", rows[2], rows[3])
	return []virtual{both("trn1", "2d", lo0, lo1), both("trn1", "2d", hi0, hi1), both("trn2", "2d", lo0, lo1), both("trn2", "2d", hi0, hi1)}
}
