package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// neon is the machine of arm64. All processors have its 32 vectors of 16 bytes. Truth values are masks of all ones or zeros. The loop of a
// row takes four vectors in a step, then one, then one element at a time by the same program.
//
// Virtual registers of vectors count up from 0. Addresses and integers count down from −1. They get real registers when a function is
// complete, in one pass. A program has no branches, so a register is free after its last use. Constants, accumulators and addresses are
// pinned: they keep their registers.
type neon struct {
	f     *armFile
	k     *kernel
	lanes int

	code    []armInst
	vectors int // virtual registers so far
	ints    int
	pinned  map[virtual]bool

	base   []virtual // of each argument: the address of a slice, or a register with a number in each lane
	off    int       // elements from there
	sums   []virtual // of a fold: the registers of the accumulators
	single bool      // one element
	tail   int       // of lines: the number of elements of a vector; 0 for all

	trial   bool // the fast path, whose stores wait
	stores  []stored
	doubts  []doubt // in a step
	doubted int     // in a vector

	few    int // the number of constants in registers, the first ones of the program
	ways   int // the number of vectors of a step that take turns
	consts [][2]uint64
	held   []virtual          // the registers of the first few
	tables map[string]virtual // their addresses
	named  []table
	pool   virtual                // the address of the constants
	bytes  map[virtual][2]virtual // of an index of pick: the places of the bytes in each table
}

type virtual int

// Asm makes a register the operand of a value.
func (v virtual) Asm() string { return fmt.Sprintf("v%d", int(v)) }

// truth is the operand of a mask. Where not is set, the mask is complemented.
type truth struct {
	virtual
	not bool
}

// An armInst is an instruction: text, with real registers in the places of regs. The first outs registers are results. keeps says that
// the result is an operand as well.
type armInst struct {
	text  func(r []int) string
	regs  []virtual
	outs  int
	keeps bool
	moves bool // a copy of the second register
}

type table struct {
	name  string
	words []uint64
}

// An armFile is the text of a file of assembly, of its declarations, and of the constants that all its functions share.
type armFile struct {
	asm, stubs bytes.Buffer
	tables     []table
}

// The levels of arm64, in the names of kernels.
const (
	neonLevel = "NEON"
	dotLevel  = "Dot"
	i8mmLevel = "I8MM"
)

// intRegisters are the general registers that kernels use. R18 is reserved for the platform, R27 for the assembler. R28 to R30 are g, the
// frame pointer and the link register. The linker's veneers change R16 and R17.
var intRegisters = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 19, 20, 21, 22, 23, 24, 25, 26}

// writeNEON writes the kernels of a list.
func (f *armFile) writeNEON(kernels list) {
	for i := range kernels {
		k := &kernels[i]
		if !k.on(neonLevel) {
			continue
		}
		name := k.function(k.field, neonLevel)
		sizes := k.sizes()
		if k.swap != "" {
			f.text(name, k.signature(), sizes)
			for _, of := range []string{"base", "len"} {
				x, y := k.place(1, of), k.place(2, of)
				fmt.Fprintf(&f.asm, "\tMOVD %s, R0\n\tMOVD %s, R1\n\tMOVD R1, %[1]s\n\tMOVD R0, %[2]s\n", x, y)
			}
			of := *k
			of.table = k.swap
			fmt.Fprintf(&f.asm, "\tJMP ·%s(SB)\n", of.function(k.field, neonLevel))
		} else {
			n := f.fitted(k)
			f.text(name, k.signature(), sizes)
			f.asm.Write(n)
		}
		names := append([]kernelName{{field: k.field}}, k.same...)
		for j, s := range names {
			if j > 0 {
				f.text(k.function(s.field, neonLevel), strings.ReplaceAll(k.signature(), s.from, s.to), sizes)
				fmt.Fprintf(&f.asm, "\tJMP ·%s(SB)\n", name)
			}
			if k.form == "" || !k.streams() {
				continue
			}
			// Its stores are the usual ones: arm64 has no loop with non-temporal stores.
			signature, size := streamSignature, 104
			if k.form == "RowsP" {
				signature, size = strings.TrimSuffix(k.signature(), ")")+", ahead *[4]uintptr)", sizes+8
			}
			f.text(k.function(s.field, "Stream"+neonLevel), signature, size)
			fmt.Fprintf(&f.asm, "\tJMP ·%s(SB)\n", name)
		}
	}
}

