package main

import (
	"fmt"
	"slices"
	"strings"
)

// The kernels of the matrix product for NEON. gemm.go, microkernel.go and dots.go define them.

// neonRows has the most rows of a tile of one vector, of two and of three. With two and three there are at most 24 accumulators, beside the
// vectors of b and a few elements of a. With one vector there are 12.
var neonRows = []int{12, 12, 8}

// An armProduct writes kernels for one element type.
type armProduct struct {
	*neon
	kind        kind
	size, lanes int
	args        []string // the parameters of the function, each of 8 bytes
	later       []func() // write the jumps that lower tiles take
}

// gemmNEON writes all kernels of the matrix product.
func (f *armFile) gemmNEON() {
	for _, kind := range []kind{F32, F64} {
		write := func(name, args string, body func(g *armProduct)) { f.function(name+"_", kind, args, body) }
		for v, most := range neonRows {
			write(fmt.Sprintf("gemm%d", v+1), "c:p ldc:i a:p aRow:i aCol:i b:p ldb:i n:i k:i times:i rows:i mode:i more:p offs:o", func(g *armProduct) { g.tile(most, v+1) })
		}
		for _, rows := range []int{8, 1} {
			write(fmt.Sprintf("gemv%d", rows), "c:p a:p aStep:i b:p offs:o n:i", func(g *armProduct) { g.streamed(rows) })
		}
		write("windows", "dst:p ldd:i src:p lds:i a:p offs:o taps:i rows:i n:i", (*armProduct).windows)
		write("gather", "dst:p ldd:i src:p offs:o rows:i n:i", (*armProduct).gather)
		write("dots", "c:p a:p lda:i x:p k:i", (*armProduct).dots)
		write("panel", "c:p a:p aStep:i b:p n:i k:i add:i", (*armProduct).panel)
		write("chains", "c:p a:p lda:i b:p ldb:i n:i k:i", (*armProduct).chains)
		write("deep", "c:p ldc:i a:p aRow:i offs:o taps:i b:p ldb:i m:i n:i mode:i more:p", (*armProduct).deep)
		write("fmaPeak", "n:i", (*armProduct).peak)
	}
}

// function writes a function for the lowest level. body writes its instructions.
func (f *armFile) function(name string, kind kind, args string, body func(g *armProduct)) {
	if kind.float() {
		name += kind.String()[1:]
	}
	f.functionAt(neonLevel, name, kind, args, body)
}

func (f *armFile) functionAt(level, name string, kind kind, args string, body func(g *armProduct)) {
	name += level
	n := &neon{f: f, k: &kernel{table: name, inner: kind}, lanes: 16 / kind.size(), pinned: make(map[virtual]bool), tables: make(map[string]virtual)}
	g := &armProduct{neon: n, kind: kind, size: kind.size(), lanes: n.lanes}
	signature := "func("
	for i, a := range fieldsOf(args) {
		if i > 0 {
			signature += ", "
		}
		signature += a.name + " " + map[byte]string{'p': "*" + kind.golang(), 'b': "*uint8", 'w': "*int32", 'i': "int", 'o': "*int", 'f': "*float32", 's': "*PackedSums", 'u': "uintptr"}[a.how]
		g.args = append(g.args, a.name)
	}
	body(g)
	n.line("RET")
	n.hold(0)
	text, ok := n.allocated()
	if !ok {
		panic(name + ": no registers left")
	}
	n.data()
	f.text(name, signature+")", 8*len(g.args))
	f.asm.Write(text)
}

type field struct {
	name string
	how  byte // a pointer to elements (p), bytes (b), int32s (w), float32s (f), offsets (o) or packed sums (s), an int (i), or an address (u)
}

func fieldsOf(args string) (all []field) {
	for _, a := range strings.Fields(args) {
		name, how, _ := strings.Cut(a, ":")
		all = append(all, field{name, how[0]})
	}
	return all
}

// place returns the address of a parameter.
func (g *armProduct) place(name string) string {
	return fmt.Sprintf("%s+%d(FP)", name, 8*slices.Index(g.args, name))
}

// read loads a parameter into a register.
func (g *armProduct) read(name string, r virtual) { g.line("MOVD "+g.place(name)+", R%d", r) }

// write stores a register to a parameter.
func (g *armProduct) write(name string, r virtual) {
	g.line("MOVD R%d, "+g.place(name), r)
	g.code[len(g.code)-1].outs = 0
}

