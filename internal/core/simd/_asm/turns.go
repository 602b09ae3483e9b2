package main

import (
	"slices"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/reg"
)

// The vectors of a step of a row take turns. A kernel may have a fast path.

// together writes a program for the vectors of a step, after a label, and returns the number of vectors that take turns.
func (x *x86) together(label string, program func(m machine)) (turns float64) {
	for u := range x.vectors() {
		x.off, x.doubted = u*x.lanes, 0
		program(x)
	}
	x.off = 0
	return x.interleave(label)
}

// trying writes the fast path of a kernel for the vectors of a step, after a label. It jumps to doubtful where an element is in doubt, and
// to unsettled where rounding alone is.
func (x *x86) trying(label string) (turns float64) {
	lanes := x.lanes
	if x.k.pairs {
		x.lanes *= 2
	}
	x.trial = true
	turns = x.together(label, x.k.usual)
	x.trial = false
	for _, d := range x.doubts {
		if d.differ {
			if x.wide {
				differs := x.c.K()
				x.do("VPTESTMD", d.op, d.op, differs)
				x.c.KORTESTW(differs, differs)
			} else {
				x.do("VPTEST", d.op, d.op)
			}
			x.c.JNE(operand.LabelRef("unsettled"))
			continue
		}
		most := x.part(x.constant(U64, d.most|d.most<<32).op, d.kind)
		if x.wide {
			above := x.c.K()
			x.do("VPCMPUD", operand.U8(6), most, d.op, above)
			x.c.KORTESTW(above, above)
			x.c.JNE(operand.LabelRef("doubtful"))
		} else {
			r, all := x.register(x.lanes*d.kind.size()), x.c.GP32()
			x.do("VPMAXUD", most, d.op, r)
			x.do("VPCMPEQD", most, r, r)
			x.do("VPMOVMSKB", r, all)
			x.c.CMPL(all, operand.U32(1<<(x.lanes*d.kind.size())-1))
			x.c.JNE(operand.LabelRef("doubtful"))
		}
	}
	x.doubts = nil
	x.put()
	x.lanes = lanes
	return turns
}

// besides writes the program beside the body for a step, and its prefetches.
func (x *x86) besides() {
	step, lanes := x.vectors()*x.lanes, x.lanes
	if x.k.beside != nil {
		x.lanes = min(step, x.bytes/x.k.args[x.k.streamed].kind.size())
		for x.off = 0; x.off < step; x.off += x.lanes {
			x.k.beside(x)
		}
		x.put()
		x.lanes = lanes
	}
	if a := x.k.ahead; a > 0 {
		size := x.k.args[a].kind.size()
		for line := 0; line < step*size; line += 64 {
			x.c.PREFETCHT0(operand.Mem{Base: x.base[a].(reg.Register), Index: x.index, Scale: uint8(size), Disp: fetchAhead + line})
		}
	}
}

// put stores the waiting values.
func (x *x86) put() {
	all := x.stores
	x.stores = nil
	if x.nontemporal && len(all) > 0 && all[0].arg == x.k.streamed {
		x.putPast(all)
	} else {
		for _, s := range all {
			x.off = s.off
			x.store(s.arg, s.value)
		}
	}
	x.off = 0
}

// doubt keeps the largest value of the step.
func (x *x86) doubt(v value, most uint64) {
	if x.off == 0 {
		x.doubts = append(x.doubts, doubt{value: x.copied(v), most: most})
		return
	}
	d := x.doubts[x.doubted]
	x.do("VPMAXUD", v.op, d.op, d.op)
	x.doubted++
}

// differ collects the bits that differ anywhere in the step.
func (x *x86) differ(a, b value) {
	if x.off == 0 {
		d := x.xor(a, b)
		if !x.wide { // as many instructions as the other vectors have, so that they can take turns
			d = x.copied(d)
		}
		x.doubts = append(x.doubts, doubt{value: d, differ: true})
		return
	}
	d := x.doubts[x.doubted]
	if x.wide { // the or with the exclusive or
		x.do("VPTERNLOGD", operand.U8(0xf6), b.op, a.op, d.op)
	} else {
		x.do("VPOR", x.xor(a, b).op, d.op, d.op)
	}
	x.doubted++
}

