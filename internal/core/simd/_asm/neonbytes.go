package main

import "fmt"

// The kernels of products of bytes for NEON; bytes.go defines them. A vector of sums of pairs has two columns. One lane has the products of
// the first elements of the pairs, the next lane the products of the second. In the end neighbouring lanes are added. Groups of four bytes
// are for dot products. Groups of eight are for smmla, which multiplies two rows of eight bytes by two columns of eight. In both an element
// is a byte less its zero point, which wraps.

// neonByteRows has the heights of tiles for each size of a group. A tile has at most 24 vectors of sums.
var neonByteRows = map[int][]int{2: {1, 3}, 4: {1, 2, 6}, 8: {1, 2, 6}}

func (f *armFile) bytesNEON() {
	for _, form := range []struct {
		kind   kind
		suffix string
	}{{I16, ""}, {I8, "8"}} {
		f.function("widenBytes"+form.suffix, form.kind, "dst:p src:b n:i flip:i zero:i", (*armProduct).widened)
	}
	for _, form := range []struct {
		group       int
		kind        kind
		name, level string
	}{{2, I16, "pairBytes", neonLevel}, {4, I8, "fourBytes", dotLevel}, {8, I8, "eightBytes", i8mmLevel}} {
		f.function(form.name, form.kind, "dst:p src:b offs:o groups:i panels:i flip:i zero:p step:i", func(g *armProduct) { g.grouped(form.group) })
		for _, rows := range neonByteRows[form.group] {
			f.functionAt(form.level, fmt.Sprintf("tileBytes%d", rows), form.kind, "c:w ldc:i a:p lda:i offs:o runs:i b:p groups:i times:i add:i cStep:i aStep:i bStep:i", func(g *armProduct) { g.byteTile(rows, form.group) })
		}
	}
}

// spread loads an int. Each element of the vector becomes its low bits.
func (g *armProduct) spread(name, of string) virtual {
	r, v := g.integer(), g.pin(g.vector())
	g.read(name, r)
	g.op("dup general", of, 0, v, r)
	return v
}

// made returns the result of an instruction.
func (g *armProduct) made(name, of string, imm int, regs ...virtual) virtual {
	v := g.vector()
	g.op(name, of, imm, append([]virtual{v}, regs...)...)
	return v
}

// wider returns the elements of a vector of bytes in two vectors, twice as wide.
func (g *armProduct) wider(v virtual) [2]virtual {
	return [2]virtual{g.made("ushll", "8b", 0, v), g.made("ushll", "16b", 0, v)}
}

// less returns the elements of a vector of bytes less their zero points: two vectors of int16, or one of bytes.
func (g *armProduct) less(v virtual, zero ...virtual) []virtual {
	if g.kind == I8 {
		return []virtual{g.made("sub", "16b", 0, v, zero[0])}
	}
	all := g.wider(v)
	for i, half := range all {
		all[i] = g.made("sub", "8h", 0, half, zero[i])
	}
	return all[:]
}

func (g *armProduct) widened() {
	flip, zero := g.spread("flip", "16b"), g.spread("zero", g.all())
	dst, src, n := g.arg("dst"), g.arg("src"), g.arg("n")
	g.change("SUBS", 16, n)
	g.line("BLT rest")
	g.line("next:")
	for i, v := range g.less(g.made("eor", "16b", 0, g.made("ldr", "q", 0, src), flip), zero, zero) {
		g.op("str", "q", 16*i, v, dst)
	}
	g.change("ADD", 16, src)
	g.change("ADD", 16*g.size, dst)
	g.change("SUBS", 16, n)
	g.line("BGE next")
	g.line("rest:")
	g.change("ADDS", 16, n)
	g.line("BEQ done")
	g.line("element:")
	v := g.less(g.made("eor", "16b", 0, g.made("ldr", "b", 0, src), flip), zero, zero)[0]
	g.op("str", g.part(), 0, v, dst)
	g.change("ADD", 1, src)
	g.change("ADD", g.size, dst)
	g.change("SUBS", 1, n)
	g.line("BNE element")
	g.line("done:")
}

// grouped interleaves the rows of a group: pairs of rows, then pairs of the results.
func (g *armProduct) grouped(group int) {
	flip := g.spread("flip", "16b")
	dst, src, panels, from, step := g.arg("dst"), g.arg("src"), g.arg("panels"), g.arg("zero"), g.bytes("step")
	offs, n := g.pin(g.integer()), g.pin(g.integer())
	zero := make([]virtual, group*g.size)
	for i := range zero {
		zero[i] = g.pin(g.vector())
	}
	g.line("panel:")
	for i, z := range zero {
		g.op("ldr", "q", 16*i, z, from)
	}
	g.read("offs", offs)
	g.read("groups", n)
	g.line("next:")
	rows := make([][]virtual, group)
	for h := range rows {
		at := g.integer()
		g.line(fmt.Sprintf("MOVD %d(R%%d), R%%d", 8*h), offs, at)
		rows[h] = []virtual{g.made("eor", "16b", 0, g.made("ldr indexed", "q", 0, src, at), flip)}
	}
	for _, of := range []string{"16b", "8h", "4s"}[:map[int]int{2: 1, 4: 2, 8: 3}[group]] {
		for i := range len(rows) / 2 {
			var both []virtual
			for j, v := range rows[2*i] {
				both = append(both, g.made("zip1", of, 0, v, rows[2*i+1][j]), g.made("zip2", of, 0, v, rows[2*i+1][j]))
			}
			rows[i] = both
		}
		rows = rows[:len(rows)/2]
	}
	for i, v := range rows[0] {
		at := i * g.size
		for h, part := range g.less(v, zero[at:at+g.size]...) {
			g.op("str", "q", 16*(at+h), part, dst)
		}
	}
	g.change("ADD", 8*group, offs)
	g.change("ADD", 16*len(zero), dst)
	g.change("SUBS", 1, n)
	g.line("BNE next")
	g.change("ADD", byteColumns, src)
	g.plus(from, step)
	g.change("SUBS", 1, panels)
	g.line("BNE panel")
}

