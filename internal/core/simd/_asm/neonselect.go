package main

import "fmt"

// selectNEON writes the kernels of select.go that need no compression: keys, elements and
// reversals.
func (f *armFile) selectNEON() {
	f.function("keys32_", U32, "dst:p src:p n:i turn:i blurred:p", (*armProduct).keys)
	f.function("elements32_", U32, "dst:p keys:p n:i", (*armProduct).elements)
	for _, kind := range []kind{U32, U64} {
		f.function(fmt.Sprintf("reverse%d_", 8*kind.size()), kind, "dst:p src:p n:i", (*armProduct).reverse)
	}
}

// each writes a loop over n vectors from src to dst.
func (g *armProduct) each(src string, body func(v virtual) virtual) {
	dst, from, n := g.arg("dst"), g.arg(src), g.arg("n")
	g.line("next:")
	g.op("str", "q", 0, body(g.made("ldr", "q", 0, from)), dst)
	g.change("ADD", 16, from)
	g.change("ADD", 16, dst)
	g.change("SUBS", 1, n)
	g.line("BNE next")
}

func (g *armProduct) sign() virtual { return g.reg(g.constant(U32, 1<<31)) }

// keys sets a bit of blurred where there is a NaN or a negative zero.
func (g *armProduct) keys() {
	turn, blurred, none := g.spread("turn", "4s"), g.pin(g.vector()), g.pin(g.vector())
	g.zero(blurred)
	g.zero(none)
	g.each("src", func(v virtual) virtual {
		number, zero := g.made("fcmeq", "4s", 0, v, v), g.made("fcmeq", "4s", 0, v, none)
		key := g.made("eor", "16b", 0, v, g.made("orr", "16b", 0, g.made("sshr", "4s", 31, v), g.sign()))
		g.op("bit", "16b", 0, key, g.sign(), zero)
		key = g.made("orr", "16b", 0, key, g.made("cmeq", "4s", 0, number, none)) // all ones for a NaN
		negative := g.made("and", "16b", 0, zero, v)
		g.op("orr", "16b", 0, blurred, blurred, negative)
		g.op("orr", "16b", 0, blurred, blurred, g.made("cmeq", "4s", 0, number, none))
		return g.made("eor", "16b", 0, key, turn)
	})
	g.op("str", "s", 0, g.made("umaxv", "4s", 0, blurred), g.arg("blurred"))
}

func (g *armProduct) elements() {
	g.each("keys", func(v virtual) virtual {
		rest := g.made("bic", "16b", 0, g.reg(g.constant(U32, 1<<32-1)), g.made("sshr", "4s", 31, v))
		return g.made("eor", "16b", 0, v, g.made("orr", "16b", 0, rest, g.sign()))
	})
}

// reverse writes the vectors of dst from the last one on.
func (g *armProduct) reverse() {
	dst, src, n := g.arg("dst"), g.arg("src"), g.arg("n")
	g.modify("ADD R%[2]d<<4, R%[1]d, R%[1]d", dst, n)
	g.line("next:")
	g.change("SUB", 16, dst)
	v := g.made("ldr", "q", 0, src)
	if g.size == 4 {
		v = g.made("rev64", "4s", 0, v)
	}
	g.op("str", "q", 0, g.made("ext", "16b", 8, v, v), dst)
	g.change("ADD", 16, src)
	g.change("SUBS", 1, n)
	g.line("BNE next")
}