// arg returns a register with a parameter, bytes one with a parameter in elements, turned into bytes.
func (g *armProduct) arg(name string) virtual {
	r := g.pin(g.integer())
	g.read(name, r)
	return r
}

func (g *armProduct) bytes(name string) virtual {
	r := g.arg(name)
	g.times(r, g.size)
	return r
}

func (g *armProduct) plus(r, more virtual) { g.modify("ADD R%[2]d, R%[1]d, R%[1]d", r, more) }

// part names the scalar register of an element, all the arrangement of a vector.
func (g *armProduct) part() string { return map[int]string{1: "b", 2: "h", 4: "s", 8: "d"}[g.size] }
func (g *armProduct) all() string  { return g.of(g.kind, 16) }

func (g *armProduct) zero(v virtual) { g.op("movi", "2d", 0, v) }

// tile keeps the sums of at most some rows in registers, those of fewer in the last ones. It takes one element of a at a time, from a list of offsets if there is one. It prefetches nothing. Where the last vector isn't whole, it begins earlier and computes
// some columns of the vector before again. So loads and stores need no mask, unless the row has one vector only.
func (g *armProduct) tile(most, vectors int) {
	acc := make([][]virtual, most)
	from := make([]virtual, most) // rows of a
	for i := range acc {
		from[i] = g.pin(g.integer())
		for range vectors {
			acc[i] = append(acc[i], g.pin(g.vector()))
		}
	}
	c, ldc, aCol, b, ldb, k, at, offs := g.pin(g.integer()), g.bytes("ldc"), g.bytes("aCol"), g.pin(g.integer()), g.bytes("ldb"), g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer())
	last := g.bytes("n")
	g.change("SUB", 16, last)
	g.line("tile:")
	row, high := g.integer(), g.integer()
	g.read("aRow", row)
	g.times(row, g.size)
	g.read("rows", high)
	g.change("SUB", 1, high)
	g.modify("MUL R%[2]d, R%[1]d, R%[1]d", high, row)
	g.read("a", from[most-1])
	g.plus(from[most-1], high)
	for i := most - 1; i > 0; i-- {
		g.line("SUB R%d, R%d, R%d", row, from[i], from[i-1])
	}
	g.read("b", b)
	g.read("k", k)
	for _, row := range acc {
		for _, s := range row {
			g.zero(s)
		}
	}
	g.line("MOVD $0, R%d", at)
	g.read("offs", offs)
	// move loads or stores vector v of a row; the last vector has width elements.
	move := func(how string, v, width int, r, base virtual) {
		switch {
		case v < vectors-1 || vectors == 1 && width == g.lanes:
			g.op(how, "q", 16*v, r, base)
		case vectors > 1:
			g.op(how+" indexed", "q", 0, r, base, last)
		case width*g.size <= 8:
			g.op(how, map[int]string{4: "s", 8: "d"}[width*g.size], 0, r, base)
		case how == "ldr":
			g.tail = width
			g.some(g.kind, r, base, 0)
			g.tail = 0
		default:
			high := g.vector()
			g.op("ext", "16b", 8, high, r, r)
			g.op("str", "d", 0, r, base)
			g.op("str", "s", 8, high, base)
		}
	}
	widths := []int{g.lanes}
	if vectors == 1 {
		for w := g.lanes - 1; w > 0; w-- {
			widths = append(widths, w)
		}
	}
	// each writes a part of the function for each width.
	each := func(part string, body func(width int, label string)) {
		for i, width := range widths {
			label := fmt.Sprint(part, width)
			if i < len(widths)-1 {
				g.line(fmt.Sprintf("CMP $%d, R%%d", (width-g.lanes)*g.size), last)
				g.line("BNE not" + label)
			}
			body(width, label)
			if i < len(widths)-1 {
				g.line("JMP all" + part)
				g.line("not" + label + ":")
			}
		}
		g.line("all" + part + ":")
	}
	all := make([]int, most) // numbers of rows
	for i := range all {
		all[i] = i + 1
	}
	some := slices.Compact([]int{(most + 3) / 4, (most + 1) / 2, most}) // of steps that may take registers without sums, which are 0
	// slots writes a step for the registers of a row after those of another, where tiles of some numbers of rows enter.
	slots := func(name string, heights []int, body func(sums []virtual)) {
		g.enter(name, heights)
		for i, sums := range acc {
			if slices.Contains(heights, most-i) {
				g.line(fmt.Sprint(name, most-i, ":"))
			}
			body(sums)
		}
	}
	bias := make([]virtual, vectors)
	for v := range bias {
		bias[v] = g.vector()
	}
	each("Sums", func(width int, label string) {
		g.line("CMP $0, R%d", k)
		g.line("BEQ done" + label)
		g.line("CMP $0, R%d", offs)
		g.line("BEQ next" + label)
		for _, loop := range []string{"tap", "next"} {
			g.line(loop + label + ":")
			g.enter(loop+label+"x", all)
			for _, rows := range slices.Backward(all) {
				this := fmt.Sprint(loop, label, "x", rows)
				g.line(this + ":")
				element := "ldr indexed"
				if loop == "tap" {
					element = "ldr scaled"
					g.line("MOVD.P 8(R%d), R%d", offs, at)
				}
				bv, x := make([]virtual, vectors), make([]virtual, rows)
				load := func(i int) {
					if i < rows {
						x[i] = g.vector()
						g.op(element, g.part(), 0, x[i], from[most-rows+i], at)
					}
				}
				for v := range bv {
					bv[v] = g.vector()
					move("ldr", v, width, bv[v], b)
				}
				g.plus(b, ldb)
				load(0)
				load(1)
				for i := range rows {
					load(i + 2)
					for v, r := range bv {
						g.op("fmla by element", g.all(), 0, acc[most-rows+i][v], r, x[i])
					}
				}
				if loop == "next" {
					g.plus(at, aCol)
				}
				g.change("SUBS", 1, k)
				g.line("BNE " + this)
				g.line("JMP done" + label)
			}
		}
		g.line("done" + label + ":")
		row := g.integer()
		g.read("mode", row)
		g.line("TBZ $0, R%d, alone"+label, row)
		g.read("c", row)
		slots("add"+label+"x", all, func(sums []virtual) {
			old := make([]virtual, vectors)
			for v := range old {
				old[v] = g.vector()
				move("ldr", v, width, old[v], row)
			}
			for v, s := range sums {
				g.op("fadd", g.all(), 0, s, old[v], s)
			}
			g.plus(row, ldc)
		})
		g.line("alone" + label + ":")
		g.read("more", row)
		g.line("CBZ R%d, unbiased"+label, row)
		for v, r := range bias {
			move("ldr", v, width, r, row)
		}
		g.line("unbiased" + label + ":")
	})
	mode := g.integer()
	g.read("mode", mode)
	g.line("TBZ $2, R%d, unbiased", mode)
	slots("bias", some, func(sums []virtual) {
		for v, s := range sums {
			g.op("fadd", g.all(), 0, s, bias[v], s)
		}
	})
	g.line("unbiased:")
	g.line("TBZ $3, R%d, signed", mode)
	zero := g.vector()
	g.zero(zero)
	slots("max", some, func(sums []virtual) { // NaNs stay; of two zeros the positive one is greater
		for _, s := range sums {
			g.op("fmax", g.all(), 0, s, s, zero)
		}
	})
	g.line("signed:")
	none := g.reg(nan(g.neon, g.kind))
	slots("canon", some, func(sums []virtual) {
		for _, s := range sums {
			number := g.vector()
			g.op("fcmeq", g.all(), 0, number, s, s)
			g.op("bif", "16b", 0, s, none, number)
		}
	})
	g.read("c", c)
	each("Stores", func(width int, label string) {
		slots("store"+label+"x", all, func(sums []virtual) {
			for v, s := range sums {
				move("str", v, width, s, c)
			}
			g.plus(c, ldc)
		})
	})
	g.line("below:") // with the addresses of the next tile in the places of c and a
	left := g.integer()
	row = g.integer()
	g.read("times", left)
	g.change("SUBS", 1, left)
	g.line("BEQ last")
	g.write("times", left)
	g.write("c", c)
	g.read("aRow", row)
	g.times(row, g.size)
	g.plus(row, from[most-1])
	g.write("a", row)
	g.line("JMP tile")
	for len(g.later) > 0 {
		write := g.later[0]
		g.later = g.later[1:]
		write()
	}
	g.line("last:")
}

