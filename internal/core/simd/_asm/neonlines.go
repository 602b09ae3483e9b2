package main

import (
	"fmt"
	"math"
)

// The loops of neon over lines and columns.

// some loads the first elements of a vector, as many as n.tail, and zeros.
func (n *neon) some(k kind, v, base virtual, off int) {
	switch n.tail * k.size() {
	case 4:
		n.op("ldr", "s", off, v, base)
	case 8:
		n.op("ldr", "d", off, v, base)
	case 12:
		lo, hi := n.vector(), n.vector()
		n.op("ldr", "d", off, lo, base)
		n.op("ldr", "s", off+8, hi, base)
		n.op("zip1", "2d", 0, v, lo, hi)
	default:
		panic("no such tail")
	}
}

// parameter loads a parameter past the description's: step, n or w.
func (n *neon) parameter(name string, i int) virtual {
	v := n.pin(n.integer())
	n.line(fmt.Sprintf("MOVD %s+%d(FP), R%%d", name, n.k.at(len(n.k.args)+i, "")), v)
	return v
}

// times multiplies a register by the size of an element.
func (n *neon) times(v virtual, size int) {
	if size > 1 {
		n.modify(fmt.Sprintf("LSL $%d, R%%[1]d, R%%[1]d", map[int]int{2: 1, 4: 2, 8: 3}[size]), v)
	}
}

func (n *neon) change(how string, by int, v virtual) {
	n.modify(fmt.Sprintf("%s $%d, R%%[1]d, R%%[1]d", how, by), v)
}

// accumulators pins a number of registers for sums.
func (n *neon) accumulators(many int) {
	for range many {
		n.sums = append(n.sums, n.pin(n.vector()))
	}
}

func (n *neon) begin() {
	start := n.reg(n.k.start(n))
	for _, s := range n.sums {
		n.copyTo(s, start)
	}
}

// lining writes the loops over lines and their elements, one line after the other.
func (n *neon) lining(lines virtual) {
	k := n.k
	sum, kind := k.args[0].kind, k.args[1].kind
	dst, src := n.base[0], n.base[1]
	step, count := n.parameter("step", 0), n.parameter("n", 1)
	n.times(step, kind.size())
	at, left := n.pin(n.integer()), n.pin(n.integer())
	n.accumulators(k.fold / n.lanes)
	n.base[1] = at
	n.line("CMP $0, R%d", lines)
	n.line("BLE done")
	n.line("line:")
	n.line("MOVD R%d, R%d", src, at)
	n.line("MOVD R%d, R%d", count, left)
	n.begin()
	n.change("SUBS", k.fold, left)
	n.line("BLT rest")
	n.line("many:")
	for n.off = 0; n.off < k.fold; n.off += n.lanes {
		k.body(n)
	}
	n.change("ADD", k.fold*kind.size(), at)
	n.change("SUBS", k.fold, left)
	n.line("BGE many")
	n.line("rest:")
	n.change("ADDS", k.fold, left)
	n.line("BEQ whole")
	for n.off = 0; n.off < k.fold; n.off += n.lanes {
		n.change("SUBS", n.lanes, left)
		n.line(fmt.Sprintf("BLT part%d", n.off))
		k.body(n)
		n.line("BEQ whole")
	}
	n.line("JMP whole")
	for n.off = 0; n.off < k.fold; n.off += n.lanes {
		n.line(fmt.Sprintf("part%d:", n.off))
		for n.tail = n.lanes - 1; n.tail > 0; n.tail-- {
			next := fmt.Sprintf("less%d_%d", n.off, n.tail)
			if n.tail > 1 {
				n.line(fmt.Sprintf("CMP $%d, R%%d", n.tail-n.lanes), left)
				n.line("BNE " + next)
			}
			k.body(n)
			n.line("JMP whole")
			if n.tail > 1 {
				n.line(next + ":")
			}
		}
	}
	n.off, n.tail = 0, 0
	n.line("whole:")
	n.op("str", map[int]string{4: "s", 8: "d"}[sum.size()], 0, n.reg(n.joined()), dst)
	n.change("ADD", sum.size(), dst)
	n.modify("ADD R%[2]d, R%[1]d, R%[1]d", src, step)
	n.change("SUBS", 1, lines)
	n.line("BNE line")
	n.line("done:")
}