// text begins a function whose arguments have a size in bytes.
func (f *armFile) text(name, signature string, size int) {
	fmt.Fprintf(&f.asm, "\n// func %s%s\nTEXT ·%[1]s(SB), NOSPLIT, $0-%[3]d\n", name, strings.TrimPrefix(signature, "func"), size)
	fmt.Fprintf(&f.stubs, "\n//go:noescape\nfunc %s%s\n", name, strings.TrimPrefix(signature, "func"))
}

// fitted returns the body of a function, with as many vectors taking turns as there are registers for, and then as many constants in
// registers.
func (f *armFile) fitted(k *kernel) []byte {
	for ways := unroll; ways > 0; ways /= 2 {
		for few := 20; few >= 0; few-- {
			n := &neon{f: f, k: k, lanes: k.lanes(16), few: few, ways: ways, pinned: make(map[virtual]bool), tables: make(map[string]virtual), bytes: make(map[virtual][2]virtual)}
			n.write()
			if body, ok := n.allocated(); ok {
				n.data()
				return body
			}
		}
	}
	panic(k.table + k.field + ": no registers left")
}

// sizes returns the size of the arguments in bytes.
func (k *kernel) sizes() int { return k.at(len(k.args)+1000, "") }

// place returns the address of an argument, or of a part of a slice.
func (k *kernel) place(i int, part string) string {
	name := k.args[i].name
	if part != "" {
		name += "_" + part
	}
	return fmt.Sprintf("%s+%d(FP)", name, k.at(i, part))
}

// at returns the offset of an argument. Indices past the arguments of the description are step, n, w and stream.
func (k *kernel) at(i int, part string) int {
	off := 0
	for j, a := range k.args {
		size, align := 24, 8
		switch {
		case a.number:
			size, align = a.kind.size(), a.kind.size()
		case j == 0 && k.fold > 0 && k.join == nil, j > 0 && j == k.still:
			size = 8
		}
		off = (off + align - 1) / align * align
		if j == i {
			return off + map[string]int{"": 0, "base": 0, "len": 8, "cap": 16}[part]
		}
		off += size
	}
	rest := i - len(k.args)
	if k.lines() {
		off = (off+7)/8*8 + 8*min(rest, 2)
		rest -= 2
	}
	if k.down && rest > 0 {
		off += 8
	}
	if k.form == "" && k.streams() && rest > 0 {
		off++
	}
	return off
}

func (n *neon) write() {
	k := n.k
	n.base = make([]virtual, len(k.args))
	count := n.pin(n.integer())
	first := 0
	if k.fold > 0 && k.join == nil {
		first = 1
	}
	n.line("MOVD "+k.place(first, "len")+", R%d", count)
	for i, a := range k.args {
		switch {
		case a.number:
			n.base[i] = n.pin(n.vector())
			n.line(map[int]string{4: "FMOVS ", 8: "FMOVD "}[a.kind.size()]+k.place(i, "")+", F%d", n.base[i])
			n.op("dup", n.of(a.kind, 16), 0, n.base[i], n.base[i])
			continue
		case i == 0 && k.fold > 0 && k.join == nil, i > 0 && i == k.still:
			n.base[i] = n.pin(n.integer())
			n.line("MOVD "+k.place(i, "")+", R%d", n.base[i])
			continue
		}
		n.base[i] = n.pin(n.integer())
		n.line("MOVD "+k.place(i, "base")+", R%d", n.base[i])
		if i > 0 && k.fold == 0 && !(k.find && i == 2) { // no plan reads past an operand
			l := n.integer()
			n.line("MOVD "+k.place(i, "len")+", R%d", l)
			n.line("CMP R%d, R%d", count, l)
			n.modify("CSEL LT, R%[2]d, R%[1]d, R%[1]d", count, l)
		}
	}
	at := len(n.code)
	switch {
	case k.find:
		n.finding(count)
	case k.down:
		n.goingDown(count)
	case k.join != nil:
		n.lining(count)
	case k.fold > 0:
		n.folding(count)
	default:
		n.rowing(count)
	}
	n.line("RET")
	n.hold(at)
}