// enter jumps to the label that begins with name and ends with the least of some numbers, in order, that isn't below the rows of a tile.
// The greatest one follows.
func (g *armProduct) enter(name string, numbers []int) {
	rows := g.integer()
	g.read("rows", rows)
	for len(numbers) > 1 {
		half := len(numbers) / 2
		some, below := numbers[:half], fmt.Sprintf("%sUpTo%d", name, numbers[half-1])
		g.line(fmt.Sprintf("CMP $%d, R%%d", numbers[half-1]), rows)
		g.line("BLE " + below)
		g.later = append(g.later, func() {
			g.line(below + ":")
			g.enter(name, some)
			g.line(fmt.Sprint("JMP ", name, some[half-1]))
		})
		numbers = numbers[half:]
	}
}

// streamed keeps the elements of a in registers. It takes four vectors of c at a time, then one, then one element.
func (g *armProduct) streamed(rows int) {
	a, step := g.arg("a"), g.bytes("aStep")
	x, row := make([]virtual, rows), make([]virtual, rows)
	for i := range x {
		x[i] = g.pin(g.vector())
		g.op("ldr", g.part(), 0, x[i], a)
		g.plus(a, step)
	}
	b, offs := g.arg("b"), g.arg("offs")
	for i := range row {
		row[i] = g.pin(g.integer())
		g.line(fmt.Sprintf("MOVD %d(R%%d), R%%d", 8*i), offs, row[i])
		g.modify(fmt.Sprintf("ADD R%%[1]d<<%d, R%%[2]d, R%%[1]d", map[int]int{4: 2, 8: 3}[g.size]), row[i], b)
	}
	c, n := g.arg("c"), g.arg("n")
	at := make([]virtual, unroll)
	for v := range at {
		at[v] = g.pin(g.integer())
		g.line(fmt.Sprintf("MOVD $%d, R%%d", 16*v), at[v])
	}
	g.parts(n, func(vectors int, part string, bytes int) {
		sums := make([]virtual, vectors)
		for v := range sums {
			sums[v] = g.vector()
			g.op("ldr indexed", part, 0, sums[v], c, at[v])
		}
		for i := range rows {
			for v, s := range sums {
				y := g.vector()
				g.op("ldr indexed", part, 0, y, row[i], at[v])
				g.op("fmla by element", g.all(), 0, s, y, x[i])
			}
		}
		for v, s := range sums {
			g.op("str indexed", part, 0, s, c, at[v])
		}
		for _, r := range at {
			g.change("ADD", bytes, r)
		}
	})
}

