package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// x86 is the machine AVX2 with FMA and F16C, or AVX-512 F, BW, DQ and VL. Truth values are masks of all ones or zeros in AVX2, and
// mask registers in AVX-512. The end of a row is one masked step in AVX-512. In AVX2 it goes one element at a time by the same
// program.
type x86 struct {
	c     *build.Context
	k     *kernel
	level string
	wide  bool // AVX-512
	bytes int  // of a register
	lanes int

	base        []operand.Op       // of each argument: the address of a slice, or a register with a number in each lane
	index       reg.GPVirtual      // elements done so far
	off         int                // elements after index
	sums        []operand.Op       // of a fold: the registers of the accumulators
	some        operand.Op         // AVX-512: the mask of the last step; nil before
	masks       map[int]operand.Op // AVX2, of lines: the same for each element size; nil before
	single      bool               // AVX2: one element
	few         int                // the number of constants in registers, the first ones of the program
	turns       float64            // the number of vectors of a fast path that take turns
	trial       bool               // the fast path, whose stores wait
	nontemporal bool               // the loop with non-temporal stores, whose stores wait too
	hint        reg.Register       // of a row that streams: not 0 to stream; the address of its prefetches if it has a form
	stores      []stored
	doubts      []doubt // in a step
	doubted     int     // in a vector

	consts []constant             // in order of use
	held   map[string]operand.Op  // the place of each constant: in memory or in a register
	memory map[string]operand.Mem // the symbols of all kernels
}

type constant struct {
	name  string
	words []uint64
}

// doubt has the largest of the values that should be at most most, or the bits that differ though none should.
type doubt struct {
	value
	most   uint64
	differ bool
}

// stored is a value whose store waits: for argument arg, from element off on.
type stored struct {
	value
	arg, off int
}

const (
	unroll        = 4 // vectors in a step of the main loop
	doubtfulSteps = 8 // the number of steps on the slow path, from one in doubt on, but for a doubt of differ
)

// vectors returns the number of vectors in a step of a row. In AVX2 a trial has few registers for the values that wait.
func (x *x86) vectors() int {
	if x.k.pairs && x.trial || x.k.usual != nil && !x.k.pairs && !x.wide {
		return unroll / 2
	}
	return unroll
}

// writeRows writes the kernels of a list for both instruction sets.
func writeRows(c *build.Context, kernels list) {
	memory := make(map[string]operand.Mem)
	for i := range kernels {
		k := &kernels[i]
		for _, x := range []x86{{k: k, level: "AVX2", bytes: 32}, {k: k, level: "AVX512", bytes: 64, wide: true}} {
			switch {
			case !k.on(x.level):
			case k.swap != "":
				x.c = c
				x.open()
				x.exchange()
			default:
				x.few = x.affordable()
				x.write(c, memory)
			}
		}
	}
}