// joined joins the accumulators, then the halves of the first, and returns it.
func (n *neon) joined() value {
	kind := n.k.args[0].kind
	v := make([]value, len(n.sums))
	for i, s := range n.sums {
		v[i] = value{kind, s}
	}
	for ; len(v) > 1; v = v[:len(v)/2] {
		for i := range v[:len(v)/2] {
			v[i] = n.k.join(n, v[i], v[i+len(v)/2])
		}
	}
	r := v[0]
	for h := n.lanes / 2; h > 0; h /= 2 {
		upper := n.vector()
		n.op("ext", "16b", h*kind.size(), upper, n.reg(r), n.reg(r))
		r = n.k.join(n, r, value{kind, upper})
	}
	return r
}

// finding writes the loops that find the first place of the best element in each line: the same bits, or any NaN for a NaN. Four vectors
// are compared at a time. In vectors that have it, and at the end of a line, the elements are compared one by one. A line without the
// element gives its length.
func (n *neon) finding(lines virtual) {
	const vectors = 4
	kind := n.k.args[1].kind
	size := kind.size()
	lanes := 16 / size
	n.lanes = lanes
	dst, best, src := n.base[0], n.base[1], n.base[2]
	step, count := n.parameter("step", 0), n.parameter("n", 1)
	n.times(step, size)
	at, left, wanted, bits := n.pin(n.integer()), n.pin(n.integer()), n.pin(n.vector()), n.pin(n.integer())
	move := map[int]string{4: "MOVWU", 8: "MOVD"}[size]
	float := map[int]string{4: "S", 8: "D"}[size]
	n.line("CMP $0, R%d", lines)
	n.line("BLE done")
	n.line("line:")
	n.line(move+" (R%d), R%d", best, bits)
	n.line("FMOV"+float+" (R%d), F%d", best, wanted)
	n.line("MOVD R%d, R%d", src, at)
	n.line("MOVD R%d, R%d", count, left)
	n.line("FCMP"+float+" F%d, F%d", wanted, wanted)
	n.line("BVS manynan")
	n.op("dup", n.of(kind, 16), 0, wanted, wanted)
	for _, label := range []string{"", "nan"} {
		n.line("many" + label + ":")
		n.change("SUBS", vectors*lanes, left)
		n.line("BLT few" + label)
		var any value
		for i := range vectors {
			v := value{kind, n.vector()}
			n.op("ldr", "q", 16*i, n.reg(v), at)
			i32 := kind - F32 + I32
			m := n.cmp(eq, n.as(i32, v), value{i32, wanted})
			if label == "nan" {
				u32 := kind - F32 + U32
				m = n.cmp(gt, n.as(u32, n.op1("fabs", v)), n.as(u32, number(n, kind, math.Inf(1))))
			}
			if m = (value{kind, n.reg(m)}); i == 0 {
				any = m
			} else {
				any = n.or(any, m)
			}
		}
		s, r := n.vector(), n.integer()
		n.op("umaxv", "4s", 0, s, n.reg(any))
		n.op("umov", "s", 0, r, s)
		n.line("CMPW $0, R%d", r)
		n.line("BNE few" + label)
		n.change("ADD", 16*vectors, at)
		n.line("JMP many" + label)
		n.line("few" + label + ":")
		n.change("ADD", vectors*lanes, left)
		n.line("each" + label + ":")
		n.line("CMP $0, R%d", left)
		n.line("BEQ found")
		if label == "" {
			e := n.integer()
			n.line(move+" (R%d), R%d", at, e)
			n.line("CMP R%d, R%d", e, bits)
			n.line("BEQ found")
		} else {
			e := n.vector()
			n.line("FMOV"+float+" (R%d), F%d", at, e)
			n.line("FCMP"+float+" F%d, F%d", e, e)
			n.line("BVS found")
		}
		n.change("ADD", size, at)
		n.change("SUB", 1, left)
		n.line("JMP each" + label)
	}
	n.line("found:")
	place := n.integer()
	n.line("SUB R%d, R%d, R%d", left, count, place)
	n.line("MOVD R%d, (R%d)", place, dst)
	n.change("ADD", 8, dst)
	n.change("ADD", size, best)
	n.modify("ADD R%[2]d, R%[1]d, R%[1]d", src, step)
	n.change("SUBS", 1, lines)
	n.line("BNE line")
	n.line("done:")
}