// parts writes loops over n elements: four vectors at a time, one vector, and one element.
func (g *armProduct) parts(n virtual, body func(vectors int, part string, bytes int)) {
	for _, vectors := range []int{unroll, 1, 0} {
		label, part, elements := fmt.Sprint(vectors), "q", vectors*g.lanes
		if vectors == 0 {
			part, elements = g.part(), 1
		}
		g.line("loop" + label + ":")
		g.change("SUBS", elements, n)
		g.line("BLT end" + label)
		body(max(vectors, 1), part, elements*g.size)
		g.line("JMP loop" + label)
		g.line("end" + label + ":")
		g.change("ADD", elements, n)
	}
}

// windows takes strips of four vectors of columns, and four rows of a strip at a time, then two, then one. Where the last vector of the last
// strip isn't whole, it begins earlier and computes some columns of the vector before again. Fewer columns than a vector go one by one.
func (g *armProduct) windows() {
	const most = unroll
	dst, ldd, src, lds, left := g.arg("dst"), g.bytes("ldd"), g.arg("src"), g.bytes("lds"), g.bytes("n")
	to, from, last := g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer())
	a, offs, taps, rows := g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer()), g.pin(g.integer())
	var all [unroll * most]virtual
	for i := range all {
		all[i] = g.pin(g.vector())
	}
	// strip writes the loops over the rows of a strip.
	strip := func(label string, vectors int, part string) {
		g.line("MOVD R%d, R%d", dst, to)
		g.line("MOVD R%d, R%d", src, from)
		g.read("rows", rows)
		move := func(how string, v int, r, base virtual) {
			if v > 0 && v == vectors-1 {
				g.op(how+" indexed", part, 0, r, base, last)
			} else {
				g.op(how, part, 16*v, r, base)
			}
		}
		for high := unroll; high > 0; high /= 2 {
			name := func(what string) string { return fmt.Sprintf("%s%d_%s", what, high, label) }
			sums := all[:high*vectors]
			g.line(name("rows") + ":")
			g.change("SUBS", high, rows)
			g.line("BLT " + name("end"))
			for _, s := range sums {
				g.zero(s)
			}
			g.read("a", a)
			g.read("offs", offs)
			g.read("taps", taps)
			g.line(name("taps") + ":")
			row := g.integer()
			g.line("MOVD (R%d), R%d", offs, row)
			g.change("ADD", 8, offs)
			g.modify(fmt.Sprintf("ADD R%%[1]d<<%d, R%%[2]d, R%%[1]d", map[int]int{4: 2, 8: 3}[g.size]), row, from)
			weight := g.vector()
			g.op("ldr", g.part(), 0, weight, a)
			g.change("ADD", g.size, a)
			for i := range high {
				for v, s := range sums[i*vectors : (i+1)*vectors] {
					x := g.vector()
					move("ldr", v, x, row)
					g.op("fmla by element", g.all(), 0, s, x, weight)
				}
				if i < high-1 {
					g.plus(row, lds)
				}
			}
			g.change("SUBS", 1, taps)
			g.line("BNE " + name("taps"))
			for i, s := range sums {
				move("str", i%vectors, s, to)
				if i%vectors == vectors-1 {
					g.plus(to, ldd)
					g.plus(from, lds)
				}
			}
			g.line("JMP " + name("rows"))
			g.line(name("end") + ":")
			g.change("ADD", high, rows)
		}
	}
	g.line("CMP $16, R%d", left)
	g.line("BLT few")
	g.line("columns:")
	g.line(fmt.Sprintf("MOVD $%d, R%%d", 16*most), last)
	g.line("CMP R%d, R%d", last, left)
	g.modify("CSEL LT, R%[2]d, R%[1]d, R%[1]d", last, left)
	g.change("SUB", 16, last)
	for v := most; v > 1; v-- {
		g.line(fmt.Sprintf("CMP $%d, R%%d", 16*(v-1)), left)
		g.line(fmt.Sprintf("BGT vectors%d", v))
	}
	for v := 1; v <= most; v++ {
		g.line(fmt.Sprintf("vectors%d:", v))
		strip(fmt.Sprint(v), v, "q")
		if v < most {
			g.line("JMP done")
		}
	}
	g.change("SUBS", 16*most, left)
	g.line("BLE done")
	for _, p := range []virtual{dst, src} {
		g.change("ADD", 16*most, p)
	}
	g.line("CMP $16, R%d", left)
	g.line("BGE columns")
	short := g.integer() // less than a vector is left
	g.line("MOVD $16, R%d", short)
	g.modify("SUB R%[2]d, R%[1]d, R%[1]d", short, left)
	for _, p := range []virtual{dst, src} {
		g.modify("SUB R%[2]d, R%[1]d, R%[1]d", p, short)
	}
	g.line("MOVD $16, R%d", left)
	g.line("JMP columns")
	g.line("few:")
	strip("few", 1, g.part())
	for _, p := range []virtual{dst, src} {
		g.change("ADD", g.size, p)
	}
	g.change("SUBS", g.size, left)
	g.line("BGT few")
	g.line("done:")
}