func (x *x86) write(c *build.Context, memory map[string]operand.Mem) {
	k := x.k
	x.c, x.memory, x.lanes = c, memory, k.lanes(x.bytes)
	x.base = make([]operand.Op, len(k.args))
	x.findConstants()

	x.open()
	var n reg.Register
	if k.fold == 0 || k.join != nil {
		n = c.Load(c.Param(k.args[0].name).Len(), c.GP64())
	} else {
		n = c.Load(c.Param(k.args[1].name).Len(), c.GP64())
	}
	for i, a := range k.args {
		if a.number {
			r, lane := x.register(x.bytes), c.XMM()
			switch a.kind {
			case I32:
				c.VMOVD(c.Load(c.Param(a.name), c.GP32()), lane)
				c.VPBROADCASTD(lane, r)
			case I64:
				c.VMOVQ(c.Load(c.Param(a.name), c.GP64()), lane)
				c.VPBROADCASTQ(lane, r)
			default: // not by MOVSS or MOVSD, see TestVEX
				x.do("VBROADCAST"+map[int]string{4: "SS", 8: "SD"}[a.kind.size()], x.param(c.Param(a.name)), r)
			}
			x.base[i] = r
			continue
		}
		if i == 0 && k.fold > 0 && k.join == nil || i > 0 && i == k.still {
			x.base[i] = c.Load(c.Param(a.name), c.GP64())
			continue
		}
		x.base[i] = c.Load(c.Param(a.name).Base(), c.GP64())
		if i > 0 && k.fold == 0 && !(k.find && i == 2) { // no plan reads past an operand
			l := c.Load(c.Param(a.name).Len(), c.GP64())
			c.CMPQ(l, n)
			c.CMOVQLT(l, n)
		}
	}
	x.hold()
	x.index = c.GP64()
	c.XORL(x.index.As32(), x.index.As32())
	switch {
	case k.find:
		x.finding(n)
	case k.down:
		x.goingDown()
	case k.join != nil:
		x.lining(n)
	case k.fold > 0:
		x.folding(n)
	default:
		x.rowing(n)
	}
	c.VZEROUPPER()
	c.RET()

	for _, s := range k.same {
		x.text(k.function(s.field, x.level), strings.ReplaceAll(k.signature(), s.from, s.to))
		x.jump(k.function(k.field, x.level))
		if k.streams() {
			x.text(k.function(s.field, "Stream"+x.level), streamSignature)
			x.jump(k.function(k.field, "Stream"+x.level))
		}
	}
}

// open begins the function of a kernel. A row of a table that streams has two entries, which jump to one body with a hint: the usual
// entry, and one with non-temporal stores and one parameter more, the prefetches. Any other kernel that streams has a parameter that
// selects it.
func (x *x86) open() {
	c, k := x.c, x.k
	name := k.function(k.field, x.level)
	switch {
	case !k.streams():
		x.text(name, k.signature())
	case k.form == "":
		x.text(name, k.signature())
		x.hint = c.Load(c.Param("stream"), c.GP64())
	default:
		x.hint = reg.R13
		x.text(name, k.signature())
		c.XORL(reg.R13L, reg.R13L)
		x.jump(name + "<>")
		if k.form == "RowsP" {
			x.text(k.function(k.field, "Stream"+x.level), strings.TrimSuffix(k.signature(), ")")+", ahead *[4]uintptr)")
		} else {
			x.text(k.function(k.field, "Stream"+x.level), streamSignature)
		}
		c.Load(c.Param("ahead"), x.hint)
		x.jump(name + "<>")
		x.text(name+"<>", k.signature())
	}
}

// text begins a function.
func (x *x86) text(name, signature string) {
	x.c.Function(name)
	x.c.Attributes(attr.NOSPLIT)
	x.c.Pragma("noescape")
	x.c.SignatureExpr(signature)
}

// jump ends a function by a jump to another one with the same parameters.
func (x *x86) jump(name string) {
	x.c.Instruction(&ir.Instruction{Opcode: "JMP", Operands: []operand.Op{operand.LabelRef("·" + name + "(SB)")}, IsTerminal: true})
}

// hold loads the constants into their registers, or notes their places in memory.
func (x *x86) hold() {
	for i, k := range x.consts {
		switch m := x.memory[k.name]; {
		case len(k.words) > 8:
			address := x.c.GP64()
			x.c.LEAQ(m, address)
			x.held[k.name] = address
		case i < x.few:
			x.held[k.name] = x.inRegister(m, x.bytes)
		default:
			x.held[k.name] = m
		}
	}
}