// hold inserts the loads of the constants.
func (n *neon) hold(at int) {
	rest := slices.Clone(n.code[at:])
	n.code = n.code[:at]
	for _, t := range n.named {
		n.line("MOVD $"+t.name+"<>(SB), R%d", n.tables[t.name])
	}
	if len(n.consts) > 0 {
		n.line("MOVD $"+n.poolName()+"<>(SB), R%d", n.pool)
	}
	for i, r := range n.held {
		n.op("ldr", "q", 16*i, r, n.pool)
	}
	n.code = append(n.code, rest...)
}

func (n *neon) poolName() string { return n.k.function(n.k.field, neonLevel) + "Constants" }

// data keeps the constants and tables for the end of the file.
func (n *neon) data() {
	if len(n.consts) > 0 {
		t := table{name: n.poolName()}
		for _, c := range n.consts {
			t.words = append(t.words, c[:]...)
		}
		n.f.tables = append(n.f.tables, t)
	}
	for _, t := range n.named {
		if !slices.ContainsFunc(n.f.tables, func(o table) bool { return o.name == t.name }) {
			n.f.tables = append(n.f.tables, t)
		}
	}
}

// rowing writes the loops over a row.
func (n *neon) rowing(count virtual) {
	k, lanes := n.k, n.lanes
	all := func() {
		k.body(n)
		if k.beside != nil {
			k.beside(n)
		}
	}
	step := unroll * lanes
	n.modify(fmt.Sprintf("SUBS $%d, R%%[1]d, R%%[1]d", step), count)
	n.line("BLT single")
	n.line("many:")
	if k.usual != nil {
		n.trying(k.usual)
		n.line("going:")
	} else {
		n.together(k.body)
	}
	if k.beside != nil {
		n.lanes = min(step, 16/k.args[k.streamed].kind.size())
		for n.off = 0; n.off < step; n.off += n.lanes {
			k.beside(n)
		}
		n.off, n.lanes = 0, lanes
	}
	n.advance(step)
	n.modify(fmt.Sprintf("SUBS $%d, R%%[1]d, R%%[1]d", step), count)
	n.line("BGE many")
	if k.usual != nil {
		n.line("JMP single")
		n.line("doubtful:")
		n.together(k.body)
		n.line("JMP going")
	}
	n.line("single:")
	n.modify(fmt.Sprintf("ADDS $%d, R%%[1]d, R%%[1]d", step), count)
	n.line("BEQ done")
	if lanes > 1 {
		n.modify(fmt.Sprintf("SUBS $%d, R%%[1]d, R%%[1]d", lanes), count)
		n.line("BLT rest")
		n.line("one:")
		all()
		n.advance(lanes)
		n.modify(fmt.Sprintf("SUBS $%d, R%%[1]d, R%%[1]d", lanes), count)
		n.line("BGE one")
		n.line("rest:")
		n.modify(fmt.Sprintf("ADDS $%d, R%%[1]d, R%%[1]d", lanes), count)
		n.line("BEQ done")
	}
	n.line("element:")
	n.single = true
	all()
	n.single = false
	n.advance(1)
	n.modify("SUBS $1, R%[1]d, R%[1]d", count)
	n.line("BNE element")
	n.line("done:")
}

// advance moves the addresses of slices on by the number of elements.
func (n *neon) advance(elements int) {
	for i, a := range n.k.args {
		if !a.number && !(i > 0 && i == n.k.still) && !(i == 0 && n.k.fold > 0) {
			n.modify(fmt.Sprintf("ADD $%d, R%%[1]d", elements*a.kind.size()), n.base[i])
		}
	}
}