// gather copies rows of the length of the widest tile.
func (g *armProduct) gather() {
	dst, ldd, src, offs, rows := g.arg("dst"), g.bytes("ldd"), g.arg("src"), g.arg("offs"), g.arg("rows")
	g.line("next:")
	at := g.integer()
	g.line("MOVD (R%d), R%d", offs, at)
	g.change("ADD", 8, offs)
	g.modify(fmt.Sprintf("ADD R%%[1]d<<%d, R%%[2]d, R%%[1]d", map[int]int{4: 2, 8: 3}[g.size]), at, src)
	v := make([]virtual, len(neonRows))
	for i := range v {
		v[i] = g.vector()
		g.op("ldr", "q", 16*i, v[i], at)
	}
	for i := range v {
		g.op("str", "q", 16*i, v[i], dst)
	}
	g.plus(dst, ldd)
	g.change("SUBS", 1, rows)
	g.line("BNE next")
}

// peak runs n times 48 vectors of fused steps.
func (g *armProduct) peak() {
	n := g.arg("n")
	v := make([]virtual, 24)
	for i := range v {
		v[i] = g.pin(g.vector())
		g.zero(v[i])
	}
	g.line("next:")
	for range 2 {
		for _, s := range v {
			g.op("fmla", g.all(), 0, s, v[0], v[1])
		}
	}
	g.change("SUBS", 1, n)
	g.line("BNE next")
}