// rowing writes the loops over a row.
func (x *x86) rowing(n reg.Register) {
	c, k := x.c, x.k
	step, lanes := x.vectors()*x.lanes, x.lanes
	c.SUBQ(operand.I32(step), n)
	c.JLT(operand.LabelRef("single"))
	if k.streams() {
		x.streaming(n)
	}
	c.Label("many")
	if k.usual != nil {
		x.turns = x.trying("many")
	} else {
		x.together("many", k.body)
	}
	x.besides()
	c.ADDQ(operand.I32(step), x.index)
	c.SUBQ(operand.I32(step), n)
	c.JGE(operand.LabelRef("many"))
	c.Label("single")
	all := func() {
		if k.body(x); k.beside != nil {
			k.beside(x)
		}
	}
	c.ADDQ(operand.I32(step), n)
	c.JEQ(operand.LabelRef("done"))
	now, shared := n, k.usual != nil && !k.masked // the elements that go one vector at a time; whether steps in doubt go there
	if shared {
		now = c.GP64()
		c.MOVQ(n, now)
		c.XORL(n.(reg.GPVirtual).As32(), n.(reg.GPVirtual).As32())
		c.JMP(operand.LabelRef("one"))
		if k.pairs {
			c.Label("unsettled")
			c.MOVQ(operand.I32(step), now)
			c.JMP(operand.LabelRef("slow"))
		}
		c.Label("doubtful") // the next steps may be in doubt too
		c.MOVQ(operand.I32(doubtfulSteps*step), now)
		c.Label("slow")
		c.ADDQ(operand.I32(step), n)
		c.CMPQ(n, now)
		c.CMOVQLT(n, now)
		c.SUBQ(now, n)
	}
	if x.wide { // all lanes, or the last ones
		ones, mask := c.GP64(), c.K()
		c.Label("one")
		c.MOVQ(operand.I32(-1), ones)
		if shared { // BZHI looks at eight bits only
			c.CMPQ(now, operand.I32(lanes))
			c.JGE(operand.LabelRef("whole"))
			c.BZHIQ(now, ones, ones)
			c.Label("whole")
		} else {
			c.BZHIQ(now, ones, ones)
		}
		c.KMOVQ(ones, mask)
		x.some = mask
		all()
		x.some = nil
		c.ADDQ(operand.I32(lanes), x.index)
		c.SUBQ(operand.I32(lanes), now)
		c.JG(operand.LabelRef("one"))
	} else {
		c.Label("one")
		c.SUBQ(operand.I32(lanes), now)
		c.JLT(operand.LabelRef("rest"))
		all()
		c.ADDQ(operand.I32(lanes), x.index)
		c.JMP(operand.LabelRef("one"))
		c.Label("rest")
		c.ADDQ(operand.I32(lanes), now)
		c.JEQ(operand.LabelRef("end"))
		c.Label("element")
		x.single = true
		all()
		x.single = false
		c.INCQ(x.index)
		c.DECQ(now)
		c.JNE(operand.LabelRef("element"))
		c.Label("end")
	}
	next := "many"
	if k.streams() {
		next = "again"
	}
	switch {
	case shared:
		c.TESTQ(n, n)
		c.JEQ(operand.LabelRef("done"))
		c.SUBQ(operand.I32(step), n)
		c.JGE(operand.LabelRef(next))
		c.JMP(operand.LabelRef("single"))
	case k.masked:
		c.JMP(operand.LabelRef("done"))
		steps := c.GP64()
		if k.pairs {
			c.Label("unsettled")
			c.MOVQ(operand.I32(1), steps)
			c.JMP(operand.LabelRef("full"))
		}
		c.Label("doubtful")
		c.MOVQ(operand.I32(doubtfulSteps), steps)
		c.Label("full")
		x.together("full", k.body)
		x.besides()
		c.ADDQ(operand.I32(step), x.index)
		c.SUBQ(operand.I32(step), n)
		c.JLT(operand.LabelRef("single"))
		c.DECQ(steps)
		c.JNE(operand.LabelRef("full"))
		c.JMP(operand.LabelRef(next))
	}
	c.Label("done")
}

// folding writes the loop over whole groups of elements, the accumulators in registers.
func (x *x86) folding(n reg.Register) {
	c, k := x.c, x.k
	index := x.index
	for x.off = 0; x.off < k.fold; x.off += x.lanes { // index is still 0 here
		x.sums = append(x.sums, x.inRegister(x.at(0), x.bytes))
	}
	x.off = 0
	c.SUBQ(operand.I32(k.fold), n)
	c.JLT(operand.LabelRef("done"))
	c.Label("many")
	for x.off = 0; x.off < k.fold; x.off += x.lanes {
		k.body(x)
	}
	c.ADDQ(operand.I32(k.fold), index)
	c.SUBQ(operand.I32(k.fold), n)
	c.JGE(operand.LabelRef("many"))
	c.Label("done")
	c.XORL(index.As32(), index.As32())
	for x.off = 0; x.off < k.fold; x.off += x.lanes {
		x.move(x.sums[x.off/x.lanes], x.at(0))
	}
}