// together writes a program for the vectors of a step. They take turns, instruction by instruction.
func (n *neon) together(program func(m machine)) {
	at, vectors := len(n.code), unroll
	if n.k.pairs && n.trial {
		vectors /= 2
	}
	for u := range vectors {
		n.off, n.doubted = u*n.lanes, 0
		program(n)
	}
	n.off = 0
	step := slices.Clone(n.code[at:])
	each := len(step) / vectors
	if each*vectors != len(step) {
		panic(n.k.table + n.k.field + ": the vectors of a step differ")
	}
	n.code = n.code[:at]
	ways := min(n.ways, vectors)
	for u := 0; u < vectors; u += ways {
		for i := range each {
			for w := range ways {
				n.code = append(n.code, step[(u+w)*each+i])
			}
		}
	}
}

// trying writes the fast path of a kernel for the vectors of a step. It jumps to the slow path where an element is in doubt.
func (n *neon) trying(program func(m machine)) {
	lanes := n.lanes
	if n.k.pairs {
		n.lanes *= 2
	}
	n.trial = true
	n.together(program)
	n.trial = false
	var all virtual
	for i, d := range n.doubts {
		m := n.reg(d.value)
		if !d.differ {
			m = n.vector()
			n.op("cmhi", "4s", 0, m, n.reg(d.value), n.reg(n.constant(U32, d.most)))
		}
		if i > 0 {
			n.op("orr", "16b", 0, m, m, all)
		}
		all = m
	}
	if len(n.doubts) > 0 {
		most, bits := n.vector(), n.integer()
		n.op("umaxv", "4s", 0, most, all)
		n.op("umov", "s", 0, bits, most)
		n.line("CMPW $0, R%d", bits)
		n.line("BNE doubtful")
	}
	waiting := n.stores
	n.doubts, n.stores = nil, nil
	for _, s := range waiting {
		n.off = s.off
		n.store(s.arg, s.value)
	}
	n.off, n.lanes = 0, lanes
}

// folding writes the loop over whole groups of elements, with the accumulators in registers.
func (n *neon) folding(count virtual) {
	k := n.k
	sum := k.args[0].kind
	for off := 0; off < k.fold; off += n.lanes {
		s := n.pin(n.vector())
		n.op("ldr", "q", off*sum.size(), s, n.base[0])
		n.sums = append(n.sums, s)
	}
	n.modify(fmt.Sprintf("SUBS $%d, R%%[1]d, R%%[1]d", k.fold), count)
	n.line("BLT done")
	n.line("many:")
	for n.off = 0; n.off < k.fold; n.off += n.lanes {
		k.body(n)
	}
	n.off = 0
	n.advance(k.fold)
	n.modify(fmt.Sprintf("SUBS $%d, R%%[1]d, R%%[1]d", k.fold), count)
	n.line("BGE many")
	n.line("done:")
	for i, s := range n.sums {
		n.op("str", "q", i*16, s, n.base[0])
	}
}

// of names the arrangement of a kind in a register with so many bytes in use.
func (n *neon) of(k kind, bytes int) string { return arranged(k.size(), bytes) }

func arranged(size, bytes int) string {
	if bytes <= 8 && size < 8 {
		bytes = 8
	} else {
		bytes = 16
	}
	return fmt.Sprintf("%d%c", bytes/size, " bh s   d"[size])
}

// all names the arrangement of a value.
func (n *neon) all(k kind) string { return n.of(k, n.lanes*k.size()) }

// bits names the arrangement of the same bytes, as single bytes.
func (n *neon) bits(k kind) string { return arranged(1, n.lanes*k.size()) }

const armHead = "// Code generated by internal/core/simd/_asm. DO NOT EDIT.\n\n//go:build !purego\n\n"

// assembly returns the file of the functions and their constants. The constants are read-only.
func (f *armFile) assembly() []byte {
	var out bytes.Buffer
	out.WriteString(armHead + "#include \"textflag.h\"\n")
	for _, t := range f.tables {
		out.WriteByte('\n')
		for i, w := range t.words {
			fmt.Fprintf(&out, "DATA %s<>+%d(SB)/8, $0x%016x\n", t.name, 8*i, w)
		}
		fmt.Fprintf(&out, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", t.name, 8*len(t.words))
	}
	return named(append(out.Bytes(), f.asm.Bytes()...))
}

func (f *armFile) declarations() []byte {
	return named([]byte(armHead + "package simd\n" + f.stubs.String()))
}