// interleave lets the vectors of a step, which follow a label, take turns, instruction by instruction. As many take turns as there are
// registers for. A processor looks only some instructions ahead, and the instructions of one vector wait for each other. Vectors of pairs
// may lag behind the one before by some eighths of the program, as each needs the most registers at one place. It returns the number of
// vectors that take turns, less such a lag.
func (x *x86) interleave(label string) (ways float64) {
	file, _ := x.c.Result()
	f := file.Sections[len(file.Sections)-1].(*ir.Function)
	at := slices.Index(f.Nodes, ir.Node(ir.Label(label))) + 1
	step := f.Nodes[at:]
	n, most := len(step)/x.vectors(), 0
	if x.k.pairs && x.trial {
		most = 6
	}
	for ways := x.vectors(); ways > 1; ways /= 2 {
		for lag := range most + 1 {
			behind := n * lag / 8
			var turns []ir.Node
			for len(turns) < len(step) {
				group := step[len(turns):]
				for i := range n + (ways-1)*behind {
					for u := range ways {
						if i := i - u*behind; i >= 0 && i < n {
							turns = append(turns, group[u*n+i])
						}
					}
				}
			}
			if x.fits(turns) {
				copy(step, turns)
				return float64(ways) - float64(lag)/8
			}
		}
	}
	return 1
}

// fits reports whether a loop of the instructions needs no more vector registers than there are, less a few that the allocator keeps free.
func (x *x86) fits(line []ir.Node) bool {
	change := make([]int, len(line)+1) // of the registers in use, before each instruction
	last := make(map[reg.ID]int)       // a register that isn't read here is read later
	for i, n := range line {
		n := n.(*ir.Instruction)
		for _, r := range n.OutputRegisters() {
			last[r.ID()] = len(line)
		}
		for _, r := range n.InputRegisters() {
			if last[r.ID()] = i; slices.ContainsFunc(n.OutputRegisters(), func(o reg.Register) bool { return o.ID() == r.ID() }) {
				last[r.ID()] = len(line)
			}
		}
	}
	begun := make(map[reg.ID]bool)
	for i, n := range line {
		n := n.(*ir.Instruction)
		for _, r := range n.InputRegisters() {
			if r.Kind() == reg.KindVector && !begun[r.ID()] { // written before the loop: a constant
				begun[r.ID()] = true
				change[0]++
			}
		}
		for _, r := range n.OutputRegisters() {
			if r.Kind() == reg.KindVector && !begun[r.ID()] {
				begun[r.ID()] = true
				change[i]++
				change[last[r.ID()]]--
			}
		}
	}
	used := 0
	for _, d := range change {
		if used += d; used > x.registers()-x.spare() {
			return false
		}
	}
	return true
}

// spare returns the number of registers that the allocator keeps free.
func (x *x86) spare() int {
	if x.k.pairs && x.trial {
		return 1
	}
	return 3
}

// registers returns the number of vector registers.
func (x *x86) registers() int {
	if x.wide {
		return 32
	}
	return 16
}

// affordable returns the number of constants that can be in registers. It tries the allocator with fewer and fewer constants until it
// succeeds. With a fast path it tries all numbers, and takes the largest with which the most vectors of a step take turns.
func (x x86) affordable() int {
	most := 8
	switch {
	case x.wide, x.k.usual != nil:
		most = 22
	case x.k.join != nil: // accumulators take eight
		most = 1
	}
	best, turns := 0, -1.0
	for x.few = most; x.few >= 0; x.few-- {
		y, c := x, build.NewContext()
		y.write(c, make(map[string]operand.Mem))
		if f, err := c.Result(); err == nil && y.turns > turns && pass.Compile.Execute(f) == nil && checked(f) == nil {
			if best, turns = x.few, y.turns; x.k.usual == nil {
				break
			}
		}
	}
	return best
}
