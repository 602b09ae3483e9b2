package main

import "fmt"

// The kernels of dots.go for NEON.

// dots transposes squares of a in registers and adds them column by column.
func (g *armProduct) dots() {
	c, a, lda, x, k := g.arg("c"), g.arg("a"), g.bytes("lda"), g.arg("x"), g.arg("k")
	sum := g.pin(g.vector())
	g.op("ldr", "q", 0, sum, c)
	g.line("next:")
	g.change("SUBS", g.lanes, k)
	g.line("BLT done")
	rows := make([]virtual, g.lanes)
	at := g.integer()
	g.line("MOVD R%d, R%d", a, at)
	for i := range rows {
		rows[i] = g.vector()
		g.op("ldr", "q", 0, rows[i], at)
		if i < len(rows)-1 {
			g.plus(at, lda)
		}
	}
	y := g.vector()
	g.op("ldr", "q", 0, y, x)
	for l, column := range g.turned(rows) {
		g.op("fmla by element", g.all(), l, sum, column, y)
	}
	g.change("ADD", 16, a)
	g.change("ADD", 16, x)
	g.line("JMP next")
	g.line("done:")
	g.op("str", "q", 0, sum, c)
}

// panel keeps the sums of a panel in registers.
func (g *armProduct) panel() {
	c, a, step, b, n, k, add := g.arg("c"), g.arg("a"), g.bytes("aStep"), g.arg("b"), g.arg("n"), g.arg("k"), g.arg("add")
	all := make([]virtual, 8)
	for v := range all {
		all[v] = g.pin(g.vector())
	}
	for _, vectors := range []int{8, 4, 2, 1} {
		sums, label := all[:vectors], fmt.Sprint(vectors)
		g.line(fmt.Sprintf("CMP $%d, R%%d", vectors*g.lanes), n)
		g.line("BNE not" + label)
		for _, s := range sums {
			g.zero(s)
		}
		g.line("step" + label + ":")
		x := g.vector()
		g.op("ldr", g.part(), 0, x, a)
		g.plus(a, step)
		for v, s := range sums {
			y := g.vector()
			g.op("ldr", "q", 16*v, y, b)
			g.op("fmla by element", g.all(), 0, s, y, x)
		}
		g.change("ADD", 16*vectors, b)
		g.change("SUBS", 1, k)
		g.line("BNE step" + label)
		g.line("CMP $0, R%d", add)
		g.line("BEQ store" + label)
		for v, s := range sums {
			old := g.vector()
			g.op("ldr", "q", 16*v, old, c)
			g.op("fadd", g.all(), 0, s, old, s)
		}
		g.line("store" + label + ":")
		for v, s := range sums {
			g.op("str", "q", 16*v, s, c)
		}
		g.line("JMP done")
		g.line("not" + label + ":")
	}
	g.line("done:")
}

// chains keeps the sums of four vectors in registers, then of one, then of one element.
func (g *armProduct) chains() {
	c, a, lda, b, ldb, n, k := g.arg("c"), g.arg("a"), g.bytes("lda"), g.arg("b"), g.bytes("ldb"), g.arg("n"), g.arg("k")
	line, lines := g.bytes("line"), g.arg("lines")
	x, y, left, first, still := g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer())
	all := make([]virtual, unroll)
	for v := range all {
		all[v] = g.pin(g.vector())
	}
	g.parts(n, func(vectors int, part string, bytes int) {
		sums := all[:vectors]
		for v, s := range sums {
			g.op("ldr", part, 16*v, s, c)
		}
		g.line("MOVD R%d, R%d", a, first)
		g.line("MOVD R%d, R%d", b, y)
		g.line("MOVD R%d, R%d", lines, still)
		label := fmt.Sprintf("step%d", bytes)
		g.line(label + "Line:")
		g.line("MOVD R%d, R%d", first, x)
		g.line("MOVD R%d, R%d", k, left)
		g.line(label + ":")
		for v, s := range sums {
			p, q := g.vector(), g.vector()
			g.op("ldr", part, 16*v, p, x)
			g.op("ldr", part, 16*v, q, y)
			g.op("fmla", g.all(), 0, s, p, q)
		}
		g.plus(x, lda)
		g.plus(y, ldb)
		g.change("SUBS", 1, left)
		g.line("BNE " + label)
		g.plus(first, line)
		g.change("SUBS", 1, still)
		g.line("BNE " + label + "Line")
		for v, s := range sums {
			g.op("str", part, 16*v, s, c)
		}
		for _, p := range []virtual{a, b, c} {
			g.change("ADD", bytes, p)
		}
	})
}