// downAbreast is the number of vectors of columns that are added up side by side, where there are as many.
const downAbreast = 16

// goingDown writes the loops over lanes, columns and the rows of the lane.
func (n *neon) goingDown(virtual) {
	k := n.k
	sum, kind := k.args[0].kind, k.args[1].kind
	dst, x, rows, ends := n.base[0], n.base[1], n.base[2], n.base[3]
	new := func() virtual { return n.pin(n.integer()) }
	lanes := new()
	n.line("MOVD "+k.place(3, "len")+", R%d", lanes)
	w := n.parameter("w", 0)
	width := new()
	n.line("MOVD R%d, R%d", w, width)
	n.times(width, sum.size())
	lane, begin, end, to, levels, column, left, at := new(), new(), new(), new(), new(), new(), new(), new()
	n.line("MOVD $0, R%d", lane)
	n.line("MOVD $0, R%d", begin)
	n.line("lane:")
	n.line("MOVD (R%d)(R%d<<3), R%d", ends, lane, end)
	slot := new()
	n.line("MVN R%d, R%d", lane, slot)
	n.modify("RBIT R%[1]d, R%[1]d", slot)
	n.modify("CLZ R%[1]d, R%[1]d", slot)
	n.line("MADD R%d, R%d, R%d, R%d", width, dst, slot, to)
	n.line("MOVD R%d, R%d", dst, levels)
	n.line("MOVD R%d, R%d", x, column)
	n.line("MOVD R%d, R%d", w, left)
	row, level, bits := new(), new(), new()
	n.base[1] = at
	access := func(name string, u int, s, base virtual) {
		part := "q"
		if n.single {
			part = map[int]string{4: "s", 8: "d"}[sum.size()]
		}
		n.op(name, part, 16*u, s, base)
	}
	all := n.sums
	for _, vectors := range []int{downAbreast, 1, 0} {
		label, columns := fmt.Sprint(vectors), vectors*n.lanes
		if n.single = vectors == 0; n.single {
			columns = 1
		}
		if all == nil {
			n.accumulators(vectors)
			all = n.sums
		}
		n.sums = all[:max(vectors, 1)]
		n.line("many" + label + ":")
		n.change("SUBS", columns, left)
		n.line("BLT few" + label)
		n.begin()
		n.line("MOVD R%d, R%d", begin, row)
		n.line("JMP test" + label)
		n.line("row" + label + ":")
		n.line("MOVD (R%d)(R%d<<3), R%d", rows, row, at)
		n.modify(fmt.Sprintf("ADD R%%[1]d<<%d, R%%[2]d, R%%[1]d", map[int]int{4: 2, 8: 3}[kind.size()]), at, column)
		for n.off = 0; n.off < columns; n.off += n.lanes {
			k.body(n)
		}
		n.off = 0
		n.change("ADD", 1, row)
		n.line("test" + label + ":")
		n.line("CMP R%d, R%d", end, row)
		n.line("BLT row" + label)
		n.line("MOVD R%d, R%d", lane, bits)
		n.line("MOVD R%d, R%d", levels, level)
		n.line("join" + label + ":")
		n.line("TST $1, R%d", bits)
		n.line("BEQ store" + label)
		for u, s := range n.sums {
			v := n.vector()
			access("ldr", u, v, level)
			n.accumulated(s, k.join(n, value{sum, v}, value{sum, s}))
		}
		n.modify("ADD R%[2]d, R%[1]d, R%[1]d", level, width)
		n.change("LSR", 1, bits)
		n.line("JMP join" + label)
		n.line("store" + label + ":")
		for u, s := range n.sums {
			access("str", u, s, to)
		}
		n.change("ADD", columns*sum.size(), to)
		n.change("ADD", columns*sum.size(), levels)
		n.change("ADD", columns*kind.size(), column)
		n.line("JMP many" + label)
		n.line("few" + label + ":")
		n.change("ADD", columns, left)
	}
	n.single = false
	n.line("MOVD R%d, R%d", end, begin)
	n.change("ADD", 1, lane)
	n.line("CMP R%d, R%d", lanes, lane)
	n.line("BLT lane")
}