// byteTile keeps the sums in registers. For groups of eight bytes a register has the sums of two rows and two columns. A single row is taken
// twice.
func (g *armProduct) byteTile(rows, group int) {
	const vectors = byteColumns / 4               // of a row of sums
	lines, width, loads := rows, vectors, vectors // lines of registers of sums, registers in a line, and loads of b in a step
	switch group {
	case 2:
		width *= 2
	case 8:
		lines, width, loads = (rows+1)/2, 2*vectors, 2*vectors
	}
	sums, from := make([][]virtual, lines), make([]virtual, rows)
	for i := range from {
		from[i] = g.pin(g.integer())
	}
	for i := range sums {
		for range width {
			sums[i] = append(sums[i], g.pin(g.vector()))
		}
	}
	c, ldc, a, lda, b := g.arg("c"), g.arg("ldc"), g.arg("a"), g.bytes("lda"), g.arg("b")
	times, cStep, aStep, bStep := g.arg("times"), g.arg("cStep"), g.bytes("aStep"), g.bytes("bStep")
	g.times(ldc, 4)
	g.times(cStep, 4)
	n, at, row, offs, runs := g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer())
	g.line("tile:")
	g.line("MOVD R%d, R%d", a, from[0])
	for i := range rows - 1 {
		g.line("ADD R%d, R%d, R%d", from[i], lda, from[i+1])
	}
	for _, line := range sums {
		for _, s := range line {
			g.zero(s)
		}
	}
	g.line("MOVD R%d, R%d", b, row)
	g.read("offs", offs)
	g.read("runs", runs)
	g.line("run:")
	g.line("MOVD (R%d), R%d", offs, at)
	g.times(at, g.size)
	g.read("groups", n)
	g.line("next:")
	switch group {
	case 8:
		x := make([]virtual, lines)
		for i := range x {
			lo := g.made("ldr indexed", "d", 0, from[2*i], at)
			x[i] = g.made("zip1", "2d", 0, lo, g.made("ldr indexed", "d", 0, from[min(2*i+1, rows-1)], at))
		}
		for v := range loads {
			r := g.made("ldr", "q", 16*v, row)
			for i := range x {
				g.op("smmla", "4s", 0, sums[i][v], x[i], r)
			}
		}
	default:
		var bv [vectors]virtual
		for v := range bv {
			bv[v] = g.made("ldr", "q", 16*v, row)
		}
		for i := range rows {
			x := g.made("ldr indexed", "s", 0, from[i], at)
			if group == 2 {
				x = g.made("dup", "4s", 0, x)
			}
			for v, r := range bv {
				if group == 4 {
					g.op("sdot by element", "4s", 0, sums[i][v], r, x)
				} else {
					g.op("smlal", "4h", 0, sums[i][2*v], r, x)
					g.op("smlal", "8h", 0, sums[i][2*v+1], r, x)
				}
			}
		}
	}
	g.change("ADD", max(4, group), at)
	g.change("ADD", 16*loads, row)
	g.change("SUBS", 1, n)
	g.line("BNE next")
	g.change("ADD", 8, offs)
	g.change("SUBS", 1, runs)
	g.line("BNE run")
	out := make([][]virtual, rows)
	for i := range out {
		switch group {
		case 2: // the two columns of a lane pair
			for v := range vectors {
				g.op("addp", "4s", 0, sums[i][v], sums[i][2*v], sums[i][2*v+1])
			}
			out[i] = sums[i][:vectors]
		case 4:
			out[i] = sums[i]
		case 8:
			for v := range vectors {
				p := sums[i/2][2*v : 2*v+2]
				if i%2 == 0 {
					first := g.made("zip1", "2d", 0, p[0], p[1])
					if i < rows-1 {
						g.op("zip2", "2d", 0, p[1], p[0], p[1])
					}
					g.op("orr", "16b", 0, p[0], first, first)
				}
				out[i] = append(out[i], p[i%2])
			}
		}
	}
	add := g.integer()
	g.read("add", add)
	g.line("CMP $0, R%d", add)
	g.line("BEQ store")
	g.line("MOVD R%d, R%d", c, row)
	for i := range rows {
		for v := range vectors {
			g.op("add", "4s", 0, out[i][v], out[i][v], g.made("ldr", "q", 16*v, row))
		}
		g.plus(row, ldc)
	}
	g.line("store:")
	g.line("MOVD R%d, R%d", c, row)
	for i := range rows {
		for v := range vectors {
			g.op("str", "q", 16*v, out[i][v], row)
		}
		g.plus(row, ldc)
	}
	g.plus(c, cStep)
	g.plus(a, aStep)
	g.plus(b, bStep)
	g.change("SUBS", 1, times)
	g.line("BNE tile")
}
