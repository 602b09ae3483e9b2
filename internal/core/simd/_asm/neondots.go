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
	x, y, left := g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer())
	all := make([]virtual, unroll)
	for v := range all {
		all[v] = g.pin(g.vector())
	}
	g.parts(n, func(vectors int, part string, bytes int) {
		sums := all[:vectors]
		for v, s := range sums {
			g.op("ldr", part, 16*v, s, c)
		}
		g.line("MOVD R%d, R%d", a, x)
		g.line("MOVD R%d, R%d", b, y)
		g.line("MOVD R%d, R%d", k, left)
		label := fmt.Sprintf("step%d", bytes)
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
		for v, s := range sums {
			g.op("str", part, 16*v, s, c)
		}
		for _, p := range []virtual{a, b, c} {
			g.change("ADD", bytes, p)
		}
	})
}

// deep takes four vectors of columns, then one, then one column, and four rows at a time. Rows that are left begin earlier, unless there are
// fewer than four, which go one by one.
func (g *armProduct) deep() {
	const most = 4 // rows
	c, ldc, a, aRow, b, ldb, n, more := g.arg("c"), g.bytes("ldc"), g.arg("a"), g.bytes("aRow"), g.arg("b"), g.bytes("ldb"), g.arg("n"), g.arg("more")
	to, from, offs, y, taps, left := g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer())
	var all [most * unroll]virtual
	for i := range all {
		all[i] = g.pin(g.vector())
	}
	g.parts(n, func(vectors int, part string, bytes int) {
		g.line("MOVD R%d, R%d", a, from)
		g.line("MOVD R%d, R%d", c, to)
		g.read("m", left)
		for _, high := range []int{most, 1} {
			name := func(what string) string { return fmt.Sprintf("%s%dx%d", what, high, bytes) }
			sums := all[:high*vectors]
			g.line(name("rows") + ":")
			g.change("SUBS", high, left)
			g.line("BLT " + name("end"))
			for _, s := range sums {
				g.zero(s)
			}
			g.line("MOVD R%d, R%d", b, y)
			g.read("offs", offs)
			g.read("taps", taps)
			g.line(name("tap") + ":")
			row := g.integer()
			g.line("MOVD.P 8(R%d), R%d", offs, row)
			g.modify(fmt.Sprintf("ADD R%%[1]d<<%d, R%%[2]d, R%%[1]d", map[int]int{4: 2, 8: 3}[g.size]), row, from)
			weights := make([]virtual, vectors)
			for v := range weights {
				weights[v] = g.vector()
				g.op("ldr", part, 16*v, weights[v], y)
			}
			g.plus(y, ldb)
			for i := range high {
				for v, w := range weights {
					x := g.vector()
					g.op("ldr", part, 16*v, x, row)
					g.op("fmla", g.all(), 0, sums[i*vectors+v], x, w)
				}
				if i < high-1 {
					g.plus(row, aRow)
				}
			}
			g.change("SUBS", 1, taps)
			g.line("BNE " + name("tap"))
			mode := g.integer()
			g.read("mode", mode)
			g.line("TBZ $2, R%d, "+name("alone"), mode)
			for v := range vectors {
				bias := g.vector()
				g.op("ldr", part, 16*v, bias, more)
				for i := range high {
					g.op("fadd", g.all(), 0, sums[i*vectors+v], bias, sums[i*vectors+v])
				}
			}
			g.line(name("alone") + ":")
			g.line("TBZ $3, R%d, "+name("signed"), mode)
			zero := g.vector()
			g.zero(zero)
			for _, s := range sums { // NaNs stay; of two zeros the positive one is greater
				g.op("fmax", g.all(), 0, s, s, zero)
			}
			g.line(name("signed") + ":")
			none := g.reg(nan(g.neon, g.kind))
			for i, s := range sums {
				number := g.vector()
				g.op("fcmeq", g.all(), 0, number, s, s)
				g.op("bif", "16b", 0, s, none, number)
				g.op("str", part, 16*(i%vectors), s, to)
				if i%vectors == vectors-1 {
					g.plus(to, ldc)
					g.plus(from, aRow)
				}
			}
			g.line("JMP " + name("rows"))
			g.line(name("end") + ":")
			g.change("ADD", high, left)
			g.line(fmt.Sprintf("CBZ R%%d, below%d", bytes), left)
			if high == most {
				rows, back := g.integer(), g.integer()
				g.read("m", rows)
				g.line(fmt.Sprintf("CMP $%d, R%%d", most), rows)
				g.line(fmt.Sprintf("BLT rows1x%d", bytes))
				g.change("SUB", most, left)
				for _, p := range [...][2]virtual{{from, aRow}, {to, ldc}} {
					g.line("MUL R%d, R%d, R%d", left, p[1], back)
					g.plus(p[0], back)
				}
				g.line(fmt.Sprintf("MOVD $%d, R%%d", most), left)
				g.line("JMP " + name("rows"))
			}
		}
		g.line(fmt.Sprintf("below%d:", bytes))
		for _, p := range []virtual{a, b, c, more} {
			g.change("ADD", bytes, p)
		}
	})
}