// findConstants runs the program with a context that is thrown away.
func (x *x86) findConstants() {
	c := x.c
	x.c = build.NewContext()
	x.c.Function("dry")
	x.held = make(map[string]operand.Op)
	x.index = x.c.GP64()
	for i := range x.base {
		x.base[i] = x.c.GP64()
		if x.k.args[i].number {
			x.base[i] = x.register(x.bytes)
		}
	}
	x.sums = []operand.Op{x.register(x.bytes)}
	if x.k.join != nil {
		x.k.start(x)
		x.joined()
	}
	if x.k.lines() && !x.wide {
		for _, a := range x.k.args[:2] {
			x.counting(a.kind.size())
		}
	}
	if x.k.usual != nil {
		x.c.Label("many")
		x.trying("many")
	}
	if !x.k.find {
		x.k.body(x)
	}
	x.c, x.sums = c, nil
	for _, k := range x.consts {
		if _, ok := x.memory[k.name]; ok {
			continue
		}
		x.memory[k.name] = c.StaticGlobal(k.name)
		c.DataAttributes(attr.RODATA | attr.NOPTR)
		for i, w := range k.words {
			c.AddDatum(8*i, operand.U64(w))
		}
	}
}

// do appends an instruction by its name, with operands in Go's order: the result last.
func (x *x86) do(name string, ops ...operand.Op) {
	for i := range ops {
		if x.wide && x.repeated(ops[i]) {
			name, ops = x.broadcast(name, slices.Clone(ops), i)
		}
	}
	f := reflect.ValueOf(x.c).MethodByName(name)
	if !f.IsValid() {
		panic("no instruction " + name)
	}
	in := make([]reflect.Value, len(ops))
	for i := range ops {
		in[i] = reflect.ValueOf(ops[i])
	}
	f.Call(in)
	if _, err := x.c.Result(); err != nil {
		panic(fmt.Sprintf("%s, %s %v: %v", x.k.function(x.k.field, x.level), name, ops, err))
	}
}

// repeated reports whether an operand is a constant in memory that repeats one word.
func (x *x86) repeated(op operand.Op) bool {
	return slices.ContainsFunc(x.consts, func(k constant) bool {
		return op == operand.Op(x.memory[k.name]) && !slices.ContainsFunc(k.words, func(w uint64) bool { return w != k.words[0] })
	})
}

// broadcast makes AVX-512 read one word of a constant. The linker aligns nothing to 64 bytes, and a read across two cache lines takes
// twice as long.
func (x *x86) broadcast(name string, ops []operand.Op, i int) (string, []operand.Op) {
	switch {
	case name == "VMOVDQU64":
		return "VPBROADCASTQ", ops
	case reflect.ValueOf(x.c).MethodByName(name + "_BCST").IsValid():
		return name + "_BCST", ops
	}
	for _, op := range ops {
		if v, ok := op.(reg.VecVirtual); ok {
			ops[i] = x.inRegister(ops[i], int(v.Size()))
			break
		}
	}
	return name, ops
}

// register returns a new vector register for so many bytes.
func (x *x86) register(bytes int) reg.VecVirtual {
	switch {
	case bytes <= 16:
		return x.c.XMM()
	case bytes <= 32:
		return x.c.YMM()
	}
	return x.c.ZMM()
}

func (x *x86) new(k kind) value { return value{k, x.register(x.lanes * k.size())} }

// copied returns a value in a register that may be overwritten.
func (x *x86) copied(v value) value { return value{v.kind, x.inRegister(v.op, x.lanes*v.kind.size())} }

func (x *x86) inRegister(from operand.Op, bytes int) operand.Op {
	r := x.register(bytes)
	x.move(from, r)
	return r
}

func (x *x86) move(from, to operand.Op) {
	if x.wide {
		x.do("VMOVDQU64", from, to)
	} else {
		x.do("VMOVUPS", from, to)
	}
}

// loaded returns a value in a register.
func (x *x86) loaded(v value) value {
	if _, ok := v.op.(operand.Mem); ok {
		return x.copied(v)
	}
	return v
}

// op2 is an instruction with two operands. The second may be in memory.
func (x *x86) op2(name string, a, b value) value {
	d := x.new(a.kind)
	x.do(name, b.op, x.loaded(a).op, d.op)
	return d
}

func (x *x86) at(i int) operand.Mem {
	s := x.k.args[i].kind.size()
	if i > 0 && i == x.k.still {
		return operand.Mem{Base: x.base[i].(reg.Register), Disp: x.off * s}
	}
	return operand.Mem{Base: x.base[i].(reg.Register), Index: x.index, Scale: uint8(s), Disp: x.off * s}
}

func (x *x86) load(i int) value {
	k := x.k.args[i].kind
	if x.k.args[i].number {
		return value{k, x.part(x.base[i], k)}
	}
	if i == 0 && x.k.fold > 0 {
		return value{k, x.sums[x.off/x.lanes]}
	}
	v := x.new(k)
	n := x.lanes * k.size()
	switch {
	case x.single:
		x.element(k, x.at(i), v.op)
	case x.masks != nil:
		x.do("VMASKMOV"+suffix(k), x.at(i), x.masks[k.size()], v.op)
	case x.some != nil:
		x.do("VMOVDQU"+fmt.Sprint(8*k.size())+"_Z", x.at(i), x.some, v.op)
	case n < 16:
		x.do(map[int]string{4: "VMOVD", 8: "VMOVQ"}[n], x.at(i), v.op)
	case x.wide:
		x.do("VMOVDQU64", x.at(i), v.op)
	default:
		x.do("VMOVUPS", x.at(i), v.op)
	}
	return v
}

// element loads one element.
func (x *x86) element(k kind, from operand.Mem, to operand.Op) {
	lane := to.(reg.VecVirtual).AsX()
	switch k.size() {
	case 8:
		x.do("VMOVQ", from, lane)
	case 4:
		x.do("VMOVD", from, lane)
	default:
		r := x.c.GP32()
		x.do(map[int]string{1: "MOVBLZX", 2: "MOVWLZX"}[k.size()], from, r)
		x.do("VMOVD", r, lane)
	}
}

func (x *x86) store(i int, v value) {
	if x.trial || x.nontemporal && i == x.k.streamed {
		x.stores = append(x.stores, stored{v, i, x.off})
		return
	}
	if i == 0 && x.k.fold > 0 {
		switch s := x.sums[x.off/x.lanes]; {
		case x.some != nil:
			x.do("VMOVDQU"+fmt.Sprint(8*v.kind.size()), v.op, x.some, s)
		case x.masks != nil:
			x.do("VPBLENDVB", x.masks[v.kind.size()], v.op, s, s)
		default:
			x.move(v.op, s)
		}
		return
	}
	n := x.lanes * v.kind.size()
	v = x.loaded(v)
	lane := v.op.(reg.Vec).AsX()
	switch {
	case x.single && v.kind.size() == 8:
		x.do("VMOVQ", lane, x.at(i))
	case x.single && v.kind.size() == 4:
		x.do("VMOVD", lane, x.at(i))
	case x.single:
		x.do("VPEXTR"+size(v.kind), operand.U8(0), lane, x.at(i))
	case x.some != nil:
		x.do("VMOVDQU"+fmt.Sprint(8*v.kind.size()), v.op, x.some, x.at(i))
	case n < 16:
		x.do(map[int]string{4: "VMOVD", 8: "VMOVQ"}[n], v.op, x.at(i))
	case x.wide:
		x.do("VMOVDQU64", v.op, x.at(i))
	default:
		x.do("VMOVUPS", v.op, x.at(i))
	}
}
